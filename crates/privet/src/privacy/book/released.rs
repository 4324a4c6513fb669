//! Columns that were released desensitised.

use std::collections::{BTreeMap, BTreeSet};

use super::refusal::Refusal;
use crate::privacy::mechanism::ordered::{Distance, Loss};
use crate::privacy::{Columns, Relation};

/// The desensitised columns of one data set and their privacy loss between two rows. No ε covers it; no cap is charged.
#[derive(Debug, Clone, Default)]
pub(super) struct ReleasedColumns {
    names: BTreeSet<String>,
    record: Option<Loss>,
    /// Columns whose entry names a run, by run and purpose.
    runs: BTreeMap<(String, String), PaidColumns>,
}

/// Columns that were paid for with one entry.
#[derive(Debug, Clone)]
pub(in crate::privacy) struct PaidColumns {
    /// The data set's name in the entry.
    pub(in crate::privacy) dataset: String,
    pub(in crate::privacy) run: String,
    pub(in crate::privacy) what: String,
    pub(in crate::privacy) columns: Vec<Distance>,
    /// The relation of the entry: another draw must have the same.
    pub(in crate::privacy) relation: Relation,
    /// Whether the values are stored with the ledger once they are drawn.
    pub(in crate::privacy) stored: bool,
    /// Where the ledger says that the values are stored.
    pub(in crate::privacy) kept: Option<KeptAt>,
    /// Whether they were drawn once more.
    redrawn: bool,
}

/// The entry that says that a value is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::privacy) struct KeptAt {
    /// Its number.
    pub(in crate::privacy) entry: u64,
    /// The digest in it.
    pub(in crate::privacy) digest: String,
}

/// What a ledger says about one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnState {
    /// It was not released.
    Free,
    /// It was paid for, and nobody has seen it.
    Unseen,
    /// It was released, and the ledger has kept its values.
    Kept,
    /// It was released, and the ledger does not have its values.
    Elsewhere,
}

impl PaidColumns {
    /// Whether they may be drawn, once or once more: nobody has seen them, and the ledger would know if somebody had.
    ///
    /// # Privacy
    /// `docs/proofs/ordered.md#redraw`.
    pub(in crate::privacy) fn may_be_drawn(&self) -> bool {
        self.stored && self.kept.is_none()
    }
}

impl ReleasedColumns {
    /// How many columns there are and their privacy loss between two rows, if there are any.
    pub(super) fn total(&self) -> Option<Columns> {
        let columns = self.names.len() as u64;
        self.record.map(|record| Columns { columns, record })
    }

    /// The privacy loss of releasing `columns`, between two rows; or why they cannot be released.
    ///
    /// # Privacy
    /// `docs/proofs/ordered.md#columns`.
    pub(super) fn admits(
        &self,
        dataset: &str,
        relation: &Relation,
        columns: &[Distance],
    ) -> Result<Loss, Box<Refusal>> {
        // A unit of several rows may be replaced by one of fewer.
        let counts = match relation {
            Relation::AddRemove { .. } | Relation::Owner => true,
            Relation::Replace { rows, .. } => rows.get() > 1,
            Relation::ReplacePrivate { .. } => false,
        };
        if counts {
            let relation = relation.clone();
            return Err(Refusal::RowsArePrivate { relation }.into());
        }
        if columns.is_empty() {
            return Err(Refusal::NoColumn.into());
        }
        let mut names = BTreeSet::new();
        for Distance { column, .. } in columns {
            if self.names.contains(column) || !names.insert(column) {
                return Err(already(dataset, column));
            }
        }
        Ok(Distance::record(columns))
    }

    /// What is known about one column.
    pub(super) fn state(&self, column: &str) -> ColumnState {
        if !self.names.contains(column) {
            return ColumnState::Free;
        }
        let covers = |paid: &&PaidColumns| paid.columns.iter().any(|c| c.column == column);
        match self.runs.values().find(covers) {
            Some(paid) if paid.kept.is_some() => ColumnState::Kept,
            Some(paid) if paid.stored => ColumnState::Unseen,
            _ => ColumnState::Elsewhere,
        }
    }

