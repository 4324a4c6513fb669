//! The record of a party's part in a run, in the ledger's own database.
//!
//! Items are encrypted with a key that follows from `<ledger>.key`, the run, the party and the table. They are overwritten when they are
//! dropped, and the write-ahead log is truncated, so that nothing of a secret stays in any file. Exports and `verify` read entries
//! only.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use privet::Error;
use privet::party::{Agreement, Item, PartyId, Record};
use privet::wire::Wire;
use privet_mpc::sealed::AtRest;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use zeroize::Zeroizing;

use super::schema::{self, Access, beside, fault};
use super::{WAIT, secret};

/// Ledgers that were made before runs were recorded in them have no such tables. A long item goes on in `record_pieces`, since a row of
/// SQLite holds less than 10⁹ bytes. `ended` names runs whose record was removed.
const TABLES: &str = "CREATE TABLE IF NOT EXISTS records(run TEXT NOT NULL, place INTEGER NOT NULL, item BLOB NOT NULL, PRIMARY KEY(run, place));
CREATE TABLE IF NOT EXISTS record_pieces(run TEXT NOT NULL, place INTEGER NOT NULL, piece INTEGER NOT NULL, item BLOB NOT NULL, PRIMARY KEY(run, place, piece));
CREATE TABLE IF NOT EXISTS ended(run TEXT NOT NULL PRIMARY KEY);";
/// The most bytes of an item in one row.
const PIECE: usize = if cfg!(test) { 100 } else { 1 << 28 };
const NAME: &str = "the key that records are encrypted with";

/// The record of one party in one run, in a ledger.
pub struct RunRecord {
    connection: Connection,
    path: PathBuf,
    run: String,
    key: AtRest,
    /// The place of the second item: places are never used twice.
    second: u64,
    /// The place of the next item.
    end: u64,
}

fn over(path: &Path) -> Error {
    journal!(
        OtherJob,
        "this run is over, and its record was removed from the ledger {}: begin a new run, with a new agreement",
        path.display()
    )
}

fn name_of(agreement: &Agreement, me: PartyId) -> String {
    let digest = agreement.digest();
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{digest} {}", me.0)
}

fn has_ended(connection: &Connection, run: &str) -> Result<bool, rusqlite::Error> {
    let ended = "SELECT count(*) FROM ended WHERE run = ?1";
    connection.query_row(ended, [run], |row| Ok(row.get::<_, i64>(0)? > 0))
}

fn wipe(connection: &mut Connection, path: &Path, run: &str) -> Result<(), Error> {
    let bad = |e: rusqlite::Error| fault(path, &e);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(bad)?;
    for sql in [
        "INSERT OR IGNORE INTO ended(run) VALUES (?1)",
        "DELETE FROM records WHERE run = ?1",
        "DELETE FROM record_pieces WHERE run = ?1",
    ] {
        transaction.execute(sql, [run]).map_err(bad)?;
    }
    transaction.commit().map_err(bad)?;
    if truncate(connection, path)? {
        return Ok(());
    }
    Err(journal!(
        Busy,
        "the record of this run was removed from the ledger {}, but another program reads the ledger and its log could not be truncated. \
         Call this again when that has ended; or else the log goes when the last program closes the ledger.",
        path.display()
    ))
}

/// Writes the log into the database and empties it. Whether that could be done now.
fn truncate(connection: &Connection, path: &Path) -> Result<bool, Error> {
    let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    busy.map(|busy| busy == 0).map_err(|e| fault(path, &e))
}

impl RunRecord {
    /// Whether a party's part in a run is over, and its record was removed.
    ///
    /// # Errors
    /// [`Error::Journal`] if there is no ledger, or it cannot be written.
    pub fn is_over(ledger: &Path, agreement: &Agreement, me: PartyId) -> Result<bool, Error> {
        let path = schema::resolve(ledger)?;
        let connection = schema::open(&path, Access::Write, WAIT)?;
        let bad = |e: rusqlite::Error| fault(&path, &e);
        connection.execute_batch(TABLES).map_err(bad)?;
        has_ended(&connection, &name_of(agreement, me)).map_err(bad)
    }

