//! What honest owners refuse, and what a miner or an owner gets that does not follow the protocol: no second sum of the same numbers.

use std::sync::Arc;

use privet::Error;
use privet::data::Schema;
use privet::party::{PartyId, RunKey, Simulation};
use privet::privacy::journal::Event;
use privet::privacy::{AddRemove, Neighbours};
use privet::setting::horizontal::{
    Horizontal, MINER, Message, Miner, Owner, OwnerFacts, Plan, Protocol, Splits, Trees,
};
use sha2::{Digest, Sha256};

use super::drops::{Added, Witness, aggregated};
use super::net::Net;
use super::protocols::rows;
use super::world::{Labels, Noise, World, identity, schema, spending, table};

const OWNERS: usize = 5;

fn world(count: u32) -> World {
    let spend = spending("4", "1e-6");
    let rows = rows(Labels::Two, OWNERS, 12);
    World::new(&aggregated(count, 1), Labels::Two, spend, rows, Noise::Drawn)
}

/// The parties, and what each owner has added to sums.
fn net(world: &World) -> (Net, Vec<Added>) {
    let added: Vec<Added> = (0..OWNERS).map(|_| Added::default()).collect();
    let net = Net::new(world, |place| {
        let witness = Witness(Added::clone(&added[place]));
        world.ledger(place).audited(Box::new(witness)).unwrap()
    });
    (net, added)
}

fn about_the_miner(outcome: &Result<privet::setting::horizontal::Outcome, Error>) -> bool {
    matches!(outcome, Err(Error::Peer(e)) if e.parties == ["miner"])
}

#[test]
fn a_run_without_changes_ends_well_and_adds_once_to_every_sum() {
    let world = world(3);
    let (mut net, added) = net(&world);
    net.carry(|_, _, message| message, |_| false);
    assert!(net.finish().iter().all(Result::is_ok));
    assert!(added.iter().all(|added| added.lock().unwrap().len() == 3));
}

#[test]
fn an_owner_that_comes_back_is_told_what_it_missed_and_takes_part_again() {
    let (one, world) = (PartyId(2), world(6));
    let (mut net, added) = net(&world);
    let at = |number: u32| move |message: &Message| matches!(message, Message::Answer { number: n, .. } if *n == number);
    net.carry(|_, _, message| message, at(1));
    net.leave(one);
    net.carry(|_, _, message| message, at(3));
    net.come_back(one);
    net.carry(|_, _, message| message, |_| false);
    let outcomes = net.finish();
    let models: Vec<_> = outcomes
        .into_iter()
        .map(|outcome| outcome.unwrap().into_model().unwrap())
        .collect();
    assert!(
        models
            .iter()
            .all(|model| model.ensemble() == models[0].ensemble())
    );
    let count = |place: usize| added[place].lock().unwrap().len();
    assert_eq!(count(0), 6);
    assert!((3..6).contains(&count(1)), "{}", count(1));
}

/// A miner that asks twice for an answer, tells sums again, or asks again after it has told them.
#[test]
fn nothing_is_answered_or_drawn_twice() {
    let victim = PartyId(3);
    // The list of survivors, again, in place of the opened sum.
    let world = world(3);
    let (mut net, added) = net(&world);
    let mut before = None;
    let again = |_, to, message: Message| match message {
        Message::Survivors { .. } if to == victim => {
            before = Some(message.clone());
            message
        }
        Message::Opened { first: 0, .. } if to == victim => before.clone().unwrap(),
        other => other,
    };
    net.carry(again, |_| false);
    let outcomes = net.finish();
    assert!(about_the_miner(&outcomes[3]), "{:?}", outcomes[3]);
    assert_eq!(added[2].lock().unwrap().len(), 1);
    // The first sum, again, in place of the second.
    let world = self::world(3);
    let (mut net, added) = self::net(&world);
    let mut before = None;
    let again = |_, to, message: Message| match message {
        Message::Opened { first: 0, .. } if to == victim => {
            before = Some(message.clone());
            message
        }
        Message::Opened { first: 1, .. } if to == victim => before.clone().unwrap(),
        other => other,
    };
    net.carry(again, |_| false);
    assert_eq!(
        added[2].lock().unwrap().len(),
        2,
        "a sum that is told again asks for nothing"
    );
}

