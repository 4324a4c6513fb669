//! Chains with the paper's trees: rounds, broadcast, quality and advance.

use std::collections::BTreeMap;

use privet::parameters::Builder;
use privet::party::{Item, PartyId};
use privet::privacy::account::{Caps, Price};
use privet::privacy::journal::Event;
use privet::setting::horizontal::{
    Horizontal, MINER, Message, Outcome, OwnerFacts, Plan, Protocol, Splits, Trees,
};
use privet::wire::Wire;

use super::net::Net;
use super::protocols::{models, rows};
use super::world::{Labels, Noise, World, spending};

const OWNERS: usize = 4;

/// Trees whose questions are chosen for their gain.
pub(super) fn greedy() -> Builder<Horizontal> {
    let trees = Trees::builder().splits(Splits::NoisyGreedy).depth(2);
    let trees = trees.calibrate(false).build().unwrap();
    Horizontal::builder()
        .protocol(Protocol::Chain)
        .absent(1)
        .trees(trees)
}

fn world(builder: Builder<Horizontal>, labels: Labels, delta: &str, noise: Noise) -> World {
    let horizontal = builder.build().unwrap();
    World::new(
        &horizontal,
        labels,
        spending("2", delta),
        rows(labels, OWNERS, 40),
        noise,
    )
}

#[test]
fn everybody_has_the_same_trees_however_the_chain_goes() {
    let ways = [
        greedy(),
        greedy().rounds(3),
        greedy().rounds(3).broadcast(true),
        greedy().rounds(4).advance(0.0).quality(0.05),
        greedy().quality(1.0).broadcast(true),
    ];
    for (number, way) in ways.into_iter().enumerate() {
        for labels in [Labels::Two, Labels::Three, Labels::Number] {
            let delta = if number % 2 == 0 { "1e-6" } else { "0" };
            let world = world(way.clone(), labels, delta, Noise::Drawn);
            let models = models(world.simulation().run().unwrap());
            assert_eq!(models.len(), OWNERS + 1);
            for model in &models {
                assert_eq!(model.ensemble(), models[0].ensemble(), "{number} {labels:?}");
            }
            let rounds = if number == 1 || number == 2 { 3 } else { 1 };
            if number < 3 {
                let outputs = if labels == Labels::Three { 3 } else { 1 };
                assert_eq!(models[0].ensemble().members.len(), rounds * OWNERS * outputs);
            }
            within_caps(&world);
        }
    }
}

/// An owner pays once, the price of the plan, and the draws about each portion stay within it.
fn within_caps(world: &World) {
    for journal in &world.journals {
        let entries = journal.entries();
        let paid: Vec<Price> = entries
            .iter()
            .filter_map(|entry| match entry.event() {
                Event::Spend { price, .. } => Some(*price),
                _ => None,
            })
            .collect();
        assert_eq!(paid, [world.plan.price()]);
        let mut spent: BTreeMap<Option<u32>, Caps> = BTreeMap::new();
        for entry in &entries {
            if let Event::Kept {
                price: Some(price),
                portion,
                ..
            } = entry.event()
            {
                let own = spent.entry(*portion).or_insert(Caps::ZERO);
                let cap = Caps::from(world.plan.price());
                *own = own.charge(&cap, *price).expect("each portion is within its cap");
            }
        }
        assert!(!spent.is_empty());
    }
}

/// Averaged models may have such trees, too; all of them cost what was said.
#[test]
fn averaged_owners_may_choose_questions_for_their_gain() {
    for delta in ["1e-6", "0"] {
        let trees = Trees::builder().splits(Splits::NoisyGreedy).depth(2).trees(2);
        let builder = Horizontal::builder().protocol(Protocol::Averaged);
        let world = world(
            builder.trees(trees.build().unwrap()),
            Labels::Two,
            delta,
            Noise::Drawn,
        );
        let models = models(world.simulation().run().unwrap());
        assert_eq!(models[0].ensemble().members.len(), 2 * OWNERS);
        within_caps(&world);
    }
}

