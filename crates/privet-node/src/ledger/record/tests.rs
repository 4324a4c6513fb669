//! A run that is recorded in a ledger, killed at every turn, and wiped.

mod owners;

use std::fs;
use std::path::Path;

use privet::Error;
use privet::error::JournalFault;
use privet::party::{
    Agreement, Context, Item, PartyEvent, PartyId, Record, Role, Seat, SeatState, TurnOutcome,
};
use privet::wire::{Body, Frame, RunId, Wire};

use super::{PIECE, RunRecord};
use crate::ledger::Store;

const SECRET: &[u8] = b"a planted secret of thirty bytes";
const ROUNDS: u8 = 4;

/// Draws a secret in each round, hands over its state, and ends after some rounds.
struct Keeping {
    round: u8,
    checkpoints: bool,
}

type Turn = Result<TurnOutcome<Keeping>, Error>;

impl Role for Keeping {
    type Message = Vec<u8>;
    type Output = u8;

    fn start(self, _: &mut Context<'_, Vec<u8>>) -> Turn {
        Ok(TurnOutcome::Continue(self))
    }

    fn handle(mut self, event: PartyEvent<Vec<u8>>, context: &mut Context<'_, Vec<u8>>) -> Turn {
        let (from, message) = event.message(context)?;
        let secret = context.once(&format!("round {}", self.round), || {
            Ok([SECRET, &[self.round]].concat())
        })?;
        context.send(from, &vec![message.len() as u8, secret.len() as u8, self.round])?;
        self.round += 1;
        if self.round == ROUNDS {
            return Ok(TurnOutcome::Finished(self.round));
        }
        if self.checkpoints {
            context.checkpoint(&[SECRET, &[self.round]].concat());
        }
        Ok(TurnOutcome::Continue(self))
    }

    fn resume(self, _: &mut Context<'_, Vec<u8>>) -> Turn {
        Err(Error::internal("there is no work"))
    }

    fn restore(mut self, state: &[u8], _: &mut Context<'_, Vec<u8>>) -> Turn {
        self.round = *state.last().expect("a state");
        Ok(TurnOutcome::Continue(self))
    }

    fn waits_for(&self) -> Vec<PartyId> {
        vec![PartyId(1)]
    }

    fn most_bytes(&self, _: PartyId) -> Option<u64> {
        Some(1000)
    }
}

fn agreement(run: u8) -> Agreement {
    Agreement::new(RunId([run; 16]), vec!["a".into(), "b".into()]).expect("an agreement")
}

fn seat(record: RunRecord, checkpoints: bool) -> Seat<Keeping> {
    let make = |_| {
        Ok(Keeping {
            round: 0,
            checkpoints,
        })
    };
    Seat::take(agreement(1), PartyId(0), Box::new(record), &|_, _, _| {}, make).expect("a seat")
}

fn say(seat: &mut Seat<Keeping>, number: u64, body: Body) {
    let frame = Frame {
        agreement: agreement(1).digest(),
        from: 1,
        to: 0,
        number,
        acknowledged: 0,
        body,
    };
    seat.deliver(PartyId(1), frame.to_bytes(), &|_, _, _| {})
        .expect("a frame");
}

fn open(path: &Path, about: &str) -> Result<RunRecord, Error> {
    RunRecord::open(path, &agreement(1), PartyId(0), about)
}

/// All bytes of all files in a folder.
fn bytes_of(folder: &Path) -> Vec<u8> {
    let files = fs::read_dir(folder).expect("a folder");
    files
        .flat_map(|file| fs::read(file.expect("a file").path()).expect("its bytes"))
        .collect()
}

