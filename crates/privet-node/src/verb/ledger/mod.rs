//! `privet ledger`: one file for each verb.

mod adopt;
mod export;
mod key;
mod limit;
pub(super) mod show;
pub(super) mod verify;

use super::Answer;
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
        LedgerCommand::Export { out } => export::run(path, out.as_deref()),
    }
}
