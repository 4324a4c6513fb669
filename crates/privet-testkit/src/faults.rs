//! Journals that fail on purpose.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use privet::Error;
use privet::privacy::journal::{Addition, Decide, Entry, Head, Journal, KeptValue};
use sha2::{Digest, Sha256};

/// How an append goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendFault {
    /// The entry is not written, and an error is returned.
    Refused,
    /// The entry is written, but an error is returned, as when a machine fails in between.
    Unacknowledged,
}

/// A journal in memory that outlives the ledger that holds it, and fails at the append of your choice.
#[derive(Clone, Default)]
pub struct Faulty {
    shared: Arc<Mutex<FaultyState>>,
}

#[derive(Default)]
struct FaultyState {
    entries: Vec<Entry>,
    kept: BTreeMap<u64, KeptValue>,
    appends: u64,
    fail: Option<(u64, AppendFault)>,
    meanwhile: Option<(u64, Box<dyn FnOnce() + Send>)>,
}

impl Faulty {
    /// Fails at the `n`-th append from now, counted from 1.
    pub fn fail_at(&self, n: u64, fault: AppendFault) {
        let mut state = self.state();
        state.fail = Some((state.appends + n, fault));
    }

    /// Does something else just before the `n`-th append from now, counted from 1: what another process does meanwhile.
    pub fn meanwhile(&self, n: u64, then: impl FnOnce() + Send + 'static) {
        let mut state = self.state();
        state.meanwhile = Some((state.appends + n, Box::new(then)));
    }

    /// What is stored.
    pub fn entries(&self) -> Vec<Entry> {
        self.state().entries.clone()
    }

    /// Adds an entry that was written before.
    ///
    /// # Errors
    /// [`Error::Journal`] if it does not follow the last one.
    pub fn append(&mut self, entry: &Entry) -> Result<(), Error> {
        let known = self.entries().last().map_or_else(Head::empty, Entry::head);
        self.transact(&known, &mut |_, _| Ok(Some(entry.clone().into())))
    }

    /// Puts an older copy in place of what is stored.
    pub fn put_back(&self, older: &Self) {
        let (entries, kept) = {
            let older = older.state();
            (older.entries.clone(), older.kept.clone())
        };
        let mut state = self.state();
        (state.entries, state.kept) = (entries, kept);
    }

    /// The values that are stored beside the entries, to be changed by a test.
    pub fn change_kept(&self, change: impl FnOnce(&mut BTreeMap<u64, KeptValue>)) {
        change(&mut self.state().kept);
    }

    /// Its keyed hash. Whoever runs tests knows the key.
    pub fn keyed(bytes: &[u8]) -> [u8; 32] {
        Sha256::new_with_prefix(b"the key of a faulty journal")
            .chain_update(bytes)
            .finalize()
            .into()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, FaultyState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for Faulty {
    fn read(&mut self, after: u64) -> Result<Vec<Entry>, Error> {
        let entries = self.entries();
        Ok(entries.into_iter().skip(after as usize).collect())
    }

    fn transact(&mut self, known: &Head, decide: Decide<'_>) -> Result<(), Error> {
        let due = {
            let mut state = self.state();
            let next = state.appends + 1;
            state.meanwhile.take_if(|(n, _)| *n == next)
        };
        if let Some((_, then)) = due {
            then();
        }
        let mut state = self.state();
        let place = known.entries as usize;
        let last = place.checked_sub(1).and_then(|last| state.entries.get(last));
        known.check_stored(last.map(Entry::hash))?;
        let news = state.entries.get(place..).unwrap_or_default().to_vec();
        let Some(Addition { entry, value }) = decide(news, None)? else {
            return Ok(());
        };
        let head = state.entries.last().map_or_else(Head::empty, Entry::head);
        entry.check_follows(&head)?;
        state.appends += 1;
        let fault = state
            .fail
            .filter(|(n, _)| *n == state.appends)
            .map(|(_, fault)| fault);
        if fault != Some(AppendFault::Refused) {
            if let Some(value) = value {
                state.kept.insert(entry.number(), value);
            }
            state.entries.push(entry);
        }
        match fault {
            Some(fault) => Err(Error::journal(
                privet::error::JournalFault::Storage,
                format!("injected: {fault:?}"),
            )),
            None => Ok(()),
        }
    }

    fn kept(&mut self, entry: u64) -> Result<Option<KeptValue>, Error> {
        Ok(self.state().kept.get(&entry).cloned())
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn commitment(&self, bytes: &[u8]) -> Option<[u8; 32]> {
        Some(Self::keyed(bytes))
    }
}
