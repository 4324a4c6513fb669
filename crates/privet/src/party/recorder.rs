//! A record while it is written, and while it is replayed.

use sha2::{Digest, Sha256};

use super::record::{Checkpoint, Item, Record, RunName};
use super::{Agreement, PartyId};
use crate::Error;
use crate::error::JournalFault;
use crate::wire::Wire;

/// A record with a cursor. Until the cursor has passed the last item, the party does again what the record says it did.
///
/// A turn is written at once, when it has succeeded: its event, the values that it made once, and the digests of its messages, before
/// these leave. A turn that fails leaves nothing in the record, so that a message which ended a run can be said better after a
/// restart. What a ledger was paid for is kept by the ledger.
pub(super) struct Recorder {
    record: Box<dyn Record>,
    /// The place of the next item.
    place: u64,
    front: Option<Item>,
    /// Whether all items have been replayed.
    live: bool,
    /// What this turn has begun with and made.
    pending: Vec<Item>,
}

/// Opens the record of a party's part in a run; begins it if it is empty. A record of another run, agreement or party is refused.
pub(super) fn begin(
    record: &mut dyn Record,
    agreement: &Agreement,
    party: PartyId,
) -> Result<RunName, Error> {
    match record.read(0)? {
        Some(Item::Began {
            name,
            agreement: digest,
            me,
        }) if digest == agreement.digest() && me == party => Ok(name),
        Some(_) => Err(Error::journal(
            JournalFault::OtherJob,
            format!(
                "this record is not of the run {} in which '{}' takes part under this agreement: go on with the record that was begun for \
                 it, or begin a new run",
                agreement.run(),
                agreement.name(party)
            ),
        )),
        None => {
            let name = RunName::draw()?;
            record.append(vec![Item::Began {
                name: name.clone(),
                agreement: agreement.digest(),
                me: party,
            }])?;
            Ok(name)
        }
    }
}

impl Recorder {
    /// Replays from this place.
    pub(super) fn new(record: Box<dyn Record>, place: u64) -> Self {
        Self {
            record,
            place,
            front: None,
            live: false,
            pending: Vec::new(),
        }
    }

    /// The item to be replayed next; none if all have been.
    pub(super) fn front(&mut self) -> Result<Option<&Item>, Error> {
        if !self.live && self.front.is_none() {
            self.front = self.record.read(self.place)?;
            self.live = self.front.is_none();
        }
        Ok(self.front.as_ref())
    }

    /// Takes that item.
    pub(super) fn pop(&mut self) -> Result<Option<Item>, Error> {
        self.front()?;
        let item = self.front.take();
        self.place += u64::from(item.is_some());
        Ok(item)
    }

    /// How many items were replayed, and made in this turn.
    pub(super) fn place(&self) -> (u64, usize) {
        (self.place, self.pending.len())
    }

    /// The checkpoint that the record begins with, if there is one.
    pub(super) fn checkpoint(&mut self) -> Result<Option<Checkpoint>, Error> {
        match self.front()? {
            Some(Item::Checkpoint(_)) => {}
            _ => return Ok(None),
        }
        match self.pop()? {
            Some(Item::Checkpoint(checkpoint)) => Ok(Some(*checkpoint)),
            _ => Err(Error::internal("the item in front is the item that is taken")),
        }
    }

    /// Begins a turn with an event that is not in the record yet.
    pub(super) fn event(&mut self, item: Item) {
        self.pending.push(item);
    }

    /// Ends a turn that failed.
    pub(super) fn forget(&mut self) {
        self.pending.clear();
    }

    pub(super) fn once<T: Wire>(
        &mut self,
        what: &str,
        make: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.pop()? {
            None => {
                let made = make()?;
                self.pending.push(Item::Once {
                    what: what.into(),
                    value: made.to_bytes().into(),
                });
                Ok(made)
            }
            Some(Item::Once { what: then, value }) if then == what => {
                T::from_bytes(&value).map_err(|_| other_job())
            }
            Some(_) => Err(other_job()),
        }
    }

    /// Ends a turn that succeeded: what it sends is written down, or compared with what was sent before.
    pub(super) fn settled(&mut self, messages: &[(PartyId, u64, Vec<u8>)]) -> Result<(), Error> {
        let mut items = std::mem::take(&mut self.pending);
        for (to, number, message) in messages {
            let item = Item::Sent {
                to: *to,
                number: *number,
                digest: digest(message),
            };
            match self.pop()? {
                None => items.push(item),
                Some(then) if then == item => {}
                Some(_) => return Err(other_job()),
            }
        }
        if !items.is_empty() {
            self.record.append(items)?;
        }
        Ok(())
    }

    /// Whether the record stores checkpoints.
    pub(super) fn keeps_checkpoints(&self) -> bool {
        self.record.takes_checkpoints()
    }

    /// Whether a checkpoint would be stored now: not while the record is replayed.
    pub(super) fn takes_checkpoint(&mut self) -> Result<bool, Error> {
        Ok(self.front()?.is_none() && self.keeps_checkpoints())
    }

    /// Ends a turn that succeeded with a checkpoint, which holds all that the items before it were needed for.
    pub(super) fn replace(&mut self, checkpoint: Checkpoint) -> Result<(), Error> {
        self.pending.clear();
        self.record.replace(Item::Checkpoint(Box::new(checkpoint)))
    }
}

pub(super) fn digest(message: &[u8]) -> [u8; 32] {
    Sha256::digest(message).into()
}

pub(super) fn other_job() -> Error {
    Error::journal(
        JournalFault::OtherJob,
        "the record of this run is of another job, table or version: resume with the ones it was begun with, or begin a new run",
    )
}
