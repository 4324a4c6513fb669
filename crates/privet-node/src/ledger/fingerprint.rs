//! How a table is recognised when it comes back under another name.
//!
//! Keyed hashes of its columns ([`privet::data::Fingerprint`]), kept beside the chain and not in it: the chain holds nothing that depends
//! on rows. Without the key, which stays on the machine, nobody can test whether a table they guess is this one. A table is known
//! if all its columns are columns of one that is known, or the other way round: so it is known as text, gzipped, as Parquet or in memory,
//! with columns renamed, reordered, removed or added. Of a file the bytes are hashed as well: the same file is the same table, whatever
//! a schema reads of it.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use privet::Error;
use privet::data::{Fingerprint, Points};
use privet::error::Refusal;
use privet::privacy::Book;
use rusqlite::{OptionalExtension, TransactionBehavior};
use sha2::Sha256;

use super::schema::{beside, fault};
use super::{Store, parsed, rows_from, secret};

const NAME: &str = "the key by which known tables are recognised";

/// The key of one ledger. No `Debug`, on purpose.
pub(super) struct RecognitionKey([u8; secret::LENGTH]);

impl RecognitionKey {
    /// Draws the key of a new ledger and writes it where only its owner can read it; unless another process has done so.
    pub(super) fn create_or_load(ledger: &Path) -> Result<Self, Error> {
        Ok(Self(secret::create(&beside(ledger, ".key"), NAME)?))
    }

    /// A keyed hash of a hash: the digest of a kept value.
    pub(super) fn seal(&self, hash: [u8; 32]) -> String {
        self.tag("kept value", &hash)
    }

    fn load(path: &Path) -> Result<Self, Error> {
        Ok(Self(secret::load(path, NAME)?))
    }

    /// Where columns are evaluated.
    fn points(&self) -> Points {
        let drawn: [u8; 32] = self.begun("points").finalize().into_bytes().into();
        let mut secret = [0; 16];
        secret.copy_from_slice(&drawn[..16]);
        Points::new(secret)
    }

    fn begun(&self, purpose: &str) -> Hmac<Sha256> {
        // Unwrap safety: HMAC takes keys of every length.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length");
        mac.update(purpose.as_bytes());
        mac.update(b"\n");
        mac
    }

    fn tag(&self, purpose: &str, bytes: &[u8]) -> String {
        written(self.begun(purpose).chain_update(bytes))
    }

