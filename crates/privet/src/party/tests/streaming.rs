//! Large messages and streams of messages: cut, bounded, acknowledged, and held by digest.

use super::*;
use crate::wire::{Body, PART, Wire};

/// Sends so many chunks of so many bytes, one in each piece of work; the other sums them up.
pub(super) enum Streaming {
    Sender { left: u64, length: usize },
    Receiver(Receiving),
}

#[derive(Clone)]
pub(super) struct Receiving {
    pub(super) came: u64,
    pub(super) of: u64,
    pub(super) sum: u64,
    pub(super) by_digest: bool,
    /// A checkpoint after so many messages.
    pub(super) every: u64,
}

pub(super) const CHUNK: usize = 1 << 19;

fn chunk(number: u64, length: usize) -> Vec<u8> {
    (0..length as u64).map(|i| (i ^ (number * 31)) as u8).collect()
}

fn sum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |sum, byte| sum * 31 % 1_000_003 + u64::from(*byte))
}

impl Role for Streaming {
    type Message = Vec<u8>;
    type Output = u64;

    fn start(self, _: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        Ok(match self {
            Self::Sender { .. } => TurnOutcome::Working(self),
            Self::Receiver(_) => TurnOutcome::Continue(self),
        })
    }

    fn handle(mut self, event: PartyEvent<Vec<u8>>, context: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        let (_, message) = event.message(context)?;
        let Self::Receiver(state) = &mut self else {
            return Err(Error::internal("only one of them receives"));
        };
        state.came += 1;
        state.sum += sum(&message);
        if state.came == state.of || state.came.is_multiple_of(state.every) {
            context.checkpoint(&[state.came.to_le_bytes(), state.sum.to_le_bytes()].concat());
        }
        Ok(match state.came == state.of {
            true => TurnOutcome::Finished(state.sum),
            false => TurnOutcome::Continue(self),
        })
    }

    fn resume(self, context: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        let Self::Sender { left, length } = self else {
            return Err(Error::internal("only one of them sends"));
        };
        context.send(PartyId(1), &chunk(left, length))?;
        Ok(match left {
            1 => TurnOutcome::Finished(0),
            _ => {
                let left = left - 1;
                context.checkpoint(&left.to_le_bytes().to_vec());
                TurnOutcome::Working(Self::Sender { left, length })
            }
        })
    }

    fn restore(self, state: &[u8], _: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        let state = Vec::from_bytes(state).expect("bytes");
        let number = |at: usize| u64::from_le_bytes(state[at..at + 8].try_into().expect("eight"));
        Ok(match self {
            Self::Sender { length, .. } => TurnOutcome::Working(Self::Sender {
                left: number(0),
                length,
            }),
            Self::Receiver(receiving) if number(0) == receiving.of => TurnOutcome::Finished(number(8)),
            Self::Receiver(receiving) => TurnOutcome::Continue(Self::Receiver(Receiving {
                came: number(0),
                sum: number(8),
                ..receiving
            })),
        })
    }

    fn waits_for(&self) -> Vec<PartyId> {
        vec![PartyId(0)]
    }

    fn most_bytes(&self, _: PartyId) -> Option<u64> {
        Some(5 * PART as u64)
    }

    fn by_digest(&self, _: PartyId) -> bool {
        matches!(self, Self::Receiver(Receiving { by_digest: true, .. }))
    }
}

fn simulation(chunks: u64, length: usize, by_digest: bool, every: u64) -> Simulation<'static, Streaming> {
    Simulation::of(agreement(2), move |party, _| {
        Ok(match party {
            PartyId(0) => Streaming::Sender { left: chunks, length },
            _ => Streaming::Receiver(Receiving {
                came: 0,
                of: chunks,
                sum: 0,
                by_digest,
                every,
            }),
        })
    })
}

fn expected(chunks: u64, length: usize) -> u64 {
    (1..=chunks)
        .map(|number| sum(&chunk(number, length).to_vec()))
        .sum()
}

