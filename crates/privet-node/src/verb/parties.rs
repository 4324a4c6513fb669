//! Parties on this machine: their ledgers, and the released columns that these keep.

use std::fs::File;
use std::path::Path;

use privet::Error;
use privet::data::{Schema, Table};
use privet::error::Refusal;
use privet::privacy::mechanism::ordered::Distance;
use privet::privacy::{BudgetToSet, ColumnState, Delta, Epsilon, Ledger, Randomness, Relation};
use privet::setting::vertical::{Earlier, FeatureHolder};

use super::exit::{Exit, Failure};
use super::request::LedgerFile;
use crate::job::{Holder, Source};
use crate::ledger::{Shared, Store};
use crate::record;

/// Opens the ledger that columns are to be released under, after looking whether it has a line for each of these data sets.
pub(super) fn open(ledger: &LedgerFile, sets: &[(&Schema, &Relation)]) -> Result<Shared, Failure> {
    lines(ledger.path()?, sets)?;
    Ok(Shared::new(ledger.open()?))
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
    let columns = ["the columns that are released", "desensitised columns cost no ε"];
    unlisted_for(path, sets, columns)
}

/// The same for whatever the ledger must record, and why a limit of 0 is enough for that.
pub(super) fn unlisted_for(
    path: &Path,
    sets: &[(&Schema, &Relation)],
    [recorded, costs]: [&str; 2],
) -> Result<Option<String>, Failure> {
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
        let nothing = BudgetToSet::of(Epsilon::ZERO, Delta::ZERO);
        format!("`{}`", relation.limit_command(schema.dataset(), &nothing))
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
            "there is no ledger {} yet, which must record {recorded}",
            path.display()
        )
    };
    Ok(Some(format!(
        "{why}. Run {commands}; {costs}, so 0 is enough. Nothing was read."
    )))
}

/// What a party releases, or released before: columns or labels.
pub(super) struct Outgoing<'a> {
    pub(super) source: &'a Source,
    /// Where an earlier version kept them.
    pub(super) kept: &'a Path,
    pub(super) relation: &'a Relation,
    pub(super) shared: &'a Shared,
    /// What the ledger recognises the table's file by.
    mark: String,
    earlier: Option<Earlier>,
}

impl<'a> Outgoing<'a> {
    /// What a party of a job releases.
    pub(super) fn of<P>(
        holder: &'a Holder<P>,
        relation: &'a Relation,
        shared: &'a Shared,
    ) -> Result<Self, Failure> {
        Self::new(&holder.source, &holder.kept, relation, shared)
    }

    /// What is released of a table. A file in which an earlier version kept it is read, if it is there.
    pub(super) fn new(
        source: &'a Source,
        kept: &'a Path,
        relation: &'a Relation,
        shared: &'a Shared,
    ) -> Result<Self, Failure> {
        let Source { schema, data } = source;
        let file = File::open(data)
            .map_err(|e| Failure::input(format!("{}: it cannot be read: {e}", data.display())))?;
        let mark = shared.store().mark(file)?;
        let earlier = record::earlier(kept, &format!("{}\n{mark}", schema.dataset()))?;
        Ok(Self {
            source,
            kept,
            relation,
            shared,
            mark,
            earlier,
        })
    }

    /// Whether it could be released, or was before in this way, as `check` says; or could be taken over from the file of an earlier
    /// version, as `import` says. Nothing is paid, drawn or written, so that it can be asked of all parties before the columns of the
    /// first one are released.
    pub(super) fn check(
        &self,
        check: impl FnOnce(Ledger) -> Result<(), Error>,
        import: impl FnOnce(Ledger, &Earlier) -> Result<(), Error>,
    ) -> Result<(), Failure> {
        let checked = self.ledger().and_then(|ledger| match &self.earlier {
            Some(earlier) => import(ledger, earlier),
            None => check(ledger),
        });
        Ok(checked.map_err(|e| self.about(e))?)
    }

    /// Whether rows can be matched by their ids, if no columns were released yet. The ledger says that ids were looked at.
    pub(super) fn check_ids(&self, table: &Table, columns: &[Distance]) -> Result<(), Failure> {
        let book = self.shared.store().book()?;
        let account = book.account(self.source.schema.dataset());
        let is_free = |column: &Distance| {
            account.is_none_or(|account| account.column(&column.column) == ColumnState::Free)
        };
        if !columns.iter().all(is_free) {
            return Ok(());
        }
        let checked = self
            .ledger()
            .and_then(|mut ledger| FeatureHolder::check_ids(table, &mut ledger));
        Ok(checked.map_err(|e| self.about(e))?)
    }

    /// Drawn and kept by `keep`, or as it was kept; taken over from the file of an earlier version first. The table was recognised
    /// before.
    pub(super) fn release<T>(
        &self,
        keep: impl FnOnce(Ledger) -> Result<T, Error>,
        import: impl FnOnce(Ledger, &Earlier) -> Result<(), Error>,
    ) -> Result<T, Failure> {
        let released = || {
            if let Some(earlier) = &self.earlier {
                import(self.ledger()?, earlier)?;
            }
            keep(self.ledger()?)
        };
        Ok(released().map_err(|e| self.about(e))?)
    }

    /// The party's own budget.
    pub(super) fn ledger(&self) -> Result<Ledger, Error> {
        let (dataset, relation) = (self.source.schema.dataset(), self.relation.clone());
        let ledger = Ledger::open(dataset, relation, self.shared.clone(), Randomness::from_os()?)?;
        Ok(ledger.of_table(&self.mark))
    }

    /// What is wrong with columns that were kept, with where that is.
    fn about(&self, e: Error) -> Error {
        match e {
            Error::Data(e) => Error::Data(e.in_file(self.source.data.display())),
            Error::Budget(mut refusal) => {
                if let Refusal::AlreadyDesensitised { kept: at, .. } = &mut *refusal {
                    *at = Some(self.kept.display().to_string());
                }
                Error::Budget(refusal)
            }
            other => other,
        }
    }
}