/// What owners were sent in a run: turns, added trees outside turns, trees in turns, trees in all.
fn sent(world: &World) -> [usize; 4] {
    let simulation = world.simulation();
    let records = simulation.records();
    simulation.run().unwrap().all().unwrap();
    let mut found = [0; 4];
    for record in &records[1..] {
        for item in record.items() {
            let Item::Received { message, .. } = item else {
                continue;
            };
            match Message::from_bytes(&message) {
                Ok(Message::Turn { more, .. }) => {
                    found[0] += 1;
                    found[2] += more.len();
                    found[3] += more.len();
                }
                Ok(Message::Added { .. }) => {
                    found[1] += 1;
                    found[3] += 1;
                }
                _ => {}
            }
        }
    }
    found
}

/// Equations 18 and 19: in the baseline an owner applies all trees before it in its turn, n(n − 1)/2 in all; in the speed-up none is left for the
/// turn, for n(n − 1)/2 messages more and as many trees. The trees are the same.
#[test]
fn a_broadcast_leaves_nothing_to_apply_in_a_turn_and_sends_as_many_trees() {
    let pairs = OWNERS * (OWNERS - 1) / 2;
    let of = |broadcast: bool| world(greedy().broadcast(broadcast), Labels::Two, "1e-6", Noise::Exact);
    let [baseline, broadcast] = [of(false), of(true)];
    assert_eq!(sent(&baseline), [OWNERS, 0, pairs, pairs]);
    assert_eq!(sent(&broadcast), [OWNERS, pairs, 0, pairs]);
    let [one, other] = [of(false), of(true)].map(|world| models(world.simulation().run().unwrap()).remove(0));
    assert_eq!(one.ensemble().members, other.ensemble().members);
    // When another round begins, an owner lacks its own trees and those of the owners after it.
    let rounds = world(
        greedy().rounds(2).broadcast(true),
        Labels::Two,
        "1e-6",
        Noise::Exact,
    );
    let all = pairs + (pairs + OWNERS) + pairs;
    assert_eq!(sent(&rounds), [2 * OWNERS, all, 0, all]);
    let words = rounds.plan.turns().join(" ");
    assert!(
        words.contains("2 times") && words.contains(&format!("{pairs} messages")),
        "{words}"
    );
}

/// Runs a chain in which owners' measurements are what `said` makes of them, by owner and round. Gives the outcomes, and how many turns there were.
fn told(
    world: &World,
    mut said: impl FnMut(PartyId, u32) -> Vec<i64>,
) -> (Vec<Result<Outcome, privet::Error>>, usize) {
    let mut net = Net::new(world, |place| world.ledger(place));
    let mut turns = 0;
    let change = |from: PartyId, _, message: Message| match message {
        Message::Turned {
            round,
            grown,
            certificate,
            ..
        } => {
            turns += 1;
            Message::Turned {
                measured: said(from, round),
                round,
                grown,
                certificate,
            }
        }
        other => other,
    };
    net.carry(change, |_| false);
    (net.finish(), turns)
}

fn model(outcomes: Vec<Result<Outcome, privet::Error>>) -> privet::model::Model {
    outcomes
        .into_iter()
        .next()
        .unwrap()
        .unwrap()
        .into_model()
        .unwrap()
}

/// So many rows of a hundred are right before, and so many after.
fn right(before: i64, after: i64) -> Vec<i64> {
    let both = before.min(after);
    vec![100 - before.max(after), after - both, before - both, both]
}

#[test]
fn trees_that_make_a_chain_worse_are_left_out_and_stay_paid_for() {
    let victim = PartyId(3);
    for (falls, is_left_out) in [(5, false), (20, true)] {
        let world = world(greedy().quality(0.1), Labels::Two, "1e-6", Noise::Drawn);
        let (outcomes, turns) = told(&world, |from, _| match from == victim {
            true => right(80, 80 - falls),
            false => right(80, 81),
        });
        assert_eq!(turns, OWNERS);
        let model = model(outcomes);
        assert_eq!(model.ensemble().members.len(), OWNERS - usize::from(is_left_out));
        assert_eq!(
            model.certificate().parties.len(),
            OWNERS,
            "it has paid, and says so"
        );
        within_caps(&world);
    }
    // Whoever sends another number of counts than was asked for takes part no longer.
    let world = world(greedy().quality(0.1), Labels::Two, "1e-6", Noise::Drawn);
    let (outcomes, _) = told(&world, |from, _| match from == victim {
        true => vec![1, 2, 3],
        false => right(80, 81),
    });
    assert_eq!(model(outcomes).ensemble().members.len(), OWNERS - 1);
}