#[test]
fn another_model_or_too_few_survivors_are_refused() {
    let victim = PartyId(3);
    for way in 0..4 {
        let world = world(2);
        let (mut net, _) = net(&world);
        let change = |_, to, message: Message| match message {
            Message::Opened {
                first,
                sums,
                mut digest,
                asks,
            } if to == victim && way == 0 => {
                digest[0] ^= 1;
                Message::Opened {
                    first,
                    sums,
                    digest,
                    asks,
                }
            }
            Message::Opened {
                first,
                mut sums,
                digest,
                asks,
            } if to == victim && way == 1 => {
                sums[0].values[0] += 1 << 30;
                Message::Opened {
                    first,
                    sums,
                    digest,
                    asks,
                }
            }
            // Five bytes of a head, a bit for each owner, and what four others sealed. Of some, only that which fits the bits is left.
            Message::Survivors { number, sealed } if to == victim && way >= 2 => {
                let left = if way == 2 { 2 } else { 3 };
                let mut bits = sealed[5];
                let each = (sealed.len() - 6) / 4;
                for place in [4, 3] {
                    if bits.count_ones() > left + 1 {
                        bits &= !(1 << place);
                    }
                }
                let mut fewer = sealed[..5].to_vec();
                fewer.push(bits);
                fewer.extend(&sealed[6..6 + each * left as usize]);
                Message::Survivors {
                    number,
                    sealed: fewer,
                }
            }
            other => other,
        };
        net.carry(change, |_| false);
        let outcomes = net.finish();
        match way {
            // Four of five may be: its answer is about others than the other answers, and no sum is opened with it.
            3 => assert!(outcomes.iter().all(Result::is_err), "{outcomes:?}"),
            _ => assert!(about_the_miner(&outcomes[3]), "{way}: {:?}", outcomes[3]),
        }
    }
}

/// A question of several rounds: an owner whose shares of one of them cannot be read is left out of all, and the others end well.
#[test]
fn shares_of_some_rounds_of_a_question_count_for_none() {
    for (liar, is_holder) in [(2, true), (5, false)] {
        let rows = rows(Labels::Number, OWNERS, 12);
        let world = World::new(
            &aggregated(2, 1),
            Labels::Number,
            spending("4", "1e-6"),
            rows,
            Noise::Drawn,
        );
        let (mut net, _) = net(&world);
        let mut spoilt = false;
        let spoil = |from, _, message: Message| match message {
            Message::Shares { number, mut sealed } if from == PartyId(liar) && !spoilt => {
                // Each part begins with its kind; that of the last one is spoilt.
                let part = (1..=sealed.len() / 2).rev().find(|part| {
                    sealed.len() % part == 0
                        && sealed
                            .chunks(*part)
                            .all(|part| part[0] == sealed[0] && part[4] == sealed[4])
                });
                let last = sealed.len() - part.unwrap_or(sealed.len());
                spoilt = last > 0;
                if spoilt {
                    sealed[last] = 0;
                }
                Message::Shares { number, sealed }
            }
            other => other,
        };
        net.carry(spoil, |_| false);
        assert!(spoilt, "no question has several rounds");
        for (party, outcome) in net.finish().iter().enumerate() {
            assert_eq!(
                outcome.is_ok(),
                party != usize::from(liar),
                "{party} {is_holder} {:?}",
                outcome.as_ref().err()
            );
        }
    }
}

#[test]
fn a_wrong_answer_opens_nothing() {
    let world = world(2);
    let (mut net, _) = net(&world);
    let change = |from, _, message: Message| match message {
        Message::Answer { number, mut sum } if from == PartyId(1) => {
            let last = sum.len() - 8;
            sum[last] ^= 1;
            Message::Answer { number, sum }
        }
        other => other,
    };
    net.carry(change, |_| false);
    let outcomes = net.finish();
    assert!(matches!(&outcomes[0], Err(Error::Peer(_))), "{:?}", outcomes[0]);
    assert!(outcomes.iter().all(Result::is_err));
}

