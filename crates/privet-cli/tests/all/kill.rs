//! The ledger under `kill -9`.
//!
//! A child process opens the ledger, releases in a loop and notes every answer it got in a side file; the parent kills
//! it at a random moment, often. Afterwards the chain must verify, and hold at least one payment for every answer that
//! was noted: no answer was ever seen before its payment was written. At most one payment in each round may have no
//! answer noted: what was paid is spent, whether or not it was drawn.
//!
//! What this proves: a process that dies at any moment never leaves an unpaid release or a ledger that cannot be used,
//! and holds up nobody. What it does not: a power cut. That rests on SQLite's write-ahead log being synced at every
//! commit, and on the disk doing what it is told. A journal that writes one entry late must be caught.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use privet::Error;
use privet::privacy::account::Caps;
use privet::privacy::journal::{Addition, Decide, Entry, Event, Head, Journal, KeptValue};
use privet::privacy::mechanism::Laplace;
use privet::privacy::{
    AddRemove, Anchor, Delta, Epsilon, Ledger, Neighbours, Norm, Private, Query, Randomness, Sensitivity,
};
use privet_node::ledger::Store;
use privet_testkit::skipped::full;

const FOLDER: &str = "PRIVET_KILL_FOLDER";
const LATE: &str = "PRIVET_KILL_LATE";

/// A journal that says it has written an entry when it has written the one before.
struct Late {
    store: Store,
    held: Option<Entry>,
    /// What is really stored.
    stored: Head,
}

impl Late {
    fn new(mut store: Store) -> Self {
        let stored = store.book().unwrap().head().clone();
        let held = None;
        Self { store, held, stored }
    }
}

impl Journal for Late {
    fn read(&mut self, after: u64) -> Result<Vec<Entry>, Error> {
        self.store.read(after)
    }

    fn transact(&mut self, _: &Head, decide: Decide<'_>) -> Result<(), Error> {
        let (held, stored) = (&mut self.held, &mut self.stored);
        let known = stored.clone();
        self.store.transact(&known, &mut |_, now| {
            let Some(Addition { entry, .. }) = decide(Vec::new(), now)? else {
                return Ok(None);
            };
            let before = held.replace(entry);
            if let Some(before) = &before {
                *stored = before.head();
            }
            Ok(before.map(Addition::from))
        })
    }

    fn kept(&mut self, entry: u64) -> Result<Option<KeptValue>, Error> {
        self.store.kept(entry)
    }

    fn is_durable(&self) -> bool {
        true
    }
}

/// The child: releases until it is killed. Without the parent's variable it does nothing.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = Path::new(&folder);
    let store = Store::open(&folder.join("ledger.db")).unwrap();
    let random = Randomness::from_os().unwrap();
    let mut ledger = if std::env::var_os(LATE).is_some() {
        Ledger::open("patients", AddRemove::row(), Late::new(store), random).unwrap()
    } else {
        Ledger::open("patients", AddRemove::row(), store, random).unwrap()
    };
    let mut seen = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("seen"))
        .unwrap();
    let mechanism = Laplace::calibrated(Epsilon::from_billionths(1_000_000), 1).unwrap();
    loop {
        let claim = Sensitivity::claim(
            &AddRemove::row(),
            Norm::L1(1),
            Anchor::new("laplace#integer-vectors"),
        );
        let query = Query::new(1, claim.unwrap(), || Private::new(vec![7]));
        let started = Instant::now();
        let released = ledger.release("a count", &mechanism, query).unwrap();
        let line = format!("{}\n", released.value()[0]);
        seen.write_all(line.as_bytes()).unwrap();
        // As long again: half of the deaths come between two releases, where a late journal shows.
        sleep(started.elapsed());
    }
}

/// One ledger that grows from round to round.
struct Rounds {
    folder: tempfile::TempDir,
    late: bool,
}

impl Rounds {
    fn new(late: bool) -> Self {
        let rounds = Self {
            folder: tempfile::tempdir().unwrap(),
            late,
        };
        let mut store = Store::create(&rounds.folder.path().join("ledger.db")).unwrap();
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
        rounds
    }

    fn answers(&self) -> u64 {
        let text = fs::read_to_string(self.folder.path().join("seen")).unwrap_or_default();
        text.matches('\n').count() as u64
    }

    /// Lets a child run until it is killed.
    fn kill_one(&self) {
        let before = self.answers();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "kill::child", "--nocapture"])
            .env(FOLDER, self.folder.path())
            .stdout(Stdio::null());
        if self.late {
            command.env(LATE, "1");
        }
        let mut child = command.spawn().unwrap();
        // Some die while they open the ledger, most while they release.
        let mut coin = [0; 2];
        getrandom::fill(&mut coin).unwrap();
        if !coin[0].is_multiple_of(4) {
            let started = Instant::now();
            while self.answers() == before && started.elapsed() < Duration::from_secs(60) {
                assert!(child.try_wait().unwrap().is_none(), "the child gave up");
                sleep(Duration::from_millis(1));
            }
        }
        sleep(Duration::from_micros(u64::from(coin[1]) * 250));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// How many payments the ledger holds: as a reader sees it with whatever the child left, and as the next writer.
    fn payments(&self) -> u64 {
        let path = self.folder.path().join("ledger.db");
        let [read, written] = [Store::read_only, Store::open].map(|open| {
            let mut store = open(&path).unwrap();
            store.check().unwrap();
            store.book().unwrap().account("patients").unwrap().payments() as u64
        });
        assert_eq!(read, written);
        written
    }
}

#[test]
fn no_answer_is_seen_without_its_payment() {
    let rounds = Rounds::new(false);
    let (mut payments, mut answers) = (0, 0);
    let last = if full() { 200 } else { 12 };
    for round in 1..=last {
        rounds.kill_one();
        (payments, answers) = (rounds.payments(), rounds.answers());
        assert!(
            payments >= answers,
            "round {round}: {payments} payments, {answers} answers"
        );
        assert!(
            payments - answers <= round,
            "round {round}: {payments} payments, {answers} answers"
        );
    }
    assert!(answers > 0);
    println!("{last} rounds: {payments} payments, {answers} answers");
}

/// A round showed it 40 times in 67, so sixty rounds without are no matter of chance, even where it is one in three.
#[test]
fn a_journal_that_writes_late_is_caught() {
    let rounds = Rounds::new(true);
    let caught = (1..=60).find(|_| {
        rounds.kill_one();
        rounds.payments() < rounds.answers()
    });
    println!("caught in round {caught:?}");
    assert!(caught.is_some(), "the test above could not fail");
}
