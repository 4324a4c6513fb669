//! Columns that have left with every value changed by itself.

use std::collections::BTreeSet;

use crate::privacy::mechanism::ordered::{Distance, Loss};
use crate::privacy::{Columns, Relation};

/// The columns of one data set that have left, and what two rows lose by them. No ε covers it, and no cap is charged.
#[derive(Debug, Clone, Default)]
pub(super) struct Left {
    names: BTreeSet<String>,
    record: Option<Loss>,
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
    ) -> Result<Loss, String> {
        if matches!(relation, Relation::AddRemove { .. }) {
            return Err(format!(
                "changed values show how many rows there are, which is private when {relation}"
            ));
        }
        if columns.is_empty() {
            return Err("there is no column to change".into());
        }
        let mut names = BTreeSet::new();
        for Distance { column, .. } in columns {
            if self.names.contains(column) || !names.insert(column) {
                return Err(format!(
                    "the column '{column}' of '{dataset}' has left already: use that again. Drawn twice, its noise would \
                     average out"
                ));
            }
        }
        Ok(Distance::record(columns))
    }

    /// Columns that were admitted have left.
    pub(super) fn note(&mut self, columns: &[Distance]) {
        self.names
            .extend(columns.iter().map(|column| column.column.clone()));
        let before = self.record.unwrap_or(Loss::NONE);
        self.record = Some(before.plus(Distance::record(columns)));
    }
}
