//! Which file a ledger was opened in: what is committed to a file that was moved away, or to a log that was removed, is lost.

use std::path::Path;

use privet::Error;

use super::schema::beside;

/// The ledger's file, and the log that commits are written to, as they were when the ledger was opened.
pub(super) struct Place {
    file: Option<FileId>,
    /// Nothing if it was opened for reading.
    log: Option<FileId>,
}

/// Device and number of a file.
type FileId = (u64, u64);

impl Place {
    /// The files that these paths name now.
    pub(super) fn of(path: &Path, writes: bool) -> Self {
        Self {
            file: id(path),
            log: id(&beside(path, "-wal")).filter(|_| writes),
        }
    }

    /// That the paths still name the files that were opened.
    pub(super) fn check(&self, path: &Path) -> Result<(), Error> {
        let stays = |then: Option<FileId>, now: &Path| then.is_none() || then == id(now);
        if stays(self.file, path) && stays(self.log, &beside(path, "-wal")) {
            return Ok(());
        }
        let shown = path.display();
        Err(journal!(
            MovedOn,
            "the ledger {shown} was exchanged, moved or removed while it was in use. Nothing was shown. To put a ledger back from a backup, end \
             all programs that use it, remove {shown}-wal and {shown}-shm, then copy the backup; then run this again."
        ))
    }
}

#[cfg(unix)]
fn id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// Other systems do not let a file that is in use be exchanged.
#[cfg(not(unix))]
fn id(_path: &Path) -> Option<FileId> {
    None
}
