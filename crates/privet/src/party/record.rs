//! The record of a party, from which it resumes after a crash: events, values made once, and digests of what was sent, in order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use zeroize::Zeroizing;

use super::PartyId;
use super::wiped::Wiped;
use crate::Error;
use crate::error::JournalFault;
use crate::privacy::Randomness;
use crate::privacy::journal::hexadecimal;
use crate::wire::{Malformed, Reader, Wire, Writer};

/// The secret name of a party's own part in a run, by which its ledger finds the payments of that run. The public run id is
/// not enough: a peer could use one again and receive a second draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunName([u8; 16]);

impl RunName {
    pub(super) fn draw() -> Result<Self, Error> {
        let mut bytes = [0; 16];
        Randomness::from_os()?.fill(&mut bytes);
        Ok(Self(bytes))
    }

    pub(crate) fn to_text(&self) -> String {
        hexadecimal(&self.0)
    }
}

/// One item of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A record of released values, bound to no run, has this name.
    Named(RunName),
    /// The party began a run.
    Began {
        /// The name of its part in it.
        name: RunName,
        /// The digest of the agreement.
        agreement: [u8; 32],
        /// Its number.
        me: PartyId,
    },
    /// The party received this message.
    Received {
        /// From whom.
        from: PartyId,
        /// The message's bytes.
        message: Vec<u8>,
    },
    /// The party received a message that its sender can say again.
    Digest {
        /// From whom.
        from: PartyId,
        /// SHA-256 of the message.
        digest: [u8; 32],
    },
    /// A party gave up or could not be reached.
    Gone(PartyId),
    /// A party sent something invalid.
    Fault {
        /// Which party.
        party: PartyId,
        /// What it did.
        why: String,
    },
    /// A deadline has passed.
    Deadline(u64),
    /// The party made this value, which is made once.
    Once {
        /// What it is.
        what: String,
        /// Its bytes. They can be a secret, so copies are wiped when they go.
        value: Zeroizing<Vec<u8>>,
    },
    /// The party was about to send this message.
    Sent {
        /// To whom.
        to: PartyId,
        /// The number of its first frame.
        number: u64,
        /// SHA-256 of the message.
        digest: [u8; 32],
    },
    /// The state from which the run goes on.
    Checkpoint(Box<Checkpoint>),
}

/// A state from which a run goes on: of the role, and of its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Of the role. It can be a secret, so copies are wiped when they go.
    pub(super) state: Wiped,
    pub(super) brings: [u8; 32],
    pub(super) edges: Vec<EdgeState>,
    pub(super) deadlines: Vec<(u64, Duration)>,
}

/// Where the messages between two parties had come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EdgeState {
    pub(super) party: PartyId,
    /// 0 present, 1 gone, 2 for good.
    pub(super) absence: u8,
    /// Frames received from it.
    pub(super) received: u64,
    /// The number of the first frame of the first message below.
    pub(super) first: u64,
    /// Messages to it that it has not acknowledged.
    pub(super) outgoing: Vec<Vec<u8>>,
}

/// A text of a record, at most so many bytes.
const LONGEST: usize = 1000;

impl Wire for Item {
    fn write(&self, to: &mut Writer) {
        match self {
            Self::Named(RunName(name)) => {
                to.byte(1);
                to.fixed(name);
            }
            Self::Received { from, message } => {
                to.tagged(2, from);
                to.bytes(message);
            }
            Self::Once { what, value } => {
                to.byte(3);
                to.text(what);
                to.bytes(value);
            }
            Self::Began {
                name: RunName(name),
                agreement,
                me,
            } => {
                to.byte(4);
                to.fixed(name);
                to.fixed(agreement);
                me.write(to);
            }
            Self::Digest { from, digest } => {
                to.tagged(5, from);
                to.fixed(digest);
            }
            Self::Gone(party) => to.tagged(6, party),
            Self::Fault { party, why } => {
                to.tagged(7, party);
                to.text(why);
            }
            Self::Deadline(id) => {
                to.byte(8);
                to.long(*id);
            }
            Self::Sent {
                to: party,
                number,
                digest,
            } => {
                to.tagged(9, party);
                to.long(*number);
                to.fixed(digest);
            }
            Self::Checkpoint(checkpoint) => {
                to.byte(10);
                checkpoint.write(to);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match from.byte()? {
            1 => Self::Named(RunName(from.array()?)),
            2 => Self::Received {
                from: PartyId::read(from)?,
                message: from.bytes()?.to_vec(),
            },
            3 => Self::Once {
                what: from.text(LONGEST)?,
                value: from.bytes()?.to_vec().into(),
            },
            4 => Self::Began {
                name: RunName(from.array()?),
                agreement: from.array()?,
                me: PartyId::read(from)?,
            },
            5 => Self::Digest {
                from: PartyId::read(from)?,
                digest: from.array()?,
            },
            6 => Self::Gone(PartyId::read(from)?),
            7 => Self::Fault {
                party: PartyId::read(from)?,
                why: from.text(LONGEST)?,
            },
            8 => Self::Deadline(from.long()?),
            9 => Self::Sent {
                to: PartyId::read(from)?,
                number: from.long()?,
                digest: from.array()?,
            },
            10 => Self::Checkpoint(Box::new(Checkpoint::read(from)?)),
            _ => return Err(Malformed::new("this is not an item of a record")),
        })
    }
}

impl Wire for Checkpoint {
    fn write(&self, to: &mut Writer) {
        self.state.write(to);
        to.fixed(&self.brings);
        to.list(&self.edges, |edge, to| {
            edge.party.write(to);
            to.byte(edge.absence);
            to.long(edge.received);
            to.long(edge.first);
            to.list(&edge.outgoing, |message, to| to.bytes(message));
        });
        to.list(&self.deadlines, |(id, after), to| {
            to.long(*id);
            to.long(after.as_millis() as u64);
        });
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            state: from.bytes()?.to_vec().into(),
            brings: from.array()?,
            edges: from.list(29, |from| {
                Ok(EdgeState {
                    party: PartyId::read(from)?,
                    absence: match from.byte()? {
                        absence @ 0..=2 => absence,
                        _ => return Err(Malformed::new("a party that is neither here nor gone")),
                    },
                    received: from.long()?,
                    first: from.long()?,
                    outgoing: from.list(8, |from| from.bytes().map(<[u8]>::to_vec))?,
                })
            })?,
            deadlines: from.list(16, |from| Ok((from.long()?, Duration::from_millis(from.long()?))))?,
        })
    }
}

