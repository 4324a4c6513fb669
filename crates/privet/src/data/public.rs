//! The columns that are public under a neighbour relation.

use super::table::{Cells, Table};
use crate::privacy::{Ledger, Neighbours, Relation};

/// The public columns of a table under one relation, without noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Public {
    /// The public features of all rows, and the labels if they are public.
    pub cells: Cells,
    /// The number of each of these features among the schema's.
    pub places: Vec<usize>,
}

impl Table {
    /// The columns that are public under a budget; none if it protects whole people. A column that the schema marks as private
    /// is never public.
    ///
    /// # Privacy
    /// Two tables that are neighbours under the relation agree in these columns row by row, and in how many rows there are:
    /// `docs/proofs/relations.md#public-columns`.
    pub fn public<N: Neighbours>(&self, ledger: &Ledger<N>) -> Option<Public> {
        self.public_under(&ledger.relation().relation())
    }

    /// The number of rows, if it is public under a relation.
    ///
    /// # Privacy
    /// `docs/proofs/relations.md#public-columns`.
    pub fn rows_under(&self, relation: &Relation) -> Option<usize> {
        self.cells().declared_public_count(relation, |cells| cells.rows)
    }

    /// The same under a relation that a ledger is open for.
    pub(crate) fn public_under(&self, relation: &Relation) -> Option<Public> {
        let schema = self.schema();
        self.cells().declared_public(relation, |cells, protected| {
            let is_public = |name: &str, private: bool| !private && !protected.contains(name);
            let features = schema.features().enumerate();
            let places: Vec<usize> = features
                .filter(|(_, column)| is_public(&column.name, column.private))
                .map(|(place, _)| place)
                .collect();
            let label = schema
                .label()
                .is_some_and(|(column, _)| is_public(&column.name, column.private));
            let weight = schema
                .weight()
                .is_some_and(|(column, _)| is_public(&column.name, column.private));
            // A table of which no piece was read has no columns.
            let kept = places.iter().filter_map(|&place| cells.features.get(place));
            Public {
                cells: Cells {
                    rows: cells.rows,
                    features: kept.cloned().collect(),
                    target: cells.target.clone().filter(|_| label),
                    weights: cells.weights.clone().filter(|_| weight),
                    units: None,
                    ids: None,
                },
                places,
            }
        })
    }
}
