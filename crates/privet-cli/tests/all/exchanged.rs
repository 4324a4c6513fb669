//! The ledger's file exchanged while it is open: nothing is committed to a file that has lost its name.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use crate::home::{Home, spend};
use privet::Error;
use privet::error::JournalFault;
use privet::privacy::account::Price;
use privet::privacy::journal::{Entry, Event, Journal};
use privet::privacy::{AddRemove, Ledger, Neighbours, Randomness};
use privet_node::ledger::Store;

/// A ledger and an older copy of it.
fn home() -> Home {
    let home = Home::new();
    fs::copy(home.ledger(), home.path("backup.db")).unwrap();
    home
}

/// Puts the copy in the ledger's place, as its owner would.
fn restore(home: &Home) {
    fs::copy(home.path("backup.db"), home.path("again.db")).unwrap();
    fs::rename(home.path("again.db"), home.ledger()).unwrap();
    for ending in ["-wal", "-shm"] {
        let _ = fs::remove_file(home.path(&format!("ledger.db{ending}")));
    }
}

fn moved_on<T: std::fmt::Debug>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::Journal(e)) if e.fault() == JournalFault::MovedOn)
}

fn entries(path: &Path) -> usize {
    Store::read_only(path).unwrap().rows().unwrap().len()
}

#[test]
fn a_ledger_that_was_exchanged_is_not_paid_from() {
    let home = home();
    let store = Store::open(&home.ledger()).unwrap();
    let random = Randomness::from_os().unwrap();
    let mut ledger = Ledger::open("patients", AddRemove::row(), store, random).unwrap();
    restore(&home);
    let price = Price::Pure("0.1".parse().unwrap());
    let paid = ledger.reserve("a run", price, 1).map(drop);
    assert!(moved_on(&paid), "{paid:?}");
    drop(ledger);
    assert_eq!(entries(&home.ledger()), 2);
    spend(Store::open(&home.ledger()).unwrap(), "0.1").unwrap();
    assert_eq!(entries(&home.ledger()), 3);
}

/// Between the check at the beginning and the commit.
#[test]
fn a_ledger_that_is_exchanged_during_a_transaction_is_not_written() {
    for only_its_log in [false, true] {
        let home = home();
        let mut store = Store::open(&home.ledger()).unwrap();
        let known = store.book().unwrap().head().clone();
        let written = store.transact(&known, &mut |_, now| {
            match only_its_log {
                true => fs::remove_file(home.path("ledger.db-wal")).unwrap(),
                false => restore(&home),
            }
            let event = Event::Void {
                dataset: "patients".into(),
                because: "a test".into(),
                run: None,
                relation: Some(AddRemove::row().relation()),
            };
            Entry::after(&known, now, event).map(|entry| Some(entry.into()))
        });
        assert!(moved_on(&written), "{only_its_log}: {written:?}");
        drop(store);
        assert_eq!(entries(&home.ledger()), 2, "{only_its_log}");
    }
}

#[test]
fn what_is_kept_is_not_read_from_a_ledger_that_was_exchanged() {
    let home = home();
    let mut stores = [
        Store::open(&home.ledger()).unwrap(),
        Store::read_only(&home.ledger()).unwrap(),
    ];
    for store in &mut stores {
        assert!(store.kept(2).unwrap().is_none());
    }
    restore(&home);
    for store in &mut stores {
        let kept = store.kept(2).map(|kept| kept.is_some());
        assert!(moved_on(&kept), "{kept:?}");
    }
}
