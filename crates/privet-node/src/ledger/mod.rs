//! Where payments are kept: the library's [`Journal`] on SQLite.
//!
//! The chain of entries is the ledger; a [`Store`] stores it. One process writes at a time, readers need not wait.
//! When [`Journal::append`] returns, the entry is on disk (write-ahead log, synced at every commit).
//! Why SQLite, and what was rejected: `docs/decisions/0002-ledger-storage.md`.

/// An error of a journal: what is at fault, and the sentence.
macro_rules! journal {
    ($fault:ident, $($words:tt)*) => {
        privet::Error::journal(privet::error::JournalFault::$fault, format!($($words)*))
    };
}
pub(crate) use journal;

mod fingerprint;
mod lock;
mod record;
mod schema;
mod secret;
mod shared;
mod signing;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use privet::Error;
use privet::error::{JournalFault, Refusal};
use privet::privacy::Book;
use privet::privacy::journal::{Entry, Event, Head, Journal};
use privet::privacy::ledger::begin;
use privet::privacy::signature::{PublicKey, SigningKey};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

pub use fingerprint::Recognisable;
use fingerprint::RecognitionKey;
use lock::Lock;
pub use record::RunRecord;
pub use schema::beside;
use schema::{Access, fault};
pub use shared::Shared;

/// A ledger in a file.
///
/// Beside `<ledger>` there are `<ledger>.lock`, held while a `Store` can write; `<ledger>.key`, which tables are recognised with; and
/// `<ledger>.signing`, which models and certificates are signed with. Both keys stay on the machine.
pub struct Store {
    // Declared before the lock: closing tidies the file up, and that must happen while the lock is held.
    connection: Connection,
    path: PathBuf,
    lock: Option<Lock>,
}

/// One entry as it is stored, for export.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct StoredRow {
    /// Its place in the chain, from 1.
    pub number: i64,
    /// The text that is hashed.
    pub text: String,
    /// The hash of the row before and of this text.
    pub hash: String,
}

impl Store {
    /// Makes a new ledger with its first entry and opens it for writing. There is a whole ledger afterwards, or none.
    ///
    /// # Errors
    /// [`Error::Journal`] if something is there already or the folder cannot be written.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let folder = schema::make_folder(path)?;
        let name = path
            .file_name()
            .ok_or_else(|| journal!(Foreign, "{} does not name a file for the ledger", path.display()))?;
        let path = folder.join(name);
        let lock = Lock::take(&path)?;
        schema::refuse_remains(&path)?;

