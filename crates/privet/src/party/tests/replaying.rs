//! Records: a run goes on exactly, and only with what it was begun with.

use super::*;
use crate::error::JournalFault;
use crate::wire::Body;

type Text = Vec<u8>;

/// Draws a secret in each piece of its work, and sends it to its peer; ends when the peer has answered.
#[derive(Clone)]
struct Worker {
    pieces: u8,
    done: u8,
    brings: u8,
}

impl Worker {
    fn new() -> Self {
        Self {
            pieces: 3,
            done: 0,
            brings: 0,
        }
    }
}

const PEER: PartyId = PartyId(1);

impl Role for Worker {
    type Message = Text;
    type Output = Text;

    fn start(self, _: &mut Context<'_, Text>) -> Turn<Self> {
        Ok(TurnOutcome::Working(self))
    }

    fn handle(mut self, event: PartyEvent<Text>, context: &mut Context<'_, Text>) -> Turn<Self> {
        let (_, message) = event.message(context)?;
        if message == b"again" {
            self.done = 0;
            return Ok(TurnOutcome::Working(self));
        }
        Ok(TurnOutcome::Finished(message))
    }

    fn resume(mut self, context: &mut Context<'_, Text>) -> Turn<Self> {
        let mut secret = vec![self.done];
        secret.extend(context.once(&format!("secret {}", self.done), || {
            let mut bytes = vec![0; 8];
            crate::privacy::Randomness::from_os()?.fill(&mut bytes);
            Ok(bytes)
        })?);
        context.send(PEER, &secret)?;
        self.done += 1;
        if self.done < self.pieces {
            return Ok(TurnOutcome::Working(self));
        }
        Ok(TurnOutcome::Continue(self))
    }

    fn waits_for(&self) -> Vec<PartyId> {
        vec![PEER]
    }

    fn most_bytes(&self, _: PartyId) -> Option<u64> {
        Some(100)
    }

    fn brings(&self) -> [u8; 32] {
        [self.brings; 32]
    }
}

fn take(record: &MemoryRecord) -> Seat<Worker> {
    let record = Box::new(record.clone());
    Seat::take(agreement(2), PartyId(0), record, &quiet, |_| Ok(Worker::new())).expect("a seat")
}

fn greet(seat: &mut Seat<Worker>, received: u64) {
    let greeting = frame(&agreement(2), 1, 0, received, Body::Greeting);
    seat.deliver(PEER, greeting, &quiet).expect("a greeting");
}

fn say(seat: &mut Seat<Worker>, number: u64, text: &[u8]) {
    let bytes = crate::wire::Wire::to_bytes(&text.to_vec());
    let message = frame(&agreement(2), 1, 0, number, Body::message(bytes));
    seat.deliver(PEER, message, &quiet).expect("a message");
}

/// A value that was made once in a piece of work stands in the record before the next message: replay does the work first.
#[test]
fn secrets_of_pieces_of_work_are_replayed() {
    let record = MemoryRecord::default();
    let mut seat = take(&record);
    let mut before = Vec::new();
    for piece in 0..6 {
        if piece == 3 {
            say(&mut seat, 0, b"again");
        }
        assert_eq!(seat.state(), SeatState::Working);
        seat.work(&quiet);
        before.extend(sent(&mut seat));
        // Killed after every piece.
        let mut again = take(&record);
        assert!(
            again.next_frame().is_none(),
            "it is not known yet what the other has"
        );
        greet(&mut again, 0);
        let said = sent(&mut again);
        assert_eq!(said.len(), before.len());
        for (one, other) in said.iter().zip(&before) {
            assert_eq!((&one.body, one.number), (&other.body, other.number));
        }
        assert_eq!(again.state(), seat.state());
    }
    say(&mut seat, 1, b"done");
    assert_eq!(take(&record).finish().ok(), seat.finish().ok());
}

/// On a new connection only what the other lacks is said again.
#[test]
fn what_the_other_has_is_not_said_again() {
    let record = MemoryRecord::default();
    let mut seat = take(&record);
    (0..3).for_each(|_| seat.work(&quiet));
    assert_eq!(sent(&mut seat).len(), 3);
    greet(&mut seat, 2);
    assert_eq!(sent(&mut seat).iter().map(|f| f.number).collect::<Vec<_>>(), [2]);
    let mut again = take(&record);
    greet(&mut again, 1);
    assert_eq!(
        sent(&mut again).iter().map(|f| f.number).collect::<Vec<_>>(),
        [1, 2]
    );
}

