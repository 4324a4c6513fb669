//! Columns that have left with every value changed by itself.

use std::collections::{BTreeMap, BTreeSet};

use super::refusal::Refusal;
use crate::privacy::mechanism::ordered::{Distance, Loss};
use crate::privacy::{Columns, Relation};

/// The columns of one data set that have left, and what two rows lose by them. No ε covers it, and no cap is charged.
#[derive(Debug, Clone, Default)]
pub(super) struct Left {
    names: BTreeSet<String>,
    record: Option<Loss>,
    /// What left in runs between parties, by the run and what it was for.
    runs: BTreeMap<(String, String), OfRun>,
}

/// Columns that left in a run between parties.
#[derive(Debug, Clone)]
struct OfRun {
    columns: Vec<Distance>,
    /// Whom the entry protects: a second draw protects nobody else.
    relation: Relation,
    /// Whether they were drawn a second time: at most once.
    redrawn: bool,
}

impl Left {
    /// How many there are and how well two rows can be told apart by all of them, if there are any.
    pub(super) fn total(&self) -> Option<Columns> {
        let columns = self.names.len() as u64;
        self.record.map(|record| Columns { columns, record })
    }

    /// How well two rows can be told apart by `columns`, or why these cannot leave.
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
                let refusal = Refusal::LeftAlready {
                    dataset,
                    column,
                    kept,
                };
                return Err(refusal.into());
            }
        }
        Ok(Distance::record(columns))
    }

    /// Whether columns left in this run.
    pub(super) fn has(&self, run: &str, what: &str) -> bool {
        self.runs.contains_key(&(run.to_owned(), what.to_owned()))
    }

    /// Whether exactly these columns left in this run, so that they may be drawn once more if nobody saw them; or why not.
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
            Some(left) if same.is_some_and(|same| same != (&left.relation, &left.columns[..])) => {
                Err(Refusal::OtherColumns.into())
            }
            Some(left) if left.redrawn => Err(Refusal::DrawnTwice.into()),
            Some(_) => Ok(true),
        }
    }

    /// Columns of a run were drawn a second time.
    pub(super) fn note_again(&mut self, run: &str, what: &str) {
        if let Some(left) = self.runs.get_mut(&(run.to_owned(), what.to_owned())) {
            left.redrawn = true;
        }
    }

    /// Columns that were admitted have left.
    pub(super) fn note(&mut self, run: Option<&str>, what: &str, relation: &Relation, columns: &[Distance]) {
        if let Some(run) = run {
            let left = OfRun {
                columns: columns.to_vec(),
                relation: relation.clone(),
                redrawn: false,
            };
            self.runs.insert((run.to_owned(), what.to_owned()), left);
        }
        self.names
            .extend(columns.iter().map(|column| column.column.clone()));
        let before = self.record.unwrap_or(Loss::NONE);
        self.record = Some(before.plus(Distance::record(columns)));
    }
}
