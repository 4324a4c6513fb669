//! The record of a party's part in a run, in the ledger's own database.
//!
//! Items are encrypted with a key that follows from `<ledger>.key`, the run, the party and the table. They are overwritten when they are
//! dropped, and the write-ahead log is truncated, so that nothing of a secret stays in any file. Exports and `verify` read entries
//! only.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use privet::Error;
use privet::party::{Agreement, Item, PartyId, Record};
use privet::wire::Wire;
use privet_mpc::sealed::AtRest;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use zeroize::Zeroizing;

use super::schema::{self, Access, beside, fault};
use super::{WAIT, secret};

/// Ledgers that were made before runs were recorded in them have no such table.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS records(run TEXT NOT NULL, place INTEGER NOT NULL, item BLOB NOT NULL, PRIMARY KEY(run, place))";
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

impl RunRecord {
    /// Opens or begins the record of a party's part in a run. `about` marks the table that the party brings, as
    /// [`Store::mark`](super::Store::mark) does: a record goes on only with the same table.
    ///
    /// # Errors
    /// [`Error::Journal`] if there is no ledger, it cannot be written, its key is missing, or the record is of another table.
    pub fn open(ledger: &Path, agreement: &Agreement, me: PartyId, about: &str) -> Result<Self, Error> {
        let path = schema::resolve(ledger)?;
        let connection = schema::open(&path, Access::Write, WAIT)?;
        let bad = |e: rusqlite::Error| fault(&path, &e);
        connection
            .execute_batch(&format!("PRAGMA secure_delete = ON; {TABLE};"))
            .map_err(bad)?;
        let digest: String = agreement
            .digest()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let run = format!("{digest} {}", me.0);
        let places = "SELECT max(place), min(nullif(place, 0)) FROM records WHERE run = ?1";
        let (last, second): (Option<i64>, Option<i64>) = connection
            .query_row(places, [&run], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(bad)?;
        let secret = secret::load(&beside(&path, ".key"), NAME)?;
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

    /// Removes the record, when the run is over and its result is stored: overwritten, also in the write-ahead log.
    ///
    /// # Errors
    /// [`Error::Journal`] if it cannot be removed, or another program reads the ledger all the time.
    pub fn wipe(self) -> Result<(), Error> {
        let bad = |e: rusqlite::Error| fault(&self.path, &e);
        self.connection
            .execute("DELETE FROM records WHERE run = ?1", [&self.run])
            .map_err(bad)?;
        if self.truncate()? {
            return Ok(());
        }
        Err(journal!(
            Busy,
            "the record of this run was removed from the ledger {}, but another program reads the ledger and its log could not be truncated. \
             Try again when that has ended.",
            self.path.display()
        ))
    }

    /// Writes the log into the database and empties it. Whether that could be done now.
    fn truncate(&self) -> Result<bool, Error> {
        let busy = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        busy.map(|busy| busy == 0).map_err(|e| fault(&self.path, &e))
    }

    /// Adds items behind the last one, in place of all but the first if `instead`.
    fn write(&mut self, items: &[Item], instead: bool) -> Result<(), Error> {
        let bad = |e: rusqlite::Error| fault(&self.path, &e);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(bad)?;
        let last: Option<i64> = transaction
            .prepare_cached("SELECT max(place) FROM records WHERE run = ?1")
            .and_then(|mut last| last.query_row([&self.run], |row| row.get(0)))
            .map_err(bad)?;
        if last.map_or(0, |last| last.unsigned_abs() + 1) != self.end {
            return Err(journal!(
                MovedOn,
                "another process goes on with this run, in the ledger {}: let one of them end",
                self.path.display()
            ));
        }
        if instead {
            let delete = "DELETE FROM records WHERE run = ?1 AND place >= 1";
            transaction.execute(delete, [&self.run]).map_err(bad)?;
        }
        for (place, item) in (self.end..).zip(items) {
            let sealed = self
                .key
                .seal(place, &Zeroizing::new(item.to_bytes()))
                .map_err(Error::randomness)?;
            transaction
                .prepare_cached("INSERT INTO records(run, place, item) VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| insert.execute((&self.run, place as i64, sealed)))
                .map_err(bad)?;
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
        let Some(sealed) = sealed else {
            return Ok(None);
        };
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
        // If somebody reads the ledger now, the log is truncated after a later checkpoint, or at the end.
        self.truncate().map(|_| ())
    }
}