fn finds(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

/// The ciphertexts that stand in the ledger.
fn stored(record: &RunRecord) -> Vec<Vec<u8>> {
    let mut select = record
        .connection
        .prepare("SELECT item FROM records")
        .expect("a table");
    let rows = select.query_map([], |row| row.get(0)).expect("rows");
    rows.map(|row| row.expect("an item")).collect()
}

#[test]
fn a_run_that_is_killed_at_every_turn_ends_and_leaves_no_byte() {
    for checkpoints in [true, false] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger");
        drop(Store::create(&path).expect("a ledger"));
        let (mut before, mut sealed) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let mut party = seat(open(&path, "a table").expect("a record"), checkpoints);
            assert_eq!(party.received(PartyId(1)), u64::from(round));
            say(&mut party, 0, Body::Greeting);
            let message = Body::message(vec![0; 3].to_bytes());
            say(&mut party, round.into(), message);
            let said: Vec<Vec<u8>> = std::iter::from_fn(|| party.next_frame())
                .map(|sent| Frame::from_bytes(sent.bytes).expect("a frame"))
                .filter_map(|frame| match frame.body {
                    Body::Part { bytes, .. } => Some(bytes),
                    _ => None,
                })
                .collect();
            // The other has acknowledged nothing: everything is said again, and one message more.
            assert_eq!(said.len(), usize::from(round) + 1);
            assert!(said.starts_with(&before));
            before = said;
            let last = party.state() == SeatState::Finished;
            assert_eq!(last, round + 1 == ROUNDS);
            drop(party);
            sealed.extend(stored(&open(&path, "a table").expect("a record")));
        }
        let mut record = open(&path, "a table").expect("a record");
        let items = stored(&record).len();
        assert!(!checkpoints || items <= 6, "{items} items");
        assert!(!finds(&bytes_of(folder.path()), SECRET), "items are encrypted");
        assert!(
            stored(&record)
                .iter()
                .any(|item| finds(&bytes_of(folder.path()), item))
        );
        record.wipe().expect("nothing else reads");
        record.wipe().expect("once more changes nothing");
        let rest = bytes_of(folder.path());
        for item in &sealed {
            assert!(!finds(&rest, &item[..24]), "an encrypted item is still in a file");
        }
        // The same run does not begin again, with other secrets under the same names.
        for table in ["a table", "another table"] {
            let again = open(&path, table);
            assert!(matches!(again, Err(Error::Journal(e)) if e.fault() == JournalFault::OtherJob));
        }
        assert!(RunRecord::open(&path, &agreement(2), PartyId(0), "a table").is_ok());
    }
}

#[test]
fn a_record_goes_on_with_its_own_table_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger");
    drop(Store::create(&path).expect("a ledger"));
    drop(seat(open(&path, "a table").expect("a record"), true));
    let other = open(&path, "another table");
    assert!(matches!(other, Err(Error::Journal(e)) if e.fault() == JournalFault::OtherJob));
    assert!(open(&path, "a table").is_ok());
    // Another run in the same ledger is another record.
    let next = RunRecord::open(&path, &agreement(2), PartyId(0), "another table");
    assert!(next.expect("a record").read(0).expect("a record").is_none());
}

/// A row of SQLite holds less than 10⁹ bytes, and messages and checkpoints can be longer.
#[test]
fn long_items_are_spread_over_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger");
    drop(Store::create(&path).expect("a ledger"));
    let mut record = open(&path, "a table").expect("a record");
    let item = |length: usize| Item::Received {
        from: PartyId(1),
        message: vec![7; length],
    };
    let items: Vec<Item> = (0..4 * PIECE).step_by(7).map(item).collect();
    record.append(items.clone()).expect("written");
    let mut again = open(&path, "a table").expect("a record");
    for (place, item) in (0..).zip(&items) {
        assert_eq!(again.read(place).expect("an item").as_ref(), Some(item));
    }
    let longest: i64 = again
        .connection
        .query_row(
            "SELECT max(length(item)) FROM (SELECT item FROM records UNION ALL SELECT item FROM record_pieces)",
            [],
            |row| row.get(0),
        )
        .expect("rows");
    assert_eq!(longest, PIECE as i64);
    // A piece that is lost is noticed.
    again
        .connection
        .execute(
            "DELETE FROM record_pieces WHERE place = ?1 AND piece = 1",
            [items.len() as i64 - 1],
        )
        .expect("a piece");
    assert!(again.read(items.len() as u64 - 1).is_err());
    // A checkpoint drops pieces, too.
    record.replace(item(2 * PIECE)).expect("written");
    let pieces = "SELECT count(DISTINCT place) FROM record_pieces";
    let pieces: i64 = record
        .connection
        .query_row(pieces, [], |row| row.get(0))
        .expect("a count");
    assert_eq!(pieces, 1);
    assert_eq!(record.read(1).expect("an item"), Some(item(2 * PIECE)));
}

