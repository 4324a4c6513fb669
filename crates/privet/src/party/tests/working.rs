//! What happens to a role while it works, and to a role that fails: nothing counts before it is handled and recorded.

use std::time::Duration;

use super::*;
use crate::wire::{Body, Wire};

/// Waits; on "work" works in three pieces, each of which sends to both others; on "bad" fails after it has drawn a secret. Its result is
/// what it was told, in order.
#[derive(Default)]
pub(super) struct Hub {
    left: u8,
    checkpoints: bool,
    /// The first message is held by digest.
    by_digest: bool,
    deadline: bool,
    /// Asks for the deadline again in its work.
    again: bool,
    log: Vec<String>,
}

const WORK: &[u8] = b"work";
const BAD: &[u8] = b"bad";
pub(super) const END: &[u8] = b"end";
pub(super) const ONE: PartyId = PartyId(1);
pub(super) const OTHER: PartyId = PartyId(2);
const DEADLINE: u64 = 5;

impl Hub {
    fn next(self) -> TurnOutcome<Self> {
        match self.left {
            0 => TurnOutcome::Continue(self),
            _ => TurnOutcome::Working(self),
        }
    }
}

impl Role for Hub {
    type Message = Vec<u8>;
    type Output = Vec<String>;

    fn start(self, context: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        if self.deadline {
            context.deadline(DEADLINE, Duration::from_secs(1));
        }
        Ok(TurnOutcome::Continue(self))
    }

    fn handle(mut self, event: PartyEvent<Vec<u8>>, context: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        self.log.push(match &event {
            PartyEvent::Message { from, message } => {
                format!("{}: {}", from.0, String::from_utf8_lossy(message))
            }
            PartyEvent::Gone(party) => format!("{} gone", party.0),
            PartyEvent::Fault { party, .. } => format!("{} fault", party.0),
            PartyEvent::Deadline(id) => format!("deadline {id}"),
        });
        let PartyEvent::Message { from, message } = event else {
            return Ok(TurnOutcome::Continue(self));
        };
        if message == WORK {
            self.left = 3;
        }
        if message == BAD {
            context.once("a secret", || Ok(vec![1_u8]))?;
            return Err(context.complain(from, "bad"));
        }
        if message == END {
            return Ok(TurnOutcome::Finished(self.log));
        }
        Ok(self.next())
    }

    fn resume(mut self, context: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        self.left -= 1;
        for to in [ONE, OTHER] {
            context.send(to, &vec![self.left])?;
        }
        if self.again {
            context.deadline(DEADLINE, Duration::from_secs(9));
        }
        if self.checkpoints {
            context.checkpoint(&[&[self.left], self.log.join("\n").as_bytes()].concat());
        }
        Ok(self.next())
    }

    fn restore(mut self, state: &[u8], _: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        let state = Vec::from_bytes(state).expect("bytes");
        let (left, log) = state.split_first().expect("a state");
        let log = String::from_utf8(log.to_vec()).expect("text");
        self.log = log.lines().map(String::from).collect();
        self.left = *left;
        Ok(self.next())
    }

    fn waits_for(&self) -> Vec<PartyId> {
        vec![ONE]
    }

    fn most_bytes(&self, _: PartyId) -> Option<u64> {
        Some(1000)
    }

    fn by_digest(&self, _: PartyId) -> bool {
        self.by_digest && self.log.is_empty()
    }
}

pub(super) fn seat(record: &MemoryRecord, hub: Hub) -> Seat<Hub> {
    let record = Box::new(record.clone());
    Seat::take(agreement(3), PartyId(0), record, &quiet, |_| Ok(hub)).expect("a seat")
}

pub(super) fn hub(checkpoints: bool) -> Hub {
    Hub {
        checkpoints,
        ..Hub::default()
    }
}

fn deliver(seat: &mut Seat<Hub>, from: PartyId, number: u64, body: Body) {
    let bytes = frame(&agreement(3), from.0, 0, number, body);
    seat.deliver(from, bytes, &quiet).expect("admitted");
}

pub(super) fn say(seat: &mut Seat<Hub>, from: PartyId, number: u64, text: &[u8]) {
    deliver(seat, from, number, Body::message(text.to_vec().to_bytes()));
}

fn work(seat: &mut Seat<Hub>) {
    while seat.state() == SeatState::Working {
        seat.work(&quiet);
    }
}

/// Numbers and kinds of the frames to one party after it has greeted.
pub(super) fn to(seat: &mut Seat<Hub>, party: PartyId) -> Vec<(u64, Body)> {
    deliver(seat, party, 0, Body::Greeting);
    std::iter::from_fn(|| seat.next_frame_to(party))
        .map(|sent| Frame::from_bytes(sent.bytes).expect("a frame"))
        .map(|frame| (frame.number, frame.body))
        .collect()
}

