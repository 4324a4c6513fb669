//! Released values that are stored with the ledger, in a table of their own: they are no part of the chain, and never exported.

use std::collections::BTreeSet;
use std::path::Path;

use privet::Error;
use privet::privacy::KeptName;
use privet::privacy::journal::{Entry, Event, KeptValue};
use rusqlite::{Connection, OptionalExtension};

use super::schema::{damaged, fault, has_table};
use super::{Store, fingerprint};

/// Ledgers that were made before values were stored with them have no such table.
pub(super) const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS kept(entry INTEGER PRIMARY KEY, about TEXT NOT NULL, value BLOB NOT NULL)";

/// Stores a value, inside the transaction that writes its entry.
pub(super) fn insert(connection: &Connection, entry: i64, kept: &KeptValue) -> rusqlite::Result<()> {
    connection.execute(TABLE, [])?;
    // A row that is there already is damage, and an error here.
    let insert = "INSERT INTO kept(entry, about, value) VALUES (?1, ?2, ?3)";
    connection
        .prepare_cached(insert)?
        .execute((entry, &kept.about, &kept.value))?;
    Ok(())
}

/// The value that was stored with an entry.
pub(super) fn read(store: &Store, entry: u64) -> Result<Option<KeptValue>, Error> {
    let bad = |e: rusqlite::Error| fault(&store.path, &e);
    store.place.check(&store.path)?;
    if !has_table(&store.connection, "kept").map_err(bad)? {
        return Ok(None);
    }
    let Ok(entry) = i64::try_from(entry) else {
        return Ok(None);
    };
    let mut select = store
        .connection
        .prepare_cached("SELECT about, value FROM kept WHERE entry = ?1")
        .map_err(bad)?;
    let found = select.query_row([entry], |row| {
        Ok(KeptValue {
            about: row.get(0)?,
            value: row.get(1)?,
        })
    });
    found.optional().map_err(bad)
}

/// Refuses a ledger with a value that was kept later than its last entry: entries were removed from its end, so what it says may be drawn
/// was perhaps seen.
pub(super) fn check_ends(connection: &Connection, path: &Path) -> Result<(), Error> {
    let bad = |e: rusqlite::Error| fault(path, &e);
    if !has_table(connection, "kept").map_err(bad)? {
        return Ok(());
    }
    // One statement: it sees one state, whatever other processes write.
    let later = "SELECT max(entry) FROM kept WHERE entry > (SELECT coalesce(max(number), 0) FROM entries)";
    let later: Option<i64> = connection.query_row(later, [], |row| row.get(0)).map_err(bad)?;
    match later {
        None => Ok(()),
        Some(entry) => {
            let why = format!(
                "it has the value that was kept with entry {entry}, and not that entry: its last entries were removed. Values are not drawn again"
            );
            Err(damaged(path, &why))
        }
    }
}

/// What was found about the values that the entries of a ledger say were kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptCheck {
    /// How many there should be.
    pub values: u64,
    /// The entries whose value is missing.
    pub missing: Vec<u64>,
    /// The entries whose value does not have the digest of its entry.
    pub damaged: Vec<u64>,
    /// Values that are stored with entries which do not say so.
    pub strays: BTreeSet<i64>,
    /// Whether digests could be compared: the ledger's key is there.
    pub compared: bool,
}

impl Store {
    /// Looks at all kept values. Their digests are compared if the ledger's key is there.
    ///
    /// # Errors
    /// [`Error::Journal`] if the ledger cannot be read, or its key is not the right one.
    pub fn check_kept(&self, entries: &[Entry]) -> Result<KeptCheck, Error> {
        let key = fingerprint::existing_key(self)?;
        let mut check = KeptCheck {
            compared: key.is_some(),
            strays: self.kept_entries()?,
            ..KeptCheck::default()
        };
        for entry in entries {
            let Event::Kept {
                dataset,
                run,
                what,
                draw,
                digest,
                ..
            } = entry.event()
            else {
                continue;
            };
            check.values += 1;
            if let Ok(number) = i64::try_from(entry.number()) {
                check.strays.remove(&number);
            }
            let name = KeptName {
                dataset,
                run,
                what,
                draw: draw.as_deref(),
            };
            match (read(self, entry.number())?, &key) {
                (None, _) => check.missing.push(entry.number()),
                (Some(kept), Some(key)) if key.seal(name.hash(&kept)) != *digest => {
                    check.damaged.push(entry.number());
                }
                _ => {}
            }
        }
        Ok(check)
    }

    /// The numbers that values are stored under.
    fn kept_entries(&self) -> Result<BTreeSet<i64>, Error> {
        let bad = |e: rusqlite::Error| fault(&self.path, &e);
        if !has_table(&self.connection, "kept").map_err(bad)? {
            return Ok(BTreeSet::new());
        }
        let mut select = self
            .connection
            .prepare_cached("SELECT entry FROM kept")
            .map_err(bad)?;
        let entries = select.query_map([], |row| row.get(0)).map_err(bad)?;
        entries.collect::<Result<_, _>>().map_err(bad)
    }
}