    fn tag_of_file(&self, purpose: &str, mut reader: impl Read) -> io::Result<String> {
        let mut mac = self.begun(purpose);
        let mut buffer = vec![0; 1 << 16];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(written(mac)),
                Ok(n) => mac.update(&buffer[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

fn written(mac: Hmac<Sha256>) -> String {
    let bytes = mac.finalize().into_bytes();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A table that may be known.
pub trait Recognisable {
    /// What it is recognised by; its rows are read for that.
    ///
    /// # Errors
    /// [`Error::Data`] if it cannot be read.
    fn fingerprint(&self, points: Points) -> Result<Fingerprint, Error>;

    /// Its bytes, if it is a file: what ledgers written before remember of it.
    ///
    /// # Errors
    /// [`Error::Data`] if it cannot be read.
    fn bytes(&self) -> Result<Option<Box<dyn Read + '_>>, Error>;
}

/// Begins what is remembered of a table's columns; what does not begin so is a hash of a file's bytes.
const COLUMNS: &str = "columns:";

/// The hashes of a table: of all columns together, and of each that tells tables apart.
struct TableHashes {
    whole: String,
    columns: BTreeSet<String>,
}

impl TableHashes {
    fn new(key: &RecognitionKey, fingerprint: &Fingerprint) -> Self {
        let whole: Vec<u8> = fingerprint.columns().flatten().copied().collect();
        Self {
            // Tables without rows are all alike.
            whole: match fingerprint.is_empty() {
                true => String::new(),
                false => key.tag("columns", &whole),
            },
            columns: fingerprint
                .telling()
                .map(|column| key.tag("column", column))
                .collect(),
        }
    }

    fn parse(stored: &str) -> Option<Self> {
        let mut marks = stored.strip_prefix(COLUMNS)?.split(' ').map(str::to_owned);
        Some(Self {
            whole: marks.next()?,
            columns: marks.collect(),
        })
    }

    fn stored(&self) -> String {
        let columns = self.columns.iter().map(|column| format!(" {column}"));
        format!("{COLUMNS}{}{}", self.whole, columns.collect::<String>())
    }

    fn is(&self, other: &Self) -> bool {
        let [few, many] = match self.columns.len() <= other.columns.len() {
            true => [self, other],
            false => [other, self],
        };
        !self.whole.is_empty() && self.whole == other.whole
            || !few.columns.is_empty() && few.columns.is_subset(&many.columns)
    }
}

/// What the ledger remembers of tables: under which name, and what.
fn remembered(connection: &rusqlite::Connection) -> Result<Vec<(String, String)>, rusqlite::Error> {
    let mut all = connection.prepare_cached("SELECT dataset, tag FROM fingerprints ORDER BY dataset")?;
    all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// A table that was read to be recognised.
struct CandidateTable {
    marks: TableHashes,
    /// The hash of its bytes, if it is a file: the same file is the same table, whatever a schema reads of it, and how.
    bytes: Option<String>,
}

impl CandidateTable {
    fn new(key: &RecognitionKey, table: &dyn Recognisable) -> Result<Self, Error> {
        let marks = TableHashes::new(key, &table.fingerprint(key.points())?);
        let bytes = table.bytes()?;
        let bytes = bytes.map(|bytes| key.tag_of_file("table", bytes)).transpose();
        let bytes = bytes.map_err(|e| Error::data(format!("the table cannot be read: {e}")))?;
        Ok(Self { marks, bytes })
    }

    /// The names under which it is known.
    fn names(&self, remembered: Vec<(String, String)>) -> BTreeSet<String> {
        let known = remembered
            .into_iter()
            .filter(|(_, tag)| match TableHashes::parse(tag) {
                Some(known) => self.marks.is(&known),
                None => self.bytes.as_ref() == Some(tag),
            });
        known.map(|(name, _)| name).collect()
    }
}

/// Remembers all of these tables, or none: if one is refused, none is stored.
pub(super) fn recognise(store: &mut Store, tables: &[(&str, &dyn Recognisable)]) -> Result<(), Error> {
    if !store.writes {
        return Err(Error::misuse(
            "a ledger that is open for reading cannot remember a table",
        ));
    }
    let key = matching_key(store)?;
    let path = store.path.clone();
    let bad = |e: rusqlite::Error| fault(&path, &e);
    let tables = tables
        .iter()
        .map(|(dataset, table)| Ok((dataset, CandidateTable::new(&key, *table)?)))
        .collect::<Result<Vec<_>, Error>>()?;
    let transaction = store
        .connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(bad)?;
    store.place.check(&path)?;
    // Inside the transaction: another process may give a name a budget meanwhile.
    let entries = rows_from(&transaction, i64::MIN).map_err(bad)?;
    let entries = entries.into_iter().map(parsed).collect::<Result<Vec<_>, _>>()?;
    let book = Book::of(&entries)?;
    for (dataset, table) in tables {
        refuse_copy(
            &book,
            dataset,
            &table.names(remembered(&transaction).map_err(bad)?),
        )?;
        for tag in table.bytes.iter().chain([&table.marks.stored()]) {
            let insert = "INSERT OR IGNORE INTO fingerprints(dataset, tag) VALUES (?1, ?2)";
            transaction.execute(insert, (dataset, tag)).map_err(bad)?;
        }
    }
    transaction.commit().map_err(bad)?;
    store.place.check(&path)
}

/// That a table may be used under this name, when it is known under these.
fn refuse_copy(book: &Book, dataset: &str, known: &BTreeSet<String>) -> Result<(), Error> {
    let budget = |name: &str| book.names().get(name).cloned().unwrap_or_else(|| name.to_owned());
    // One known name with another budget is enough: a name that knows a part of a table must not pay for the rest of it.
    let Some(other) = known.iter().find(|name| budget(name) != budget(dataset)) else {
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
pub(super) fn known(store: &Store, table: &dyn Recognisable) -> Result<Option<String>, Error> {
    let remembered = remembered(&store.connection).map_err(|e| fault(&store.path, &e))?;
    if remembered.is_empty() {
        return Ok(None);
    }
    // Without the key no table would be recognised: that is an error, not an unknown table.
    let candidate = CandidateTable::new(&RecognitionKey::load(&beside(&store.path, ".key"))?, table)?;
    Ok(candidate.names(remembered).pop_first())
}

/// A mark of this very table, of another kind than what is stored.
pub(super) fn mark(store: &mut Store, reader: impl Read) -> Result<String, Error> {
    let tag = matching_key(store)?.tag_of_file("kept columns", reader);
    tag.map_err(|e| Error::data(format!("the table cannot be read: {e}")))
}

/// The same for rows that are no file.
pub(super) fn mark_table(store: &mut Store, table: &dyn Recognisable) -> Result<String, Error> {
    let key = matching_key(store)?;
    let hashes = TableHashes::new(&key, &table.fingerprint(key.points())?);
    Ok(key.tag("kept columns of rows in memory", hashes.whole.as_bytes()))
}

/// The key by which certificates commit to a place in the ledger: derived from the ledger's key for this purpose alone.
pub struct CommitmentKey(RecognitionKey);

impl CommitmentKey {
    /// The key, if the ledger's is there and belongs to it. A ledger that is written to remembers it from then on.
    pub(super) fn of(store: &Store) -> Option<Self> {
        let key = existing_key(store).ok()??;
        if store.writes && stored_tag(store).ok()?.is_none() {
            matching_key(store).ok()?;
        }
        let derived = key.begun("commitment").finalize().into_bytes();
        Some(Self(RecognitionKey(derived.into())))
    }

    /// The keyed hash of `bytes`.
    pub fn seal(&self, bytes: &[u8]) -> [u8; 32] {
        let mac = self.0.begun("commitment").chain_update(bytes);
        mac.finalize().into_bytes().into()
    }
}

/// The key, if it is the one that the known tables were marked with: with another one nothing would be recognised.
fn matching_key(store: &Store) -> Result<RecognitionKey, Error> {
    let path = store.path.clone();
    let bad = |e: rusqlite::Error| fault(&path, &e);
    let file = beside(&path, ".key");
    let check = stored_tag(store)?;
    // Making the ledger was interrupted before it had a key.
    let key = if check.is_none() && !file.exists() {
        RecognitionKey::create_or_load(&path)?
    } else {
        RecognitionKey::load(&file)?
    };
    let found = key.tag("key", &[]);
    match check {
        None => {
            // Another process may have been first: it has the same key then.
            let insert = "INSERT INTO key_check(tag) SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM key_check)";
            store.connection.execute(insert, [&found]).map_err(bad)?;
        }
        Some(check) => key.check(&check, &file)?,
    }
    Ok(key)
}

impl RecognitionKey {
    /// That it is the key which left this tag in the ledger.
    fn check(&self, tag: &str, file: &Path) -> Result<(), Error> {
        if self.tag("key", &[]) == tag {
            return Ok(());
        }
        Err(journal!(
            Key,
            "the key {} belongs to another ledger. Put the right one back from a backup: known tables and kept values cannot be \
             recognised with this one.",
            file.display()
        ))
    }
}

/// The key, if it is there for this account; nothing is made or written.
pub(super) fn existing_key(store: &Store) -> Result<Option<RecognitionKey>, Error> {
    let file = beside(&store.path, ".key");
    let opened = std::fs::File::open(&file);
    if opened.is_err_and(|e| {
        matches!(
            e.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
        )
    }) {
        return Ok(None);
    }
    let key = RecognitionKey::load(&file)?;
    if let Some(tag) = stored_tag(store)? {
        key.check(&tag, &file)?;
    }
    Ok(Some(key))
}

/// The tag of the key that the ledger was first used with.
fn stored_tag(store: &Store) -> Result<Option<String>, Error> {
    let found = store
        .connection
        .query_row("SELECT tag FROM key_check", [], |row| row.get(0))
        .optional();
    found.map_err(|e| fault(&store.path, &e))
}

/// A keyed hash of a hash.
pub(super) fn seal(store: &mut Store, hash: [u8; 32]) -> Result<String, Error> {
    let key = match store.writes {
        true => matching_key(store)?,
        false => existing_key(store)?.ok_or_else(|| {
            journal!(
                Key,
                "{NAME}, {}, is missing",
                beside(&store.path, ".key").display()
            )
        })?,
    };
    Ok(key.seal(hash))
}
