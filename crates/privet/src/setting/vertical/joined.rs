//! One table of columns that came from different parties.

use super::columns::ColumnsPlan;
use super::message::{Ordinals, Question};
use super::packed::Packed;
use super::release::{Release, ReleasedColumn};
use super::texts::{flag_names, meant};
use crate::Error;
use crate::data::schema::{Column, Declared, Extras, Kind, Number};
use crate::data::{Cells, Feature, Schema, Target};

/// The label holder's rows, in the common order.
#[derive(Debug, Clone)]
pub(super) struct OwnRows {
    pub(super) schema: Schema,
    /// Features and labels. Features are those of the schema.
    pub(super) cells: Cells,
}

impl OwnRows {
    pub(super) fn take(&self, rows: &[usize]) -> Self {
        let rows: Vec<u32> = rows.iter().map(|&row| row as u32).collect();
        Self {
            schema: self.schema.clone(),
            cells: self.cells.take(&rows),
        }
    }
}

/// Columns of all parties.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) schema: Schema,
    pub(super) cells: Cells,
}

/// One table that columns are added to.
pub(super) struct Joining<'a> {
    own: &'a OwnRows,
    label: Option<Column>,
    columns: Vec<Column>,
    features: Vec<Feature>,
}

impl<'a> Joining<'a> {
    /// Begins with the label holder's own columns; `label` is what is predicted.
    pub(super) fn new(own: &'a OwnRows, label: Option<Column>) -> Self {
        Self {
            columns: own.schema.features().cloned().collect(),
            features: own.cells.features().to_vec(),
            label,
            own,
        }
    }

    /// Adds a feature holder's columns.
    pub(super) fn add(&mut self, release: Release) -> Result<(), Error> {
        let declared: Vec<Column> = release.schema.features().cloned().collect();
        for (column, released) in declared.into_iter().zip(release.columns) {
            self.add_column(column, released)?;
        }
        Ok(())
    }

    /// Adds a feature holder's columns as they will be, without rows.
    pub(super) fn announce(&mut self, plan: &ColumnsPlan) -> Result<(), Error> {
        for (place, column) in plan.schema().features().enumerate() {
            let reading = plan.reading(place);
            let values = Packed::new([].into_iter(), reading.outputs);
            self.add_column(column.clone(), ReleasedColumn { reading, values })?;
        }
        Ok(())
    }

    fn add_column(&mut self, column: Column, released: ReleasedColumn) -> Result<(), Error> {
        if released.reading.each == 1 {
            let kind = meant(&column.kind, released.reading)?;
            let feature = Feature::of_slots(kind.slots(), released.values.iter());
            self.push(Column { kind, ..column }, feature);
            return Ok(());
        }
        let Kind::Category(values) = &column.kind else {
            return Err(Error::data("flags are of a category"));
        };
        for (place, name) in flag_names(&column.name, values.values()).into_iter().enumerate() {
            let flag = Declared::new(vec!["0".into(), "1".into()], None)?;
            let kind = Kind::Flag(flag);
            let flags = (place..released.values.len()).step_by(released.reading.each);
            let flags = flags.map(|at| released.values.get(at));
            let feature = Feature::of_slots(kind.slots(), flags);
            self.push(
                Column {
                    name,
                    kind,
                    private: column.private,
                    measure: column.measure.clone(),
                },
                feature,
            );
        }
        Ok(())
    }

    /// Adds ranks in place of columns: whole numbers without a meaning.
    pub(super) fn add_ranks(&mut self, ordinals: &Ordinals) -> Result<(), Error> {
        let declared: Vec<Column> = ordinals.release.schema.features().cloned().collect();
        for (column, ranks) in declared.into_iter().zip(&ordinals.ranks) {
            let last = ranks.iter().copied().max().unwrap_or(0).clamp(1, 65_534);
            let points = (0..last).map(|rank| f64::from(rank) + 0.5).collect();
            let extras = Extras {
                cuts: Some(points),
                ..Extras::default()
            };
            let kind = Kind::Number(Number::new(0.0, f64::from(last), extras)?);
            let slots = ranks.iter().map(|rank| (*rank).min(last) as u16);
            let feature = Feature::of_slots(kind.slots(), slots);
            self.push(Column { kind, ..column }, feature);
        }
        Ok(())
    }

    /// Adds the answers to questions: a flag each.
    pub(super) fn add_answers(&mut self, questions: &[Question], answers: Vec<Packed>) -> Result<(), Error> {
        for (question, bits) in questions.iter().zip(answers) {
            let kind = Kind::Flag(Declared::new(vec!["0".into(), "1".into()], None)?);
            let name = format!("{} {}", question.column, self.columns.len());
            let feature = Feature::of_slots(kind.slots(), bits.iter());
            self.push(
                Column {
                    name,
                    kind,
                    private: true,
                    measure: None,
                },
                feature,
            );
        }
        Ok(())
    }

    fn push(&mut self, column: Column, feature: Feature) {
        self.columns.push(column);
        self.features.push(feature);
    }

    /// The table.
    ///
    /// # Errors
    /// [`Error::Data`] if two columns have one name.
    pub(super) fn join(self) -> Result<Joined, Error> {
        let (mut columns, rows) = (self.columns, self.own.cells.rows());
        columns.extend(self.label);
        let schema = Schema::builder(self.own.schema.dataset())
            .missing(self.own.schema.missing())
            .columns(columns)
            .build()
            .map_err(|e| Error::data(format!("the parties' columns do not go together: {e}")))?;
        let target: Option<Target> = self.own.cells.target().cloned();
        let cells = Cells::joined(rows, self.features, target)?;
        Ok(Joined { schema, cells })
    }
}
