//! Parties on this machine: their ledgers, and the released columns that they keep.

use std::fs::File;
use std::path::Path;

use privet::Error;
use privet::data::{Schema, Table};
use privet::error::{JournalFault, Refusal};
use privet::party::{MemoryRecord, Record};
use privet::privacy::{Ledger, Randomness, Relation};
use privet::setting::vertical::FeatureHolder;

use super::exit::{Exit, Failure};
use super::output;
use crate::job::{Holder, Source};
use crate::ledger::{Shared, Store};
use crate::record::FileRecord;

/// Opens the ledger that columns are to be released under, after looking whether it has a line for each of these data sets.
pub(super) fn open(path: &Path, sets: &[(&Schema, &Relation)]) -> Result<Shared, Failure> {
    lines(path, sets)?;
    Ok(Shared::new(Store::open(path)?))
}

/// Whether the ledger has a line for each of these data sets; if not, how to make them. Nothing is read or written.
pub(super) fn lines(path: &Path, sets: &[(&Schema, &Relation)]) -> Result<(), Failure> {
    unlisted(path, sets)?.map_or(Ok(()), |why| Err(refused(&why)))
}

/// That columns are not released.
pub(super) fn refused(why: &str) -> Failure {
    Failure::new(Exit::Budget, format!("refused: {why}"))
}

/// Why columns of these data sets are refused, if the ledger has no line for one of them, and how to make it. Nothing is written.
pub(super) fn unlisted(path: &Path, sets: &[(&Schema, &Relation)]) -> Result<Option<String>, Failure> {
    let there = std::fs::symlink_metadata(path).is_ok();
    let book = there.then(|| Store::read_only(path)?.book()).transpose()?;
    let known = |(schema, relation): &&(&Schema, &Relation)| {
        let account = book.as_ref().and_then(|book| book.account(schema.dataset()));
        account.is_some_and(|account| account.lines().contains_key(*relation))
    };
    let missing: Vec<&(&Schema, &Relation)> = sets.iter().filter(|set| !known(set)).collect();
    let Some((schema, relation)) = missing.first() else {
        return Ok(None);
    };
    let commands = missing.iter().map(|(schema, relation)| {
        let command = relation.limit_command(schema.dataset());
        format!("`{}`", command.replacen("--epsilon E", "--epsilon 0", 1))
    });
    let commands = commands.collect::<Vec<_>>().join(" and ");
    let why = if there {
        format!(
            "the ledger {} has no line for '{}' when {relation}",
            path.display(),
            schema.dataset()
        )
    } else {
        format!(
            "there is no ledger {} yet, which must record the columns that are released",
            path.display()
        )
    };
    Ok(Some(format!(
        "{why}. Run {commands}; desensitised columns cost no ε, so 0 is enough. Nothing was read."
    )))
}

/// What a party releases, or released before: columns or labels.
pub(super) struct Outgoing<'a> {
    pub(super) source: &'a Source,
    /// Where they are kept.
    pub(super) kept: &'a Path,
    pub(super) relation: &'a Relation,
    pub(super) shared: &'a Shared,
}

impl<'a> Outgoing<'a> {
    /// What a party of a job releases.
    pub(super) fn of<P>(holder: &'a Holder<P>, relation: &'a Relation, shared: &'a Shared) -> Self {
        Self {
            source: &holder.source,
            kept: &holder.kept,
            relation,
            shared,
        }
    }

    /// Whether it could be released, or was before in this way, as `check` says. Nothing is paid, drawn or written, so that it can
    /// be asked of all parties before the columns of the first one are released.
    pub(super) fn check(
        &self,
        check: impl FnOnce(Ledger, &mut dyn Record) -> Result<(), Error>,
    ) -> Result<(), Failure> {
        let mut record = kept(self.source, self.kept, self.shared)?;
        let checked = self.ledger().and_then(|ledger| check(ledger, &mut *record));
        Ok(checked.map_err(|e| self.about(e))?)
    }

    /// Whether rows can be matched by their ids, if no columns were released yet. The ledger says that ids were looked at.
    pub(super) fn check_ids(&self, table: &Table) -> Result<(), Failure> {
        if kept(self.source, self.kept, self.shared)?.read(0)?.is_some() {
            return Ok(());
        }
        let checked = self
            .ledger()
            .and_then(|mut ledger| FeatureHolder::check_ids(table, &mut ledger));
        Ok(checked.map_err(|e| self.about(e))?)
    }

    /// Drawn and kept by `keep`, or as it was kept. The table was recognised before.
    pub(super) fn release<T>(
        &self,
        keep: impl FnOnce(Ledger, Box<dyn Record>) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        let is_new = std::fs::symlink_metadata(self.kept).is_err();
        let record = record(self.source, self.kept, self.shared)?;
        let released = self.ledger().and_then(|ledger| keep(ledger, Box::new(record)));
        // Both are decided before anything is drawn, so that nothing was recorded.
        if let (true, Err(Error::Budget(_) | Error::Data(_))) = (is_new, &released) {
            let _ = std::fs::remove_file(self.kept);
        }
        Ok(released.map_err(|e| self.about(e))?)
    }

    /// The party's own budget.
    pub(super) fn ledger(&self) -> Result<Ledger, Error> {
        let (dataset, relation) = (self.source.schema.dataset(), self.relation.clone());
        Ledger::open(dataset, relation, self.shared.clone(), Randomness::from_os()?)
    }

    /// What is wrong with columns that were kept, with where that is.
    fn about(&self, e: Error) -> Error {
        let kept = self.kept.display();
        match e {
            Error::Parameter(e) => Error::parameter(e.subject().clone(), format!("{e} (kept in {kept})")),
            Error::Data(e) => Error::Data(e.in_file(self.source.data.display())),
            Error::Journal(e) if e.fault() == JournalFault::OtherJob => Error::parameter(
                "kept",
                format!(
                    "{kept} was kept under other settings. A column is released once: use the settings it was released with"
                ),
            ),
            Error::Budget(mut refusal) => {
                if let Refusal::AlreadyDesensitised { kept: at, .. } = &mut *refusal {
                    *at = Some(kept.to_string());
                }
                Error::Budget(refusal)
            }
            other => other,
        }
    }
}

/// The record of what was released of a table, which is known by its bytes.
fn record(source: &Source, kept: &Path, shared: &Shared) -> Result<FileRecord, Failure> {
    let Source { schema, data } = source;
    let mut store = shared.store();
    let file = File::open(data)
        .map_err(|e| Failure::input(format!("{}: it cannot be read: {e}", data.display())))?;
    let mark = store.mark(file)?;
    Ok(FileRecord::open(kept, &format!("{}\n{mark}", schema.dataset()))?)
}

/// The same if there is one, without making it; and whether it could be made.
fn kept(source: &Source, kept: &Path, shared: &Shared) -> Result<Box<dyn Record>, Failure> {
    if std::fs::symlink_metadata(kept).is_ok() {
        return Ok(Box::new(record(source, kept, shared)?));
    }
    output::check_writable(kept)?;
    Ok(Box::new(MemoryRecord::default()))
}
