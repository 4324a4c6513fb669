//! What a journalled release costs beside the bare write: `cargo bench -p privet-node --bench ledger`.
//!
//! Both sides write rows of the same size with the same settings, one transaction each, in alternating batches, so that
//! whatever else the machine does meets both. The ratio must be at least 0.85. On a disk it is mostly the disk that is
//! measured; with `PRIVET_FOLDER` in memory (`/dev/shm`) the difference is what our own work costs.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::time::{Duration, Instant};

use privet::privacy::account::Caps;
use privet::privacy::journal::Event;
use privet::privacy::mechanism::Laplace;
use privet::privacy::{
    AddRemove, Anchor, Delta, Epsilon, Ledger, Neighbours, Norm, Private, Query, Randomness, Sensitivity,
};
use privet_node::ledger::Store;
use rusqlite::Connection;

const BATCH: usize = 250;

fn main() {
    let batches: usize = std::env::var("PRIVET_BATCHES").map_or(20, |n| n.parse().unwrap());
    let folder = std::env::var("PRIVET_FOLDER").unwrap_or_else(|_| ".".into());
    let folder = tempfile::tempdir_in(folder).unwrap();
    let path = folder.path().join("ledger.db");
    let mut store = Store::create(&path).unwrap();
    let limit = Event::Limit {
        dataset: "patients".into(),
        relation: AddRemove::row().relation(),
        caps: Caps {
            pure: "1000000".parse().unwrap(),
            ..Caps::ZERO
        },
        delta: Delta::ZERO,
    };
    store.record(limit).unwrap();
    let random = Randomness::from_os().unwrap();
    let mut ledger = Ledger::open("patients", AddRemove::row(), store, random).unwrap();
    // Built once: making a law is the samplers' affair and not part of a release.
    let mechanism = Laplace::calibrated(Epsilon::from_billionths(1_000_000), 1).unwrap();
    release(&mut ledger, &mechanism);
    let row = Store::read_only(&path).unwrap().rows().unwrap().pop().unwrap();

    let mut bare = Connection::open(folder.path().join("bare.db")).unwrap();
    bare.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE entries(number INTEGER PRIMARY KEY, text TEXT NOT NULL, hash TEXT NOT NULL);",
    )
    .unwrap();

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut number = 0;
    for batch in 0..batches {
        // Who goes first alternates too.
        for side in [batch % 2, 1 - batch % 2] {
            let started = Instant::now();
            for _ in 0..BATCH {
                if side == 0 {
                    release(&mut ledger, &mechanism);
                } else {
                    number += 1;
                    insert(&mut bare, number, &row.text, &row.hash);
                }
            }
            if side == 0 { &mut ours } else { &mut theirs }.push(started.elapsed());
        }
    }
    let [ours, theirs] = [ours, theirs].map(|times| {
        let total: Duration = times.iter().sum();
        let mut each: Vec<f64> = times.iter().map(|t| BATCH as f64 / t.as_secs_f64()).collect();
        each.sort_by(f64::total_cmp);
        (
            (BATCH * times.len()) as f64 / total.as_secs_f64(),
            each[each.len() / 2],
        )
    });
    let bytes = row.text.len() + row.hash.len();
    println!("{batches} batches of {BATCH}, rows of {bytes} bytes    mean  median batch");
    println!("journalled releases per second {:>14.0} {:>13.0}", ours.0, ours.1);
    println!(
        "bare inserts per second        {:>14.0} {:>13.0}",
        theirs.0, theirs.1
    );
    println!(
        "ratio                          {:>14.3} {:>13.3}",
        ours.0 / theirs.0,
        ours.1 / theirs.1
    );
    let extra = |ours: f64, theirs: f64| 1e6 / ours - 1e6 / theirs;
    println!(
        "extra microseconds a release   {:>14.1} {:>13.1}",
        extra(ours.0, theirs.0),
        extra(ours.1, theirs.1)
    );

    drop(ledger);
    let started = Instant::now();
    let mut store = Store::open(&path).unwrap();
    let entries = store.book().unwrap().head().entries;
    let opened = started.elapsed().as_secs_f64();
    println!("opening {entries} entries took {:.0} ms", opened * 1e3);
}

fn release(ledger: &mut Ledger<AddRemove>, mechanism: &Laplace) {
    let claim = Sensitivity::claim(
        &AddRemove::row(),
        Norm::L1(1),
        Anchor::new("laplace#integer-vectors"),
    );
    let query = Query::new(1, claim.unwrap(), || Private::new(vec![7]));
    ledger.release("a count", mechanism, query).unwrap();
}

fn insert(bare: &mut Connection, number: i64, text: &str, hash: &str) {
    bare.execute_batch("BEGIN IMMEDIATE").unwrap();
    bare.prepare_cached("INSERT INTO entries(number, text, hash) VALUES (?1, ?2, ?3)")
        .unwrap()
        .execute((number, text, hash))
        .unwrap();
    bare.execute_batch("COMMIT").unwrap();
}
