//! Events: drop-outs, late returns, deadlines, faults; agreements; sending to strangers.

use std::collections::BTreeSet;
use std::time::Duration;

use super::*;
use crate::privacy::signature::SigningKey;
use crate::wire::{Body, Wire};

/// A hub that gathers a word of each owner in each of some rounds, and goes on without those that are not there in time; owners
/// that say a word in each round they are asked for.
enum Counting {
    Hub {
        round: u64,
        came: BTreeSet<PartyId>,
        /// How many answered, by round.
        log: Vec<u8>,
    },
    Owner,
}

const HUB: PartyId = PartyId(0);
const ROUNDS: u64 = 3;

impl Counting {
    fn ask(self, context: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        let Self::Hub { round, .. } = &self else {
            return Ok(TurnOutcome::Continue(self));
        };
        for party in context.others() {
            context.send(party, &vec![*round as u8])?;
        }
        context.deadline(*round, Duration::from_secs(10));
        Ok(TurnOutcome::Continue(self))
    }

    fn next(self, context: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        let Self::Hub { round, came, mut log } = self else {
            return Err(Error::internal("only the hub counts"));
        };
        log.push(came.len() as u8);
        if round + 1 < ROUNDS {
            let next = Self::Hub {
                round: round + 1,
                came: BTreeSet::new(),
                log,
            };
            return next.ask(context);
        }
        for party in context.others() {
            context.send(party, &vec![])?;
        }
        Ok(TurnOutcome::Finished(log))
    }
}

impl Role for Counting {
    type Message = Vec<u8>;
    type Output = Vec<u8>;

    fn start(self, context: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        self.ask(context)
    }

    fn handle(mut self, event: PartyEvent<Vec<u8>>, context: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        let parties = context.others().len();
        match &mut self {
            Self::Owner => {
                let (from, message) = event.message(context)?;
                if message.is_empty() {
                    return Ok(TurnOutcome::Finished(message));
                }
                context.send(from, &message)?;
            }
            Self::Hub { round, came, .. } => match event {
                PartyEvent::Message { from, message } => {
                    if message == [*round as u8] {
                        came.insert(from);
                    }
                    if came.len() == parties {
                        return self.next(context);
                    }
                }
                PartyEvent::Deadline(id) if id == *round => return self.next(context),
                PartyEvent::Deadline(_) | PartyEvent::Gone(_) | PartyEvent::Fault { .. } => {}
            },
        }
        Ok(TurnOutcome::Continue(self))
    }

    fn resume(self, _: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        Err(Error::internal("there is no work"))
    }

    fn waits_for(&self) -> Vec<PartyId> {
        vec![HUB]
    }

    fn most_bytes(&self, _: PartyId) -> Option<u64> {
        Some(20)
    }
}

fn simulation(parties: usize) -> Simulation<'static, Counting> {
    let terms = Terms {
        edges: Edges::Hub(HUB),
        ..agreement(parties).terms().clone()
    };
    Simulation::of(Agreement::of(terms).expect("terms"), |party, _| {
        Ok(match party {
            HUB => Counting::Hub {
                round: 0,
                came: BTreeSet::new(),
                log: Vec::new(),
            },
            _ => Counting::Owner,
        })
    })
}

fn log(done: &Simulated<Vec<u8>>) -> &[u8] {
    done.outcomes[0].as_deref().expect("the hub ends well")
}

#[test]
fn a_role_goes_on_without_those_that_leave() {
    let whole = simulation(5).run().expect("a run");
    assert_eq!((log(&whole), whole.waited), (&[4, 4, 4][..], Duration::ZERO));
    for at in 0..whole.steps {
        let done = simulation(5)
            .fault(at, Fault::Leave(PartyId(2)))
            .run()
            .expect("a run");
        let counted = log(&done);
        assert!(
            counted.iter().all(|count| (3..=4).contains(count)),
            "{at}: {counted:?}"
        );
        assert!(at > 8 || counted[2] == 3, "{at}: {counted:?}");
        assert!(
            done.waited > Duration::ZERO || counted == [4, 4, 4],
            "deadlines have passed"
        );
        // Whoever is gone restarts nobody; the hub restarts and has the same log.
        let again = simulation(5)
            .fault(at, Fault::Leave(PartyId(2)))
            .fault(at + 3, Fault::Restart(HUB))
            .run()
            .expect("a run");
        assert!(log(&again).iter().all(|count| (3..=4).contains(count)));
    }
}

