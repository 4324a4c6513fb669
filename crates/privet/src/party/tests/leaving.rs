//! Parties that have ended, have left or come back: what they are told, and what is held for them.

use super::streaming::{CHUNK, Receiving, Streaming};
use super::working::{END, ONE, OTHER, hub, leave, say, seat, to};
use super::*;
use crate::wire::{Body, PART, Wire};

fn streaming(record: &MemoryRecord, me: u16, role: Streaming) -> Seat<Streaming> {
    let record = Box::new(record.clone());
    Seat::take(agreement(2), PartyId(me), record, &quiet, |_| Ok(role)).expect("a seat")
}

fn sender(record: &MemoryRecord, left: u64) -> Seat<Streaming> {
    streaming(record, 0, Streaming::Sender { left, length: CHUNK })
}

/// A party that has ended stays connected until it is acknowledged. What is said to it meanwhile is not held, however long it is.
#[test]
fn a_party_that_has_ended_takes_no_part_of_a_message() {
    let part = |number: u64| {
        let part = Body::Part {
            total: 1 << 40,
            at: number * PART as u64,
            bytes: vec![0; PART],
        };
        frame(&agreement(2), 1, 0, number, part)
    };
    let mut finished = sender(&MemoryRecord::default(), 1);
    finished.work(&quiet);
    assert_eq!(finished.state(), SeatState::Finished);
    let receiving = Receiving {
        came: 0,
        of: 2,
        sum: 0,
        by_digest: false,
        every: 100,
    };
    let mut failed = streaming(&MemoryRecord::default(), 0, Streaming::Receiver(receiving));
    failed.gone(PartyId(1), &quiet);
    assert_eq!(failed.state(), SeatState::Failed);
    for mut seat in [finished, failed] {
        for number in 0..3 {
            let refused = seat.deliver(PartyId(1), part(number), &quiet);
            assert!(matches!(refused, Err(Error::Peer(_))), "{number}");
            assert_eq!(seat.received(PartyId(1)), 0);
        }
    }
}

/// A role that works is told later that a party has gone. What it sends there meanwhile is not held without a bound; the party that
/// comes back for it is told that it is too late.
#[test]
fn what_is_sent_to_a_party_that_has_gone_is_bounded() {
    let record = MemoryRecord::default();
    let mut seat = sender(&record, 100);
    seat.work(&quiet);
    seat.gone(PartyId(1), &quiet);
    let held = |record: &MemoryRecord| -> usize {
        let items = record.items();
        items.iter().map(|item| item.to_bytes().len()).sum()
    };
    let greeting = |count| frame(&agreement(2), 1, 0, count, Body::Greeting);
    let mut most = 0;
    for _ in 0..98 {
        assert_eq!(seat.state(), SeatState::Working, "nobody is waited for");
        seat.work(&quiet);
        most = most.max(held(&record));
    }
    assert!(most < WINDOW as usize + 3 * CHUNK, "{most} bytes");
    // It is the same after a restart. What it still can be sent, it is sent.
    let again = sender(&record, 100);
    for mut seat in [seat, again] {
        seat.deliver(PartyId(1), greeting(98), &quiet)
            .expect("a greeting");
        assert_eq!(sent(&mut seat).iter().map(|frame| frame.number).next(), Some(98));
        seat.disconnected(PartyId(1));
        seat.deliver(PartyId(1), greeting(1), &quiet).expect("an event");
        seat.deliver(PartyId(1), greeting(1), &quiet).expect("told again");
        seat.work(&quiet);
        assert_eq!(seat.state(), SeatState::Finished);
    }
}

/// A party that gave up is gone; made again from its record it goes on with its next message.
#[test]
fn a_party_that_gave_up_can_come_back() {
    let record = MemoryRecord::default();
    let mut live = seat(&record, hub(false));
    say(&mut live, ONE, 0, b"a");
    leave(&mut live, 1);
    leave(&mut live, 1);
    live.disconnected(ONE);
    assert_eq!(to(&mut live, ONE), []);
    say(&mut live, ONE, 1, b"b");
    say(&mut live, OTHER, 0, END);
    let log = live.finish().expect("a log");
    assert_eq!(log, ["1: a", "1 gone", "1: b", "2: end"]);
    assert_eq!(seat(&record, hub(false)).finish().expect("a log"), log);
}

fn receiving(of: u64) -> Streaming {
    Streaming::Receiver(Receiving {
        came: 0,
        of,
        sum: 0,
        by_digest: false,
        every: 1,
    })
}