#[test]
fn a_chain_ends_after_a_whole_round_that_advances_too_little() {
    // The figure of each round, how many rounds are made, and how many are in the model.
    for (figures, made, kept) in [
        ([70, 71, 72, 73], 2, 2),
        ([70, 80, 81, 90], 3, 3),
        ([70, 80, 60, 90], 3, 2),
        ([60, 70, 80, 90], 4, 4),
    ] {
        let world = world(
            greedy().rounds(4).advance(0.05),
            Labels::Two,
            "1e-6",
            Noise::Drawn,
        );
        let (outcomes, turns) = told(&world, |_, round| right(50, figures[round as usize]));
        assert_eq!(turns, made * OWNERS, "{figures:?}: no round is broken off");
        assert_eq!(
            model(outcomes).ensemble().members.len(),
            kept * OWNERS,
            "{figures:?}"
        );
    }
}

#[test]
fn only_whole_rounds_are_planned() {
    let facts: Vec<OwnerFacts> = (0..3)
        .map(|place| OwnerFacts {
            name: format!("owner {place}"),
            rows_about: 1000,
        })
        .collect();
    let plan = |builder: Builder<Horizontal>| -> Result<Plan, privet::Error> {
        use privet::privacy::{AddRemove, Neighbours};
        let schema = super::world::schema(Labels::Two);
        let relation = AddRemove::row().relation();
        builder
            .build()?
            .plan(&schema, &relation, spending("1", "1e-6"), &facts)
    };
    let rounds = |plan: Plan| {
        let all = plan.settings().into_iter();
        all.filter(|(name, _)| name == "rounds")
            .map(|(_, value)| value)
            .next()
    };
    assert_eq!(
        rounds(plan(greedy().rounds(5).turns(8)).unwrap()).as_deref(),
        Some("2")
    );
    assert_eq!(rounds(plan(greedy().rounds(5)).unwrap()).as_deref(), Some("5"));
    assert!(plan(greedy().rounds(5).turns(2)).is_err());
    let words = plan(greedy().rounds(5).advance(0.01).quality(0.02)).unwrap();
    let words = words.owner(0).unwrap().to_string();
    for said in [
        "round 5 times at most",
        "fifth of each owner's units",
        "5 measurements",
        "have been paid for",
    ] {
        assert!(words.contains(said), "{said}: {words}");
    }
    let all = words.find("What the miner learns").unwrap();
    assert!(words[all..].contains("left out"), "{words}");
}

/// An owner that is absent in one round has its turn in the next; its late trees are passed over.
#[test]
fn an_owner_that_misses_a_round_has_a_turn_in_the_next() {
    for broadcast in [false, true] {
        let world = world(
            greedy().rounds(2).broadcast(broadcast),
            Labels::Two,
            "1e-6",
            Noise::Drawn,
        );
        let mut net = Net::new(&world, |place| world.ledger(place));
        let away = PartyId(2);
        let keep = |_, _, message: Message| message;
        net.carry(keep, |message| {
            matches!(message, Message::Turned { round: 0, .. })
        });
        net.leave(away);
        let mut turns = 0;
        net.carry(keep, |message| {
            turns += usize::from(matches!(message, Message::Turned { round: 0, .. }));
            turns == OWNERS - 2
        });
        net.come_back(away);
        net.carry(keep, |_| false);
        let outcomes = net.finish();
        let all = outcomes
            .into_iter()
            .map(|outcome| outcome.unwrap().into_model().unwrap());
        let all: Vec<_> = all.collect();
        assert_eq!(all.len(), OWNERS + 1);
        let members = all[usize::from(MINER.0)].ensemble().members.len();
        assert_eq!(members, 2 * OWNERS - 1, "broadcast = {broadcast}");
    }
}