/// A hub that is built again after a drop-out, a deadline and a fault has handled the same events in the same order.
#[test]
fn events_are_replayed() {
    let simulation = simulation(4)
        .fault(2, Fault::Leave(PartyId(1)))
        .fault(4, Fault::Forge(vec![9]));
    let records = simulation.records();
    let done = simulation.run().expect("a run");
    let items = records[0].items();
    assert!(items.contains(&Item::Gone(PartyId(1))));
    assert!(items.iter().any(|item| matches!(item, Item::Deadline(_))));
    let terms = Terms {
        edges: Edges::Hub(HUB),
        ..agreement(4).terms().clone()
    };
    let seat = Seat::take(
        Agreement::of(terms).expect("terms"),
        HUB,
        Box::new(MemoryRecord::of(items)),
        &quiet,
        |_| {
            Ok(Counting::Hub {
                round: 0,
                came: BTreeSet::new(),
                log: Vec::new(),
            })
        },
    );
    assert_eq!(seat.expect("a seat").finish().ok().as_deref(), Some(log(&done)));
}

#[test]
fn whoever_comes_back_late_is_sent_what_it_lacks() {
    for at in 0..12 {
        for fault in [Fault::Return(PartyId(1)), Fault::Stall(PartyId(1))] {
            let done = simulation(4).fault(at, fault.clone()).run().expect("a run");
            let counted = log(&done);
            assert!(counted.iter().all(|count| (2..=3).contains(count)), "{counted:?}");
            assert!(done.late.len() <= 3, "{:?}", done.late);
            if fault == Fault::Stall(PartyId(1)) {
                assert!(done.outcomes[1].is_ok(), "{at}: {:?}", done.outcomes[1]);
            }
        }
    }
}

#[test]
fn a_deadline_that_passes_early_ends_a_round() {
    let done = simulation(4).fault(1, Fault::Hurry(HUB)).run().expect("a run");
    assert!(log(&done)[0] < 3);
    // Frames that come too late are of an earlier round.
    assert_eq!(log(&done)[1..], [3, 3]);
}

/// One party that sends nonsense is a fault that the hub handles; nothing more is taken from it.
#[test]
fn one_bad_party_does_not_end_a_run_that_goes_on_without_it() {
    let whole = simulation(4).run().expect("a run");
    for at in 0..whole.steps {
        for fault in [
            Fault::Forge(vec![1, 2]),
            Fault::Flip(40),
            Fault::Foreign,
            Fault::Future,
            Fault::Truncate(3),
        ] {
            let done = simulation(4).fault(at, fault).run().expect("a run");
            if done.outcomes[0].is_ok() {
                assert!(log(&done).iter().all(|count| (2..=3).contains(count)));
            }
            let ended_well = done.outcomes.iter().filter(|outcome| outcome.is_ok()).count();
            assert!(ended_well >= 3, "{at}: {:?}", done.outcomes);
        }
    }
}

/// Sends to whom it should not, or more than was agreed on.
struct Rude(u16, usize);

impl Role for Rude {
    type Message = Vec<u8>;
    type Output = ();

    fn start(self, context: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        context.send(PartyId(self.0), &vec![0; self.1])?;
        Ok(TurnOutcome::Finished(()))
    }

    fn handle(self, _: PartyEvent<Vec<u8>>, _: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        Ok(TurnOutcome::Continue(self))
    }

    fn resume(self, _: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        Ok(TurnOutcome::Continue(self))
    }

