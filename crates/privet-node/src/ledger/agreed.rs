//! Agreements with other parties whose runs are not over, in the ledger's own database.

use std::path::{Path, PathBuf};

use privet::Error;
use rusqlite::{Connection, OptionalExtension};

use super::WAIT;
use super::schema::{self, Access, fault};

/// `first` is the number of entries that the ledger had before the run.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS agreed(plan TEXT NOT NULL PRIMARY KEY, bundle BLOB NOT NULL, first INTEGER NOT NULL);";

/// The agreement of a party's run of one plan. Nothing in it is secret.
pub struct AgreedRun {
    connection: Connection,
    path: PathBuf,
    plan: String,
}

impl AgreedRun {
    /// Opens what a ledger holds of the run of a plan.
    ///
    /// # Errors
    /// [`Error::Journal`] if there is no ledger, or it cannot be written.
    pub fn open(ledger: &Path, plan: String) -> Result<Self, Error> {
        let path = schema::resolve(ledger)?;
        let connection = schema::open(&path, Access::Write, WAIT)?;
        connection.execute_batch(TABLE).map_err(|e| fault(&path, &e))?;
        Ok(Self {
            connection,
            path,
            plan,
        })
    }

    /// What is held.
    ///
    /// # Errors
    /// [`Error::Journal`] if it cannot be read.
    pub fn get(&self) -> Result<Option<Vec<u8>>, Error> {
        let select = "SELECT bundle FROM agreed WHERE plan = ?1";
        let found = self.connection.query_row(select, [&self.plan], |row| row.get(0));
        found.optional().map_err(|e| fault(&self.path, &e))
    }

    /// How many entries the ledger had before the run: what follows them may be of it.
    ///
    /// # Errors
    /// [`Error::Journal`] if it cannot be read.
    pub fn first(&self) -> Result<u64, Error> {
        let select = "SELECT first FROM agreed WHERE plan = ?1";
        let found = self
            .connection
            .query_row(select, [&self.plan], |row| row.get::<_, i64>(0));
        let found = found.optional().map_err(|e| fault(&self.path, &e))?;
        Ok(found.map_or(0, i64::unsigned_abs))
    }

    /// Holds this, durably, in place of what was held; whether it `begins` a run, or is of the one that is held.
    ///
    /// # Errors
    /// [`Error::Journal`] if it cannot be written.
    pub fn put(&self, bundle: &[u8], begins: bool) -> Result<(), Error> {
        let first = if begins { "excluded.first" } else { "first" };
        let insert = format!(
            "INSERT INTO agreed(plan, bundle, first) VALUES (?1, ?2, (SELECT count(*) FROM entries)) \
             ON CONFLICT(plan) DO UPDATE SET bundle = excluded.bundle, first = {first}"
        );
        let put = self.connection.execute(&insert, (&self.plan, bundle));
        put.map(drop).map_err(|e| fault(&self.path, &e))
    }

    /// Forgets it: the run is over.
    ///
    /// # Errors
    /// [`Error::Journal`] if it cannot be written.
    pub fn remove(&self) -> Result<(), Error> {
        let delete = "DELETE FROM agreed WHERE plan = ?1";
        let removed = self.connection.execute(delete, [&self.plan]);
        removed.map(drop).map_err(|e| fault(&self.path, &e))
    }
}

/// Whether a ledger holds an agreement of a run that is not over.
pub fn has_agreed(ledger: &Path) -> bool {
    let count = || -> Result<i64, Error> {
        let path = schema::resolve(ledger)?;
        let connection = schema::open(&path, Access::Read, WAIT)?;
        let count = connection.query_row("SELECT count(*) FROM agreed", [], |row| row.get(0));
        count.map_err(|e| fault(&path, &e))
    };
    // Without the table there is none.
    count().is_ok_and(|count| count > 0)
}
