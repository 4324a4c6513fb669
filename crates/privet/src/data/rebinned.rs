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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::schema::{label, number};
    use crate::data::{Frame, Intake};

    #[test]
    fn rows_keep_their_values_and_get_the_bins_of_a_table_that_was_read_so() {
        let columns = || [number("age", 0.0..=100.0), label("ill", ["no", "yes"])];
        let schema = Schema::builder("d").columns(columns()).build().expect("a schema");
        let coarse = Arc::new(schema.coarse(4));
        let ages = [0.0, 24.9, 25.1, 60.0, 99.0];
        let ill = ["no", "no", "yes", "yes", "no"];
        let rows = Frame::new().column("age", &ages[..]).column("ill", &ill[..]);
        let read = |schema: &Arc<Schema>| {
            Table::read(&Intake::everything(Arc::clone(schema), Keep::Values), &rows).expect("a table")
        };
        let moved = read(&Arc::new(schema.clone()))
            .in_bins(&coarse)
            .expect("other bins");
        let (found, expected) = (moved.into_cells().expose(), read(&coarse).into_cells().expose());
        assert_eq!(found, expected);
        let other = Schema::builder("d")
            .columns([number("size", 0.0..=1.0)])
            .build()
            .expect("a schema");
        assert!(read(&Arc::new(schema)).in_bins(&Arc::new(other)).is_err());
    }
}
