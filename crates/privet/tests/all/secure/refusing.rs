//! What a party refuses of another that does not follow the protocol.

use privet::Error;
use privet::boost::WholeRates;
use privet::data::Schema;
use privet::data::schema::{AnyColumn, label, number};
use privet::learner::StumpRule;
use privet::learner::tree::Child;
use privet::party::SeatState;
use privet::privacy::journal::Event;
use privet::setting::secure::{
    AttributeChoice, Classifier, CoefficientRule, INITIATOR, Message, Outcome, Plan, RESPONDER, Responder,
    Secure, Voter, VotingNode, VotingTree,
};
use privet::wire::{Body, Wire};
use privet_testkit::faults::AppendFault;

use super::world::{Net, World, lines};

fn is_about(outcome: &Result<Outcome, Error>, name: &str) -> bool {
    matches!(outcome, Err(Error::Peer(e)) if e.parties == [name])
}

fn world(secure: privet::parameters::Builder<Secure>) -> World {
    let secure = secure.rounds(2).bins(4).build().unwrap();
    World::new(&secure, [lines(12, 1), lines(9, 2)])
}

/// Each message of the responder is changed in every way that its type allows: the initiator names it.
#[test]
fn messages_that_cannot_be_are_refused() {
    type Change = fn(Message) -> Option<Message>;
    let changes: [(Builder, Change); 9] = [
        (seed, |message| match message {
            Message::Voter(Voter::Stump(call)) => Some(Message::Voter(Voter::Stump(privet::learner::Call {
                rule: StumpRule::AtMost {
                    slot: 0,
                    besides: vec![0],
                },
                left: 0,
                right: 1,
                ..call
            }))),
            _ => None,
        }),
        (seed, |message| match message {
            Message::Voter(Voter::Stump(call)) => Some(Message::Voter(Voter::Stump(privet::learner::Call {
                feature: call.feature + 1,
                ..call
            }))),
            _ => None,
        }),
        (seed, |message| match message {
            Message::Voter(Voter::Stump(call)) => Some(Message::Voter(Voter::Stump(privet::learner::Call {
                rule: StumpRule::UpTo {
                    place: 0.5,
                    missing: 0,
                    with_missing: false,
                },
                ..call
            }))),
            _ => None,
        }),
        (seed, |message| match message {
            Message::Voter(Voter::Stump(call)) => Some(Message::Voter(Voter::Stump(privet::learner::Call {
                rule: StumpRule::All,
                left: 0,
                right: 1,
                ..call
            }))),
            _ => None,
        }),
        (seed, |message| match message {
            Message::Voter(_) => Some(Message::Rates(WholeRates::default())),
            _ => None,
        }),
        (seed, |message| match message {
            Message::Begin { transfer, .. } => Some(Message::Begin {
                rows: Some(3),
                transfer,
            }),
            _ => None,
        }),
        (meeting, |message| match message {
            Message::Garbled(mut parts) => {
                parts.pop();
                Some(Message::Garbled(parts))
            }
            _ => None,
        }),
        (meeting, |message| match message {
            Message::Garbled(mut parts) => {
                parts.push(parts[0].clone());
                Some(Message::Garbled(parts))
            }
            _ => None,
        }),
        (meeting, |message| match message {
            Message::Begin { rows, mut transfer } => {
                transfer.truncate(40);
                Some(Message::Begin { rows, transfer })
            }
            _ => None,
        }),
    ];
    for (number, (secure, change)) in changes.into_iter().enumerate() {
        let mut net = Net::new(&world(secure()));
        let mut changed = false;
        net.carry(|from, message| {
            if from == RESPONDER
                && let Some(other) = change(message.clone())
            {
                changed = true;
                return Some(other);
            }
            Some(message)
        });
        assert!(changed, "{number}");
        assert!(is_about(&net.finish()[0], "bob"), "{number}");
    }
}

