//! Noisy trees: `cargo bench -p privet --bench trees`.
//!
//! 300 trees on a generated table of a million rows and 28 numbers, two classes, beside the same trees without noise: every
//! release is then answered as it is, and nothing is drawn. The bar is 1.3 times that. Then twice and half of the rows, columns
//! and trees: time grows with rows and trees, and not with columns, of which a tree reads one. `PRIVET_ROWS` sets the rows.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use privet::data::schema::{label, number};
use privet::data::{Frame, Intake, Keep, Schema, Table};
use privet::learner::SILENT;
use privet::privacy::account::Caps;
use privet::privacy::audit::{Auditor, Observed};
use privet::privacy::{AddRemove, Coins, Delta, Epsilon, Ledger, Neighbours, Randomness};
use privet::setting::central::{Algorithm, Budget, Trees};

const COLUMNS: usize = 28;
const TREES: u32 = 300;
const TURNS: usize = 3;

fn main() {
    let rows: usize = std::env::var("PRIVET_ROWS").map_or(1_000_000, |n| n.parse().unwrap());
    let threads = rayon::current_num_threads();
    println!("{threads} threads                                        best s   peak MB so far");
    let whole = table(rows, COLUMNS);
    let (mut noisy, mut bare) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TURNS {
        noisy = noisy.min(train(&whole, rows, TREES, true));
        bare = bare.min(train(&whole, rows, TREES, false));
    }
    show(&format!("{rows} x {COLUMNS}, {TREES} trees"), noisy);
    show("the same without noise", bare);
    println!("{:.3} times the time without noise", noisy / bare);
    for trees in [TREES / 2, 2 * TREES] {
        show(&format!("{trees} trees"), best(&whole, rows, trees));
    }
    drop(whole);
    for columns in [COLUMNS / 2, 2 * COLUMNS] {
        show(
            &format!("{columns} columns"),
            best(&table(rows, columns), rows, TREES),
        );
    }
    for rows in [rows / 2, 2 * rows] {
        show(&format!("{rows} rows"), best(&table(rows, COLUMNS), rows, TREES));
    }
}

fn show(what: &str, seconds: f64) {
    println!("{what:<50} {seconds:>8.2} {:>10}", peak());
}

/// The most memory so far, where the system tells.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.map_or("-".into(), |kilobytes| format!("{:.0}", kilobytes / 1024.0))
}

fn best(table: &Table, rows: usize, trees: u32) -> f64 {
    let times = (0..2).map(|_| train(table, rows, trees, true));
    times.fold(f64::INFINITY, f64::min)
}

/// From a table that was read to a model.
fn train(table: &Table, rows: usize, trees: u32, noisy: bool) -> f64 {
    let delta = Delta::new(1e-8).unwrap();
    let budget = Budget::with_delta(Epsilon::new(1.0).unwrap(), delta, rows as u64).unwrap();
    let (own, relation) = (Trees::builder().trees(trees).build().unwrap(), AddRemove::row());
    let plan = own.plan(table.schema(), &relation.relation(), budget).unwrap();
    let random = Randomness::from_os().unwrap();
    let mut ledger = Ledger::volatile(relation, Caps::from(plan.price()), delta, random).unwrap();
    if !noisy {
        ledger = ledger.audited(Box::new(Truth)).unwrap();
    }
    let table = table.clone();
    let started = Instant::now();
    let model = plan.fit(table, ledger, SILENT).unwrap();
    let seconds = started.elapsed().as_secs_f64();
    assert_eq!(model.ensemble().members.len(), trees as usize);
    seconds
}

/// Answers every release as it is.
struct Truth;

impl Auditor for Truth {
    fn query(&mut self, query: Observed) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(query.answer))
    }

    fn released(&mut self, _: Box<dyn Any + Send>) {}

    fn coins(&mut self, seed: [u8; 32]) -> [u8; 32] {
        seed
    }

    fn parts_begin(&mut self, _: usize, _: u64) {}

    fn part_ends(&mut self) {}

    fn parts_end(&mut self) {}
}

fn table(rows: usize, columns: usize) -> Table {
    let numbers = (0..columns).map(|place| number(format!("x{place}"), 0.0..=1.0));
    let schema = Schema::builder("made").columns(numbers.chain([label("y", ["a", "b"])]));
    let intake = Intake::everything(Arc::new(schema.build().unwrap().spread()), Keep::Bins);
    let mut coins = Coins::from_seed([7; 32]);
    let mut sums = vec![0.0; rows];
    let mut frame = Frame::new();
    for place in 0..columns {
        let cells: Vec<f64> = (0..rows).map(|_| coins.unit()).collect();
        sums.iter_mut().zip(&cells).for_each(|(sum, x)| *sum += x - 0.5);
        frame = frame.column(format!("x{place}"), cells);
    }
    let label = |sum: &f64| if sum + coins.unit() > 0.5 { "b" } else { "a" };
    let labels: Vec<&str> = sums.iter().map(label).collect();
    Table::read(&intake, &frame.column("y", labels)).unwrap()
}
