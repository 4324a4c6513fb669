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
    /// Columns released in runs between parties, by run and purpose.
    runs: BTreeMap<(String, String), ColumnsOfRun>,
}

/// Columns released in a run between parties.
#[derive(Debug, Clone)]
struct ColumnsOfRun {
    columns: Vec<Distance>,
    /// The relation of the entry: a second draw must have the same.
    relation: Relation,
    /// Whether they were drawn a second time: at most once.
    redrawn: bool,
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
            Relation::AddRemove { .. } => true,
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
                let (dataset, column, kept) = (dataset.into(), column.clone(), None);
                let refusal = Refusal::AlreadyDesensitised {
                    dataset,
                    column,
                    kept,
                };
                return Err(refusal.into());
            }
        }
        Ok(Distance::record(columns))
    }

    /// Whether this run has released columns.
    pub(super) fn has(&self, run: &str, what: &str) -> bool {
        self.runs.contains_key(&(run.to_owned(), what.to_owned()))
    }

    /// Whether exactly these columns were released in this run, so that they may be drawn once more if nobody saw them; or why not.
    ///
    /// # Privacy
    /// `docs/proofs/ordered.md#redraw`.
    pub(super) fn admits_again(
        &self,
        run: &str,
        what: &str,
        same: Option<(&Relation, &[Distance])>,
    ) -> Result<bool, Box<Refusal>> {
        match self.runs.get(&(run.to_owned(), what.to_owned())) {
            None => Ok(false),
            Some(released)
                if same.is_some_and(|same| same != (&released.relation, &released.columns[..])) =>
            {
                Err(Refusal::OtherColumns.into())
            }
            Some(released) if released.redrawn => Err(Refusal::DrawnTwice.into()),
            Some(_) => Ok(true),
        }
    }

    /// Notes that the columns of a run were drawn a second time.
    pub(super) fn note_again(&mut self, run: &str, what: &str) {
        if let Some(released) = self.runs.get_mut(&(run.to_owned(), what.to_owned())) {
            released.redrawn = true;
        }
    }

    /// Notes that admitted columns were released.
    pub(super) fn note(&mut self, run: Option<&str>, what: &str, relation: &Relation, columns: &[Distance]) {
        if let Some(run) = run {
            let released = ColumnsOfRun {
                columns: columns.to_vec(),
                relation: relation.clone(),
                redrawn: false,
            };
            self.runs.insert((run.to_owned(), what.to_owned()), released);
        }
        self.names
            .extend(columns.iter().map(|column| column.column.clone()));
        let before = self.record.unwrap_or(Loss::NONE);
        self.record = Some(before.plus(Distance::record(columns)));
    }
}