#[test]
fn schemas_that_differ_are_told_line_by_line_before_anything_is_paid() {
    let world = world(2);
    let plan = of_another_schema(&world);
    let ended = Simulation::of(world.agreement.clone(), |party, run| {
        if party == MINER {
            return Ok(Miner::party(&world.plan.miner()));
        }
        let place = usize::from(party.0) - 1;
        let plan = if place == 1 { &plan } else { &world.plan };
        let table = table(plan.schema(), &world.rows[place]);
        Owner::party(
            plan.owner(place)?,
            table,
            world.ledger(place),
            &run,
            Some(identity(place)),
        )
    })
    .run()
    .unwrap();
    for outcome in &ended.outcomes {
        let Err(Error::Data(e)) = outcome else {
            panic!("{outcome:?}")
        };
        let text = e.to_string();
        let lines = [
            r#""red", "green", "blue""#,
            r#"'owner 2' has colour = { type = "category""#,
            "\"black\"",
        ];
        assert!(lines.iter().all(|line| text.contains(line)), "{text}");
    }
    assert!(
        (0..OWNERS).all(|place| !has_paid(&world, place)),
        "nobody has paid"
    );
}

/// The agreement does not name the schema: a miner that passes over a difference could put numbers that mean something else, under other
/// noise, into one sum.
#[test]
fn owners_of_another_schema_are_in_no_sum_whatever_the_miner_says() {
    let world = world(2);
    let other = of_another_schema(&world);
    let plan = |place| if place == 1 { &other } else { &world.plan };
    let mut net = Net::of(&world, plan, |place| world.ledger(place));
    let (mut lines, mut shared, mut answered) = (None, 0, 0);
    let pass_over = |_, _, message: Message| {
        match &message {
            Message::Shares { .. } => shared += 1,
            Message::Answer { .. } => answered += 1,
            _ => {}
        }
        match message {
            Message::Hello { schema, key } => {
                let schema = lines.get_or_insert(schema).clone();
                Message::Hello { schema, key }
            }
            other => other,
        }
    };
    net.carry(pass_over, |_| false);
    assert_eq!((shared, answered), (OWNERS, 0));
    assert!(net.finish().iter().all(Result::is_err));
}

#[test]
fn nothing_is_paid_for_a_run_of_too_few_owners() {
    let victim = PartyId(3);
    for left in [3, 4] {
        let world = world(2);
        let (mut net, _) = net(&world);
        let fewer = |_, to, message: Message| match message {
            Message::Begin(mut keys) if to == victim => {
                keys.retain(|(party, _)| usize::from(party.0) <= left);
                // Said twice, it is still one.
                keys.push(keys[0].clone());
                Message::Begin(keys)
            }
            other => other,
        };
        net.carry(fewer, |_| false);
        assert_eq!(has_paid(&world, 2), left == 4);
        assert!(about_the_miner(&net.finish()[3]));
    }
}

/// An owner that says as its own a key that stands for somebody absent, whose secret half nobody knows: it could make every sum fail.
#[test]
fn a_key_that_stands_for_somebody_absent_is_nobodys_key() {
    let (world, liar) = (world(2), PartyId(2));
    let stands_for = |place: u64| -> [u8; 32] {
        let hash = Sha256::new_with_prefix(b"privet horizontal nobody 1\0");
        let hash = hash.chain_update(world.agreement.digest());
        hash.chain_update(place.to_le_bytes()).finalize().into()
    };
    let claimed = RunKey::sign(&identity(1), &world.agreement, liar, stands_for(4));
    // The miner goes on without it.
    let (mut net, _) = net(&world);
    let says = |from, _, message: Message| match message {
        Message::Hello { schema, .. } if from == liar => Message::Hello {
            schema,
            key: Some(claimed.clone()),
        },
        other => other,
    };
    net.carry(says, |_| false);
    for (party, outcome) in net.finish().iter().enumerate() {
        assert_eq!(outcome.is_ok(), party != 2, "{party}: {outcome:?}");
    }
    // A miner that passes over it makes nobody pay.
    let world = self::world(2);
    let (mut net, _) = self::net(&world);
    let passes_over = |_, _, message: Message| match message {
        Message::Begin(mut keys) => {
            let of_liar = keys.iter_mut().filter(|(party, _)| *party == liar);
            of_liar.for_each(|(_, key)| *key = claimed.clone());
            Message::Begin(keys)
        }
        other => other,
    };
    net.carry(passes_over, |_| false);
    let outcomes = net.finish();
    for outcome in [&outcomes[1], &outcomes[3], &outcomes[4], &outcomes[5]] {
        assert!(
            matches!(outcome, Err(Error::Peer(e)) if e.parties == ["owner 2"]),
            "{outcome:?}"
        );
    }
    assert!((0..OWNERS).all(|place| !has_paid(&world, place)));
}