    fn waits_for(&self) -> Vec<PartyId> {
        Vec::new()
    }

    fn most_bytes(&self, _: PartyId) -> Option<u64> {
        None
    }
}

#[test]
fn sending_to_a_stranger_or_over_a_limit_is_an_error() {
    let terms = Terms {
        edges: Edges::Hub(HUB),
        limits: Limits {
            message_bytes: 100,
            ..Limits::default()
        },
        ..agreement(3).terms().clone()
    };
    let agreement = Agreement::of(terms).expect("terms");
    let sends = |to, length| {
        let record = Box::new(MemoryRecord::default());
        let make = |_| Ok(Rude(to, length));
        Seat::take(agreement.clone(), PartyId(1), record, &quiet, make).map(Seat::finish)
    };
    assert!(matches!(sends(0, 92), Ok(Ok(()))));
    assert!(
        matches!(sends(0, 93), Ok(Err(Error::Parameter(_)))),
        "8 bytes say the length"
    );
    for stranger in [1, 2, 3, u16::MAX] {
        assert!(
            matches!(sends(stranger, 1), Ok(Err(Error::Misuse(_)))),
            "{stranger}"
        );
    }
}

/// What an agreement says is in its digest, and so in every frame.
#[test]
fn every_term_changes_the_digest() {
    let identity = |n: u8| Some(SigningKey::from_bytes(&[n; 32]).public());
    let mut terms = agreement(3).terms().clone();
    for (member, n) in terms.parties.iter_mut().zip(1..) {
        member.identity = identity(n);
    }
    let of = |change: &dyn Fn(&mut Terms)| {
        let mut changed = terms.clone();
        change(&mut changed);
        let agreement = Agreement::of(changed).expect("terms");
        assert_eq!(
            Terms::from_bytes(&agreement.terms().to_bytes()).as_ref(),
            Ok(agreement.terms())
        );
        agreement.digest()
    };
    let digests: BTreeSet<[u8; 32]> = [
        of(&|_| {}),
        of(&|terms| terms.run = RunId([8; 16])),
        of(&|terms| terms.job = [1; 32]),
        of(&|terms| terms.edges = Edges::Hub(PartyId(0))),
        of(&|terms| terms.edges = Edges::Hub(PartyId(1))),
        of(&|terms| terms.limits.message_bytes = 7),
        of(&|terms| terms.limits.most_ids = Some(7)),
        of(&|terms| terms.parties[0].role = "miner".into()),
        of(&|terms| terms.parties[0].name = "miner".into()),
        of(&|terms| terms.parties[1].identity = None),
        of(&|terms| terms.parties[1].identity = identity(9)),
        of(&|terms| terms.parties.swap(0, 2)),
    ]
    .into();
    assert_eq!(digests.len(), 12);
}

/// Two names that look alike would be taken for one party.
#[test]
fn names_of_an_agreement_can_be_seen() {
    let named = |name: &str| Agreement::new(RunId([0; 16]), vec!["bank".into(), name.into()]);
    assert!(named("b\u{e4}nk").is_ok());
    let long = "\u{e4}".repeat(51);
    for wrong in [
        "",
        " bank",
        "ba\nnk",
        "ba\u{200b}nk",
        "\u{202e}knab",
        "bank",
        &long,
    ] {
        assert!(matches!(named(wrong), Err(Error::Parameter(_))), "{wrong:?}");
        let mut terms = agreement(2).terms().clone();
        terms.parties[0].role = wrong.into();
        assert_eq!(
            Agreement::of(terms).is_ok(),
            ["", "bank"].contains(&wrong),
            "{wrong:?}"
        );
    }
}

#[test]
fn an_identity_is_of_one_party() {
    let mut twice = agreement(2).terms().clone();
    for member in &mut twice.parties {
        member.identity = Some(SigningKey::from_bytes(&[1; 32]).public());
    }
    assert!(Agreement::of(twice).is_err());
}

