//! How a table is recognised when it comes back under another name.
//!
//! A keyed hash of the table's bytes, kept beside the chain and not in it: the chain holds nothing that depends on rows.
//! Without the key, which never leaves the machine, the hash tells nobody whether a table they guess is this one.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use privet::Error;
use privet::error::{JournalFault, Refusal};
use privet::privacy::Book;
use rusqlite::{OptionalExtension, TransactionBehavior};
use sha2::Sha256;

use super::schema::{beside, fault};
use super::{Store, secret};

const NAME: &str = "the key by which known tables are recognised";

/// The key of one ledger. No `Debug`, on purpose.
pub(super) struct Key([u8; secret::LENGTH]);

impl Key {
    /// Draws the key of a new ledger and writes it where only its owner can read it.
    pub(super) fn create(ledger: &Path) -> Result<Self, Error> {
        Ok(Self(secret::create(&beside(ledger, ".key"), NAME)?))
    }

    fn load(path: &Path) -> Result<Self, Error> {
        Ok(Self(secret::load(path, NAME)?))
    }

    fn tag(&self, purpose: &str, mut reader: impl Read) -> io::Result<String> {
        // Unwrap safety: HMAC takes keys of every length.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length");
        mac.update(purpose.as_bytes());
        mac.update(b"\n");
        let mut buffer = vec![0; 1 << 16];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => mac.update(&buffer[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        let bytes = mac.finalize().into_bytes();
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Remembers all of these tables, or none: one that is refused leaves nothing behind of the others.
pub(super) fn recognise<R: Read>(store: &mut Store, tables: Vec<(&str, R)>) -> Result<(), Error> {
    if store.lock.is_none() {
        return Err(Error::misuse(
            "a ledger that is open for reading cannot remember a table",
        ));
    }
    let key = matching_key(store)?;
    let tags = tables.into_iter().map(|(dataset, reader)| {
        let tag = key.tag("table", reader);
        tag.map(|tag| (dataset, tag))
            .map_err(|e| Error::data(format!("the table of '{dataset}' cannot be read: {e}")))
    });
    let tags = tags.collect::<Result<Vec<_>, _>>()?;
    let book = store.book()?;
    let path = store.path.clone();
    let bad = |e: rusqlite::Error| fault(&path, &e);
    let transaction = store
        .connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(bad)?;
    for (dataset, tag) in tags {
        let known: BTreeSet<String> = transaction
            .prepare_cached("SELECT dataset FROM fingerprints WHERE tag = ?1 ORDER BY dataset")
            .and_then(|mut names| names.query_map([&tag], |row| row.get(0))?.collect())
            .map_err(bad)?;
        refuse_copy(&book, dataset, &known)?;
        transaction
            .execute(
                "INSERT OR IGNORE INTO fingerprints(dataset, tag) VALUES (?1, ?2)",
                (dataset, &tag),
            )
            .map_err(bad)?;
    }
    transaction.commit().map_err(bad)
}

/// That a table may be used under this name, when it is known under these.
fn refuse_copy(book: &Book, dataset: &str, known: &BTreeSet<String>) -> Result<(), Error> {
    let budget = |name: &str| book.names().get(name).cloned().unwrap_or_else(|| name.to_owned());
    let ours = known.iter().any(|name| budget(name) == budget(dataset));
    let Some(other) = known.first().filter(|_| !ours) else {
        return Ok(());
    };
    let refusal = Refusal::KnownTable {
        dataset: dataset.into(),
        known_as: other.clone(),
        has_budget: book.names().contains_key(dataset),
    };
    Err(refusal.into())
}

/// A name under which this very table is known, if there is one. Remembers nothing.
pub(super) fn known(store: &Store, reader: impl Read) -> Result<Option<String>, Error> {
    let file = beside(&store.path, ".key");
    if !file.exists() {
        return Ok(None);
    }
    let tag = Key::load(&file)?
        .tag("table", reader)
        .map_err(|e| Error::data(format!("the table cannot be read: {e}")))?;
    store
        .connection
        .query_row(
            "SELECT dataset FROM fingerprints WHERE tag = ?1 ORDER BY dataset LIMIT 1",
            [&tag],
            |row| row.get(0),
        )
        .optional()
        .map_err(|e| fault(&store.path, &e))
}

/// A mark of this very table, of another kind than what is stored.
pub(super) fn mark(store: &mut Store, reader: impl Read) -> Result<String, Error> {
    let tag = matching_key(store)?.tag("kept columns", reader);
    tag.map_err(|e| Error::data(format!("the table cannot be read: {e}")))
}

/// The key, if it is the one that the known tables were marked with: with another one nothing would be recognised.
fn matching_key(store: &mut Store) -> Result<Key, Error> {
    let path = store.path.clone();
    let bad = |e: rusqlite::Error| fault(&path, &e);
    let file = beside(&path, ".key");
    let check: Option<String> = store
        .connection
        .query_row("SELECT tag FROM key_check", [], |row| row.get(0))
        .optional()
        .map_err(bad)?;
    // Making the ledger was interrupted before it had a key.
    let key = if check.is_none() && !file.exists() {
        Key::create(&path)?
    } else {
        Key::load(&file)?
    };
    let found = key
        .tag("key", io::empty())
        .map_err(|e| Error::journal(JournalFault::Storage, e.to_string()))?;
    match check {
        None => {
            let insert = "INSERT INTO key_check(tag) VALUES (?1)";
            store.connection.execute(insert, [&found]).map_err(bad)?;
        }
        Some(check) if check != found => {
            return Err(Error::journal(
                JournalFault::Key,
                format!(
                    "the key {} belongs to another ledger. Put the right one back from a backup: known tables cannot be \
                 recognised with this one.",
                    file.display()
                ),
            ));
        }
        Some(_) => {}
    }
    Ok(key)
}
