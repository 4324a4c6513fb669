//! A collection of local messages on disk: sums in `<name>`, the tokens of all messages that counted in `<name>.tokens`.
//!
//! One batch is written in two steps: first its tokens are appended and synced, then the sums, the counts and how much of each input was read
//! take the place of the old file, whole. What stands in the file of sums decides: tokens beyond as many as it counts are those of a batch
//! that was not finished, and are cut off when the collection is opened again. So a batch counts as a whole or not at all.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use privet::Error;
use privet::setting::local::{Campaign, Collected, Collector, Input, Share};
use sha2::{Digest, Sha256};

use crate::ledger::{beside, folder_of, write_whole};

/// What a file of tokens begins with: as long as a token.
const MARK: &[u8; 16] = b"privet tokens 1\n";
const TOKEN: usize = 16;
/// Bytes that are read at once.
const PIECE: usize = 1 << 20;

/// A place between two writes: a process may die there, and tests let it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteStep {
    /// Nothing of the batch was written.
    Begin,
    /// Half of the tokens were.
    SomeTokens,
    /// All tokens were, but were not synced.
    Tokens,
    /// All tokens are on disk.
    SyncedTokens,
    /// The sums were replaced.
    Sums,
    /// The folder was synced.
    End,
}

/// How a collection is made.
#[derive(Debug, Clone, Copy)]
pub struct CollectionLimits {
    /// Messages, at most.
    pub most: u64,
    /// The tokens that it takes.
    pub share: Share,
    /// Threads that work on it.
    pub threads: usize,
}

/// A collection that is open: nobody else can open it.
pub struct Collection<'a> {
    collector: Collector<'a>,
    path: PathBuf,
    tokens: File,
    /// Tokens of the batch that is not written yet.
    fresh: Vec<u8>,
    length: usize,
    watch: Box<dyn FnMut(WriteStep) + 'a>,
}