/// A sealing key belongs to one run and one party: it is not accepted for another, and no two parties have the same.
#[test]
fn a_sealing_key_is_of_one_run_and_one_party() {
    let identities = [1, 2, 3].map(|n| SigningKey::from_bytes(&[n; 32]));
    let of = |run: u8| {
        let mut terms = agreement(3).terms().clone();
        terms.run = RunId([run; 16]);
        for (member, identity) in terms.parties.iter_mut().zip(&identities) {
            member.identity = Some(identity.public());
        }
        Agreement::of(terms).expect("terms")
    };
    let (here, other_run) = (of(1), of(2));
    let key = |party: u16, agreement: &Agreement, sealing: u8| {
        let key = RunKey::sign(
            &identities[usize::from(party)],
            agreement,
            PartyId(party),
            [sealing; 32],
        );
        assert_eq!(RunKey::from_bytes(&key.to_bytes()).as_ref(), Ok(&key));
        key
    };
    let refused = |keys: &RunKeys, from: u16, key: &RunKey| {
        let before = keys.clone();
        let mut keys = keys.clone();
        let refused = keys.insert(&here, PartyId(from), key);
        assert!(matches!(refused, Err(Error::Peer(_))));
        assert_eq!(keys, before);
    };
    let mut keys = RunKeys::default();
    keys.insert(&here, PartyId(0), &key(0, &here, 7)).expect("a key");
    assert_eq!(keys.get(PartyId(0)), Some(&[7; 32]));
    // Said again it is the same; another, of another run, of another party, the same as another's, unsigned.
    keys.insert(&here, PartyId(0), &key(0, &here, 7)).expect("a key");
    refused(&keys, 0, &key(0, &here, 8));
    refused(&keys, 1, &key(1, &other_run, 8));
    refused(&keys, 2, &key(1, &here, 8));
    refused(&keys, 1, &key(1, &here, 7));
    let mut bytes = key(1, &here, 8).to_bytes();
    bytes[0] ^= 1;
    refused(&keys, 1, &RunKey::from_bytes(&bytes).expect("a key"));
    refused(&keys, 9, &key(1, &here, 8));
    // Nothing can be shared in secret with a key of small order, whoever signed it.
    refused(&keys, 1, &key(1, &here, 0));
    keys.insert(&here, PartyId(1), &key(1, &here, 8)).expect("a key");
}

#[test]
fn ten_thousand_parties_agree_and_one_more_do_not() {
    let names = |count: usize| (0..count).map(|n| n.to_string()).collect();
    let many = Agreement::new(RunId([0; 16]), names(MOST_PARTIES)).expect("terms");
    assert_eq!(many.neighbours(PartyId(5)).count(), MOST_PARTIES - 1);
    assert!(Agreement::new(RunId([0; 16]), names(MOST_PARTIES + 1)).is_err());
    assert!(Agreement::new(RunId([0; 16]), names(1)).is_err());
}

/// Frames of those who do not speak to a party change nothing.
#[test]
fn a_stranger_does_not_disturb() {
    let terms = Terms {
        edges: Edges::Hub(HUB),
        ..agreement(3).terms().clone()
    };
    let agreement = Agreement::of(terms).expect("terms");
    let record = Box::new(MemoryRecord::default());
    let mut seat = Seat::take(agreement.clone(), PartyId(1), record, &quiet, |_| {
        Ok(Counting::Owner)
    })
    .expect("a seat");
    for stranger in [1, 2, 3] {
        let bytes = frame(&agreement, stranger, 1, 0, Body::Aborted);
        let refused = seat.deliver(PartyId(stranger), bytes, &quiet);
        assert!(matches!(refused, Err(Error::Peer(_))));
        assert_eq!(seat.state(), SeatState::Waiting);
    }
}

#[test]
fn seats_can_be_moved_to_other_threads() {
    fn send<T: Send>() {}
    send::<Seat<Counting>>();
}