#[test]
fn a_message_of_several_frames_arrives_whole() {
    for length in [0, 1, PART - 9, PART - 8, PART - 7, PART, 3 * PART + 17] {
        let done = simulation(2, length, false, 100).run().expect("a run");
        assert_eq!(
            done.outcomes[1].as_ref().ok(),
            Some(&expected(2, length)),
            "{length}"
        );
    }
}

/// The sender runs ahead of acknowledgements by a bounded number of bytes, and both records stay small.
#[test]
fn a_stream_holds_a_bounded_number_of_bytes() {
    let agreement = agreement(2);
    let chunks = 100;
    let (one, other) = (MemoryRecord::default(), MemoryRecord::default());
    let mut sender = Seat::take(
        agreement.clone(),
        PartyId(0),
        Box::new(one.clone()),
        &quiet,
        |_| {
            Ok(Streaming::Sender {
                left: chunks,
                length: CHUNK,
            })
        },
    )
    .expect("a seat");
    while sender.state() == SeatState::Working {
        sender.work(&quiet);
    }
    assert_eq!(sender.state(), SeatState::Blocked, "nobody acknowledges");
    let held = |record: &MemoryRecord| {
        record
            .items()
            .iter()
            .map(|item| item.to_bytes().len())
            .sum::<usize>()
    };
    let most = WINDOW as usize + 2 * CHUNK;
    assert!(held(&one) < most, "{} bytes", held(&one));
    let mut receiver = Seat::take(agreement, PartyId(1), Box::new(other.clone()), &quiet, |_| {
        Ok(Streaming::Receiver(Receiving {
            came: 0,
            of: chunks,
            sum: 0,
            by_digest: false,
            every: 4,
        }))
    })
    .expect("a seat");
    let mut frames = 0;
    loop {
        if let Some(sent) = sender.next_frame() {
            receiver
                .deliver(PartyId(0), sent.bytes, &quiet)
                .expect("admitted");
            frames += 1;
        } else if let Some(sent) = receiver.next_frame() {
            sender.deliver(PartyId(1), sent.bytes, &quiet).expect("admitted");
        } else if sender.state() == SeatState::Working {
            sender.work(&quiet);
        } else {
            break;
        }
        assert!(
            held(&one) < most && held(&other) < 5 * CHUNK,
            "after {frames} frames"
        );
    }
    assert_eq!(frames, chunks);
    assert_eq!(receiver.finish().ok(), Some(expected(chunks, CHUNK)));
}

/// Killed at every step, with messages that only their sender still has.
#[test]
fn messages_held_by_digest_are_said_again() {
    for (by_digest, every) in [(true, 3), (true, 1), (false, 2)] {
        let whole = simulation(20, 1000, by_digest, every).run().expect("a run");
        let right = expected(20, 1000);
        assert_eq!(whole.outcomes[1].as_ref().ok(), Some(&right));
        for at in 0..whole.steps {
            for party in [0, 1].map(PartyId) {
                for fault in [
                    Fault::Restart(party),
                    Fault::Crash(party),
                    Fault::Disconnect(party),
                ] {
                    let done = simulation(20, 1000, by_digest, every)
                        .fault(at, fault.clone())
                        .run()
                        .expect("a run");
                    assert_eq!(
                        done.outcomes[1].as_ref().ok(),
                        Some(&right),
                        "{fault:?} at {at}: {:?}",
                        done.outcomes
                    );
                    assert!(done.outcomes[0].is_ok());
                }
            }
        }
    }
}

/// What is held by digest is in no record, and its sender is told when it is not needed any more.
#[test]
fn a_receiver_by_digest_owes_nothing_at_its_end() {
    let agreement = agreement(2);
    let seat = |party: u16, role: Streaming| {
        let record = Box::new(MemoryRecord::default());
        Seat::take(agreement.clone(), PartyId(party), record, &quiet, |_| Ok(role)).expect("a seat")
    };
    let mut sender = seat(0, Streaming::Sender { left: 5, length: 100 });
    let mut receiver = seat(
        1,
        Streaming::Receiver(Receiving {
            came: 0,
            of: 5,
            sum: 0,
            by_digest: true,
            every: 100,
        }),
    );
    while sender.state() == SeatState::Working {
        sender.work(&quiet);
    }
    while let Some(sent) = sender.next_frame() {
        assert_eq!(sender.owed().count(), 1);
        receiver
            .deliver(PartyId(0), sent.bytes, &quiet)
            .expect("admitted");
    }
    let told = receiver.acknowledgement(PartyId(0));
    sender.deliver(PartyId(1), told, &quiet).expect("admitted");
    assert_eq!(sender.owed().count(), 0);
    assert!(receiver.finish().is_ok());
}

