//! How fast a model scores rows: `cargo bench -p privet --bench predict`.
//!
//! The peer is the least that any scorer must do: read the same columns of slots once and add something up for each row. The
//! bar is several million rows a second for 100 stumps on two cores, and at least a third of the peer's speed; 100 stumps
//! one by one are there to show what the tables save, and a forest to show what depth costs. `PRIVET_ROWS` sets the number of rows.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use privet::boost::Thresholds;
use privet::data::schema::{category, label, number};
use privet::data::{Bins, Cells, Frame, Intake, Keep, Schema, Table};
use privet::learner::{SILENT, Shape};
use privet::model::Model;
use privet::privacy::{Coins, Unprotected};
use privet::setting::plain::{Algorithm, Logistic, Stumps, Trees};
use rayon::prelude::*;

const FEATURES: usize = 30;

fn main() {
    let rows: usize = std::env::var("PRIVET_ROWS").map_or(2_000_000, |n| n.parse().unwrap());
    let schema = Arc::new(schema());
    let leave = Unprotected::unrecorded("bench", &schema.relation(), "a benchmark");
    let cells = |keep| leave.reveal(table(&schema, keep, rows).into_cells());
    println!(
        "{rows} rows, {FEATURES} features, {} threads    seconds  million rows/s",
        rayon::current_num_threads()
    );
    let bins = cells(Keep::Bins);
    let peer = best("slots added up", rows, || touch(&bins));

    let started = Instant::now();
    let stumps = Stumps::default();
    let learnt = fitted(&stumps, table(&schema, Keep::Bins, 100_000), &leave);
    let used: std::collections::BTreeSet<usize> = learnt
        .ensemble()
        .members
        .iter()
        .filter_map(|member| match &member.learner {
            privet::learner::Learner::Stump(stump) => Some(stump.feature),
            _ => None,
        })
        .collect();
    println!(
        "({} stumps on {} features, learnt from 100000 rows in {:.2} s)",
        learnt.ensemble().members.len(),
        used.len(),
        started.elapsed().as_secs_f64()
    );
    let ours = best("100 stumps", rows, || {
        learnt.predict_cells(&bins).unwrap().scores().len()
    });
    best("100 stumps, classes", rows, || {
        learnt.predict_cells(&bins).unwrap().classes().unwrap().len()
    });
    best("100 stumps, probabilities", rows, || {
        learnt
            .predict_cells(&bins)
            .unwrap()
            .probabilities()
            .unwrap()
            .len()
    });
    let shapes = Shape::of(&schema);
    best("100 stumps one by one", rows, || {
        let votes = (0..rows).into_par_iter().map(|row| {
            let members = &learnt.ensemble().members;
            let votes = members
                .iter()
                .map(|member| member.weight * member.learner.vote(&shapes, bins.features(), row));
            votes.sum::<f64>()
        });
        votes.collect::<Vec<f64>>().len()
    });
    println!("100 stumps beside slots added up: ratio {:.2}", peer / ours);

    let started = Instant::now();
    let trees = Trees::default();
    let learnt = fitted(&trees, table(&schema, Keep::Bins, 100_000), &leave);
    println!(
        "({} trees of depth 6, learnt from 100000 rows in {:.2} s)",
        learnt.ensemble().members.len(),
        started.elapsed().as_secs_f64()
    );
    let forest = best("100 trees", rows, || {
        learnt.predict_cells(&bins).unwrap().scores().len()
    });
    println!("100 trees beside slots added up: ratio {:.3}", peer / forest);

    let values = cells(Keep::Values);
    let exact = Stumps::builder().thresholds(Thresholds::Exact);
    let exact = exact.rounds(100).build().unwrap();
    let learnt = fitted(&exact, table(&schema, Keep::Values, 100_000), &leave);
    best("100 exact stumps", rows, || {
        learnt.predict_cells(&values).unwrap().scores().len()
    });
    let started = Instant::now();
    let logistic = Logistic::default();
    let learnt = fitted(&logistic, table(&schema, Keep::Values, 100_000), &leave);
    println!(
        "(logistic regression learnt from 100000 rows in {:.2} s)",
        started.elapsed().as_secs_f64()
    );
    best("logistic regression", rows, || {
        learnt.predict_cells(&values).unwrap().scores().len()
    });
}

/// The best of five.
fn best(what: &str, rows: usize, run: impl Fn() -> usize) -> f64 {
    let times = (0..5).map(|_| {
        let started = Instant::now();
        black_box(run());
        started.elapsed().as_secs_f64()
    });
    let time = times.fold(f64::MAX, f64::min);
    println!("{what:<40} {time:>10.4} {:>12.1}", rows as f64 / time / 1e6);
    time
}

fn touch(cells: &Cells) -> usize {
    let block = 2048;
    let mut sums = vec![0.0_f64; cells.rows()];
    sums.par_chunks_mut(block).enumerate().for_each(|(at, sums)| {
        for feature in cells.features() {
            if let Bins::Narrow(bins) = &feature.bins {
                for (sum, &slot) in sums.iter_mut().zip(&bins[at * block..]) {
                    *sum += f64::from(slot);
                }
            }
        }
    });
    black_box(sums).len()
}

fn schema() -> Schema {
    let values = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
    let columns = (0..FEATURES).map(|i| match i % 3 {
        2 => category(format!("f{i}"), values(10)),
        _ => number(format!("f{i}"), 0.0..=1.0),
    });
    let columns = columns
        .chain([label("label", values(2))])
        .map(|column| column.private(false));
    Schema::builder("bench")
        .columns(columns)
        .missing::<&str>([])
        .build()
        .unwrap()
}

fn table(schema: &Arc<Schema>, keep: Keep, rows: usize) -> Table {
    let intake = Intake::everything(Arc::clone(schema), keep);
    let mut coins = Coins::from_seed([1; 32]);
    let mut cells = vec![Vec::new(); FEATURES];
    let mut labels = Vec::with_capacity(rows);
    for _ in 0..rows {
        let mut sum = 0.0;
        for (i, cells) in cells.iter_mut().enumerate() {
            let x = coins.below(10) as f64;
            sum += x;
            cells.push(if i % 3 == 2 { x } else { x / 10.0 });
        }
        let noise = coins.below(40) as f64 - 20.0;
        labels.push(u8::from(sum + noise > 4.5 * FEATURES as f64));
    }
    let cells = cells.into_iter().enumerate();
    let frame = cells.fold(Frame::new(), |frame, (i, cells)| {
        frame.column(format!("f{i}"), cells)
    });
    Table::read(&intake, &frame.column("label", labels)).unwrap()
}

fn fitted(algorithm: &dyn Algorithm, table: Table, leave: &Unprotected) -> Model {
    let plan = algorithm.plan(table.schema()).unwrap();
    plan.fit(table, leave, SILENT).unwrap()
}