    /// Opens or begins the record of a party's part in a run. `about` marks the table that the party brings, as
    /// [`Store::mark`](super::Store::mark) does: a record goes on only with the same table.
    ///
    /// # Errors
    /// [`Error::Journal`] if there is no ledger, it cannot be written, its key is missing, the record is of another table or lacks
    /// items, or the run is over and its record was removed.
    pub fn open(ledger: &Path, agreement: &Agreement, me: PartyId, about: &str) -> Result<Self, Error> {
        let path = schema::resolve(ledger)?;
        let connection = schema::open(&path, Access::Write, WAIT)?;
        let bad = |e: rusqlite::Error| fault(&path, &e);
        connection
            .execute_batch(&format!("PRAGMA secure_delete = ON; {TABLES}"))
            .map_err(bad)?;
        let run = name_of(agreement, me);
        if has_ended(&connection, &run).map_err(bad)? {
            return Err(over(&path));
        }
        let places = "SELECT max(place), min(nullif(place, 0)), count(*) FROM records WHERE run = ?1";
        let (last, second, count): (Option<i64>, Option<i64>, i64) = connection
            .query_row(places, [&run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .map_err(bad)?;
        // The first item, and all from the second to the last.
        let all = last.map_or(0, |last| 1 + second.map_or(0, |second| last - second + 1));
        // An older copy of the record is no way out: the run would draw shares of noise again that others have seen.
        if count != all {
            return Err(journal!(
                Damaged,
                "the record of this run in the ledger {} lacks items: begin a new run",
                path.display()
            ));
        }
        let secret = Zeroizing::new(secret::load(&beside(&path, ".key"), NAME)?);
        let mut record = Self {
            key: AtRest::new(&secret, format!("{run}\n{about}").as_bytes()),
            second: second.map_or(1, i64::unsigned_abs),
            end: last.map_or(0, |last| last.unsigned_abs() + 1),
            connection,
            run,
            path,
        };
        record.read(0)?;
        Ok(record)
    }

    /// Removes the record, when the run is over and its result is stored: overwritten, also in the write-ahead log. A run of the same
    /// agreement does not begin again.
    ///
    /// # Errors
    /// [`Error::Journal`] if it cannot be removed, or another program reads the ledger all the time.
    pub fn wipe(&mut self) -> Result<(), Error> {
        wipe(&mut self.connection, &self.path, &self.run)
    }

    /// [`Self::wipe`] for a record that need not be read: whatever table it was begun with, and whether there is one or not.
    ///
    /// # Errors
    /// As [`Self::wipe`].
    pub fn remove(ledger: &Path, agreement: &Agreement, me: PartyId) -> Result<(), Error> {
        let path = schema::resolve(ledger)?;
        let mut connection = schema::open(&path, Access::Write, WAIT)?;
        connection
            .execute_batch(&format!("PRAGMA secure_delete = ON; {TABLES}"))
            .map_err(|e| fault(&path, &e))?;
        wipe(&mut connection, &path, &name_of(agreement, me))
    }

    /// Adds items behind the last one, in place of all but the first if `instead`.
    fn write(&mut self, items: &[Item], instead: bool) -> Result<(), Error> {
        let bad = |e: rusqlite::Error| fault(&self.path, &e);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(bad)?;
        let last =
            "SELECT max(place), (SELECT count(*) FROM ended WHERE run = ?1) FROM records WHERE run = ?1";
        let (last, ended): (Option<i64>, i64) = transaction
            .prepare_cached(last)
            .and_then(|mut last| last.query_row([&self.run], |row| Ok((row.get(0)?, row.get(1)?))))
            .map_err(bad)?;
        if ended > 0 {
            return Err(over(&self.path));
        }
        if last.map_or(0, |last| last.unsigned_abs() + 1) != self.end {
            return Err(journal!(
                MovedOn,
                "another process goes on with this run, in the ledger {}: let one of them end",
                self.path.display()
            ));
        }
        if instead {
            for table in ["records", "record_pieces"] {
                let delete = format!("DELETE FROM {table} WHERE run = ?1 AND place >= 1");
                transaction.execute(&delete, [&self.run]).map_err(bad)?;
            }
        }
        for (place, item) in (self.end..).zip(items) {
            let sealed = self
                .key
                .seal(place, &Zeroizing::new(item.to_bytes()))
                .map_err(Error::randomness)?;
            let mut pieces = (0_i64..).zip(sealed.chunks(PIECE));
            let (_, first) = pieces.next().unwrap_or_default();
            transaction
                .prepare_cached("INSERT INTO records(run, place, item) VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| insert.execute((&self.run, place as i64, first)))
                .map_err(bad)?;
            for (number, piece) in pieces {
                transaction
                    .prepare_cached(
                        "INSERT INTO record_pieces(run, place, piece, item) VALUES (?1, ?2, ?3, ?4)",
                    )
                    .and_then(|mut insert| insert.execute((&self.run, place as i64, number, piece)))
                    .map_err(bad)?;
            }
        }
        transaction.commit().map_err(bad)?;
        if instead {
            self.second = self.end;
        }
        self.end += items.len() as u64;
        Ok(())
    }
}

impl Record for RunRecord {
    fn read(&mut self, place: u64) -> Result<Option<Item>, Error> {
        let bad = |e: rusqlite::Error| fault(&self.path, &e);
        let place = if place == 0 { 0 } else { self.second + place - 1 };
        let sealed: Option<Vec<u8>> = self
            .connection
            .prepare_cached("SELECT item FROM records WHERE run = ?1 AND place = ?2")
            .and_then(|mut select| {
                select
                    .query_row((&self.run, place as i64), |row| row.get(0))
                    .optional()
            })
            .map_err(bad)?;
        let Some(mut sealed) = sealed else {
            return Ok(None);
        };
        // A piece that is lost makes bytes that do not open.
        if sealed.len() == PIECE {
            let mut select = self
                .connection
                .prepare_cached("SELECT item FROM record_pieces WHERE run = ?1 AND place = ?2 ORDER BY piece")
                .map_err(bad)?;
            let mut rows = select.query((&self.run, place as i64)).map_err(bad)?;
            while let Some(row) = rows.next().map_err(bad)? {
                let piece = row.get_ref(0).map_err(bad)?;
                sealed.extend_from_slice(piece.as_blob().map_err(|e| bad(e.into()))?);
            }
        }
        let Some(bytes) = self.key.open(place, &sealed) else {
            return Err(journal!(
                OtherJob,
                "the record of this run in the ledger {} was begun with another table, or is damaged: go on with the table it was begun with, \
                 or begin a new run",
                self.path.display()
            ));
        };
        let item = Item::from_bytes(&bytes);
        let item = item.map_err(|e| {
            journal!(
                OtherVersion,
                "the record of this run in the ledger {} was written by another version of privet: {e}",
                self.path.display()
            )
        })?;
        Ok(Some(item))
    }

    fn append(&mut self, items: Vec<Item>) -> Result<(), Error> {
        self.write(&items, false)
    }

    fn replace(&mut self, checkpoint: Item) -> Result<(), Error> {
        self.write(&[checkpoint], true)?;
        // If somebody reads the ledger now, nobody waits: the log is truncated after a later checkpoint, or at the end.
        let bad = |e: rusqlite::Error| fault(&self.path, &e);
        self.connection.busy_timeout(Duration::ZERO).map_err(bad)?;
        let truncated = truncate(&self.connection, &self.path);
        self.connection.busy_timeout(WAIT).map_err(bad)?;
        truncated.map(|_| ())
    }
}
