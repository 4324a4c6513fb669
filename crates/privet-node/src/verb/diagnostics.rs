//! Counts of cells that did not fit, for the owner only.

use std::fmt::Write;

use privet::data::schema::{Column, Kind, Label};
use privet::data::{Schema, Table, Tally};
use privet::privacy::Unprotected;

use super::words;

/// How many cells of each column are missing, undeclared or out of bounds, the label's too. The table was read by
/// [`Intake::tallying`](privet::data::Intake::tallying).
pub(super) fn of(table: Table) -> String {
    let schema = table.schema().clone();
    let because = "the owner looked at their own rows on their own terminal";
    let owner = Unprotected::unrecorded(schema.dataset(), &schema.relation(), because);
    let tallies = table.into_tallies();
    tallies.map_or_else(String::new, |tallies| {
        owner.reveal(tallies.map(|tallies| report(&schema, &tallies)))
    })
}

/// The columns that are counted, in the schema's order.
fn counted(schema: &Schema) -> impl Iterator<Item = &Column> {
    schema.columns().iter().filter(|column| match column.kind {
        Kind::Skip => false,
        Kind::Id => schema.unit().column.as_ref() == Some(&column.name),
        _ => true,
    })
}

fn report(schema: &Schema, tallies: &[Tally]) -> String {
    let rows = tallies.first().map_or(0, |tally| tally.cells);
    let mut text = format!(
        "Only for you: {}. These counts are exact and contain no noise, so do not pass them on.\n\n",
        words::count(rows, "row", "rows")
    );
    if rows < 2 {
        text += "There is nothing to learn from: is this the right file?\n\n";
    }
    let widths = counted(schema).map(|c| c.name.chars().count());
    let widest = widths.max().unwrap_or(0).max(6);
    let _ = writeln!(
        text,
        "   {:<widest$} {:>10} {:>10} {:>10} {:>10}",
        "column", "missing", "undeclared", "below min", "above max"
    );
    let mut remarks = Vec::new();
    for (column, tally) in counted(schema).zip(tallies) {
        let is_number = matches!(
            column.kind,
            Kind::Number(_) | Kind::Label(Label::Number { .. }) | Kind::Weight(_)
        );
        let of_number = |count: u64| if is_number { count.to_string() } else { "-".into() };
        let _ = writeln!(
            text,
            "   {:<widest$} {:>10} {:>10} {:>10} {:>10}",
            column.name,
            tally.missing,
            if column.kind == Kind::Id {
                "-".into()
            } else {
                tally.undeclared.to_string()
            },
            of_number(tally.below),
            of_number(tally.above)
        );
        remarks.extend(remark(column, tally, is_number));
    }
    for remark in remarks {
        let _ = writeln!(text, "\n   {remark}");
    }
    text
}

/// What is worth saying of a column whose cells do not fit.
fn remark(column: &Column, tally: &Tally, is_number: bool) -> Option<String> {
    let name = &column.name;
    let becomes = match &column.kind {
        Kind::Id => "rows without an id are not used".to_owned(),
        Kind::Label(Label::Classes(declared)) => format!("each counts as {:?}", declared.values()[0]),
        Kind::Label(Label::Number { .. }) => "each counts as the middle of the bounds".to_owned(),
        Kind::Weight(_) => "each counts as a weight of zero".to_owned(),
        Kind::Number(number) if number.fill().is_none() => "each counts as missing".to_owned(),
        Kind::Number(_) => "each counts as the fill".to_owned(),
        _ => "all of them share one slot".to_owned(),
    };
    if tally.undeclared > 0 {
        let what = match (is_number, &column.kind) {
            (true, Kind::Number(number)) if number.is_date() => "no date",
            (true, _) => "no number",
            (false, _) => "no declared value",
        };
        let shown: Vec<String> = tally.examples.iter().map(|text| format!("{text:?}")).collect();
        return Some(format!(
            "'{name}': {} of {} cells are {what}, such as {}; {becomes}.",
            tally.undeclared,
            tally.cells,
            shown.join(", ")
        ));
    }
    let outside = tally.below + tally.above;
    if is_number && 10 * outside > tally.cells {
        return Some(format!(
            "'{name}': {outside} of {} cells lie outside the bounds and count as the bound: are they in another unit?",
            tally.cells
        ));
    }
    (2 * tally.missing > tally.cells && matches!(column.kind, Kind::Label(_) | Kind::Weight(_) | Kind::Id))
        .then(|| {
            format!(
                "'{name}': {} of {} cells are missing; {becomes}.",
                tally.missing, tally.cells
            )
        })
}