impl<'a> Collection<'a> {
    /// Opens a collection to go on with it, or begins it. `watch` is told of every write.
    ///
    /// # Errors
    /// [`Error::Data`] if what is there is not such a collection, is of another campaign or share, is used by another process, or has no
    /// room.
    pub fn open(
        campaign: &'a Campaign,
        path: &Path,
        limits: CollectionLimits,
        watch: impl FnMut(WriteStep) + 'a,
    ) -> Result<Self, Error> {
        let beside = beside(path, ".tokens");
        let mut tokens = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&beside)
            .map_err(|e| bad(&beside, format!("it cannot be opened: {e}")))?;
        match tokens.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(bad(
                    path,
                    "another process collects into it: wait for that to end",
                ));
            }
            Err(TryLockError::Error(e)) => return Err(bad(&beside, format!("it cannot be locked: {e}"))),
        }
        let before = match std::fs::read(path) {
            Ok(bytes) => Collected::from_file(&path.display().to_string(), &bytes)?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Collected::new(campaign, limits.share),
            Err(e) => return Err(bad(path, format!("it cannot be read: {e}"))),
        };
        let in_file = |e: Error| bad(path, e.to_string());
        before.check(campaign).map_err(in_file)?;
        if before.shares() != [limits.share] {
            return Err(bad(
                path,
                "it took other tokens: go on with the same --share as before",
            ));
        }
        let counted = before.messages();
        if counted > limits.most {
            return Err(bad(
                path,
                format!(
                    "it has {counted} messages already: go on with --most {}",
                    2 * counted
                ),
            ));
        }
        let wanted = before.tokens_sum();
        let mut collector =
            Collector::new(campaign, before, limits.most.max(1), limits.threads).map_err(in_file)?;
        recall(&mut tokens, &beside, counted, wanted, &mut collector)?;
        Ok(Self {
            collector,
            path: path.to_owned(),
            tokens,
            fresh: Vec::new(),
            length: campaign.submission_bytes(),
            watch: Box::new(watch),
        })
    }

    /// What was collected, together with the batch that is not written yet.
    pub fn collected(&self) -> &Collected {
        self.collector.collected()
    }

    /// Memory of the register of tokens, in bytes.
    pub fn register_bytes(&self) -> usize {
        self.collector.register_bytes()
    }

    /// Counts whole messages. Gives the bytes that were counted: fewer if there is no room for more tokens.
    pub fn fold(&mut self, frames: &[u8]) -> usize {
        self.collector.fold(frames, &mut self.fresh)
    }

    /// Counts bytes that end before a message does.
    pub fn refuse_rest(&mut self) {
        self.collector.refuse_rest();
    }

    /// Writes the batch. When this returns it survives a crash.
    ///
    /// # Errors
    /// [`Error::Data`] if it cannot be written: then open the collection again before going on.
    pub fn commit(&mut self) -> Result<(), Error> {
        let unwritten = |e: std::io::Error| bad(&self.path, format!("it cannot be written: {e}"));
        (self.watch)(WriteStep::Begin);
        let (first, rest) = self.fresh.split_at(self.fresh.len() / 2);
        self.tokens.write_all(first).map_err(unwritten)?;
        (self.watch)(WriteStep::SomeTokens);
        self.tokens.write_all(rest).map_err(unwritten)?;
        (self.watch)(WriteStep::Tokens);
        self.tokens.sync_data().map_err(unwritten)?;
        (self.watch)(WriteStep::SyncedTokens);
        write_whole(&self.path, &self.collector.collected().to_file()).map_err(unwritten)?;
        (self.watch)(WriteStep::Sums);
        File::open(folder_of(&self.path))
            .and_then(|folder| folder.sync_all())
            .map_err(unwritten)?;
        (self.watch)(WriteStep::End);
        self.fresh.clear();
        Ok(())
    }

    /// Counts a file from where it was left, batch by batch; `progress` is given how many bytes of how many were read, and stops the work by
    /// an error. Bytes at its end that are no whole message are left: the file may grow.
    ///
    /// # Errors
    /// [`Error::Data`] if the file cannot be read, is not the one that was read before, or there is no room; those of `progress`.
    pub fn read_file(
        &mut self,
        file: &Path,
        batch: usize,
        mut progress: impl FnMut(u64, u64) -> Result<(), Error>,
    ) -> Result<FileRead, Error> {
        let unreadable = |e: std::io::Error| bad(file, format!("it cannot be read: {e}"));
        let name = std::path::absolute(file).map_err(unreadable)?;
        let Some(name) = name.to_str().filter(|name| name.len() <= 4000).map(str::to_owned) else {
            return Err(bad(file, "its name is too long, or is no Unicode: rename it"));
        };
        let mut source = File::open(file).map_err(unreadable)?;
        let size = source.metadata().map_err(unreadable)?.len();
        let mut head = vec![0; self.length];
        let head = match read_some(&mut source, &mut head).map_err(unreadable)? {
            read if read < self.length => None,
            _ => Some(Sha256::digest(&head).into()),
        };
        let known = self.collected().inputs().iter().find(|input| input.name == name);
        let position = known.map_or(0, |known| known.position);
        if known.is_some_and(|known| Some(known.head) != head || known.position > size) {
            return Err(bad(
                file,
                "it is not the file that was read before under this name: give it another name, or put the old one back",
            ));
        }
        let Some(head) = head else {
            return Ok(FileRead {
                rest: size,
                position: 0,
            });
        };
        source.seek(SeekFrom::Start(position)).map_err(unreadable)?;
        let mut at = position;
        let mut buffer = vec![0; self.length * (PIECE / self.length).clamp(1, batch.max(1))];
        let mut since = 0;
        loop {
            let read = read_some(&mut source, &mut buffer).map_err(unreadable)?;
            let whole = read / self.length * self.length;
            let done = self.fold(&buffer[..whole]);
            at += done as u64;
            since += done / self.length;
            let is_last = read < buffer.len() || done < whole;
            if since >= batch || (is_last && since > 0) {
                self.collector.collected_mut().note(Input {
                    name: name.clone(),
                    position: at,
                    head,
                });
                self.commit()?;
                since = 0;
            }
            if done < whole {
                return Err(self.full());
            }
            if is_last {
                return Ok(FileRead {
                    rest: (read - whole) as u64,
                    position: at,
                });
            }
            progress(at, size)?;
        }
    }

    /// Counts everything that comes, batch by batch. `durable` is told after each batch how many bytes were read and are safe: whoever sends
    /// sends the rest again after a crash, and what was counted is known by its tokens.
    ///
    /// # Errors
    /// [`Error::Data`] if nothing can be read, or there is no room; those of `durable`.
    pub fn read_stream(
        &mut self,
        mut source: impl Read,
        batch: usize,
        mut durable: impl FnMut(u64) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let name = Path::new("standard input");
        let mut buffer = vec![0; self.length * batch.clamp(1, 1 << 16)];
        let mut position = 0;
        loop {
            let read = read_some(&mut source, &mut buffer)
                .map_err(|e| bad(name, format!("it cannot be read: {e}")))?;
            let whole = read / self.length * self.length;
            let done = self.fold(&buffer[..whole]);
            let is_full = done < whole;
            position += done as u64;
            if read > whole && !is_full {
                self.refuse_rest();
                position += (read - whole) as u64;
            }
            if done > 0 || read > whole {
                self.commit()?;
                durable(position)?;
            }
            if is_full {
                return Err(self.full());
            }
            if read < buffer.len() {
                return Ok(position);
            }
        }
    }

    fn full(&self) -> Error {
        let counted = self.collected().messages();
        bad(
            &self.path,
            format!(
                "it has {counted} messages, for which there was room. Everything up to here is counted: go on with the same command and --most {}",
                4 * counted
            ),
        )
    }
}