type Builder = fn() -> privet::parameters::Builder<Secure>;

fn seed() -> privet::parameters::Builder<Secure> {
    Secure::builder()
}

fn meeting() -> privet::parameters::Builder<Secure> {
    Secure::builder().attribute(AttributeChoice::Rendezvous)
}

/// What the responder refuses of the initiator.
#[test]
fn choices_and_outcomes_that_cannot_be_are_refused() {
    for kind in 0..3 {
        let mut net = Net::new(&world(meeting()));
        let mut changed = false;
        net.carry(|from, message| match (kind, message) {
            (0, Message::Choices(mut parts)) if from == INITIATOR => {
                changed = true;
                parts[0].truncate(20);
                Some(Message::Choices(parts))
            }
            (1, Message::Outcome(mut outcome)) => {
                changed = true;
                outcome.pop();
                Some(Message::Outcome(outcome))
            }
            (2, Message::Choices(_)) => {
                changed = true;
                Some(Message::Outcome(Vec::new()))
            }
            (_, message) => Some(message),
        });
        assert!(changed, "{kind}");
        assert!(is_about(&net.finish()[1], "ann"), "{kind}");
    }
}

/// An attribute for which a party has no good stump is not one to meet at, whatever the other says came out: else attributes could be tried without end.
#[test]
fn a_meeting_where_a_party_is_not_free_is_refused() {
    for attribute in [AttributeChoice::Rendezvous, AttributeChoice::RendezvousByHalves] {
        let secure = Secure::builder()
            .attribute(attribute)
            .retry(true)
            .rounds(2)
            .bins(4);
        // Without rows there is no good stump; with one attribute a single bit says that both meet there.
        let columns: [AnyColumn; 2] = [number("x", -3.0..=2.0).into(), label("y", ["a", "b"]).into()];
        let schema = Schema::builder("rows").columns(columns).build().unwrap();
        let rows = vec![vec!["1".into(), "a".into()], vec!["-1".into(), "b".into()]];
        let world = World::of(&schema, &secure.build().unwrap(), [rows, Vec::new()]);
        let mut net = Net::new(&world);
        net.carry(|_, message| match message {
            Message::Outcome(mut outcome) => {
                // The first bit after the head says that both meet.
                outcome[17] |= 1;
                Some(Message::Outcome(outcome))
            }
            // Nothing else is out of turn.
            Message::Finish(_) => None,
            message => Some(message),
        });
        assert_eq!(net.state(RESPONDER), SeatState::Failed, "{attribute:?}");
        assert!(is_about(&net.finish()[1], "ann"), "{attribute:?}");
    }
}

/// A joint computation has a largest size: a plan beyond it is refused, not the run.
#[test]
fn a_joint_choice_from_too_many_stumps_is_refused_by_the_plan() {
    let plan = |features: usize, attribute| {
        let names = (0..features).map(|place| format!("x{place}"));
        let columns = names.map(|name| number(name, 0.0..=1.0).bins(256).into());
        let columns = columns.chain([AnyColumn::from(label("y", ["a", "b"]))]);
        let schema = Schema::builder("rows").columns(columns).build().unwrap();
        let secure = Secure::builder().bins(256).attribute(attribute);
        let secure = secure.classifier(Classifier::Joint).build().unwrap();
        secure.plan(&schema).map(|plan| plan.most_candidates())
    };
    assert_eq!(plan(128, AttributeChoice::All).unwrap(), 65_282);
    assert_eq!(plan(129, AttributeChoice::Seed).unwrap(), 512);
    let refused = plan(129, AttributeChoice::All);
    assert!(matches!(&refused, Err(Error::Parameter(_))), "{refused:?}");
}