#[test]
fn an_item_that_is_lost_is_noticed() {
    let item = |id| Item::Deadline(id);
    for (lost, checkpoint) in [(0, false), (2, false), (3, true), (0, true)] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger");
        drop(Store::create(&path).expect("a ledger"));
        let mut record = open(&path, "a table").expect("a record");
        record.append((0..2).map(item).collect()).expect("written");
        if checkpoint {
            record.replace(item(7)).expect("written");
        }
        record.append((2..6).map(item).collect()).expect("written");
        assert!(open(&path, "a table").is_ok());
        let delete = "DELETE FROM records WHERE place = ?1";
        assert_eq!(record.connection.execute(delete, [lost]).expect("a row"), 1);
        let damaged = open(&path, "a table");
        assert!(
            matches!(damaged, Err(Error::Journal(e)) if e.fault() == JournalFault::Damaged),
            "{lost}, {checkpoint}"
        );
    }
}

/// Rows that were split, moved and freed many times, while the ledger stays open: what a checkpoint has dropped is in no file.
#[test]
fn nothing_that_a_checkpoint_dropped_stays_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger");
    drop(Store::create(&path).expect("a ledger"));
    let mut record = open(&path, "a table").expect("a record");
    let item = |n: u64| Item::Once {
        what: "a key".into(),
        value: [SECRET, &vec![n as u8; (n * n % 701) as usize]].concat().into(),
    };
    record.append(vec![item(0)]).expect("written");
    let mut dropped: Vec<Vec<u8>> = Vec::new();
    for round in 0..3 {
        for n in 0..100 {
            let items = (0..n % 4).map(|more| item(n + more));
            record.append(items.collect()).expect("written");
        }
        let parts = |record: &RunRecord| -> Vec<Vec<u8>> {
            let all = "SELECT item FROM records WHERE place > 0 UNION ALL SELECT item FROM record_pieces";
            let mut select = record.connection.prepare(all).expect("tables");
            let rows = select.query_map([], |row| row.get(0)).expect("rows");
            let bytes = rows.map(|row| row.expect("an item"));
            bytes.filter(|bytes: &Vec<u8>| bytes.len() >= 2 * PLACE).collect()
        };
        let before = parts(&record);
        assert_eq!(lost(folder.path(), &before), 0, "they are there");
        dropped.extend(before);
        record.replace(item(round)).expect("written");
        let now = parts(&record);
        assert!(now.len() < 10);
        assert_eq!(lost(folder.path(), &now), 0);
        assert_eq!(lost(folder.path(), &dropped), dropped.len(), "round {round}");
        dropped.extend(now);
    }
    assert!(dropped.len() > 400);
    record.wipe().expect("nothing else reads");
    assert_eq!(lost(folder.path(), &dropped), dropped.len());
}

const PLACE: usize = 16;

/// How many of these are in no file of a folder, neither their first nor their last bytes.
fn lost(folder: &Path, items: &[Vec<u8>]) -> usize {
    let bytes = bytes_of(folder);
    let there: std::collections::HashSet<&[u8]> = bytes.windows(PLACE).collect();
    let ends = |item: &Vec<u8>| {
        let ends = [&item[..PLACE], &item[item.len() - PLACE..]];
        ends.iter().all(|end| !there.contains(*end))
    };
    items.iter().filter(|item| ends(item)).count()
}

/// A process that had opened the record before another ended the run does not begin it again.
#[test]
fn a_run_that_another_process_has_ended_does_not_begin_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger");
    drop(Store::create(&path).expect("a ledger"));
    let late = open(&path, "a table").expect("a record");
    let mut first = open(&path, "a table").expect("a record");
    first.append(vec![Item::Deadline(1)]).expect("written");
    first.wipe().expect("nothing else reads");
    let make = |_| {
        Ok(Keeping {
            round: 0,
            checkpoints: true,
        })
    };
    let late = Seat::take(agreement(1), PartyId(0), Box::new(late), &|_, _, _| {}, make);
    assert!(matches!(late, Err(Error::Journal(e)) if e.fault() == JournalFault::OtherJob));
}

#[test]
fn two_processes_do_not_go_on_with_one_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger");
    drop(Store::create(&path).expect("a ledger"));
    let mut one = seat(open(&path, "a table").expect("a record"), true);
    let mut other = seat(open(&path, "a table").expect("a record"), true);
    say(&mut one, 0, Body::message(vec![0; 3].to_bytes()));
    say(&mut other, 0, Body::message(vec![0; 3].to_bytes()));
    assert_eq!(
        (one.state(), other.state()),
        (SeatState::Waiting, SeatState::Failed)
    );
}
