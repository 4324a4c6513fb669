//! The messages between a party and one other: what was sent and not acknowledged, and what is being received.

use std::collections::VecDeque;

use super::PartyId;
use super::record::EdgeState;
use crate::wire::frames;

/// A role is resumed while less than this was sent to each party and not acknowledged, in bytes.
pub const WINDOW: u64 = 8 << 20;
/// The most bytes that a role receives from a party by digest between two checkpoints.
pub const UNHELD: u64 = WINDOW / 2;
/// A frame of its own acknowledges what was received when it has so many bytes.
const WORTH_A_FRAME: u64 = WINDOW / 4;

/// Whether a party is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Absence {
    #[default]
    Present,
    /// Its next message brings it back.
    Gone,
    /// It gave up or broke the rules.
    Ended,
}

/// A message that was sent and not acknowledged; none is the frame of a sender that gave up.
struct Outgoing {
    number: u64,
    message: Option<Vec<u8>>,
}

impl Outgoing {
    fn end(&self) -> u64 {
        self.number + frames(self.length())
    }

    fn length(&self) -> u64 {
        self.message.as_ref().map_or(0, Vec::len) as u64
    }
}

/// What a frame to be sent carries.
pub(super) enum Next<'a> {
    Part {
        number: u64,
        message: &'a [u8],
        part: u64,
    },
    Aborted {
        number: u64,
    },
    Acknowledged,
}

#[derive(Default)]
pub(super) struct Edge {
    /// What the role was told, which the record says, too: it decides what is sent.
    pub(super) absence: Absence,
    /// What the transport has noticed in this process: it decides what is taken in and waited for. The role is told when it takes events.
    pub(super) noticed: Absence,
    queue: VecDeque<Outgoing>,
    /// Bytes of the messages in the queue.
    queued: u64,
    /// The number of the next frame that is not in the queue yet.
    end: u64,
    /// The number of the next frame to be sent.
    cursor: u64,
    /// Set after a restart, and when a connection is lost: what the other has received is known when it has greeted.
    pub(super) paused: bool,
    /// Frames that were received.
    pub(super) received: u64,
    /// Frames below this number are in the record. They can come again: a restart greets before it has replayed everything, if it waits
    /// for a message that it holds by digest.
    pub(super) replayed: u64,
    /// Frames of messages that are stored.
    durable: u64,
    /// Bytes of messages that were stored since the other was last told so.
    untold: u64,
    /// Bytes of messages received by digest since the last checkpoint.
    pub(super) unheld: u64,
    /// The message that is being received: its length, and what has come.
    pub(super) partial: Option<(u64, Vec<u8>)>,
}

impl Edge {
    pub(super) fn of(state: EdgeState) -> (PartyId, Self) {
        let absence = match state.absence {
            0 => Absence::Present,
            1 => Absence::Gone,
            _ => Absence::Ended,
        };
        let mut edge = Self {
            absence,
            end: state.first,
            cursor: state.first,
            paused: true,
            received: state.received,
            durable: state.received,
            ..Self::default()
        };
        for message in state.outgoing {
            edge.push(Some(message));
        }
        if absence == Absence::Ended {
            edge.close();
        }
        (state.party, edge)
    }

    pub(super) fn state(&self, party: PartyId) -> EdgeState {
        let messages = self.queue.iter().filter_map(|outgoing| outgoing.message.clone());
        EdgeState {
            party,
            absence: self.absence as u8,
            received: self.received
                - self
                    .partial
                    .as_ref()
                    .map_or(0, |(_, got)| frames(got.len() as u64)),
            first: self.queue.front().map_or(self.end, |first| first.number),
            outgoing: messages.collect(),
        }
    }

