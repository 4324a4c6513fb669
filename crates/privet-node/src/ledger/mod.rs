//! Where payments are kept: the library's [`Journal`] on SQLite.
//!
//! The chain of entries is the ledger; a [`Store`] stores it, and beside it the released values that entries say were kept. Several
//! processes may have it open: each transaction takes SQLite's write lock and waits for it, readers need not wait.
//! When [`Journal::transact`] returns, entry and value are on disk (write-ahead log, synced at every commit).
//! Why SQLite, and what was rejected: `docs/decisions/0002-ledger-storage.md`.

/// An error of a journal: what is at fault, and the sentence.
macro_rules! journal {
    ($fault:ident, $($words:tt)*) => {
        privet::Error::journal(privet::error::JournalFault::$fault, format!($($words)*))
    };
}
pub(crate) use journal;

mod agreed;
mod fingerprint;
mod kept;
mod place;
mod record;
mod schema;
mod secret;
mod shared;
mod signing;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use privet::Error;
use privet::error::{JournalFault, Refusal};
use privet::privacy::Book;
use privet::privacy::journal::{Addition, Decide, Entry, Event, Head, Journal, KeptValue};
use privet::privacy::ledger::begin;
use privet::privacy::signature::{PublicKey, SigningKey};
use rusqlite::{Connection, TransactionBehavior};

pub use agreed::{AgreedRun, has_agreed};
use fingerprint::RecognitionKey;
pub use fingerprint::{CommitmentKey, Recognisable};
pub use kept::KeptCheck;
use place::Place;
pub use record::RunRecord;
pub use schema::beside;
use schema::{Access, fault};
pub(crate) use secret::{create as secret_create, load as secret_load};
pub use shared::Shared;

use crate::place::same_file;

/// A ledger in a file.
///
/// Beside `<ledger>` there are `<ledger>.key`, which tables and kept values are recognised with, and `<ledger>.signing`, which models
/// and certificates are signed with. Both keys stay on the machine. A file `<ledger>.lock` of an earlier version is ignored.
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// Which file was opened.
    place: Place,
    /// Whether it was opened for writing.
    writes: bool,
}

