//! Tables of a few rows.

use privet::data::{Cell, Frame, Intake, Table};

/// The table of these rows, each with a cell for each column of the schema.
pub fn table<L: AsRef<[S]> + Sync, S: Cell>(intake: &Intake, lines: &[L]) -> Table {
    let names = intake.schema().columns().iter().map(|column| &column.name);
    let frame = Frame::records(names, lines).expect("a cell for each column");
    Table::read(intake, &frame).expect("the schema's columns")
}
