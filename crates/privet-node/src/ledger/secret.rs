//! Keys beside a ledger: 32 random bytes each, in a file that only its owner can read.

use std::fs;
use std::io;
use std::path::Path;

use privet::Error;

use super::schema::sync_folder;
use super::write_new;

pub(crate) const LENGTH: usize = 32;

/// Draws a key and writes it: the whole key is there afterwards, or nothing. If another process was first, its key is taken.
pub(crate) fn create(path: &Path, name: &str) -> Result<[u8; LENGTH], Error> {
    let mut key = [0; LENGTH];
    getrandom::fill(&mut key).map_err(Error::randomness)?;
    match write(path, &key) {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return load(path, name),
        Err(e) => {
            return Err(journal!(
                Storage,
                "{name}, {}, cannot be made: {e}",
                path.display()
            ));
        }
    }
    if let Some(folder) = path.parent() {
        sync_folder(folder)?;
    }
    Ok(key)
}

/// Reads a key that was written before.
pub(crate) fn load(path: &Path, name: &str) -> Result<[u8; LENGTH], Error> {
    let bad = |why: String| journal!(Key, "{name}, {}, {why}", path.display());
    let found = fs::read(path).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => bad("is missing. Put it back from a backup.".into()),
        _ => bad(format!("cannot be read: {e}")),
    })?;
    private_mode(path).map_err(bad)?;
    found
        .try_into()
        .map_err(|_| bad(format!("is not {LENGTH} bytes long. Put it back from a backup.")))
}

fn write(path: &Path, key: &[u8]) -> io::Result<()> {
    write_new(path, key)
}

#[cfg(unix)]
fn private_mode(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path)
        .map_err(|e| format!("cannot be read: {e}"))?
        .permissions()
        .mode();
    if mode & 0o077 != 0 {
        return Err(format!(
            "can be read by others. Run: chmod 600 {}",
            path.display()
        ));
    }
    Ok(())
}

#[cfg(not(unix))]
fn private_mode(_path: &Path) -> Result<(), String> {
    Ok(())
}