        let failed = |what: &str, e: &dyn std::fmt::Display| {
            journal!(
                Storage,
                "the ledger {} cannot be made: {what}: {e}",
                path.display()
            )
        };
        let draft = tempfile::NamedTempFile::new_in(&folder)
            .map_err(|e| failed("its folder cannot be written", &e))?
            .into_temp_path();
        let mut store = Self {
            connection: schema::initialise(&draft)?,
            path: draft.to_path_buf(),
            lock: None,
        };
        begin(&mut store)?;
        let closed = store.connection.close();
        closed.map_err(|(_, e)| fault(&path, &e))?;
        File::open(&draft)
            .and_then(|file| file.sync_all())
            .map_err(|e| failed("it cannot be synced", &e))?;
        draft
            .persist_noclobber(&path)
            .map_err(|e| failed("it cannot be given its name", &e.error))?;
        schema::sync_folder(&folder)?;
        // Only now: a key without a ledger means that a ledger was lost, never that making one was interrupted.
        RecognitionKey::create(&path)?;
        Self::writing(path, lock)
    }

    /// Opens a ledger for writing. At most one process can.
    ///
    /// # Errors
    /// [`Error::Journal`] if there is none, another process has it, or it cannot be used.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let path = schema::resolve(path)?;
        let lock = Lock::take(&path)?;
        Self::writing(path, lock)
    }

    fn writing(path: PathBuf, lock: Lock) -> Result<Self, Error> {
        Ok(Self {
            connection: schema::open(&path, Access::Write)?,
            path,
            lock: Some(lock),
        })
    }

    /// Opens a ledger for reading, also while another process writes.
    ///
    /// # Errors
    /// [`Error::Journal`] if there is none or it cannot be read.
    pub fn read_only(path: &Path) -> Result<Self, Error> {
        let path = schema::resolve(path)?;
        Ok(Self {
            connection: schema::open(&path, Access::Read)?,
            path,
            lock: None,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The accounts that the chain adds up to.
    ///
    /// # Errors
    /// [`Error::Journal`] if the chain does not verify.
    pub fn book(&mut self) -> Result<Book, Error> {
        Book::of(&self.read()?)
    }

    /// Writes one entry that draws nothing: a limit or an adoption.
    ///
    /// # Errors
    /// [`Error::Budget`] if the book does not admit it; [`Error::Journal`] if the chain does not verify or cannot be
    /// written. Nothing was written then.
    pub fn record(&mut self, event: Event) -> Result<Entry, Error> {
        let mut book = self.book()?;
        let entry = Entry::after(book.head(), self.now(), event)?;
        // The chain itself has just verified, so what fails here is the new event.
        book.apply(&entry).map_err(|e| match e {
            Error::Journal(e) => Error::from(Refusal::Entry {
                why: e.reason().into(),
            }),
            other => other,
        })?;
        self.append(&entry)?;
        Ok(entry)
    }

    /// Whether these tables may be used, each under its name, and remembers them: all, or none if one is refused.
    ///
    /// A changed table under the same name keeps its budget. It stops a copy under a new name: the same file, and the same rows in another
    /// form, also with columns removed or added; a table with edited, added or reordered rows is a new table.
    ///
    /// # Errors
    /// [`Error::Budget`] if the same table is known under a name with another budget; [`Error::Journal`] if that cannot
    /// be found out; [`Error::Data`] if a table cannot be read.
    pub fn recognise(&mut self, tables: &[(&str, &dyn Recognisable)]) -> Result<(), Error> {
        fingerprint::recognise(self, tables)
    }

    /// A name under which a table is known, if there is one. Remembers nothing.
    ///
    /// # Errors
    /// [`Error::Journal`] if that cannot be found out; [`Error::Data`] if the table cannot be read.
    pub fn known_as(&self, table: &dyn Recognisable) -> Result<Option<String>, Error> {
        fingerprint::known(self, table)
    }

    /// A mark by which this ledger knows the table that `reader` gives again; without the ledger's key it reveals nothing.
    ///
    /// # Errors
    /// As [`Store::recognise`].
    pub fn mark(&mut self, reader: impl std::io::Read) -> Result<String, Error> {
        fingerprint::mark(self, reader)
    }

    /// The key that this ledger's models and certificates are signed with; made when it is needed for the first time.
    ///
    /// # Errors
    /// [`Error::Journal`] if it is missing, damaged or of another ledger, or cannot be made.
    pub fn signing_key(&self) -> Result<SigningKey, Error> {
        signing::key(self)
    }

    /// What signatures of this ledger are checked with, if anything was ever signed.
    ///
    /// # Errors
    /// [`Error::Journal`] if that cannot be read.
    pub fn public_key(&self) -> Result<Option<PublicKey>, Error> {
        signing::public(self)
    }

    /// The rows as they are stored, oldest first, whether or not they verify.
    ///
    /// # Errors
    /// [`Error::Journal`] if they cannot be read.
    pub fn rows(&self) -> Result<Vec<StoredRow>, Error> {
        let bad = |e: rusqlite::Error| fault(&self.path, &e);
        let mut statement = self
            .connection
            .prepare_cached("SELECT number, text, hash FROM entries ORDER BY number")
            .map_err(bad)?;
        let rows = statement
            .query_map([], |row| {
                Ok(StoredRow {
                    number: row.get(0)?,
                    text: row.get(1)?,
                    hash: row.get(2)?,
                })
            })
            .map_err(bad)?;
        rows.collect::<Result<_, _>>().map_err(bad)
    }

    /// Whether the database under the chain is whole.
    ///
    /// # Errors
    /// [`Error::Journal`] with the first damage that was found.
    pub fn check(&self) -> Result<(), Error> {
        let found: String = self
            .connection
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
            .map_err(|e| fault(&self.path, &e))?;
        if found == "ok" {
            return Ok(());
        }
        Err(schema::damaged(&self.path, &found))
    }
}

impl Journal for Store {
    fn read(&mut self) -> Result<Vec<Entry>, Error> {
        let rows = self.rows()?;
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            let number = row.number;
            let at = JournalFault::Entry(number.unsigned_abs());
            let entry = Entry::parse(row.text, row.hash).map_err(|e| Error::journal(at, e.to_string()))?;
            if i64::try_from(entry.number()) != Ok(number) {
                let why = format!(
                    "ledger entry {number}: its text says that it is entry {}: the ledger was edited or reordered",
                    entry.number()
                );
                return Err(Error::journal(JournalFault::Damaged, why));
            }
            entries.push(entry);
        }
        Ok(entries)
    }

    fn append(&mut self, entry: &Entry) -> Result<(), Error> {
        let bad = |e: rusqlite::Error| fault(&self.path, &e);
        let place = i64::try_from(entry.number())
            .map_err(|_| Error::journal(JournalFault::Full, "the ledger has no room for more entries"))?;
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(bad)?;
        let last = transaction
            .prepare_cached("SELECT number, hash FROM entries ORDER BY number DESC LIMIT 1")
            .and_then(|mut last| {
                last.query_row([], |row| {
                    Ok(Head {
                        entries: row.get::<_, i64>(0)?.unsigned_abs(),
                        hash: row.get(1)?,
                    })
                })
                .optional()
            })
            .map_err(bad)?
            .unwrap_or_else(Head::empty);
        // Compare and append: a chain that went on elsewhere is never written over.
        if !entry.follows(&last) {
            return Err(journal!(
                MovedOn,
                "the ledger {} ends at entry {}, which is not the one that the new entry {} follows: it was written by \
                 something else meanwhile. Nothing was written; open it again.",
                self.path.display(),
                last.entries,
                entry.number()
            ));
        }
        transaction
            .prepare_cached("INSERT INTO entries(number, text, hash) VALUES (?1, ?2, ?3)")
            .and_then(|mut insert| insert.execute((place, entry.text(), entry.hash())))
            .map_err(bad)?;
        transaction.commit().map_err(bad)
    }

    fn now(&self) -> Option<u64> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        Some(since.as_secs())
    }

    fn is_durable(&self) -> bool {
        true
    }
}

/// Writes `bytes` to `path` through a temporary file beside it: the whole file is there afterwards, or what was before.
///
/// # Errors
/// What the file system says.
pub fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    draft_of(path, bytes)?.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// A synced file that has not got its name yet.
fn draft_of(path: &Path, bytes: &[u8]) -> std::io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new_in(folder_of(path))?;
    std::io::Write::write_all(&mut file, bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Makes the name of a new file survive a power cut.
pub(crate) fn sync_folder_of(path: &Path) -> Result<(), Error> {
    schema::sync_folder(folder_of(path))
}

/// The folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new("."))
}

/// Whether `path` is the ledger itself or one of the files beside it.
pub fn belongs_to(ledger: &Path, path: &Path) -> bool {
    let real = |p: &Path| fs::canonicalize(p).unwrap_or_else(|_| std::path::absolute(p).unwrap_or(p.into()));
    let (ledger, path) = (real(ledger), real(path));
    ["", ".lock", ".key", ".signing", "-wal", "-shm"]
        .iter()
        .any(|ending| beside(&ledger, ending) == path)
}
