//! Schemas and files to read.

use std::sync::Arc;

use privet::data::schema::{AnyColumn, Layout, category, label, number};
use privet::data::{Cells, Intake, Keep, Schema, Table};
use privet::privacy::Unprotected;

pub(crate) fn schema<C: Into<AnyColumn>>(
    layout: Layout,
    columns: impl IntoIterator<Item = C>,
) -> Arc<Schema> {
    let schema = Schema::builder("patients").columns(columns);
    Arc::new(schema.layout(layout).build().unwrap())
}

/// Age, blood and outcome.
pub(crate) fn patients(layout: Layout) -> Arc<Schema> {
    let columns = [
        number("age", 0.0..=120.0),
        category("blood", ["A", "B", "0"]),
        label("outcome", ["no", "yes"]),
    ];
    schema(layout, columns)
}

pub(crate) fn intake(schema: &Arc<Schema>) -> Intake {
    Intake::everything(Arc::clone(schema), Keep::Values)
}

/// The cells in the open, as a test may see them.
pub(crate) fn cells(table: Table) -> Cells {
    let relation = table.schema().relation();
    Unprotected::unrecorded("patients", &relation, "a test").reveal(table.into_cells())
}
