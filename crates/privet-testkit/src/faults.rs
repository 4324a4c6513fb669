//! Journals that fail on purpose.

use std::sync::{Arc, Mutex, PoisonError};

use privet::Error;
use privet::privacy::journal::{Entry, Head, Journal};
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
    appends: u64,
    fail: Option<(u64, AppendFault)>,
}

impl Faulty {
    /// Fails at the `n`-th append from now, counted from 1.
    pub fn fail_at(&self, n: u64, fault: AppendFault) {
        let mut state = self.state();
        state.fail = Some((state.appends + n, fault));
    }

    /// What is stored.
    pub fn entries(&self) -> Vec<Entry> {
        self.state().entries.clone()
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
    fn read(&mut self) -> Result<Vec<Entry>, Error> {
        Ok(self.entries())
    }

    fn append(&mut self, entry: &Entry) -> Result<(), Error> {
        let mut state = self.state();
        let head = state.entries.last().map_or_else(Head::empty, Entry::head);
        entry.check_follows(&head)?;
        state.appends += 1;
        let fault = state
            .fail
            .filter(|(n, _)| *n == state.appends)
            .map(|(_, fault)| fault);
        if fault != Some(AppendFault::Refused) {
            state.entries.push(entry.clone());
        }
        match fault {
            Some(fault) => Err(Error::journal(
                privet::error::JournalFault::Storage,
                format!("injected: {fault:?}"),
            )),
            None => Ok(()),
        }
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn commitment(&self, bytes: &[u8]) -> Option<[u8; 32]> {
        Some(Self::keyed(bytes))
    }
}
