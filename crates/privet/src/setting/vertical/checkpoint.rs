//! States that parties hand over, from which an interrupted run goes on.

use super::message::{Meeting, Message, Wanted};
use crate::Error;
use crate::boost::gradient::Boosted;
use crate::error::JournalFault;
use crate::party::PartyId;
use crate::wire::{Malformed, Reader, Wire, Writer};

/// A label holder that knows which rows are common.
#[derive(Debug, PartialEq)]
pub(super) struct Settled {
    /// A digest of its ids, if rows were matched by them.
    pub(super) ids: Option<[u8; 32]>,
    /// The common rows, by their numbers in its table.
    pub(super) rows: Vec<usize>,
    /// What feature holders sent, if all have.
    pub(super) columns: Vec<(PartyId, Vec<u8>)>,
    /// The trees so far, if it trains.
    pub(super) boosted: Option<Boosted>,
}

/// A feature holder that has answered an offer of ids.
#[derive(Debug, PartialEq)]
pub(super) struct Answered {
    /// A digest of its ids.
    pub(super) ids: [u8; 32],
    pub(super) meeting: Vec<u8>,
    pub(super) wanted: Wanted,
}

/// In a record, as JSON.
impl Wire for Boosted {
    fn write(&self, to: &mut Writer) {
        to.bytes(&serde_json::to_vec(self).unwrap_or_default());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        trees(from.bytes()?)
    }
}

fn trees(json: &[u8]) -> Result<Boosted, Malformed> {
    serde_json::from_slice(json).map_err(|_| Malformed::new("trees that cannot be read"))
}

impl Wire for Settled {
    fn write(&self, to: &mut Writer) {
        to.byte(self.ids.is_some().into());
        to.fixed(&self.ids.unwrap_or_default());
        numbers(&self.rows, to);
        to.list(&self.columns, |(party, message), to| {
            party.write(to);
            to.bytes(message);
        });
        match &self.boosted {
            Some(boosted) => boosted.write(to),
            None => to.bytes(&[]),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (is_matched, ids) = (from.byte()? == 1, from.array()?);
        Ok(Self {
            ids: is_matched.then_some(ids),
            rows: rows(from)?,
            columns: from.list(12, |from| Ok((PartyId::read(from)?, from.bytes()?.to_vec())))?,
            boosted: match from.bytes()? {
                [] => None,
                bytes => Some(trees(bytes)?),
            },
        })
    }
}

impl Wire for Answered {
    fn write(&self, to: &mut Writer) {
        to.fixed(&self.ids);
        to.bytes(&self.meeting);
        let wanted = Message::Hello {
            settings: Vec::new(),
            wanted: self.wanted.clone(),
            meeting: Meeting::Given { rows: 0 },
        };
        to.bytes(&wanted.to_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let ids = from.array()?;
        let meeting = from.bytes()?.to_vec();
        let Message::Hello { wanted, .. } = Message::from_bytes(from.bytes()?)? else {
            return Err(Malformed::new("no wish"));
        };
        Ok(Self { ids, meeting, wanted })
    }
}

fn numbers(numbers: &[usize], to: &mut Writer) {
    to.list(numbers, |number, to| to.long(*number as u64));
}

fn rows(from: &mut Reader<'_>) -> Result<Vec<usize>, Malformed> {
    let number = |from: &mut Reader<'_>| {
        usize::try_from(from.long()?).map_err(|_| Malformed::new("a number that cannot be"))
    };
    from.list(8, number)
}

/// The error for a state that is not this party's.
pub(super) fn foreign() -> Error {
    Error::journal(
        JournalFault::OtherJob,
        "the state in the record of this run is of another job, table or version: resume with the ones it was begun with, or begin a \
         new run",
    )
}
