//! Schemas and tables for tests.

use std::sync::Arc;

use privet::data::schema::{Column, Declared, Extras, Kind, Label, Layout, Number, Unit};
use privet::data::{Intake, Keep, Schema, Table};
use privet::privacy::Coins;

pub(crate) fn values<const N: usize>(values: [&str; N]) -> Declared {
    Declared::new(values.map(String::from).to_vec(), None).unwrap()
}

pub(crate) fn number(min: f64, max: f64) -> Kind {
    Kind::Number(Number::new(min, max, Extras::default()).unwrap())
}

pub(crate) fn column(name: &str, kind: Kind) -> Column {
    Column {
        name: name.into(),
        private: kind != Kind::Id,
        kind,
        measure: None,
    }
}

pub(crate) fn schema<const N: usize>(columns: [Column; N]) -> Schema {
    let missing = Schema::MISSING.map(String::from).to_vec();
    Schema::new(
        "test",
        Unit::default(),
        Layout::default(),
        missing,
        columns.to_vec(),
    )
    .unwrap()
}

/// A table of texts, line by line.
pub(crate) fn table<L: AsRef<[S]>, S: AsRef<str>>(schema: Schema, keep: Keep, lines: &[L]) -> Table {
    let intake = Intake::new(Arc::new(schema), keep);
    let mut columns = intake.columns();
    for line in lines {
        for (column, cell) in columns.iter_mut().zip(line.as_ref()) {
            column.text(cell.as_ref().as_bytes());
        }
    }
    let piece = intake.piece(columns).unwrap();
    Table::new(&intake, vec![piece])
}

/// A table of which nothing was read.
pub(crate) fn unread(schema: Schema, keep: Keep) -> Table {
    Table::new(&Intake::new(Arc::new(schema), keep), Vec::new())
}

/// What is to be predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kinds {
    Classes(usize),
    Number,
}

/// A number, a category, an ordinal and a label.
pub(crate) fn mixed(kind: Kinds) -> Schema {
    let label = match kind {
        Kinds::Classes(2) => Label::Classes(values(["a", "b"])),
        Kinds::Classes(_) => Label::Classes(values(["a", "b", "c"])),
        Kinds::Number => Label::Number { min: -5.0, max: 5.0 },
    };
    schema([
        column("size", number(-2.0, 2.0)),
        column("colour", Kind::Category(values(["red", "green", "blue"]))),
        column("slope", Kind::Ordinal(values(["low", "middle", "high"]))),
        column("label", Kind::Label(label)),
    ])
}

/// Rows at random, always the same, whose label depends on every feature.
pub(crate) fn random(kind: Kinds, keep: Keep, rows: usize) -> Table {
    let mut coins = Coins::from_seed([7; 32]);
    let lines: Vec<[String; 4]> = (0..rows)
        .map(|_| {
            let size = coins.below(4001) as f64 / 1000.0 - 2.0;
            let (colour, slope) = (coins.below(5) as usize, coins.below(4) as usize);
            let noise = coins.below(2001) as f64 / 1000.0 - 1.0;
            let signal = size + [1.0, -1.0, 0.0, 0.5, -0.5][colour] + slope as f64 - 1.5 + noise;
            let label = match kind {
                Kinds::Classes(2) => if signal > 0.0 { "b" } else { "a" }.to_owned(),
                Kinds::Classes(_) => {
                    ["a", "b", "c"][usize::from(signal > -1.0) + usize::from(signal > 1.0)].to_owned()
                }
                Kinds::Number => signal.to_string(),
            };
            let size = if coins.below(10) == 0 {
                String::new()
            } else {
                size.to_string()
            };
            [
                size,
                ["red", "green", "blue", "octarine", ""][colour].into(),
                ["low", "middle", "high", "?"][slope].into(),
                label,
            ]
        })
        .collect();
    table(mixed(kind), keep, &lines)
}
