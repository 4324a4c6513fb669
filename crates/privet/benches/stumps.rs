//! How long a round of boosting exact stumps takes: `cargo bench -p privet --bench stumps`.
//!
//! The peer is the naive way, which sorts every column again in each round; bins, which are coarser, are there to compare.
//! Twice the rows should take twice the time once they are sorted. `PRIVET_ROWS` sets the number of rows.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use privet::data::schema::{label, number};
use privet::data::{Cells, Frame, Intake, Keep, Schema, Table, Target};
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
    let columns = (0..FEATURES).map(|i| number(format!("f{i}"), 0.0..=1.0));
    let columns = columns
        .chain([label("label", ["no", "yes"])])
        .map(|column| column.private(false));
    let schema = Schema::builder("bench")
        .columns(columns)
        .missing::<&str>([])
        .build()
        .unwrap();
    let intake = Intake::everything(Arc::new(schema.clone()), Keep::Values);
    let mut coins = Coins::from_seed([1; 32]);
    let mut cells = vec![Vec::new(); FEATURES];
    let mut labels = Vec::with_capacity(rows);
    for _ in 0..rows {
        let mut sum = 0.0;
        for cells in &mut cells {
            let x = coins.below(1 << 20) as f64 / f64::from(1 << 20);
            sum += x;
            cells.push(x);
        }
        labels.push(if sum > 0.5 * FEATURES as f64 { "yes" } else { "no" });
    }
    let cells = cells.into_iter().enumerate();
    let frame = cells.fold(Frame::new(), |frame, (i, cells)| {
        frame.column(format!("f{i}"), cells)
    });
    let table = Table::read(&intake, &frame.column("label", labels)).unwrap();
    let leave = Unprotected::unrecorded("bench", &schema.relation(), "a benchmark");
    (schema, leave.reveal(table.into_cells()))
}
