//! The file under a [`Store`](super::Store): making, opening, and saying what is wrong with it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use privet::Error;
use rusqlite::{Connection, ErrorCode, OpenFlags};

/// "PRVT": marks a database as a ledger of this program.
const APPLICATION: i64 = 0x5052_5654;
const VERSION: i64 = 1;

const TABLES: &str = "
    PRAGMA application_id = 0x50525654;
    PRAGMA user_version = 1;
    CREATE TABLE entries(number INTEGER PRIMARY KEY, text TEXT NOT NULL, hash TEXT NOT NULL);
    CREATE TABLE fingerprints(dataset TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY(dataset, tag)) WITHOUT ROWID;
    CREATE TABLE key_check(tag TEXT NOT NULL);
    CREATE TABLE kept(entry INTEGER PRIMARY KEY, about TEXT NOT NULL, value BLOB NOT NULL);
";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// Makes the tables in an empty file.
pub(super) fn initialise(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|e| fault(path, &e))?;
    durable(&connection, path, super::WAIT)?;
    connection
        .execute_batch(&format!("BEGIN IMMEDIATE; {TABLES} COMMIT;"))
        .map_err(|e| fault(path, &e))?;
    Ok(connection)
}

/// Opens a ledger that is there.
pub(super) fn open(path: &Path, access: Access, wait: Duration) -> Result<Connection, Error> {
    // SQLite takes an empty file for an empty database.
    if fs::metadata(path).is_ok_and(|found| found.len() == 0) {
        return Err(damaged(path, "the file is empty"));
    }
    match access {
        Access::Read => read(path),
        Access::Write => {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(path, flags).map_err(|e| fault(path, &e))?;
            connection.busy_timeout(wait).map_err(|e| fault(path, &e))?;
            identify(&connection, path)?;
            if connection.is_readonly("main").map_err(|e| fault(path, &e))? {
                return Err(not_writable(path));
            }
            durable(&connection, path, wait)?;
            for ending in ["", "-wal", "-shm"] {
                tighten(&beside(path, ending))?;
            }
            Ok(connection)
        }
    }
}

/// Lets nobody but the owner read and write a file of a ledger: others could read kept values, or hold a lock. An earlier version, or a
/// copy, may have left it open to them.
#[cfg(unix)]
fn tighten(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    let Ok(mode) = fs::metadata(path).map(|found| found.permissions().mode()) else {
        return Ok(()); // SQLite has not made it yet, and gives it the ledger's mode.
    };
    if mode & 0o077 == 0 {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o700)).map_err(|e| {
        let shown = path.display();
        journal!(
            NotWritable,
            "{shown} can be used by other accounts, and that cannot be changed: {e}. Its owner runs: chmod 600 {shown}"
        )
    })
}

#[cfg(not(unix))]
fn tighten(_path: &Path) -> Result<(), Error> {
    Ok(())
}

fn read(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let attempt = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.busy_timeout(super::WAIT)?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    });
    let connection = match attempt {
        // A folder that we may not write has no room for SQLite's own files. Nobody is writing if there is no log, and
        // only then may the file be read without it.
        Err(e) if is_barred(&e) && log_length(path) == 0 => {
            let flags = flags | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(immutable(path), flags).map_err(|e| fault(path, &e))?
        }
        attempt => attempt.map_err(|e| fault(path, &e))?,
    };
    identify(&connection, path)?;
    Ok(connection)
}

fn is_barred(e: &rusqlite::Error) -> bool {
    matches!(
        e.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
    )
}

fn immutable(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                uri.push(char::from(*byte))
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri + "?immutable=1"
}

/// Refuses what is not a ledger, or one of a later version.
fn identify(connection: &Connection, path: &Path) -> Result<(), Error> {
    let number = |pragma: &str| -> Result<i64, Error> {
        connection
            .query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))
            .map_err(|e| fault(path, &e))
    };
    if number("application_id")? != APPLICATION {
        return Err(journal!(
            Foreign,
            "{} is a database, but not a ledger. Check the path (--ledger, or PRIVET_LEDGER).",
            path.display()
        ));
    }
    match number("user_version")? {
        VERSION => Ok(()),
        later => Err(journal!(
            OtherVersion,
            "the ledger {} has format {later}, and this version of privet knows format {VERSION} only. Use the version \
             that wrote it, or a later one.",
            path.display()
        )),
    }
}

/// A commit that has returned is on disk: write-ahead log, synced at every commit.
fn durable(connection: &Connection, path: &Path, wait: Duration) -> Result<(), Error> {
    let bad = |e: rusqlite::Error| fault(path, &e);
    connection.busy_timeout(wait).map_err(bad)?;
    let mode: String = connection
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .map_err(bad)?;
    // fullfsync matters on macOS alone, where data stays in the drive's cache after a plain sync.
    connection
        .execute_batch("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;")
        .map_err(bad)?;
    let synchronous: i64 = connection
        .query_row("PRAGMA synchronous", [], |row| row.get(0))
        .map_err(bad)?;
    if mode != "wal" || synchronous != 2 {
        return Err(journal!(
            Storage,
            "the ledger {} cannot be written safely here: the file system allows only the '{mode}' mode. Keep it on a \
             local disk.",
            path.display()
        ));
    }
    Ok(())
}

