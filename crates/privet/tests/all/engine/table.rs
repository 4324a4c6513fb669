//! Small tables of random slots.

use std::sync::Arc;

use privet::data::schema::{Column, Declared, Extras, Kind, Label, Layout, Number, Unit};
use privet::data::{Cells, Intake, Keep, Schema, Table};
use privet::privacy::{Coins, Unprotected};

/// What a column of a test table holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Of {
    /// Whole numbers below this.
    Number(u32),
    /// One of this many categories.
    Category(u32),
    /// One of this many values in an order.
    Ordinal(u32),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Labels {
    Classes(u32),
    Number,
}

pub(crate) fn schema(columns: &[Of], labels: Labels) -> Schema {
    let names = |count: u32| (0..count).map(|i| i.to_string()).collect();
    let mut all: Vec<Column> = columns
        .iter()
        .enumerate()
        .map(|(i, of)| {
            let kind = match *of {
                Of::Number(count) => {
                    let cuts = (1..count).map(|i| f64::from(i) - 0.5).collect();
                    let extras = Extras {
                        cuts: Some(cuts),
                        ..Extras::default()
                    };
                    Kind::Number(Number::new(0.0, f64::from(count - 1), extras).unwrap())
                }
                Of::Category(count) => Kind::Category(Declared::new(names(count), None).unwrap()),
                Of::Ordinal(count) => Kind::Ordinal(Declared::new(names(count), None).unwrap()),
            };
            Column {
                name: format!("c{i}"),
                kind,
                private: true,
                measure: None,
            }
        })
        .collect();
    let label = match labels {
        Labels::Classes(count) => Label::Classes(Declared::new(names(count), None).unwrap()),
        Labels::Number => Label::Number {
            min: -100.0,
            max: 100.0,
        },
    };
    all.push(Column {
        name: "label".into(),
        kind: Kind::Label(label),
        private: true,
        measure: None,
    });
    Schema::new("test", Unit::default(), Layout::default(), vec!["?".into()], all).unwrap()
}

/// A table of these texts, the label last.
pub(crate) fn cells(schema: &Schema, rows: &[Vec<String>]) -> Cells {
    let intake = Intake::new(Arc::new(schema.clone()), Keep::Bins);
    let mut builders = intake.columns();
    for row in rows {
        for (builder, cell) in builders.iter_mut().zip(row) {
            builder.text(cell.as_bytes());
        }
    }
    let piece = intake.piece(builders).unwrap();
    let leave = Unprotected::unrecorded("test", &schema.relation(), "made up for a test");
    leave.reveal(Table::new(&intake, vec![piece]).into_cells())
}

/// Random rows: one cell in ten is missing, one in twenty undeclared; labels follow the first columns, with some noise.
pub(crate) fn random(columns: &[Of], labels: Labels, rows: usize, seed: u8) -> (Schema, Cells) {
    let schema = schema(columns, labels);
    let mut coins = Coins::from_seed([seed; 32]);
    let rows: Vec<Vec<String>> = (0..rows)
        .map(|_| {
            let mut sum = 0.0;
            let mut row: Vec<String> = columns
                .iter()
                .enumerate()
                .map(|(i, of)| {
                    let (Of::Number(count) | Of::Category(count) | Of::Ordinal(count)) = *of;
                    match coins.below(20) {
                        0 | 1 => "?".into(),
                        2 if !matches!(of, Of::Number(_)) => "undeclared".into(),
                        _ => {
                            let value = coins.below(u64::from(count));
                            let part = value as f64 / f64::from(count) - 0.5;
                            sum += if i % 2 == 0 { part } else { (7.0 * part).sin() };
                            value.to_string()
                        }
                    }
                })
                .collect();
            let noisy = sum + coins.unit() - 0.5;
            row.push(match labels {
                Labels::Classes(count) => (((noisy + 1.0) / 2.0 * f64::from(count))
                    .clamp(0.0, f64::from(count) - 1.0) as u32)
                    .to_string(),
                Labels::Number => noisy.to_string(),
            });
            row
        })
        .collect();
    let cells = cells(&schema, &rows);
    (schema, cells)
}

pub(crate) const MIXED: [Of; 6] = [
    Of::Number(20),
    Of::Category(5),
    Of::Number(300),
    Of::Ordinal(4),
    Of::Number(7),
    Of::Category(12),
];
