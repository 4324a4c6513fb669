//! A role in its seat on the network.

use std::fs::File;
use std::path::Path;

use privet::Error;
use privet::party::{PartyId, Role, RunName, Seat};
use privet::privacy::{Ledger, Randomness, Relation};

use super::stopped;
use crate::job::Source;
use crate::ledger::{RunRecord, Shared};
use crate::net::{Agreed, Drive, Identity, Waits};
use crate::progress::Progress;
use crate::verb::exit::Failure;
use crate::verb::request::LedgerFile;

/// What a party plays with.
pub(super) struct Playing<'a> {
    pub(super) drive: &'a mut Drive,
    pub(super) agreed: &'a Agreed,
    pub(super) waits: Waits,
    pub(super) me: PartyId,
    pub(super) path: &'a Path,
    pub(super) shared: &'a Shared,
    pub(super) ledger: &'a LedgerFile,
    pub(super) identity: &'a Identity,
}

impl Playing<'_> {
    /// Plays a role, which is made by `make`, with the record of the run in the ledger.
    pub(super) fn role<R: Role>(
        &mut self,
        mark: &str,
        make: impl FnOnce(RunName) -> Result<R, Error>,
    ) -> Result<R::Output, Failure> {
        let record = RunRecord::open(self.path, &self.agreed.agreement, self.me, mark)?;
        let bar = Progress::steps("Taking part");
        let report = self.drive.report.clone();
        let progress = move |what: &str, done, of| {
            bar.at(done, of);
            report.progress(what, done, of);
        };
        let agreement = self.agreed.agreement.clone();
        let seat = Seat::take(agreement, self.me, Box::new(record), &progress, make)?;
        let driven = self.drive.run(seat, self.agreed, self.waits, &progress);
        driven
            .and_then(|driven| driven.outcome)
            .map_err(|e| stopped(e, true))
    }

    /// The mark of this party's table.
    pub(super) fn mark(&self, source: &Source) -> Result<String, Failure> {
        mark(source, self.shared)
    }

    /// That this party's part in the run, if it was begun, was begun with what is marked so: asked before anything is written down.
    pub(super) fn check_begun(&self, mark: &str) -> Result<(), Failure> {
        RunRecord::open(self.path, &self.agreed.agreement, self.me, mark)?;
        Ok(())
    }

    /// This party's budget.
    pub(super) fn budget(&self, dataset: &str, relation: &Relation, mark: &str) -> Result<Ledger, Error> {
        let random = Randomness::from_os()?;
        let ledger = Ledger::open(dataset, relation.clone(), self.shared.clone(), random)?;
        Ok(ledger.of_table(mark))
    }
}

fn mark(source: &Source, shared: &Shared) -> Result<String, Failure> {
    let unreadable = |e| Failure::input(format!("{}: it cannot be read: {e}", source.data.display()));
    let file = File::open(&source.data).map_err(unreadable)?;
    Ok(shared.store().mark(file)?)
}

/// That a table can be opened, before anybody is called. Nothing of it is read.
pub(super) fn there(source: &Source) -> Result<(), Failure> {
    let unreadable = |e| Failure::input(format!("{}: it cannot be read: {e}", source.data.display()));
    File::open(&source.data).map(drop).map_err(unreadable)
}
