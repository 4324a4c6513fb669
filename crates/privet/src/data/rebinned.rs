//! The same rows in other bins of the same columns.

use std::sync::Arc;

use super::feature::Feature;
use super::schema::{Kind, Schema};
use super::table::{Cells, Keep, Table};
use crate::Error;

impl Table {
    /// The same rows for a schema that differs in the bins of numbers only.
    ///
    /// # Errors
    /// [`Error::Misuse`] if it differs in more, or the table was read without values. What rows say is never the reason.
    pub fn in_bins(&self, schema: &Arc<Schema>) -> Result<Self, Error> {
        self.is_whole(Keep::Values)?;
        check(self.schema(), schema)?;
        let cells = self.cells().as_ref();
        let cells = cells.map(|cells| cells.rebinned(self.schema(), schema));
        Ok(self.with(Arc::clone(schema), cells))
    }
}

impl Cells {
    /// The same rows, read with values for one schema, in the bins of another.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the schemas differ in more than bins, or values were not kept.
    pub fn in_bins(&self, from: &Schema, to: &Schema) -> Result<Self, Error> {
        check(from, to)?;
        let mut numbers = from.features().zip(&self.features);
        let is_read = self.features.len() == from.features().count()
            && numbers
                .all(|(column, feature)| !matches!(column.kind, Kind::Number(_)) || feature.scaled.is_some());
        if !is_read {
            return Err(Error::misuse(
                "the rows were read for another schema, or without values",
            ));
        }
        Ok(self.rebinned(from, to))
    }

    fn rebinned(&self, from: &Schema, to: &Schema) -> Self {
        let pairs = from.features().zip(to.features()).zip(&self.features);
        let features = pairs.map(|((from, to), feature)| {
            let (Kind::Number(from), Kind::Number(to), Some(scaled)) =
                (&from.kind, &to.kind, &feature.scaled)
            else {
                return feature.clone();
            };
            let transform = to.transform();
            let [low, high] = [to.min(), to.max()].map(|bound| transform.apply(bound));
            let slot = |(row, scaled): (usize, &f32)| match feature.bins.get(row) == from.missing() {
                true => to.missing(),
                false => {
                    let share = f64::midpoint((*scaled).into(), 1.0);
                    to.cuts().bin(transform.undo(low + share * (high - low)) as f32)
                }
            };
            let slots = scaled.iter().enumerate().map(slot);
            Feature {
                scaled: Some(scaled.clone()),
                ..Feature::of_slots(to.cuts().bins() + 1, slots)
            }
        });
        Self {
            features: features.collect(),
            ..self.clone()
        }
    }
}

/// That two schemas differ in the bins of numbers only.
fn check(from: &Schema, to: &Schema) -> Result<(), Error> {
    let alike = |(a, b): (&super::schema::Column, &super::schema::Column)| match (&a.kind, &b.kind) {
        (Kind::Number(x), Kind::Number(y)) => {
            let but_for_bins =
                |n: &super::schema::Number| (n.min(), n.max(), n.is_integer(), n.transform(), n.fill());
            a.name == b.name && but_for_bins(x) == but_for_bins(y)
        }
        (x, y) => a.name == b.name && x == y,
    };
    let same_length = from.columns().len() == to.columns().len();
    if same_length && from.columns().iter().zip(to.columns()).all(alike) {
        return Ok(());
    }
    Err(Error::misuse(
        "rows are put into other bins of the same columns only",
    ))
}