/// Circuits have numbers of 32 bits, and none serves twice: a plan that may need more is refused; and a label that is a number.
#[test]
fn circuits_that_cannot_be_numbered_are_refused_by_the_plan() {
    let schema = |classes: usize| {
        let columns = (0..100).map(|column| AnyColumn::from(number(format!("x{column}"), 0.0..=1.0).bins(2)));
        let values: Vec<String> = (0..classes).map(|class| format!("c{class}")).collect();
        let columns: Vec<AnyColumn> = columns.chain([AnyColumn::from(label("y", values))]).collect();
        Schema::builder("rows").columns(columns).build().unwrap()
    };
    let secure = |retry: bool| {
        let secure = Secure::builder().rounds(10_000).retry(retry);
        secure
            .attribute(AttributeChoice::RendezvousByHalves)
            .build()
            .unwrap()
    };
    let refused = secure(true).plan(&schema(1_000)).unwrap_err();
    assert_eq!(privet::parameters::key(&refused), Some("rounds"), "{refused}");
    assert!(secure(false).plan(&schema(1_000)).is_ok());
    assert!(secure(true).plan(&schema(2)).is_ok());
    let columns: [AnyColumn; 2] = [number("x", 0.0..=1.0).into(), label("y", 0.0..=1.0).into()];
    let numeric = Schema::builder("rows").columns(columns).build().unwrap();
    let refused = secure(false).plan(&numeric).unwrap_err();
    assert_eq!(privet::parameters::key(&refused), Some("schema"), "{refused}");
}

/// Parties whose labels have different numbers of classes have different agreements.
#[test]
fn the_number_of_classes_is_agreed_on() {
    let secure = Secure::builder().rounds(1).build().unwrap();
    let digest = |classes: usize| {
        let plan = secure.plan(&super::world::schema_of(classes)).unwrap();
        let agreement = plan.agreement(privet::wire::RunId([3; 16]), &["ann", "bob"], &[None, None]);
        agreement.unwrap().digest()
    };
    assert_ne!(digest(2), digest(3));
    assert_ne!(digest(3), digest(4));
}

/// The other party stops in the middle of a round: the run ends with an error that names it, and the ledger lists what may have been shown.
#[test]
fn a_party_that_stops_ends_the_run_and_what_was_shown_stands_in_the_ledger() {
    let world = world(meeting().coefficient(CoefficientRule::Rounded));
    let mut net = Net::new(&world);
    let mut seen = 0;
    net.carry(|_, message| {
        seen += usize::from(matches!(message, Message::Garbled(_)));
        (seen < 2).then_some(message)
    });
    net.leave(RESPONDER, INITIATOR);
    net.carry(|_, message| Some(message));
    assert!(is_about(&net.finish()[0], "bob"));
    let leaks = world.journals[0].entries();
    let leaks = leaks
        .iter()
        .filter(|entry| matches!(entry.event(), Event::Leak { .. }));
    assert_eq!(leaks.count(), world.plan.items().len());
}

/// Whatever fails at a party, and whenever, the other hears one fixed word and nothing of the reason.
#[test]
fn what_a_peer_sees_of_a_local_failure_is_one_fixed_word() {
    let mut heard = std::collections::BTreeSet::new();
    for failing in [INITIATOR, RESPONDER] {
        let items = world(seed()).plan.items().len() as u64;
        for append in 1..=items {
            let world = world(seed());
            let place = usize::from(failing.0);
            world.journals[place].fail_at(append, AppendFault::Refused);
            let mut net = Net::new(&world);
            net.carry(|_, message| Some(message));
            assert_eq!(
                net.last_body(failing),
                Some(&Body::Aborted),
                "{failing:?} {append}"
            );
            let outcomes = net.finish();
            assert!(
                matches!(&outcomes[place], Err(Error::Journal(_))),
                "{failing:?} {append}"
            );
            let Err(Error::Peer(e)) = &outcomes[1 - place] else {
                panic!("{failing:?} {append}");
            };
            assert_eq!(e.parties, [super::world::NAMES[place]]);
            heard.insert(e.what.clone());
        }
    }
    assert_eq!(heard.len(), 1, "{heard:?}");
}

