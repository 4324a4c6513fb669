//! One ledger that several parties on this machine write to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use privet::Error;
use privet::privacy::journal::{Decide, Entry, Head, Journal, KeptValue};

use super::Store;

/// A ledger that is open once and used by several budgets at a time; its clones are one ledger.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<Store>>);

impl Shared {
    /// Shares an open ledger.
    pub fn new(store: Store) -> Self {
        Self(Arc::new(Mutex::new(store)))
    }

    /// The ledger, for as long as nobody else needs it.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        // A panic elsewhere does not damage the file: every write is whole or not there.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for Shared {
    fn read(&mut self, after: u64) -> Result<Vec<Entry>, Error> {
        self.store().read(after)
    }

    fn transact(&mut self, known: &Head, decide: Decide<'_>) -> Result<(), Error> {
        self.store().transact(known, decide)
    }

    fn kept(&mut self, entry: u64) -> Result<Option<KeptValue>, Error> {
        self.store().kept(entry)
    }

    fn seal(&mut self, hash: [u8; 32]) -> Result<String, Error> {
        self.store().seal(hash)
    }

    fn is_durable(&self) -> bool {
        self.store().is_durable()
    }

    fn commitment(&self, bytes: &[u8]) -> Option<[u8; 32]> {
        self.store().commitment(bytes)
    }
}
