//! `privet ledger`: one file for each verb.

mod adopt;
mod export;
mod key;
mod limit;
pub(super) mod show;
pub(super) mod verify;

use std::path::Path;

use super::Answer;
use super::exit::Failure;
use super::request::LedgerCommand;

pub(super) fn run(path: &Path, verb: &LedgerCommand) -> Result<Answer, Failure> {
    match verb {
        LedgerCommand::Show { dataset } => show::run(path, dataset.as_deref()),
        LedgerCommand::Verify { against } => verify::run(path, against),
        LedgerCommand::Limit(limit) => limit::run(path, limit),
        LedgerCommand::Adopt { dataset, of } => adopt::run(path, dataset, of),
        LedgerCommand::Key => key::run(path),
        LedgerCommand::Export { out } => export::run(path, out.as_deref()),
    }
}
