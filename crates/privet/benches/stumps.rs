//! How long a round of boosting exact stumps takes: `cargo bench -p privet --bench stumps`.
//!
//! The peer is the naive way, which sorts every column again in each round; bins, which are coarser, are there to compare.
//! Twice the rows should take twice the time once they are sorted. `PRIVET_ROWS` sets the number of rows.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use privet::data::schema::{Column, Declared, Extras, Kind, Label, Layout, Number, Unit};
use privet::data::{Cells, Intake, Keep, Schema, Table, Target};
use privet::learner::{Call, Classes, Sample, Shape, Sorted};
use privet::privacy::{Coins, Unprotected};

const FEATURES: usize = 20;

fn main() {
    let rows: usize = std::env::var("PRIVET_ROWS").map_or(200_000, |n| n.parse().unwrap());
    println!(
        "one round, {FEATURES} numbers, {} threads       seconds",
        rayon::current_num_threads()
    );
    for rows in [rows / 4, rows / 2, rows] {
        let (schema, cells) = table(rows);
        let shapes = Shape::of(&schema);
        let weights = vec![1.0 / rows as f64; rows];
        let sample = Sample::new(&shapes, &cells, &weights).unwrap();
        let Some(Target::Classes(of)) = cells.target() else {
            panic!("classes");
        };
        let classes = Classes { of, count: 2 };
        let sorted = Sorted::new(&sample);
        best(&format!("{rows} rows, bins"), || {
            Call::fit(&sample, &Sorted::default(), classes).feature
        });
        let ours = best(&format!("{rows} rows, exact, sorted before"), || {
            Call::fit(&sample, &sorted, classes).feature
        });
        let naive = best(&format!("{rows} rows, exact, sorted again"), || {
            Call::fit(&sample, &Sorted::new(&sample), classes).feature
        });
        println!("sorted before beside sorted again: ratio {:.2}", naive / ours);
    }
}

/// The best of five.
fn best(what: &str, run: impl Fn() -> usize) -> f64 {
    let times = (0..5).map(|_| {
        let started = Instant::now();
        black_box(run());
        started.elapsed().as_secs_f64()
    });
    let time = times.fold(f64::MAX, f64::min);
    println!("{what:<40} {time:>10.4}");
    time
}

fn table(rows: usize) -> (Schema, Cells) {
    let mut columns: Vec<Column> = (0..FEATURES)
        .map(|i| Column {
            name: format!("f{i}"),
            kind: Kind::Number(Number::new(0.0, 1.0, Extras::default()).unwrap()),
            private: false,
            measure: None,
        })
        .collect();
    let values = Declared::new(vec!["no".into(), "yes".into()], None).unwrap();
    columns.push(Column {
        name: "label".into(),
        kind: Kind::Label(Label::Classes(values)),
        private: false,
        measure: None,
    });
    let schema = Schema::new("bench", Unit::default(), Layout::default(), Vec::new(), columns).unwrap();
    let intake = Intake::new(Arc::new(schema.clone()), Keep::Values);
    let mut columns = intake.columns();
    let mut coins = Coins::from_seed([1; 32]);
    for _ in 0..rows {
        let mut sum = 0.0;
        for column in &mut columns[..FEATURES] {
            let x = coins.below(1 << 20) as f64 / f64::from(1 << 20);
            sum += x;
            column.number(x);
        }
        let label: &[u8] = if sum > 0.5 * FEATURES as f64 {
            b"yes"
        } else {
            b"no"
        };
        columns[FEATURES].text(label);
    }
    let leave = Unprotected::unrecorded("bench", &schema.relation(), "a benchmark");
    let table = Table::new(&intake, vec![intake.piece(columns).unwrap()]);
    (schema, leave.reveal(table.into_cells()))
}