/// The three ways in which a party goes.
pub(super) fn leave(seat: &mut Seat<Hub>, way: u8) {
    match way {
        0 => seat.gone(ONE, &quiet),
        1 => deliver(seat, ONE, 1, Body::Aborted),
        _ => seat.deliver(ONE, vec![0; 10], &quiet).expect("an event"),
    }
}

const WAYS: [&str; 3] = ["1 gone", "1 gone", "1 fault"];

/// A party that goes while the role works is still sent what the work sends, as the record says; then the role is told.
#[test]
fn a_party_that_leaves_while_the_role_works_is_replayed_exactly() {
    for (way, told) in (0..).zip(WAYS) {
        let record = MemoryRecord::default();
        let mut live = seat(&record, hub(false));
        say(&mut live, ONE, 0, WORK);
        live.work(&quiet);
        leave(&mut live, way);
        for _ in 0..3 {
            // Killed after each piece.
            let again = seat(&record, hub(false));
            assert_eq!(again.state(), live.state(), "{told}");
            live.work(&quiet);
        }
        let mut again = seat(&record, hub(false));
        assert_eq!(to(&mut again, ONE), to(&mut live, ONE), "{told}");
        assert_eq!(to(&mut again, OTHER), to(&mut live, OTHER), "{told}");
        for party in [&mut live, &mut again] {
            say(party, OTHER, 0, END);
        }
        let log = live.finish().expect("a log");
        assert_eq!(log, ["1: work", told, "2: end"]);
        assert_eq!(again.finish().expect("a log"), log);
    }
}

/// A checkpoint holds what was handled. What was only noticed is noticed again.
#[test]
fn a_checkpoint_does_not_lose_what_the_role_was_not_told() {
    for (way, told) in (0..).zip(WAYS) {
        let record = MemoryRecord::default();
        let mut live = seat(&record, hub(true));
        say(&mut live, ONE, 0, WORK);
        live.work(&quiet);
        leave(&mut live, way);
        live.work(&quiet);
        let mut again = seat(&record, hub(true));
        work(&mut again);
        leave(&mut again, way);
        say(&mut again, OTHER, 0, END);
        assert_eq!(again.finish().expect("a log"), ["1: work", told, "2: end"]);
    }
}

fn timed(again: bool) -> Hub {
    Hub {
        deadline: true,
        checkpoints: true,
        again,
        ..Hub::default()
    }
}

#[test]
fn a_checkpoint_does_not_lose_a_deadline() {
    let record = MemoryRecord::default();
    let mut live = seat(&record, timed(false));
    say(&mut live, ONE, 0, WORK);
    live.work(&quiet);
    assert!(live.deadline(DEADLINE, &quiet));
    assert!(!live.deadline(DEADLINE, &quiet), "it passes once");
    live.work(&quiet);
    let mut again = seat(&record, timed(false));
    work(&mut again);
    assert_eq!(again.deadlines().len(), 1, "the transport is asked again");
    assert!(again.deadline(DEADLINE, &quiet));
    say(&mut again, OTHER, 0, END);
    assert_eq!(
        again.finish().expect("a log"),
        ["1: work", "deadline 5", "2: end"]
    );
}

/// A deadline that passed while the role worked, and that its work asks for again, passes when the new time is over.
#[test]
fn a_deadline_that_is_asked_for_again_begins_again() {
    let mut live = seat(&MemoryRecord::default(), timed(true));
    say(&mut live, ONE, 0, WORK);
    live.deadlines();
    assert!(live.deadline(DEADLINE, &quiet));
    work(&mut live);
    assert_eq!(live.deadlines().get(&DEADLINE), Some(&Duration::from_secs(9)));
    say(&mut live, OTHER, 0, b"between");
    assert!(live.deadline(DEADLINE, &quiet));
    say(&mut live, OTHER, 1, END);
    assert_eq!(
        live.finish().expect("a log"),
        ["1: work", "2: between", "deadline 5", "2: end"]
    );
}

/// A turn that fails after it has drawn a secret is in no record: the run goes on if it is told better.
#[test]
fn a_turn_that_fails_leaves_no_secret_in_the_record() {
    let record = MemoryRecord::default();
    let mut live = seat(&record, hub(false));
    let items = record.items();
    say(&mut live, ONE, 0, BAD);
    assert_eq!(live.state(), SeatState::Failed);
    assert_eq!(record.items(), items);
    let mut again = seat(&record, hub(false));
    say(&mut again, ONE, 0, END);
    assert_eq!(again.finish().expect("a log"), ["1: end"]);
}

#[test]
fn a_thousand_faults_are_one_event() {
    let record = MemoryRecord::default();
    let mut live = seat(&record, hub(false));
    for _ in 0..1000 {
        live.deliver(ONE, vec![0; 10], &quiet).expect("an event");
    }
    let faults = record.items();
    let faults = faults.iter().filter(|item| matches!(item, Item::Fault { .. }));
    assert_eq!(faults.count(), 1);
    say(&mut live, OTHER, 0, END);
    assert_eq!(live.finish().expect("a log"), ["1 fault", "2: end"]);
}

