//! One writer at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use privet::Error;

use super::schema::beside;

/// An exclusive lock on `<ledger>.lock`. The operating system lets go of it when the process ends, however it ends; the
/// file itself stays, since removing it would let two processes lock two files of one name.
pub(super) struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing alone is not enough: a child that this process is just starting still has the file open for a moment.
        let _ = self.file.unlock();
    }
}

impl Lock {
    pub(super) fn take(ledger: &Path) -> Result<Self, Error> {
        let path = beside(ledger, ".lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|e| {
                journal!(NotWritable, "the ledger {} cannot be written: {}: {e}. Your account needs to be able to write this file and its \
                     folder.",
                    ledger.display(),
                    path.display())
            })?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Err(journal!(
                Busy,
                "another process is writing to the ledger {} (it holds {}). Wait until it has ended; show, verify and \
                 export work meanwhile.",
                ledger.display(),
                path.display()
            )),
            Err(TryLockError::Error(e)) => Err(journal!(
                Storage,
                "{} cannot be locked: {e}. Keep the ledger on a local disk.",
                path.display()
            )),
        }
    }
}