fn has_paid(world: &World, place: usize) -> bool {
    let entries = world.journals[place].entries();
    let mut events = entries.iter().map(|entry| entry.event());
    events.any(|event| matches!(event, Event::Spend { .. }))
}

/// A plan with the same parameters and another schema.
fn of_another_schema(world: &World) -> Plan {
    let text = schema(Labels::Two).to_toml().replace("\"blue\"", "\"black\"");
    let other = Schema::from_toml("schema", &text).unwrap();
    let facts: Vec<OwnerFacts> = world.plan.owners().to_vec();
    let plan = aggregated(2, 1).plan(
        &other,
        &AddRemove::row().relation(),
        spending("4", "1e-6"),
        &facts,
    );
    let plan = plan.unwrap();
    let identities: Vec<_> = (0..OWNERS).map(|place| Some(identity(place).public())).collect();
    let agreement = plan
        .agreement(world.agreement.run(), "miner", &identities)
        .unwrap();
    assert_eq!(agreement.digest(), world.agreement.digest());
    plan
}

#[test]
fn parameters_that_do_not_go_together_are_refused() {
    let build = |builder: privet::parameters::Builder<Horizontal>| builder.build().map(|_| ());
    let greedy = Trees::builder().splits(Splits::NoisyGreedy).build().unwrap();
    for (protocol, is_allowed) in [
        (Protocol::Aggregated, false),
        (Protocol::Averaged, true),
        (Protocol::Chain, true),
    ] {
        let trees = Horizontal::builder().protocol(protocol).trees(greedy.clone());
        assert_eq!(build(trees).is_ok(), is_allowed, "{protocol:?}");
    }
    let chain = || Horizontal::builder().protocol(Protocol::Chain);
    let averaged = || Horizontal::builder().protocol(Protocol::Averaged);
    assert!(
        build(chain().rounds(5).advance(0.01)).is_ok() && build(chain().rounds(2).advance(0.01)).is_err()
    );
    for other in [
        averaged().rounds(2),
        averaged().turns(9),
        averaged().quality(0.1),
        averaged().broadcast(true),
        averaged().rounds(3).advance(0.1),
    ] {
        assert!(build(other).is_err());
    }
    let public = Trees::builder().public_trees(3).build().unwrap();
    assert!(build(Horizontal::builder().trees(public)).is_err());
    assert!(build(Horizontal::builder().protocol(Protocol::Chain).colluding(1)).is_err());
    let facts = |count: usize| -> Vec<OwnerFacts> {
        let one = |place| OwnerFacts {
            name: format!("owner {place}"),
            rows_about: 1000,
        };
        (0..count).map(one).collect()
    };
    let plan = |horizontal: &Horizontal, count: usize| {
        let relation = AddRemove::row().relation();
        let schema = Arc::new(schema(Labels::Two));
        horizontal
            .plan(&schema, &relation, spending("1", "1e-6"), &facts(count))
            .map(|_| ())
    };
    let joint = Horizontal::builder().build().unwrap();
    assert!(plan(&joint, 2).is_err() && plan(&joint, 3).is_ok());
    let absent = Horizontal::builder().absent(3).colluding(2).build().unwrap();
    assert!(plan(&absent, 8).is_err() && plan(&absent, 12).is_ok());
    let averaged = Horizontal::builder()
        .protocol(Protocol::Averaged)
        .build()
        .unwrap();
    assert!(plan(&averaged, 1).is_err() && plan(&averaged, 2).is_ok());
}

/// What a person pays who has rows at several owners.
#[test]
fn several_owners_cost_squares_where_one_noise_covers_all() {
    for (protocol, squares) in [
        (Protocol::Aggregated, true),
        (Protocol::Averaged, false),
        (Protocol::Chain, false),
    ] {
        let horizontal = super::protocols::horizontal(protocol, 4);
        let rows = rows(Labels::Two, OWNERS, 12);
        let world = World::new(
            &horizontal,
            Labels::Two,
            spending("1", "1e-6"),
            rows,
            Noise::Drawn,
        );
        let three = world.plan.person_at(3).unwrap();
        let expected = if squares { 9 } else { 3 };
        assert_eq!(Some(three.price), world.plan.price().times(expected));
        assert!(three.epsilon > world.plan.epsilon());
        let words = world.plan.owner(1).unwrap().to_string();
        assert!(
            words.contains("two owners") && words.contains("owner 2"),
            "{words}"
        );
    }
}
