//! What is wrong with a ledger or a record.

use crate::privacy::getters;
use std::fmt;

/// A ledger or record that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalError {
    fault: JournalFault,
    text: String,
}

/// The ways in which a ledger or record cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JournalFault {
    /// Another process holds it.
    Busy,
    /// It does not exist.
    Missing,
    /// It exists but cannot be opened.
    Unreachable,
    /// It cannot be written by this account.
    NotWritable,
    /// The file is not a ledger or record.
    Foreign,
    /// Another version of the program wrote it.
    OtherVersion,
    /// A new one cannot be created: the place is or was in use.
    Occupied,
    /// An entry of a ledger, by its number, does not follow from the ones before it.
    Entry(u64),
    /// Bytes of it were changed or lost.
    Damaged,
    /// It was begun for another job or table.
    OtherJob,
    /// Another process has written to it since it was opened.
    MovedOn,
    /// An earlier entry could not be written; nothing more is written.
    Unwritten,
    /// It is full.
    Full,
    /// A key that belongs to it is missing, damaged or of another ledger.
    Key,
    /// The storage failed in another way.
    Storage,
}

impl JournalError {
    pub(super) fn new(fault: JournalFault, text: String) -> Self {
        Self { fault, text }
    }

    getters! {
        /// What is wrong.
        pub fault(fault) -> JournalFault;
        /// Why, without the number of the entry.
        pub reason(&text) -> &str;
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let JournalFault::Entry(number) = self.fault {
            write!(f, "ledger entry {number}: ")?;
        }
        f.write_str(&self.text)
    }
}
