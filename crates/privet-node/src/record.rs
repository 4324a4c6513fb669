//! The released columns of a party, in a file that only grows, so that each is released once.
//!
//! An item is its length (8 bytes), the same with every bit turned (8 bytes), its bytes, and the SHA-256 of all these. The first
//! item says what the record is about. When [`Record::append`] returns, the item is on disk.
//!
//! An item that was cut off by a crash was never shown to anybody: it is dropped. Anything else that does not check is damage,
//! and no reason to draw a second time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use privet::Error;
use privet::party::{Item, Record};
use privet::wire::Wire;
use sha2::{Digest, Sha256};

use crate::ledger::journal;

/// Before what a record is about.
const FIRST: &[u8] = b"privet record 1\n";
/// The two lengths.
const HEAD: usize = 16;
/// A hash.
const TAIL: usize = 32;

/// A record in a file, locked while it is open.
#[derive(Debug)]
pub struct FileRecord {
    path: PathBuf,
    file: File,
    about: Vec<u8>,
    /// Where the last whole item ends.
    end: u64,
}

impl Drop for FileRecord {
    fn drop(&mut self) {
        // Closing alone is not enough: a child that this process is just starting still has the file open for a moment.
        let _ = self.file.unlock();
    }
}

impl FileRecord {
    /// Opens or creates the record about `about`.
    ///
    /// # Errors
    /// [`Error::Journal`] if another process has it, it cannot be read or written, it is damaged, or is about something else.
    pub fn open(path: &Path, about: &str) -> Result<Self, Error> {
        let bad = |what: &str, e: &dyn std::fmt::Display| {
            journal!(Storage, "the record {} {what}: {e}", path.display())
        };
        let is_new = std::fs::symlink_metadata(path).is_err();
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|e| bad("cannot be opened", &e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(bad(
                    "cannot be used",
                    &"another process has it; wait until that has ended",
                ));
            }
            Err(TryLockError::Error(e)) => return Err(bad("cannot be locked; keep it on a local disk", &e)),
        }
        if is_new {
            crate::ledger::sync_folder_of(path)?;
        }
        let mut record = Self {
            path: path.to_owned(),
            file,
            about: [FIRST, about.as_bytes()].concat(),
            end: 0,
        };
        let items = record.items()?;
        match items.first() {
            Some(first) if *first == record.about => {}
            // Nothing was recorded about whatever it was to be about.
            Some(first) if first.starts_with(FIRST) && items.len() == 1 => {
                record.end = 0;
                record.write(&record.about.clone())?;
            }
            None => record.write(&record.about.clone())?,
            Some(first) if first.starts_with(FIRST) => {
                return Err(bad(
                    "is of another table or another ledger",
                    &"the file that it was made from has changed since, or its ledger was replaced. A column is released once: put the file \
                      and its ledger back as they were. Rows that are new are a data set of their own, with a record of its own",
                ));
            }
            Some(_) => return Err(bad("cannot be used", &"it is not a record of privet")),
        }
        Ok(record)
    }

    /// Whether nothing was recorded yet.
    ///
    /// # Errors
    /// As [`Record::read`].
    pub fn is_empty(&mut self) -> Result<bool, Error> {
        Ok(self.items()?.len() <= 1)
    }

    /// All items that are whole. An item that was cut off at the end is ignored, and the next one takes its place.
    fn items(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        let mut bytes = Vec::new();
        let read = self.file.seek(SeekFrom::Start(0));
        read.and_then(|_| self.file.read_to_end(&mut bytes))
            .map_err(|e| journal!(Storage, "the record {} cannot be read: {e}", self.path.display()))?;
        let (mut items, mut at) = (Vec::new(), 0);
        while let Some(item) = next(&bytes[at..]) {
            let item = item.map_err(|why| {
                journal!(Damaged, "the record {} is damaged at byte {at}: {why}. Put it back from a backup; what it kept is not drawn again",
                    self.path.display())
            })?;
            at += HEAD + item.len() + TAIL;
            items.push(item.to_vec());
        }
        self.end = at as u64;
        Ok(items)
    }

    fn write(&mut self, item: &[u8]) -> Result<(), Error> {
        let length = item.len() as u64;
        let mut bytes = [length.to_le_bytes(), (!length).to_le_bytes()].concat();
        bytes.extend_from_slice(item);
        let hash = Sha256::digest(&bytes);
        bytes.extend_from_slice(&hash);
        // Incomplete bytes after the last whole item, from a crash, are removed first.
        self.file
            .set_len(self.end)
            .and_then(|()| self.file.seek(SeekFrom::Start(self.end)))
            .and_then(|_| self.file.write_all(&bytes))
            .and_then(|()| self.file.sync_all())
            .map_err(|e| {
                journal!(
                    Storage,
                    "the record {} cannot be written: {e}. Nothing was shown.",
                    self.path.display()
                )
            })?;
        self.end += bytes.len() as u64;
        Ok(())
    }
}

/// Whether a file that begins with `bytes` is a record.
pub fn is_record(bytes: &[u8]) -> bool {
    bytes.get(HEAD..).is_some_and(|rest| rest.starts_with(FIRST))
}

/// The item at the beginning of `bytes`: none if they end before it does.
fn next(bytes: &[u8]) -> Option<Result<&[u8], &'static str>> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let number = |part: &[u8]| part.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let length = number(&head[..8]);
    if number(&head[8..]) != !length {
        return Some(Err("a length does not check"));
    }
    let length = usize::try_from(length).ok()?;
    let (item, rest) = rest.split_at_checked(length)?;
    let (hash, _) = rest.split_at_checked(TAIL)?;
    let found = Sha256::digest(&bytes[..HEAD + length]);
    Some(if found[..] == *hash {
        Ok(item)
    } else {
        Err("a checksum does not agree")
    })
}

impl Record for FileRecord {
    fn read(&mut self, place: u64) -> Result<Option<Item>, Error> {
        let (path, items) = (self.path.clone(), self.items()?);
        let item = |bytes: &Vec<u8>| {
            Item::from_bytes(bytes).map_err(|e| {
                journal!(
                    OtherVersion,
                    "the record {} was written by another version of privet: {e}",
                    path.display()
                )
            })
        };
        items.get(place as usize + 1).map(item).transpose()
    }

    fn append(&mut self, items: Vec<Item>) -> Result<(), Error> {
        items.iter().try_for_each(|item| self.write(&item.to_bytes()))
    }

    fn replace(&mut self, _: Item) -> Result<(), Error> {
        Err(Error::internal(
            "a record that takes no checkpoints is given none",
        ))
    }

    fn takes_checkpoints(&self) -> bool {
        false
    }
}