/// Storage of a party's record. The library opens no file.
pub trait Record: Send {
    /// The item at a place, from 0; none behind the last.
    ///
    /// # Errors
    /// [`Error::Journal`] if it cannot be read.
    fn read(&mut self, place: u64) -> Result<Option<Item>, Error>;

    /// Adds items. When this returns `Ok` all of them survive a crash; otherwise none was added.
    ///
    /// # Errors
    /// [`Error::Journal`] if they cannot be written.
    fn append(&mut self, items: Vec<Item>) -> Result<(), Error>;

    /// Puts an item in the place of all items but the first, at once: after a crash either these are there or it is.
    ///
    /// # Errors
    /// [`Error::Journal`] if it cannot be written.
    fn replace(&mut self, checkpoint: Item) -> Result<(), Error>;

    /// Whether checkpoints are stored. If not, a restart replays everything.
    fn takes_checkpoints(&self) -> bool {
        true
    }
}

/// A record in memory only; its clones share their items.
#[derive(Debug, Clone, Default)]
pub struct MemoryRecord(Arc<Mutex<Stored>>);

#[derive(Debug, Default)]
struct Stored {
    items: Vec<Item>,
    whole: bool,
    fails: bool,
    failed: bool,
}

impl MemoryRecord {
    /// A record that drops nothing: checkpoints are ignored.
    pub fn without_checkpoints() -> Self {
        let record = Self::default();
        record.stored().whole = true;
        record
    }

    /// A record of these items.
    pub fn of(items: Vec<Item>) -> Self {
        let record = Self::default();
        record.stored().items = items;
        record
    }

    /// The items.
    pub fn items(&self) -> Vec<Item> {
        self.stored().items.clone()
    }

    /// Lets the next writing fail, as if the process were killed just before it.
    pub(super) fn fail_next(&self) {
        self.stored().fails = true;
    }

    /// Takes that back.
    pub(super) fn fail_no_more(&self) {
        self.stored().fails = false;
    }

    /// Whether a writing was made to fail since this was last asked.
    pub(super) fn has_failed(&self) -> bool {
        std::mem::take(&mut self.stored().failed)
    }

    fn stored(&self) -> MutexGuard<'_, Stored> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writing(&self) -> Result<MutexGuard<'_, Stored>, Error> {
        let mut stored = self.stored();
        if std::mem::take(&mut stored.fails) {
            stored.failed = true;
            return Err(Error::journal(JournalFault::Storage, "the party was killed"));
        }
        Ok(stored)
    }
}

impl Record for MemoryRecord {
    fn read(&mut self, place: u64) -> Result<Option<Item>, Error> {
        Ok(self.stored().items.get(place as usize).cloned())
    }

    fn append(&mut self, items: Vec<Item>) -> Result<(), Error> {
        self.writing()?.items.extend(items);
        Ok(())
    }

    fn replace(&mut self, checkpoint: Item) -> Result<(), Error> {
        let mut stored = self.writing()?;
        stored.items.truncate(1);
        stored.items.push(checkpoint);
        Ok(())
    }

    fn takes_checkpoints(&self) -> bool {
        !self.stored().whole
    }
}
