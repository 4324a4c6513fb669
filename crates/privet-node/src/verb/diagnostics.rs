//! Counts of cells that did not fit, for the owner only.

use std::fmt::Write;

use privet::data::schema::Kind;
use privet::data::{Cells, Schema, Table};
use privet::privacy::Unprotected;

/// How many cells of each column are undeclared or missing, or lie in the first and last bin.
pub(super) fn of(table: Table) -> String {
    let schema = table.schema().clone();
    let because = "the owner looked at their own rows on their own terminal";
    let owner = Unprotected::unrecorded(schema.dataset(), &schema.relation(), because);
    owner.reveal(table.into_cells().map(|cells| words(&schema, &cells)))
}

fn words(schema: &Schema, cells: &Cells) -> String {
    let mut text = format!(
        "Only for you: {} rows. These counts are exact and contain no noise, so do not pass them on.\n\n",
        cells.rows()
    );
    let widths = schema.features().map(|c| c.name.chars().count());
    let widest = widths.max().unwrap_or(0).max(6);
    let _ = writeln!(
        text,
        "   {:<widest$} {:>10} {:>10} {:>10} {:>10}",
        "column", "missing", "undeclared", "first bin", "last bin"
    );
    for (column, feature) in schema.features().zip(cells.features()) {
        let found = |slot| feature.bins.iter().filter(|&bin| bin == slot).count();
        let count = |slot: Option<u16>| slot.map_or("-".into(), |slot| found(slot).to_string());
        let (missing, other, last) = match &column.kind {
            Kind::Number(number) => (number.missing(), None, number.missing().checked_sub(1)),
            Kind::Ordinal(declared) | Kind::Category(declared) | Kind::Flag(declared) => (
                declared.missing(),
                Some(declared.other()),
                declared.other().checked_sub(1),
            ),
            _ => continue,
        };
        let _ = writeln!(
            text,
            "   {:<widest$} {:>10} {:>10} {:>10} {:>10}",
            column.name,
            count(Some(missing)),
            count(other),
            count(Some(0)),
            count(last)
        );
    }
    text
}
