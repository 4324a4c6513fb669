//! A journal that a host keeps as one piece of bytes: a device has few entries, so each transaction writes all of them.

use privet::Error;
use privet::error::JournalFault;
use privet::privacy::account::{Caps, Price};
use privet::privacy::journal::{Addition, Decide, Entry, Event, Head, Journal, KeptValue};
use privet::privacy::ledger::{append, begin};
use privet::privacy::{Book, Delta, Epsilon, Randomness, Relation};
use privet::wire::{Malformed, Reader, Wire, Writer};
use sha2::{Digest, Sha256};

/// Where a host keeps the ledger.
pub trait Storage: Send {
    /// What was stored last; nothing if nothing was.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn load(&mut self) -> Result<Vec<u8>, String>;

    /// Stores all of this in place of what was there, whole: when it returns `Ok`, it survives a crash, and a crash before leaves what was there.
    ///
    /// # Errors
    /// Why it cannot be stored.
    fn store(&mut self, bytes: &[u8]) -> Result<(), String>;
}

/// The library's journal on such a storage. One process has it open.
pub struct StoredJournal<S> {
    storage: S,
    stored: Stored,
}

/// What is stored.
#[derive(Debug, Clone, Default)]
struct Stored {
    /// A secret of this device.
    key: [u8; 32],
    entries: Vec<Entry>,
    /// Kept values, by the number of their entry.
    kept: Vec<(u64, KeptValue)>,
}

impl<S: Storage> StoredJournal<S> {
    /// Opens what is stored, or begins it with a budget for everything about the owner.
    ///
    /// # Errors
    /// [`Error::Journal`] if it cannot be read or written.
    pub fn open(mut storage: S, dataset: &str, cap: Epsilon) -> Result<Self, Error> {
        let bytes = storage.load().map_err(unstored)?;
        let stored = match bytes.is_empty() {
            true => {
                let mut fresh = Stored::default();
                Randomness::from_os()?.bytes(&mut fresh.key);
                fresh
            }
            false => Stored::from_bytes(&bytes).map_err(|e| {
                let why = format!("the stored ledger cannot be read: {e}");
                Error::journal(JournalFault::Damaged, why)
            })?,
        };
        let mut journal = Self { storage, stored };
        if journal.stored.entries.is_empty() {
            begin(&mut journal)?;
        }
        if Book::of(&journal.stored.entries)?.owner().is_none() {
            let limit = Event::Limit {
                dataset: dataset.into(),
                relation: Relation::Owner,
                caps: Caps::from(Price::Pure(cap)),
                delta: Delta::ZERO,
            };
            append(&mut journal, limit)?;
        }
        Ok(journal)
    }
}

fn unstored(why: String) -> Error {
    Error::journal(
        JournalFault::Storage,
        format!("the host cannot keep the ledger: {why}"),
    )
}

impl<S: Storage> Journal for StoredJournal<S> {
    fn read(&mut self, after: u64) -> Result<Vec<Entry>, Error> {
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        Ok(self.stored.entries.get(after..).unwrap_or_default().to_vec())
    }

    fn transact(&mut self, known: &Head, decide: Decide<'_>) -> Result<(), Error> {
        let place = usize::try_from(known.entries).unwrap_or(usize::MAX);
        let last = place
            .checked_sub(1)
            .and_then(|last| self.stored.entries.get(last));
        known.check_stored(last.map(Entry::hash))?;
        let since = self.stored.entries.get(place..).unwrap_or_default().to_vec();
        let Some(Addition { entry, value }) = decide(since, None)? else {
            return Ok(());
        };
        let head = self.stored.entries.last().map_or_else(Head::empty, Entry::head);
        entry.check_follows(&head)?;
        // What the host could not store was not added.
        let mut next = self.stored.clone();
        next.kept.extend(value.map(|value| (entry.number(), value)));
        next.entries.push(entry);
        self.storage.store(&next.to_bytes()).map_err(unstored)?;
        self.stored = next;
        Ok(())
    }

    fn kept(&mut self, entry: u64) -> Result<Option<KeptValue>, Error> {
        let found = self.stored.kept.iter().find(|(number, _)| *number == entry);
        Ok(found.map(|(_, value)| value.clone()))
    }

    fn seal(&mut self, hash: [u8; 32]) -> Result<String, Error> {
        let sealed = Sha256::new_with_prefix(self.stored.key)
            .chain_update(hash)
            .finalize();
        Ok(sealed.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn is_durable(&self) -> bool {
        true
    }
}

/// What the bytes begin with.
const MARK: [u8; 15] = *b"privet device 1";

impl Wire for Stored {
    fn write(&self, to: &mut Writer) {
        to.fixed(&MARK);
        to.fixed(&self.key);
        to.list(&self.entries, |entry, to| {
            to.text(entry.text());
            to.text(entry.hash());
        });
        to.list(&self.kept, |(number, value), to| {
            to.long(*number);
            to.text(&value.about);
            to.bytes(&value.value);
        });
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        if from.array()? != MARK {
            return Err(Malformed::new("it is not a ledger of a device"));
        }
        let key = from.array()?;
        let entries = from.list(16, |from| {
            let (text, hash) = (from.text(usize::MAX)?, from.text(64)?);
            Entry::parse(text, hash).map_err(|e| Malformed::new(e.to_string()))
        })?;
        let kept = from.list(24, |from| {
            let (number, about) = (from.long()?, from.text(usize::MAX)?);
            let value = from.bytes()?.to_vec();
            Ok((number, KeptValue { about, value }))
        })?;
        Ok(Self { key, entries, kept })
    }
}