/// Whether the database has a table of this name.
pub(super) fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let known = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    let known: i64 = connection
        .prepare_cached(known)?
        .query_row([name], |row| row.get(0))?;
    Ok(known > 0)
}

/// The ledger's real path, so that a link to it meets the same key.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, Error> {
    let found = fs::canonicalize(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => journal!(Missing, "there is no ledger at {}. `privet ledger limit DATASET --epsilon E` makes one; if there was one, check the \
             path (--ledger, or PRIVET_LEDGER).",
            path.display()),
        _ => journal!(Unreachable, "the ledger {} cannot be reached: {e}", path.display()),
    })?;
    if !found.is_file() {
        return Err(journal!(
            Foreign,
            "{} is not a file, so it cannot be the ledger. Check the path (--ledger, or PRIVET_LEDGER).",
            path.display()
        ));
    }
    Ok(found)
}

/// Makes the folder that the ledger goes to, durably, and gives its real path.
pub(super) fn make_folder(ledger: &Path) -> Result<PathBuf, Error> {
    let folder = super::folder_of(ledger);
    let bad = |e: std::io::Error| {
        journal!(
            Storage,
            "the ledger's folder {} cannot be used: {e}",
            folder.display()
        )
    };
    let missing: Vec<&Path> = folder
        .ancestors()
        .take_while(|f| *f != Path::new("") && !f.exists())
        .collect();
    fs::create_dir_all(folder).map_err(bad)?;
    for made in missing {
        if let Some(parent) = made.parent().filter(|p| *p != Path::new("")) {
            sync_folder(parent)?;
        }
    }
    fs::canonicalize(folder).map_err(bad)
}

/// Makes a new name in a folder survive a power cut.
pub(super) fn sync_folder(folder: &Path) -> Result<(), Error> {
    if cfg!(windows) {
        return Ok(()); // Windows has no such call; its file systems journal names.
    }
    File::open(folder)
        .and_then(|f| f.sync_all())
        .map_err(|e| journal!(Storage, "the folder {} cannot be synced: {e}", folder.display()))
}

/// Refuses to begin a ledger where one is or was: a fresh budget must be somebody's decision.
pub(super) fn refuse_remains(path: &Path) -> Result<(), Error> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(occupied(path));
    }
    let key = [".key", ".signing"].map(|ending| beside(path, ending));
    let log = (log_length(path) > 0).then(|| beside(path, "-wal"));
    let Some(remains) = key.into_iter().find(|key| key.exists()).or(log) else {
        return Ok(());
    };
    Err(journal!(
        Occupied,
        "there was a ledger at {}: only {} remains of it. If it was moved away, move it back; or put it back from a backup, and \
         remove the files beside it that end in -wal and -shm first (then do not continue runs between parties that were open: begin new ones). Only if what it recorded really is to be forgotten, move {} away too.",
        path.display(),
        remains.display(),
        remains.display()
    ))
}

pub(super) fn occupied(path: &Path) -> Error {
    journal!(
        Occupied,
        "there is something at {} already: a new ledger is never written over it",
        path.display()
    )
}

/// The file whose name is another's with an ending.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

fn log_length(path: &Path) -> u64 {
    fs::metadata(beside(path, "-wal")).map_or(0, |found| found.len())
}

/// What SQLite said, as: what, where, and what to do.
pub(super) fn fault(path: &Path, e: &rusqlite::Error) -> Error {
    let shown = path.display();
    match e.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => journal!(
            Foreign,
            "{shown} is not a ledger, or its beginning was overwritten. Check the path (--ledger, or PRIVET_LEDGER)."
        ),
        Some(ErrorCode::DatabaseCorrupt) => damaged(path, &e.to_string()),
        Some(ErrorCode::ReadOnly) => not_writable(path),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => journal!(
            Unreachable,
            "the ledger {shown} cannot be opened: {e}. Check that it is a file and that your account may read it."
        ),
        Some(ErrorCode::DiskFull) => journal!(
            Full,
            "the ledger {shown} cannot be written: the disk is full. Nothing was drawn."
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => journal!(
            Busy,
            "another process is writing to the ledger {shown}, and had not finished when the time to wait was over. Wait until it has \
             ended (`fuser {shown}` names it), or wait longer with --wait SECONDS. Nothing was drawn; show, verify and export work \
             meanwhile."
        ),
        // A row of the wrong type; or a statement that does not fit the tables, and the statements are ours.
        _ if matches!(
            e,
            rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::SqlInputError { .. }
        ) || e.sqlite_extended_error_code() == Some(rusqlite::ffi::SQLITE_ERROR) =>
        {
            damaged(path, &e.to_string())
        }
        _ => journal!(Storage, "the ledger {shown} cannot be used: {e}"),
    }
}

pub(super) fn damaged(path: &Path, why: &str) -> Error {
    journal!(
        Damaged,
        "the ledger {} is damaged ({why}). Put it back from a backup: end all programs that use it, remove the files beside it that end in \
         -wal and -shm, then copy the backup. Then check it with `privet ledger verify --against` and your latest models, and do not continue runs between \
         parties that were open: begin new ones.",
        path.display()
    )
}

fn not_writable(path: &Path) -> Error {
    journal!(
        NotWritable,
        "the ledger {} cannot be written: your account needs to be able to write this file and its folder.",
        path.display()
    )
}
