//! Where a run pays: a ledger's file, or a budget in memory that nothing records.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use privet::Error;
use privet::privacy::account::{Caps, Price};
use privet::privacy::journal::{Decide, Entry, Event, Head, Journal, KeptValue, Volatile};
use privet::privacy::ledger::{append, begin};
use privet::privacy::signature::SigningKey;
use privet::privacy::{Book, BudgetToSet, Delta, Epsilon, Ledger, Randomness, Relation};

use super::exit::Failure;
use super::permission;
use super::request::LedgerFile;
use crate::job::Rows;
use crate::ledger::Shared;

/// Where a run pays.
pub enum Account<'a> {
    /// A ledger in a file.
    File(&'a LedgerFile),
    /// A budget in memory.
    Memory(&'a Unrecorded),
}

/// An account that is open.
pub(super) enum Opened<'a> {
    File(Shared),
    Memory(&'a Unrecorded),
}

impl Account<'_> {
    /// The budget that a run needs, for the command that sets it.
    pub(super) fn budget(&self, epsilon: Epsilon, delta: Delta) -> BudgetToSet {
        match self {
            Self::File(file) => file.budget(epsilon, delta),
            Self::Memory(_) => BudgetToSet::of(epsilon, delta),
        }
    }

    /// Opens it to pay from the budget of a data set: what cannot be paid for is not read.
    pub(super) fn open(
        &self,
        dataset: &str,
        relation: &Relation,
        budget: &BudgetToSet,
    ) -> Result<Opened<'_>, Failure> {
        Ok(match self {
            Self::File(file) => Opened::File(Shared::new(file.open_to_pay(dataset, relation, budget)?)),
            Self::Memory(memory) => Opened::Memory(memory),
        })
    }
}

impl Opened<'_> {
    /// The budget of one data set for one run, which will ask for this price and δ.
    pub(super) fn ledger(
        &self,
        dataset: &str,
        relation: &Relation,
        price: (Price, Delta),
        random: Randomness,
    ) -> Result<Ledger, Error> {
        match self {
            Self::File(shared) => Ledger::open(dataset, relation.clone(), shared.clone(), random),
            Self::Memory(memory) => memory.ledger(dataset, relation, price, random),
        }
    }

    /// The key that models are signed with, if a ledger records them.
    pub(super) fn signing_key(&self) -> Result<Option<SigningKey>, Error> {
        match self {
            Self::File(shared) => shared.store().signing_key().map(Some),
            Self::Memory(_) => Ok(None),
        }
    }

    /// Stops a known table under a new name, and remembers this one.
    pub(super) fn recognise(&self, rows: &dyn Rows) -> Result<(), Failure> {
        match self {
            Self::File(shared) => permission::recognise(&mut shared.store(), &[rows]),
            Self::Memory(_) => Ok(()),
        }
    }
}

/// A budget in memory, for experiments: certificates say that nothing was recorded. Its clones are one budget.
#[derive(Clone)]
pub struct Unrecorded {
    /// For each data set; without it, every run gets what it asks for.
    caps: Option<(Caps, Delta)>,
    journal: Arc<Mutex<Volatile>>,
}

impl Unrecorded {
    /// A budget of these caps at this δ for each data set; without them, every run gets what it asks for.
    ///
    /// # Errors
    /// [`Error::Randomness`] if there is none.
    pub fn new(caps: Option<(Caps, Delta)>) -> Result<Self, Error> {
        let mut journal = Volatile::default();
        begin(&mut journal)?;
        Ok(Self {
            caps,
            journal: Arc::new(Mutex::new(journal)),
        })
    }

    /// What was paid so far.
    ///
    /// # Errors
    /// [`Error::Journal`] if the entries do not verify.
    pub fn book(&self) -> Result<Book, Error> {
        Book::of(&self.entries()?)
    }

    /// The entries so far.
    ///
    /// # Errors
    /// As [`book`](Self::book).
    pub fn entries(&self) -> Result<Vec<Entry>, Error> {
        self.journal().read(0)
    }

    fn journal(&self) -> MutexGuard<'_, Volatile> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ledger(
        &self,
        dataset: &str,
        relation: &Relation,
        (price, delta): (Price, Delta),
        random: Randomness,
    ) -> Result<Ledger, Error> {
        let Some((caps, delta)) = self.caps else {
            return Ledger::volatile(relation.clone(), Caps::from(price), delta, random);
        };
        let book = self.book()?;
        let account = book.account(dataset);
        if !account.is_some_and(|account| account.lines().contains_key(relation)) {
            let limit = Event::Limit {
                dataset: dataset.into(),
                relation: relation.clone(),
                caps,
                delta,
            };
            append(&mut self.clone(), limit)?;
        }
        Ledger::open(dataset, relation.clone(), self.clone(), random)
    }
}

impl Journal for Unrecorded {
    fn read(&mut self, after: u64) -> Result<Vec<Entry>, Error> {
        self.journal().read(after)
    }

    fn transact(&mut self, known: &Head, decide: Decide<'_>) -> Result<(), Error> {
        self.journal().transact(known, decide)
    }

    fn kept(&mut self, entry: u64) -> Result<Option<KeptValue>, Error> {
        self.journal().kept(entry)
    }

    fn is_durable(&self) -> bool {
        false
    }
}