/// What is held by digest is in no record.
#[test]
fn a_record_by_digest_holds_no_message() {
    let simulation = simulation(20, CHUNK, true, 7);
    let records = simulation.records();
    simulation.run().expect("a run");
    let items = records[1].items();
    assert!(matches!(items[..], [Item::Began { .. }, Item::Checkpoint(_)]));
    assert!(items.iter().map(|item| item.to_bytes().len()).sum::<usize>() < 1000);
}

#[test]
fn a_role_that_holds_by_digest_and_hands_over_nothing_is_a_bug_that_shows() {
    let done = simulation(20, CHUNK, true, 100).run().expect("a run");
    assert!(
        matches!(done.outcomes[1], Err(Error::Internal(_))),
        "{:?}",
        done.outcomes[1]
    );
}

/// The length stands in the first header, and is refused before anything is read.
#[test]
fn a_message_that_is_too_long_is_refused_by_its_header() {
    let agreement = agreement(2);
    let make = |_| {
        Ok(Streaming::Receiver(Receiving {
            came: 0,
            of: 2,
            sum: 0,
            by_digest: false,
            every: 10,
        }))
    };
    let record = MemoryRecord::default();
    let mut seat = Seat::take(agreement.clone(), PartyId(1), Box::new(record), &quiet, make).expect("a seat");
    let mut announce = |total: u64| {
        let part = Body::Part {
            total,
            at: 0,
            bytes: vec![0; PART],
        };
        let bytes = frame(&agreement, 0, 1, 0, part);
        let head = bytes.first_chunk().expect("a header");
        let header = crate::wire::Header::read(head).expect("a header");
        seat.admits(PartyId(0), &header)
    };
    assert_eq!(announce(5 * PART as u64).ok(), Some(true));
    for length in [5 * PART as u64 + 1, 1 << 40, u64::MAX] {
        assert!(matches!(announce(length), Err(Error::Peer(_))), "{length}");
    }
}

/// A length alone takes no memory: there is room for twice what has come.
#[test]
fn announced_bytes_are_not_allocated() {
    let mut edge = edge::Edge::default();
    let total = 1 << 40;
    edge.part(total, 0, vec![0; PART]).expect("a part");
    edge.part(total, PART as u64, vec![0; PART]).expect("a part");
    let room = |edge: &edge::Edge| edge.partial.as_ref().map_or(0, |(_, got)| got.capacity());
    assert!(room(&edge) <= 4 * PART, "{}", room(&edge));
    // Memory is taken anew when it is full, and not for each part.
    let mut taken = 0;
    for part in 2..64 {
        let before = room(&edge);
        edge.part(total, part * PART as u64, vec![0; PART])
            .expect("a part");
        taken += u32::from(room(&edge) != before);
    }
    assert!(taken <= 6, "{taken} times");
}

/// A party that works takes no message; the transport keeps it.
#[test]
fn nothing_is_taken_while_a_role_works() {
    let agreement = agreement(2);
    let record = Box::new(MemoryRecord::default());
    let make = |_| Ok(Streaming::Sender { left: 2, length: 10 });
    let mut seat = Seat::take(agreement.clone(), PartyId(0), record, &quiet, make).expect("a seat");
    let bytes = frame(&agreement, 1, 0, 0, Body::message(vec![0; 8]));
    for _ in 0..100 {
        assert!(matches!(
            seat.deliver(PartyId(1), bytes.clone(), &quiet),
            Err(Error::Misuse(_))
        ));
    }
    assert_eq!(seat.received(PartyId(1)), 0);
    assert_eq!(seat.state(), SeatState::Working);
}
