//! Schemas and files to read.

use std::sync::Arc;

use privet::data::schema::{Column, Declared, Extras, Kind, Label, Layout, Number, Unit};
use privet::data::{Cells, Intake, Keep, Schema, Table};
use privet::privacy::Unprotected;

pub(crate) fn column(name: &str, kind: Kind) -> Column {
    Column {
        name: name.into(),
        private: kind != Kind::Id,
        kind,
        measure: None,
    }
}

pub(crate) fn number(name: &str, min: f64, max: f64) -> Column {
    column(
        name,
        Kind::Number(Number::new(min, max, Extras::default()).unwrap()),
    )
}

pub(crate) fn values(words: &[&str]) -> Declared {
    Declared::new(words.iter().map(|&word| word.into()).collect(), None).unwrap()
}

pub(crate) fn missing() -> Vec<String> {
    Schema::MISSING.map(String::from).to_vec()
}

pub(crate) fn schema(layout: Layout, columns: Vec<Column>) -> Arc<Schema> {
    Arc::new(Schema::new("patients", Unit::default(), layout, missing(), columns).unwrap())
}

/// Age, blood and outcome.
pub(crate) fn patients(layout: Layout) -> Arc<Schema> {
    schema(
        layout,
        vec![
            number("age", 0.0, 120.0),
            column("blood", Kind::Category(values(&["A", "B", "0"]))),
            column("outcome", Kind::Label(Label::Classes(values(&["no", "yes"])))),
        ],
    )
}

pub(crate) fn intake(schema: &Arc<Schema>) -> Intake {
    Intake::new(Arc::clone(schema), Keep::Values)
}

/// The cells in the open, as a test may see them.
pub(crate) fn cells(table: Table) -> Cells {
    let relation = table.schema().relation();
    Unprotected::unrecorded("patients", &relation, "a test").reveal(table.into_cells())
}