    /// The one entry that paid for columns among `names` for this purpose; none if none of them was released. Columns that were
    /// released with several entries, for another purpose or by a run without a name are refused.
    pub(super) fn find(
        &self,
        dataset: &str,
        what: &str,
        names: &[&str],
    ) -> Result<Option<&PaidColumns>, Box<Refusal>> {
        let released = names.iter().filter(|name| self.names.contains(**name));
        let Some(first) = released.clone().next() else {
            return Ok(None);
        };
        let covers = |paid: &PaidColumns, name: &str| paid.columns.iter().any(|c| c.column == name);
        let found = self.runs.values().find(|paid| covers(paid, first));
        let Some(paid) = found.filter(|paid| paid.what == what) else {
            return Err(already(dataset, first));
        };
        match released.clone().find(|name| !covers(paid, name)) {
            Some(other) => Err(already(dataset, other)),
            None => Ok(Some(paid)),
        }
    }

    /// Notes that columns were drawn once more; or why that cannot be.
    pub(super) fn note_redraw(&mut self, run: &str, what: &str) -> Result<(), String> {
        let paid = self.runs.get_mut(&(run.to_owned(), what.to_owned()));
        let paid = paid.ok_or("this run has released nothing, so nothing can be drawn again")?;
        // Before values were stored with the ledger, it could not tell whether they were kept: it admitted one more draw.
        let admitted = paid.may_be_drawn() || !paid.stored && paid.kept.is_none() && !paid.redrawn;
        if !admitted {
            return Err("these columns were kept, or drawn twice: they are not drawn again".into());
        }
        paid.redrawn = true;
        Ok(())
    }

    /// Notes that the values of columns are stored with the ledger; or why that cannot be.
    pub(super) fn note_kept(&mut self, run: &str, what: &str, at: KeptAt) -> Result<(), String> {
        let paid = self.runs.get_mut(&(run.to_owned(), what.to_owned()));
        let paid = paid.ok_or("this run has paid for nothing that could be kept")?;
        if paid.kept.is_some() {
            return Err("these columns were kept before, and are kept once".into());
        }
        paid.kept = Some(at);
        Ok(())
    }

    /// Notes that admitted columns were paid for; or why that cannot be.
    pub(super) fn note(&mut self, paid: PaidEntry<'_>) -> Result<(), String> {
        let PaidEntry {
            dataset,
            run,
            what,
            relation,
            columns,
            stored,
        } = paid;
        match run {
            None if stored => return Err("what is stored with the ledger needs a run".into()),
            None => {}
            Some(run) => {
                let key = (run.to_owned(), what.to_owned());
                // What is kept is found by its run and purpose, so these name one entry.
                if self.runs.get(&key).is_some_and(|before| stored || before.stored) {
                    return Err("a run stores columns for one purpose once".into());
                }
                let paid = PaidColumns {
                    dataset: dataset.into(),
                    run: run.into(),
                    what: what.into(),
                    columns: columns.to_vec(),
                    relation: relation.clone(),
                    stored,
                    kept: None,
                    redrawn: false,
                };
                self.runs.insert(key, paid);
            }
        }
        self.names
            .extend(columns.iter().map(|column| column.column.clone()));
        let before = self.record.unwrap_or(Loss::NONE);
        self.record = Some(before.plus(Distance::record(columns)));
        Ok(())
    }
}

/// What an entry says about columns that it pays for.
pub(super) struct PaidEntry<'a> {
    pub(super) dataset: &'a str,
    pub(super) run: Option<&'a str>,
    pub(super) what: &'a str,
    pub(super) relation: &'a Relation,
    pub(super) columns: &'a [Distance],
    pub(super) stored: bool,
}

fn already(dataset: &str, column: &str) -> Box<Refusal> {
    let (dataset, column, kept) = (dataset.into(), column.into(), None);
    Box::new(Refusal::AlreadyDesensitised {
        dataset,
        column,
        kept,
    })
}