/// Whoever broke the rules is told so over every connection, also after a restart and from a checkpoint.
#[test]
fn a_party_that_nothing_is_taken_from_is_told_again() {
    let record = MemoryRecord::default();
    let mut live = seat(&record, hub(true));
    leave(&mut live, 2);
    let told = [(0, Body::Aborted)];
    assert_eq!(to(&mut live, ONE), told);
    assert_eq!(to(&mut live, ONE), told);
    assert_eq!(to(&mut seat(&record, hub(true)), ONE), told);
    say(&mut live, OTHER, 0, WORK);
    work(&mut live);
    assert!(matches!(record.items()[1], Item::Checkpoint(_)));
    assert_eq!(to(&mut live, ONE), told);
    assert_eq!(to(&mut seat(&record, hub(true)), ONE), told);
}

/// After a connection was lost nothing is sent before the other has said what it has.
#[test]
fn nothing_is_sent_before_a_greeting() {
    let mut live = seat(&MemoryRecord::default(), hub(false));
    say(&mut live, ONE, 0, WORK);
    live.work(&quiet);
    live.disconnected(ONE);
    work(&mut live);
    assert!(live.next_frame_to(ONE).is_none());
    assert!(live.ready().all(|party| party != ONE));
    assert_eq!(to(&mut live, ONE).len(), 3, "all that it lacks");
}

fn digesting() -> Hub {
    Hub {
        by_digest: true,
        ..Hub::default()
    }
}

/// A message behind one that only its sender has is not acknowledged either, since a sender drops all before it.
#[test]
fn nothing_is_acknowledged_behind_a_digest() {
    let record = MemoryRecord::default();
    let mut live = seat(&record, digesting());
    say(&mut live, ONE, 0, b"a");
    say(&mut live, ONE, 1, b"b");
    say(&mut live, OTHER, 0, b"c");
    let acknowledged = |seat: &mut Seat<Hub>, party| {
        let frame = Frame::from_bytes(seat.acknowledgement(party)).expect("a frame");
        frame.acknowledged
    };
    assert!(matches!(
        record.items()[2..],
        [Item::Digest { .. }, Item::Received { .. }, Item::Received { .. }]
    ));
    assert_eq!(
        (acknowledged(&mut live, ONE), acknowledged(&mut live, OTHER)),
        (0, 1)
    );
    // A restart waits for the first message. Others say what they cannot know to be in the record, which changes nothing.
    let mut again = seat(&record, digesting());
    assert_eq!((again.received(ONE), again.received(OTHER)), (0, 0));
    for (number, text) in [(0, b"a"), (1, b"b")] {
        say(&mut again, ONE, number, text);
    }
    say(&mut again, OTHER, 0, b"c");
    assert_eq!((again.received(ONE), again.received(OTHER)), (2, 1));
    assert_eq!(
        (acknowledged(&mut again, ONE), acknowledged(&mut again, OTHER)),
        (0, 1)
    );
    say(&mut again, OTHER, 1, WORK);
    work(&mut again);
    assert_eq!(again.state(), SeatState::Waiting);
}

/// A restart that needs a message of a party that is gone cannot go on. Its record is unchanged.
#[test]
fn a_restart_does_not_wait_for_a_party_that_is_gone() {
    let record = MemoryRecord::default();
    let mut live = seat(&record, digesting());
    say(&mut live, ONE, 0, b"a");
    let items = record.items();
    let mut again = seat(&record, digesting());
    assert_eq!(again.state(), SeatState::Waiting);
    again.gone(ONE, &quiet);
    assert_eq!(again.state(), SeatState::Failed);
    assert!(matches!(again.finish(), Err(Error::Peer(e)) if e.parties == ["party 1"]));
    assert_eq!(record.items(), items);
    let mut again = seat(&record, digesting());
    say(&mut again, ONE, 0, b"a");
    assert_eq!(again.state(), SeatState::Waiting);
}

/// The last turn of a role holds nothing by digest: a sender would wait for ever to be told that it is stored.
#[test]
fn a_role_does_not_end_on_a_digest() {
    let record = MemoryRecord::default();
    let mut live = seat(&record, digesting());
    say(&mut live, ONE, 0, END);
    assert!(matches!(live.finish(), Err(Error::Internal(_))));
    assert_eq!(record.items().len(), 2, "and nothing of it is recorded");
}

#[test]
fn nothing_of_a_stranger_is_admitted() {
    let mut live = seat(&MemoryRecord::default(), hub(false));
    let bytes = frame(&agreement(3), 9, 0, 0, Body::message(vec![0; 8]));
    let header = crate::wire::Header::read(bytes.first_chunk().expect("a header")).expect("a header");
    assert!(live.admits(PartyId(9), &header).is_err());
}
