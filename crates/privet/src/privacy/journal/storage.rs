//! Where entries and kept values are stored. The library opens no file: `privet-node` implements this on SQLite.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::{Entry, Head, hexadecimal};
use crate::Error;
use crate::error::JournalFault;

/// A released value that is stored with the ledger, and what it is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptValue {
    /// What the value is bound to, as text that only the owner of the ledger sees.
    pub about: String,
    /// The value's bytes.
    pub value: Vec<u8>,
}

/// What one transaction adds: an entry, and the value whose keeping it records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// The entry.
    pub entry: Entry,
    /// The value that is stored together with it.
    pub value: Option<KeptValue>,
}

impl From<Entry> for Addition {
    fn from(entry: Entry) -> Self {
        Self { entry, value: None }
    }
}

/// Decides inside a transaction: it is given the entries that came since a known head, and the time in seconds since 1970.
pub type Decide<'a> = &'a mut dyn FnMut(Vec<Entry>, Option<u64>) -> Result<Option<Addition>, Error>;

/// Where entries are kept. Several ledgers, also in different processes, may write to one journal.
pub trait Journal: Send {
    /// The entries after the first `after`, oldest first.
    ///
    /// # Errors
    /// [`Error::Journal`] if they cannot be read.
    fn read(&mut self, after: u64) -> Result<Vec<Entry>, Error>;

    /// One transaction, during which nobody else writes. `decide` is given the entries after `known`, and says what is added to them,
    /// if anything is. When this returns `Ok` the addition survives a crash, its entry together with its value; if `decide` fails,
    /// nothing is written.
    ///
    /// An implementation compares `known` with what is stored ([`Head::check_stored`]) and the new entry with the stored head
    /// ([`Entry::check_follows`]): a journal that was put back to an older copy while it was in use is never written to.
    ///
    /// # Errors
    /// Those of `decide`; [`Error::Journal`] if the journal cannot be read or written. After such an error the addition may be
    /// stored or not: nothing may be drawn or shown.
    fn transact(&mut self, known: &Head, decide: Decide<'_>) -> Result<(), Error>;

    /// The value that was stored together with an entry.
    ///
    /// # Errors
    /// [`Error::Journal`] if that cannot be read.
    fn kept(&mut self, entry: u64) -> Result<Option<KeptValue>, Error>;

    /// A hash of `hash` with a key that stays with the journal's owner. A journal in memory, whose values nobody can change from
    /// outside, needs no key.
    ///
    /// # Errors
    /// [`Error::Journal`] if the key is missing or not the right one.
    fn seal(&mut self, hash: [u8; 32]) -> Result<String, Error> {
        let sealed = Sha256::new_with_prefix(b"privet journal in memory 1\0").chain_update(hash);
        Ok(hexadecimal(&sealed.finalize()))
    }

    /// Whether entries outlive the process. Certificates say so.
    fn is_durable(&self) -> bool;

    /// A keyed hash of `bytes`, if the journal has a key that only its owner knows: certificates commit to a place in the journal by it.
    fn commitment(&self, bytes: &[u8]) -> Option<[u8; 32]> {
        let _ = bytes;
        None
    }
}

impl Head {
    /// That a journal still has the entry that this head ends with: `stored` is the hash of that entry there, if there is one.
    ///
    /// # Errors
    /// [`Error::Journal`] if it was replaced meanwhile.
    pub fn check_stored(&self, stored: Option<&str>) -> Result<(), Error> {
        if self.entries == 0 || stored == Some(self.hash.as_str()) {
            return Ok(());
        }
        let why = format!(
            "the ledger no longer has the entry {} that it had when it was opened: it was replaced or put back to an older copy \
             meanwhile. Nothing was written; open it again.",
            self.entries
        );
        Err(Error::journal(JournalFault::MovedOn, why))
    }
}

/// A journal in memory only, for experiments and simulations.
#[derive(Debug, Default)]
pub struct Volatile {
    entries: Vec<Entry>,
    kept: BTreeMap<u64, KeptValue>,
}

impl Volatile {
    /// The entries after a known head.
    fn since(&self, known: &Head) -> Result<Vec<Entry>, Error> {
        let place = usize::try_from(known.entries).unwrap_or(usize::MAX);
        let stored = place.checked_sub(1).and_then(|last| self.entries.get(last));
        known.check_stored(stored.map(Entry::hash))?;
        Ok(self.entries.get(place..).unwrap_or_default().to_vec())
    }
}

impl Journal for Volatile {
    fn read(&mut self, after: u64) -> Result<Vec<Entry>, Error> {
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        Ok(self.entries.get(after..).unwrap_or_default().to_vec())
    }

    fn transact(&mut self, known: &Head, decide: Decide<'_>) -> Result<(), Error> {
        let Some(Addition { entry, value }) = decide(self.since(known)?, None)? else {
            return Ok(());
        };
        let head = self.entries.last().map_or_else(Head::empty, Entry::head);
        entry.check_follows(&head)?;
        if let Some(value) = value {
            self.kept.insert(entry.number(), value);
        }
        self.entries.push(entry);
        Ok(())
    }

    fn kept(&mut self, entry: u64) -> Result<Option<KeptValue>, Error> {
        Ok(self.kept.get(&entry).cloned())
    }

    fn is_durable(&self) -> bool {
        false
    }
}
