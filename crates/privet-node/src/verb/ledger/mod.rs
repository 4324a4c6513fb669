//! `privet ledger`: one file for each verb.

mod adopt;
mod export;
mod key;
mod limit;
pub(super) mod show;
pub(super) mod verify;

use std::path::Path;

use privet::privacy::Book;

use super::Answer;
use super::account::Unrecorded;
use super::exit::Failure;
use super::request::{LedgerCommand, LedgerFile};

pub(super) fn run(ledger: &LedgerFile, verb: &LedgerCommand) -> Result<Answer, Failure> {
    let path = ledger.path()?;
    match verb {
        LedgerCommand::Show { dataset } => show::run(path, dataset.as_deref()),
        LedgerCommand::Verify { against } => verify::run(path, against),
        LedgerCommand::Limit(limit) => limit::run(ledger, limit),
        LedgerCommand::Adopt { dataset, of } => adopt::run(ledger, dataset, of),
        LedgerCommand::Key => key::run(ledger),
        LedgerCommand::Export { out, overwrite } => export::run(path, out.as_deref(), *overwrite),
    }
}

/// What was paid from a budget in memory.
///
/// # Errors
/// A [`Failure`] if its entries do not verify.
pub fn show_unrecorded(budget: &Unrecorded) -> Result<Answer, Failure> {
    let entries = budget.entries()?;
    let book = Book::of(&entries)?;
    Ok(show::answer(Path::new("in memory"), &book, &entries, None))
}