    /// The number that the next message begins with.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn push(&mut self, message: Option<Vec<u8>>) {
        let outgoing = Outgoing {
            number: self.end,
            message,
        };
        self.end = outgoing.end();
        self.queued += outgoing.length();
        self.queue.push_back(outgoing);
        // The other is gone, and the role that works does not know: what comes after a full window is not held for it as well.
        while self.noticed != Absence::Present && self.queued - self.front_length() >= WINDOW {
            self.pop();
        }
    }

    fn front_length(&self) -> u64 {
        self.queue.front().map_or(0, Outgoing::length)
    }

    /// Nobody needs the first message any more.
    fn pop(&mut self) {
        self.queued -= self.front_length();
        self.queue.pop_front();
    }

    /// The role was told of a fault: nothing more is taken from the other, or sent to it but that.
    pub(super) fn close(&mut self) {
        (self.absence, self.noticed, self.partial) = (Absence::Ended, Absence::Ended, None);
        self.push(None);
    }

    fn is_here(&self) -> bool {
        (self.absence, self.noticed) == (Absence::Present, Absence::Present)
    }

    /// Whether the other must acknowledge something before a role goes on.
    pub(super) fn is_full(&self) -> bool {
        self.is_here() && self.queued >= WINDOW
    }

    /// Whether the other has not acknowledged all that it was sent.
    pub(super) fn is_owed(&self) -> bool {
        self.is_here() && !self.queue.is_empty()
    }

    /// Whether there is a frame to be sent.
    pub(super) fn is_ready(&self) -> bool {
        !self.paused && (self.cursor < self.end || self.untold >= WORTH_A_FRAME)
    }

    /// The next frame to be sent, and how many frames of the other it acknowledges.
    pub(super) fn next(&mut self) -> Option<(Next<'_>, u64)> {
        if !self.is_ready() {
            return None;
        }
        let acknowledged = self.acknowledge();
        if self.cursor == self.end {
            return Some((Next::Acknowledged, acknowledged));
        }
        let number = self.cursor;
        let at = self.queue.partition_point(|outgoing| outgoing.end() <= number);
        let outgoing = self.queue.get(at)?;
        self.cursor += 1;
        let next = match &outgoing.message {
            None => Next::Aborted { number },
            Some(message) => Next::Part {
                number,
                message,
                part: number - outgoing.number,
            },
        };
        Some((next, acknowledged))
    }

    /// How many frames of the other are stored, which it is told now.
    pub(super) fn acknowledge(&mut self) -> u64 {
        self.untold = 0;
        self.durable
    }

    /// The other has stored so many frames.
    pub(super) fn acknowledged(&mut self, count: u64) -> Result<(), &'static str> {
        if count > self.end {
            return Err("it acknowledges frames that were never sent to it");
        }
        while let Some(first) = self.queue.front()
            && first.end() <= count
        {
            self.pop();
        }
        self.cursor = self.cursor.max(count);
        Ok(())
    }

    /// The other has received so many frames: it is sent those that it lacks.
    pub(super) fn greeted(&mut self, count: u64) -> Result<(), &'static str> {
        let first = self.queue.front().map_or(self.end, |first| first.number);
        if count > self.end {
            return Err("it has received frames that were never sent to it");
        }
        if count < first {
            return Err("it lacks frames that it had acknowledged, or was gone for too long to be sent them");
        }
        (self.cursor, self.paused) = (count, false);
        Ok(())
    }

    /// As [`greeted`](Self::greeted), by a party that nothing more is taken from: whatever it lacks, it is told that.
    pub(super) fn greeted_again(&mut self, count: u64) {
        if self.greeted(count).is_err() {
            (self.cursor, self.paused) = (self.end.saturating_sub(1), false);
        }
    }

    /// A whole message of this length was received and stored.
    pub(super) fn stored(&mut self, length: u64) {
        self.untold += length;
        self.hold();
    }

    /// Frames are acknowledged in their order: behind a message that is held by digest only, none is before the next checkpoint.
    fn hold(&mut self) {
        if self.unheld == 0 {
            self.durable = self.received;
        }
    }

    /// Everything that was received is stored now.
    pub(super) fn covered(&mut self) {
        let partial = self
            .partial
            .as_ref()
            .map_or(0, |(_, got)| frames(got.len() as u64));
        self.durable = self.received - partial;
        self.untold += std::mem::take(&mut self.unheld);
    }

    /// A message that is replayed from the record.
    pub(super) fn replayed(&mut self, length: u64) {
        self.received += frames(length);
        self.replayed = self.received;
        self.hold();
    }

    /// What has come of a message is not needed: it is said again from its beginning.
    pub(super) fn forget_partial(&mut self) {
        if let Some((_, got)) = self.partial.take() {
            self.received -= frames(got.len() as u64);
        }
    }

    /// The next part of a message; the whole message if it was the last.
    pub(super) fn part(
        &mut self,
        total: u64,
        at: u64,
        bytes: Vec<u8>,
    ) -> Result<Option<Vec<u8>>, &'static str> {
        let whole = match (at, self.partial.take()) {
            (0, None) if bytes.len() as u64 == total => Some(bytes),
            (0, None) => {
                self.partial = Some((total, bytes));
                None
            }
            (at, Some((length, mut got))) if length == total && got.len() as u64 == at => {
                // Twice what has come, so that a length alone takes no memory.
                if got.capacity() - got.len() < bytes.len() {
                    let room = (got.len() + bytes.len()).max(total.min(2 * at) as usize);
                    got.reserve_exact(room - got.len());
                }
                got.extend_from_slice(&bytes);
                if got.len() as u64 == total {
                    Some(got)
                } else {
                    self.partial = Some((total, got));
                    None
                }
            }
            _ => return Err("parts that do not make up one message"),
        };
        self.received += 1;
        Ok(whole)
    }
}