/// Trees that a party could not have grown are refused.
#[test]
fn trees_that_cannot_be_are_refused() {
    type Change = fn(&mut VotingTree);
    let changes: [Change; 6] = [
        |tree| tree.leaves.clear(),
        |tree| tree.leaves.push(1),
        |tree| tree.nodes[0].feature = 9,
        |tree| tree.nodes[0].left = Child::Node(0),
        |tree| tree.nodes[0].rule = StumpRule::All,
        // Three in a row, where two may be.
        |tree| {
            let node = tree.nodes[0].clone();
            let deeper = |left, right| VotingNode {
                left,
                right,
                ..node.clone()
            };
            tree.nodes = vec![
                deeper(Child::Node(1), Child::Leaf(0)),
                deeper(Child::Node(2), Child::Leaf(1)),
                deeper(Child::Leaf(2), Child::Leaf(3)),
            ];
            tree.leaves = vec![0, 1, 0, 1];
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let secure = Secure::builder().attribute(AttributeChoice::All).depth(2);
        let mut net = Net::new(&world(secure));
        let mut changed = false;
        net.carry(|from, message| match message {
            Message::Voter(Voter::Tree(mut tree)) if from == RESPONDER && !tree.nodes.is_empty() => {
                changed = true;
                change(&mut tree);
                Some(Message::Voter(Voter::Tree(tree)))
            }
            message => Some(message),
        });
        assert!(changed, "{number}");
        assert!(is_about(&net.finish()[0], "bob"), "{number}");
    }
}

/// Schemas that differ are refused before anything is shown.
#[test]
fn different_schemas_are_refused_before_anything_is_shown() {
    let world = world(seed());
    let columns: [AnyColumn; 2] = [number("x", -3.0..=2.0).into(), label("y", ["a", "b"]).into()];
    let other = Schema::builder("rows").columns(columns).build().unwrap();
    let other: Plan = world.plan.secure().plan(&other).unwrap();
    let simulation = privet::party::Simulation::of(world.agreement.clone(), |party, run| match party {
        INITIATOR => world.make(party, &run),
        _ => {
            let table = super::world::table(&other, &[vec!["1".into(), "a".into()]]);
            let ledger = privet::privacy::Ledger::open(
                "rows",
                privet::privacy::AddRemove::row(),
                world.journals[1].clone(),
                privet::privacy::Randomness::from_os()?,
            )?;
            Responder::party(other.clone(), table, ledger, &run, None)
        }
    });
    let ended = simulation.run().unwrap();
    assert!(
        ended
            .outcomes
            .iter()
            .all(|outcome| matches!(outcome, Err(Error::Data(_)))),
        "{:?}",
        ended.outcomes
    );
    for journal in &world.journals {
        assert!(
            !journal
                .entries()
                .iter()
                .any(|entry| matches!(entry.event(), Event::Leak { .. }))
        );
    }
}

/// Every message is read back as it was written, and no cut of one is another.
#[test]
fn messages_are_read_back_and_cuts_are_not() {
    let mut kinds = std::collections::BTreeSet::new();
    // Where both meet is chosen by chance, and their stumps may be opposite there in all rounds: rates come with public coins.
    for secure in [seed(), meeting()] {
        let mut net = Net::new(&world(secure));
        net.carry(|_, message| {
            let bytes = message.to_bytes();
            assert_eq!(Message::from_bytes(&bytes).unwrap(), message);
            if kinds.insert(message.name()) {
                for length in 0..bytes.len() {
                    assert!(
                        Message::from_bytes(&bytes[..length]).is_err(),
                        "{} {length}",
                        message.name()
                    );
                }
            }
            Some(message)
        });
        assert!(net.finish().iter().all(Result::is_ok));
    }
    // All but a refusal.
    assert_eq!(kinds.len(), 8, "{kinds:?}");
}