/// A connection that is lost between two parts of a message, and a receiver that is killed there.
#[test]
fn a_message_that_was_cut_off_goes_on_or_begins_again() {
    let message = vec![7; 2 * PART + 9].to_bytes();
    let part = |number: u64| {
        let at = number as usize * PART;
        let bytes = message[at..message.len().min(at + PART)].to_vec();
        let total = message.len() as u64;
        let at = at as u64;
        frame(&agreement(2), 1, 0, number, Body::Part { total, at, bytes })
    };
    let record = MemoryRecord::default();
    let mut live = streaming(&record, 0, receiving(2));
    for number in 0..2 {
        live.deliver(PartyId(1), part(number), &quiet).expect("a part");
    }
    live.disconnected(PartyId(1));
    let before = record.items();
    let asks = |seat: &mut Seat<Streaming>| {
        Frame::from_bytes(seat.greeting(PartyId(1)))
            .expect("a frame")
            .number
    };
    assert_eq!(asks(&mut live), 2, "it lacks the last part");
    live.deliver(PartyId(1), part(2), &quiet).expect("a part");
    assert_eq!(live.received(PartyId(1)), 3);
    let mut again = streaming(&MemoryRecord::of(before), 0, receiving(1));
    assert_eq!(asks(&mut again), 0, "parts in memory are lost");
    (0..3).for_each(|number| again.deliver(PartyId(1), part(number), &quiet).expect("a part"));
    assert!(again.finish().is_ok());
}

/// A checkpoint between two parts of another party's message does not hold the first, and does not acknowledge it.
#[test]
fn a_checkpoint_counts_no_part_of_a_message() {
    let parties = agreement(3);
    let long = vec![1; PART].to_bytes();
    let part = |number: u64| {
        let at = number as usize * PART;
        let bytes = long[at..long.len().min(at + PART)].to_vec();
        let (total, at) = (long.len() as u64, at as u64);
        frame(&parties, 1, 0, number, Body::Part { total, at, bytes })
    };
    let record = MemoryRecord::default();
    let take = || {
        let record = Box::new(record.clone());
        Seat::take(parties.clone(), PartyId(0), record, &quiet, |_| Ok(receiving(2))).expect("a seat")
    };
    let stored = |seat: &mut Seat<Streaming>| {
        Frame::from_bytes(seat.acknowledgement(ONE))
            .expect("a frame")
            .acknowledged
    };
    let mut live = take();
    live.deliver(ONE, part(0), &quiet).expect("a part");
    let short = Body::message(vec![2; 5].to_bytes());
    live.deliver(OTHER, frame(&parties, 2, 0, 0, short), &quiet)
        .expect("a message");
    assert!(matches!(record.items()[1], Item::Checkpoint(_)));
    assert_eq!((live.received(ONE), stored(&mut live)), (1, 0));
    let mut again = take();
    assert_eq!((again.received(ONE), again.received(OTHER)), (0, 1));
    assert_eq!(stored(&mut again), 0);
    (0..2).for_each(|number| again.deliver(ONE, part(number), &quiet).expect("a part"));
    live.deliver(ONE, part(1), &quiet).expect("a part");
    let outcome = live.finish().ok();
    assert!(outcome.is_some());
    // The first has told the record that it is over; the second did the same from the checkpoint.
    assert_eq!(again.finish().ok(), outcome);
}

/// A role that says something when it takes its state back would say it after every restart.
struct Talking;

impl Role for Talking {
    type Message = Vec<u8>;
    type Output = ();

    fn start(self, context: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        context.checkpoint(&vec![1_u8]);
        Ok(TurnOutcome::Continue(self))
    }

    fn handle(self, _: PartyEvent<Vec<u8>>, _: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        Ok(TurnOutcome::Finished(()))
    }

    fn resume(self, _: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        Err(Error::internal("there is no work"))
    }

    fn restore(self, state: &[u8], context: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        match Vec::from_bytes(state).expect("a state")[..] {
            [1] => context.send(ONE, &vec![])?,
            _ => drop(context.once("a secret", || Ok(vec![1_u8]))?),
        }
        Ok(TurnOutcome::Continue(self))
    }

    fn waits_for(&self) -> Vec<PartyId> {
        vec![ONE]
    }

    fn most_bytes(&self, _: PartyId) -> Option<u64> {
        Some(1000)
    }
}

#[test]
fn a_role_that_is_restored_makes_and_sends_nothing() {
    let record = MemoryRecord::default();
    let take = || {
        Seat::take(agreement(2), PartyId(0), Box::new(record.clone()), &quiet, |_| {
            Ok(Talking)
        })
    };
    assert_eq!(take().expect("a seat").state(), SeatState::Waiting);
    let items = record.items();
    let again = take().expect("a seat");
    assert!(matches!(again.finish(), Err(Error::Internal(_))));
    assert_eq!(record.items(), items);
}
