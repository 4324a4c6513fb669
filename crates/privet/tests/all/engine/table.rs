//! Small tables of random slots.

use std::sync::Arc;

use privet::data::schema::{category, label, number, ordinal};
use privet::data::{Cells, Intake, Keep, Schema};
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
    let names = |count: u32| (0..count).map(|i| i.to_string()).collect::<Vec<_>>();
    let columns = columns.iter().enumerate().map(|(i, of)| {
        let name = format!("c{i}");
        match *of {
            Of::Number(count) => {
                let cuts: Vec<f64> = (1..count).map(|i| f64::from(i) - 0.5).collect();
                number(name, 0.0..=f64::from(count - 1)).cuts(cuts)
            }
            Of::Category(count) => category(name, names(count)),
            Of::Ordinal(count) => ordinal(name, names(count)),
        }
    });
    let of = match labels {
        Labels::Classes(count) => label("label", names(count)),
        Labels::Number => label("label", -100.0..=100.0),
    };
    let schema = Schema::builder("test").columns(columns.chain([of]));
    schema.missing(["?"]).build().unwrap()
}

/// A table of these texts, the label last.
pub(crate) fn cells(schema: &Schema, rows: &[Vec<String>]) -> Cells {
    let intake = Intake::everything(Arc::new(schema.clone()), Keep::Bins);
    let leave = Unprotected::unrecorded("test", &schema.relation(), "made up for a test");
    leave.reveal(privet_testkit::rows::table(&intake, rows).into_cells())
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