/// What came of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRead {
    /// Bytes that were counted, from its beginning.
    pub position: u64,
    /// Bytes at its end that are no whole message.
    pub rest: u64,
}

fn bad(file: &Path, why: impl Into<String>) -> Error {
    Error::data_in(file.display(), why)
}

/// Reads until the buffer is full or nothing is left.
fn read_some(source: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

/// Notes the tokens of all messages that count, checks them, and cuts off those of a batch that was not finished.
fn recall(
    tokens: &mut File,
    name: &Path,
    counted: u64,
    wanted: u64,
    collector: &mut Collector<'_>,
) -> Result<(), Error> {
    let unreadable = |e: std::io::Error| bad(name, format!("it cannot be read: {e}"));
    let mut mark = [0; TOKEN];
    let read = read_some(tokens, &mut mark).map_err(unreadable)?;
    // A process may have died while it began the file.
    let is_begun = read == TOKEN || counted > 0 || !MARK.starts_with(&mark[..read]);
    if is_begun && (read < TOKEN || mark != *MARK) {
        return Err(bad(
            name,
            "it is not a list of tokens that `privet collect` wrote: move it away, or choose another name",
        ));
    }
    if !is_begun {
        tokens.set_len(0).map_err(unreadable)?;
        tokens.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        tokens.write_all(MARK).map_err(unreadable)?;
        return tokens.sync_all().map_err(unreadable);
    }
    let damaged = || {
        bad(
            name,
            "it does not hold the tokens of the messages that were counted: put it back from a backup, together with the file of sums",
        )
    };
    let bytes = counted.checked_mul(TOKEN as u64).ok_or_else(damaged)?;
    let (mut left, mut sum) = (bytes, 0u64);
    let mut buffer = vec![0; PIECE];
    while left > 0 {
        let piece = left.min(PIECE as u64) as usize;
        let read = read_some(tokens, &mut buffer[..piece]).map_err(unreadable)?;
        if read < piece || !collector.note(&buffer[..piece]) {
            return Err(damaged());
        }
        for token in buffer[..piece].as_chunks::<TOKEN>().0 {
            sum = sum.wrapping_add(Collected::sum_of_token(*token));
        }
        left -= piece as u64;
    }
    if sum != wanted {
        return Err(damaged());
    }
    let end = TOKEN as u64 + bytes;
    tokens.set_len(end).map_err(unreadable)?;
    tokens.seek(SeekFrom::Start(end)).map_err(unreadable)?;
    Ok(())
}
