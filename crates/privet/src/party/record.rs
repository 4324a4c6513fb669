//! The record of a party, from which it resumes after a crash: messages received and values released, in order.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use zeroize::Zeroizing;

use super::PartyId;
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
    pub(crate) fn to_text(&self) -> String {
        hexadecimal(&self.0)
    }
}

/// One item of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// The party began the run under this name.
    Began(RunName),
    /// The party received this message.
    Received {
        /// By whom.
        from: PartyId,
        /// The message's bytes.
        message: Vec<u8>,
    },
    /// The party released this value or drew this secret, before sending it.
    Released {
        /// What it is.
        what: String,
        /// Its bytes. They can be a secret, so copies are wiped when they go.
        value: Zeroizing<Vec<u8>>,
    },
}

impl Wire for Item {
    fn write(&self, to: &mut Writer) {
        match self {
            Self::Began(RunName(name)) => {
                to.byte(1);
                to.fixed(name);
            }
            Self::Received { from, message } => {
                to.byte(2);
                to.word(from.0.into());
                to.bytes(message);
            }
            Self::Released { what, value } => {
                to.byte(3);
                to.text(what);
                to.bytes(value);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        match from.byte()? {
            1 => Ok(Self::Began(RunName(from.array()?))),
            2 => Ok(Self::Received {
                from: PartyId(u16::try_from(from.word()?).map_err(|_| Malformed::new("no such party"))?),
                message: from.bytes()?.to_vec(),
            }),
            3 => Ok(Self::Released {
                what: from.text(1000)?,
                value: from.bytes()?.to_vec().into(),
            }),
            _ => Err(Malformed::new("this is not an item of a record")),
        }
    }
}

/// Storage of a party's record. The library opens no file.
pub trait Record: Send {
    /// All items, oldest first.
    ///
    /// # Errors
    /// [`Error::Journal`] if they cannot be read.
    fn read(&mut self) -> Result<Vec<Item>, Error>;

    /// Adds an item. When this returns `Ok` the item survives a crash; otherwise it is not sent.
    ///
    /// # Errors
    /// [`Error::Journal`] if it cannot be written.
    fn append(&mut self, item: &Item) -> Result<(), Error>;
}

/// A record in memory only; its clones share their items.
#[derive(Debug, Clone, Default)]
pub struct MemoryRecord(Arc<Mutex<Vec<Item>>>);

impl MemoryRecord {
    /// The items.
    pub fn items(&self) -> Vec<Item> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Record for MemoryRecord {
    fn read(&mut self) -> Result<Vec<Item>, Error> {
        Ok(self.items())
    }

    fn append(&mut self, item: &Item) -> Result<(), Error> {
        let mut items = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        items.push(item.clone());
        Ok(())
    }
}

/// The name of a record's run, created on first use.
///
/// # Errors
/// [`Error::Journal`] if the record cannot be read or written, or does not begin with a name.
pub(super) fn name(record: &mut dyn Record) -> Result<RunName, Error> {
    match record.read()?.into_iter().next() {
        Some(Item::Began(name)) => Ok(name),
        Some(_) => Err(Error::journal(
            JournalFault::Damaged,
            "the record of this run does not begin with its name: it is damaged",
        )),
        None => {
            let mut bytes = [0; 16];
            Randomness::from_os()?.fill(&mut bytes);
            let name = RunName(bytes);
            record.append(&Item::Began(name.clone()))?;
            Ok(name)
        }
    }
}

/// A record, and the items that are still to be replayed.
pub(super) struct Recorder {
    record: Box<dyn Record>,
    again: VecDeque<Item>,
}

impl Recorder {
    pub(super) fn new(mut record: Box<dyn Record>) -> Result<Self, Error> {
        let mut again = VecDeque::from(record.read()?);
        again.pop_front();
        Ok(Self { record, again })
    }

    /// The next message that was received before the interruption.
    pub(super) fn received(&mut self) -> Result<Option<(PartyId, Vec<u8>)>, Error> {
        match self.again.pop_front() {
            None => Ok(None),
            Some(Item::Received { from, message }) => Ok(Some((from, message))),
            Some(_) => Err(other_job()),
        }
    }

    pub(super) fn receive(&mut self, from: PartyId, message: Vec<u8>) -> Result<Vec<u8>, Error> {
        let item = Item::Received { from, message };
        self.record.append(&item)?;
        let Item::Received { message, .. } = item else {
            return Err(Error::internal("items of a record do not change"));
        };
        Ok(message)
    }

    pub(super) fn once<T: Wire>(
        &mut self,
        what: &str,
        make: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.again.pop_front() {
            None => {
                let made = make()?;
                self.record.append(&Item::Released {
                    what: what.into(),
                    value: made.to_bytes().into(),
                })?;
                Ok(made)
            }
            Some(Item::Released { what: then, value }) if then == what => {
                T::from_bytes(&value).map_err(|_| other_job())
            }
            Some(_) => Err(other_job()),
        }
    }
}

fn other_job() -> Error {
    Error::journal(
        JournalFault::OtherJob,
        "the record of this run is of another job, table or version: resume with the ones it was begun with, or begin a new run",
    )
}