/// How long a transaction waits for other processes, if nothing else is said.
pub const WAIT: Duration = Duration::from_secs(10);

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
            place: Place::of(&draft, true),
            path: draft.to_path_buf(),
            writes: true,
        };
        begin(&mut store)?;
        let closed = store.connection.close();
        closed.map_err(|(_, e)| fault(&path, &e))?;
        File::open(&draft)
            .and_then(|file| file.sync_all())
            .map_err(|e| failed("it cannot be synced", &e))?;
        draft.persist_noclobber(&path).map_err(|e| match e.error.kind() {
            std::io::ErrorKind::AlreadyExists => schema::occupied(&path),
            _ => failed("it cannot be given its name", &e.error),
        })?;
        schema::sync_folder(&folder)?;
        // Only now: a key without a ledger means that a ledger was lost, never that making one was interrupted.
        RecognitionKey::create_or_load(&path)?;
        Self::open(&path)
    }

    /// Opens a ledger for writing. Other processes may write to it, too: each waits up to [`WAIT`] for the others' transactions.
    ///
    /// # Errors
    /// [`Error::Journal`] if there is none, or it cannot be used.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_waiting(path, WAIT)
    }

    /// As [`open`](Self::open), where a transaction waits so long for other processes.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_waiting(path: &Path, wait: Duration) -> Result<Self, Error> {
        Self::opened(path, Access::Write, wait)
    }

    /// Opens a ledger for reading, also while another process writes.
    ///
    /// # Errors
    /// [`Error::Journal`] if there is none or it cannot be read.
    pub fn read_only(path: &Path) -> Result<Self, Error> {
        Self::opened(path, Access::Read, WAIT)
    }

    fn opened(path: &Path, access: Access, wait: Duration) -> Result<Self, Error> {
        let path = schema::resolve(path)?;
        let writes = access == Access::Write;
        let before = Place::of(&path, false);
        let connection = schema::open(&path, access, wait)?;
        // A file that was exchanged before it was open is another one already.
        before.check(&path)?;
        if writes {
            kept::check_ends(&connection, &path)?;
        }
        Ok(Self {
            connection,
            place: Place::of(&path, writes),
            path,
            writes,
        })
    }

    /// Draws the key of a ledger that has its first entry only, if it has none: whoever made it was killed before the key was written, and nothing
    /// was recognised or kept with one.
    ///
    /// # Errors
    /// [`Error::Journal`] if that cannot be found out or written.
    pub fn complete(&self) -> Result<(), Error> {
        let count = "SELECT (SELECT count(*) FROM entries) + (SELECT count(*) FROM fingerprints)";
        let count: i64 = self
            .connection
            .query_row(count, [], |row| row.get(0))
            .map_err(|e| fault(&self.path, &e))?;
        if count == 1 && !beside(&self.path, ".key").exists() {
            RecognitionKey::create_or_load(&self.path)?;
        }
        Ok(())
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
        Book::of(&self.read(0)?)
    }

    /// Writes one entry that draws nothing: a limit or an adoption.
    ///
    /// # Errors
    /// [`Error::Budget`] if the book does not admit it; [`Error::Journal`] if the chain does not verify or cannot be
    /// written. Nothing was written then.
    pub fn record(&mut self, event: Event) -> Result<Entry, Error> {
        let (_, entry) = self.record_with(|_| Some(event))?;
        entry.ok_or_else(|| Error::internal("an event that is given is written"))
    }

    /// The same, where `decide` sees the book while nobody else can write, and may write nothing. Returns that book, and the entry.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    pub fn record_with(
        &mut self,
        decide: impl FnOnce(&Book) -> Option<Event>,
    ) -> Result<(Book, Option<Entry>), Error> {
        let (mut before, mut written, mut decide) = (Book::default(), None, Some(decide));
        self.transact(&Head::empty(), &mut |entries, now| {
            before = Book::of(&entries)?;
            let Some(event) = decide.take().and_then(|decide| decide(&before)) else {
                return Ok(None);
            };
            let entry = Entry::after(before.head(), now, event)?;
            // The chain itself has just verified, so what fails here is the new event.
            before.clone().apply(&entry).map_err(|e| match e {
                Error::Journal(e) => Error::from(Refusal::Entry {
                    why: e.reason().into(),
                }),
                other => other,
            })?;
            written = Some(entry.clone());
            Ok(Some(entry.into()))
        })?;
        Ok((before, written))
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

    /// The same for rows that are no file: by what they are recognised by.
    ///
    /// # Errors
    /// As [`Store::recognise`].
    pub fn mark_table(&mut self, table: &dyn Recognisable) -> Result<String, Error> {
        fingerprint::mark_table(self, table)
    }

    /// The key by which its certificates commit to a place in it; nothing if the ledger's key is not there.
    pub fn commitment_key(&self) -> Option<CommitmentKey> {
        CommitmentKey::of(self)
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
        // Whatever number a row was given: damage is not overlooked.
        rows_from(&self.connection, i64::MIN).map_err(|e| fault(&self.path, &e))
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

/// The rows from a number on.
fn rows_from(connection: &Connection, first: i64) -> rusqlite::Result<Vec<StoredRow>> {
    let mut statement = connection
        .prepare_cached("SELECT number, text, hash FROM entries WHERE number >= ?1 ORDER BY number")?;
    let rows = statement.query_map([first], |row| {
        Ok(StoredRow {
            number: row.get(0)?,
            text: row.get(1)?,
            hash: row.get(2)?,
        })
    })?;
    rows.collect()
}

fn parsed(row: StoredRow) -> Result<Entry, Error> {
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
    Ok(entry)
}

fn full() -> Error {
    Error::journal(JournalFault::Full, "the ledger has no room for more entries")
}

impl Journal for Store {
    fn read(&mut self, after: u64) -> Result<Vec<Entry>, Error> {
        let rows = match after {
            0 => self.rows()?,
            after => {
                let first = i64::try_from(after)
                    .ok()
                    .and_then(|n| n.checked_add(1))
                    .ok_or_else(full)?;
                rows_from(&self.connection, first).map_err(|e| fault(&self.path, &e))?
            }
        };
        rows.into_iter().map(parsed).collect()
    }

    fn transact(&mut self, known: &Head, decide: Decide<'_>) -> Result<(), Error> {
        let bad = |e: rusqlite::Error| fault(&self.path, &e);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        let first = i64::try_from(known.entries).map_err(|_| full())?;
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(bad)?;
        self.place.check(&self.path)?;
        // The last known row is read as well: if it is another one now, the file was written over.
        let from = if first == 0 { i64::MIN } else { first };
        let mut rows = rows_from(&transaction, from).map_err(bad)?.into_iter();
        if first > 0 {
            let stored = rows.next().filter(|row| row.number == first);
            known.check_stored(stored.as_ref().map(|row| row.hash.as_str()))?;
        }
        let news = rows.map(parsed).collect::<Result<Vec<Entry>, Error>>()?;
        let last = news.last().map_or_else(|| known.clone(), Entry::head);
        let Some(Addition { entry, value }) = decide(news, now.map(|since| since.as_secs()))? else {
            return Ok(());
        };
        // Compare and append: a chain that went on elsewhere is never written over.
        entry.check_follows(&last)?;
        let place = i64::try_from(entry.number()).map_err(|_| full())?;
        transaction
            .prepare_cached("INSERT INTO entries(number, text, hash) VALUES (?1, ?2, ?3)")
            .and_then(|mut insert| insert.execute((place, entry.text(), entry.hash())))
            .map_err(bad)?;
        if let Some(value) = &value {
            kept::insert(&transaction, place, value).map_err(bad)?;
        }
        self.place.check(&self.path)?;
        transaction.commit().map_err(bad)?;
        // Exchanged meanwhile: what was committed is in a file that has no name any more.
        self.place.check(&self.path)
    }

    fn kept(&mut self, entry: u64) -> Result<Option<KeptValue>, Error> {
        kept::read(self, entry)
    }

    fn seal(&mut self, hash: [u8; 32]) -> Result<String, Error> {
        fingerprint::seal(self, hash)
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn commitment(&self, bytes: &[u8]) -> Option<[u8; 32]> {
        Some(self.commitment_key()?.seal(bytes))
    }
}

/// Writes `bytes` to `path` through a temporary file beside it: the whole file is there afterwards, or what was before. Its owner
/// alone can read it. A link of that name is replaced, and never followed.
///
/// # Errors
/// What the file system says.
pub fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    draft_of(path, bytes)?.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// The same where nothing may be replaced, not even a link.
///
/// # Errors
/// What the file system says, also that something is there already.
pub fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    draft_of(path, bytes)?
        .persist_noclobber(path)
        .map_err(|e| e.error)?;
    Ok(())
}

/// A synced file that has not got its name yet: its owner alone can read it, and it keeps that mode when it gets its name.
fn draft_of(path: &Path, bytes: &[u8]) -> std::io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new_in(folder_of(path))?;
    std::io::Write::write_all(&mut file, bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// The folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new("."))
}

/// Whether `path` is the ledger itself or one of the files beside it.
pub fn belongs_to(ledger: &Path, path: &Path) -> bool {
    // The files beside it stand beside the real one, if it is named by a link.
    let real = fs::canonicalize(ledger).unwrap_or_else(|_| ledger.to_owned());
    ["", ".lock", ".key", ".signing", "-wal", "-shm", "-journal"]
        .iter()
        .any(|ending| same_file(&beside(&real, ending), path) || same_file(&beside(ledger, ending), path))
}
