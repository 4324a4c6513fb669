//! What a durable ledger adds to a curator's run: `cargo bench -p privet-node --bench central`.
//!
//! Boosting of 25 random planes on a generated table of 48,842 rows and 14 columns, with the ledger in SQLite (opened, paid
//! from and closed in each run) and with one that is gone with the process, in alternating turns. What noise and a volatile
//! ledger cost beside the bare computation, `cargo bench -p privet --bench central` says. On a disk it is mostly the
//! disk that is measured; `PRIVET_FOLDER` names the folder, `PRIVET_ROWS` sets the number of rows.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use privet::data::schema::{category, label, number};
use privet::data::{Frame, Intake, Keep, Schema, Table};
use privet::learner::SILENT;
use privet::privacy::account::{Caps, Price};
use privet::privacy::journal::Event;
use privet::privacy::{Coins, Delta, Epsilon, Ledger, Neighbours, Randomness, Replace};
use privet::setting::central::{Algorithm, Brc, Budget};
use privet_node::ledger::Store;

const TURNS: usize = 15;
/// Values of each category, none for numbers.
const COLUMNS: [usize; 14] = [0, 8, 0, 16, 0, 7, 14, 6, 5, 2, 0, 0, 0, 41];

fn main() {
    let rows: usize = std::env::var("PRIVET_ROWS").map_or(48_842, |n| n.parse().unwrap());
    let folder = std::env::var("PRIVET_FOLDER").unwrap_or_else(|_| ".".into());
    let folder = tempfile::tempdir_in(folder).unwrap();
    let path = folder.path().join("ledger.db");
    let mut store = Store::create(&path).unwrap();
    let limit = Event::Limit {
        dataset: "bench".into(),
        relation: Replace::row().relation(),
        caps: Caps::from(Price::Pure(Epsilon::new(1000.0).unwrap())),
        delta: Delta::ZERO,
    };
    store.record(limit).unwrap();
    drop(store);
    let table = table(rows);
    let epsilon = Epsilon::new(1.0).unwrap();
    let budget = Budget::pure(epsilon, rows as u64).unwrap();
    let brc = Brc::builder().rounds(25).build().unwrap();
    let plan = brc
        .plan(table.schema(), &Replace::row().relation(), budget)
        .unwrap();
    let mut times = [Vec::new(), Vec::new()];
    for turn in 0..2 * TURNS {
        // Who goes first alternates.
        let side = (turn + turn / 2) % 2;
        let own = table.clone();
        let started = Instant::now();
        let ledger = if side == 0 {
            durable(&path)
        } else {
            volatile(epsilon)
        };
        plan.fit(own, ledger, SILENT).unwrap();
        times[side].push(started.elapsed().as_secs_f64());
    }
    println!(
        "{rows} rows, {} columns, {} threads    median ms   best ms",
        COLUMNS.len(),
        rayon::current_num_threads()
    );
    let [durable, volatile] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        (times[TURNS / 2] * 1e3, times[0] * 1e3)
    });
    println!("brc, ledger in SQLite {:>28.2} {:>10.2}", durable.0, durable.1);
    println!("brc, volatile ledger  {:>28.2} {:>10.2}", volatile.0, volatile.1);
    println!(
        "ratio                 {:>28.2} {:>10.2}",
        durable.0 / volatile.0,
        durable.1 / volatile.1
    );
}

fn durable(path: &Path) -> Ledger<Replace> {
    let store = Store::open(path).unwrap();
    Ledger::open("bench", Replace::row(), store, Randomness::from_os().unwrap()).unwrap()
}

fn volatile(epsilon: Epsilon) -> Ledger<Replace> {
    let caps = Caps::from(Price::Pure(epsilon));
    Ledger::volatile(Replace::row(), caps, Delta::ZERO, Randomness::from_os().unwrap()).unwrap()
}

/// Columns at random, and a label that follows from them with much noise.
fn table(rows: usize) -> Table {
    let columns = COLUMNS.iter().enumerate().map(|(i, &count)| match count {
        0 => number(format!("f{i}"), 0.0..=100.0),
        _ => category(format!("f{i}"), (0..count).map(|value| value.to_string())),
    });
    let schema = Schema::builder("bench").columns(columns.chain([label("label", ["0", "1"])]));
    let intake = Intake::everything(Arc::new(schema.build().unwrap()), Keep::Values);
    let mut coins = Coins::from_seed([1; 32]);
    let mut cells = vec![Vec::with_capacity(rows); COLUMNS.len()];
    let mut labels = Vec::with_capacity(rows);
    for _ in 0..rows {
        let mut sum = 4.0 * coins.unit() - 2.0;
        for (cells, &count) in cells.iter_mut().zip(&COLUMNS) {
            let slots = if count == 0 { 101 } else { count as u64 };
            let x = coins.below(slots);
            sum += x as f64 / (slots - 1) as f64 - 0.5;
            let is_missing = count > 7 && coins.below(20) == 0;
            cells.push((!is_missing).then_some(x));
        }
        labels.push(u8::from(sum > 0.0));
    }
    let cells = cells.into_iter().enumerate();
    let frame = cells.fold(Frame::new(), |frame, (i, cells)| {
        frame.column(format!("f{i}"), cells)
    });
    Table::read(&intake, &frame.column("label", labels)).unwrap()
}