/// A record of one run, party or table is not accepted for another.
#[test]
fn a_record_is_of_one_run_one_party_and_one_table() {
    let record = MemoryRecord::default();
    take(&record).work(&quiet);
    let other = |agreement: Agreement, me: u16, brings: u8| {
        let make = |_| {
            Ok(Worker {
                brings,
                ..Worker::new()
            })
        };
        Seat::take(agreement, PartyId(me), Box::new(record.clone()), &quiet, make).err()
    };
    let run = |id: u8, names: [&str; 2]| Agreement::new(RunId([id; 16]), names.map(String::from).into());
    let refused =
        |e: Option<Error>| matches!(e, Some(Error::Journal(e)) if e.fault() == JournalFault::OtherJob);
    assert!(other(agreement(2), 0, 0).is_none());
    assert!(
        refused(other(run(4, ["party 0", "party 1"]).expect("terms"), 0, 0)),
        "another run"
    );
    assert!(
        refused(other(run(3, ["party 0", "stranger"]).expect("terms"), 0, 0)),
        "another peer"
    );
    assert!(refused(other(agreement(3), 0, 0)), "another agreement");
    assert!(refused(other(agreement(2), 1, 0)), "another party");
    assert!(refused(other(agreement(2), 0, 1)), "another table");
}

/// What is sent again is compared with what was sent: a secret never serves two messages.
#[test]
fn a_message_that_would_differ_is_not_sent() {
    let record = MemoryRecord::default();
    let mut seat = take(&record);
    (0..3).for_each(|_| seat.work(&quiet));
    let mut items = record.items();
    let secret = items.iter_mut().find_map(|item| match item {
        Item::Once { what, value } if what == "secret 1" => Some(value),
        _ => None,
    });
    if let Some(byte) = secret.expect("a secret").last_mut() {
        *byte ^= 1;
    }
    let mut again = take(&MemoryRecord::of(items));
    assert_eq!(again.state(), SeatState::Failed);
    greet(&mut again, 0);
    let said = sent(&mut again);
    assert_eq!(said.last().map(|f| &f.body), Some(&Body::Aborted));
    assert_eq!(said.len(), 2, "only the first message was the same");
}

/// A message that cannot be decoded ends this attempt. It is not in the record, so a restart can be told better.
#[test]
fn what_cannot_be_decoded_is_not_recorded() {
    let record = MemoryRecord::default();
    let mut seat = take(&record);
    (0..3).for_each(|_| seat.work(&quiet));
    let items = record.items().len();
    let nonsense = frame(&agreement(2), 1, 0, 0, Body::message(vec![1, 2, 3]));
    seat.deliver(PEER, nonsense, &quiet).expect("an event");
    assert_eq!(seat.state(), SeatState::Failed);
    assert!(matches!(seat.finish(), Err(Error::Peer(_))));
    assert_eq!(record.items().len(), items);
    let mut again = take(&record);
    assert_eq!(again.received(PEER), 0);
    say(&mut again, 0, b"done");
    assert_eq!(again.finish().ok(), Some(b"done".to_vec()));
}

#[test]
fn old_items_decode_and_new_ones_have_one_encoding() {
    use crate::wire::Wire;
    let name = [vec![1], vec![7; 16]].concat();
    assert!(matches!(Item::from_bytes(&name), Ok(Item::Named(_))));
    let received = [&[2, 5, 0, 0, 0][..], &3_u64.to_le_bytes(), b"abc"].concat();
    let old = Item::Received {
        from: PartyId(5),
        message: b"abc".to_vec(),
    };
    assert_eq!(Item::from_bytes(&received), Ok(old));
    let made = [&[3][..], &1_u64.to_le_bytes(), b"k", &2_u64.to_le_bytes(), b"vv"].concat();
    let old = Item::Once {
        what: "k".into(),
        value: b"vv".to_vec().into(),
    };
    assert_eq!(Item::from_bytes(&made), Ok(old));
    for item in [
        Item::Gone(PartyId(9)),
        Item::Deadline(u64::MAX),
        Item::Fault {
            party: PartyId(2),
            why: "it lied".into(),
        },
        Item::Digest {
            from: PartyId(1),
            digest: [4; 32],
        },
        Item::Sent {
            to: PartyId(1),
            number: 8,
            digest: [5; 32],
        },
    ] {
        let bytes = item.to_bytes();
        assert_eq!(Item::from_bytes(&bytes), Ok(item));
        for cut in 0..bytes.len() {
            assert!(Item::from_bytes(&bytes[..cut]).is_err());
        }
    }
}
