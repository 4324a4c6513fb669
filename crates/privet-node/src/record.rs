//! Files in which a version before kept released columns or labels. They are read, taken into the ledger once, and compared with it
//! whenever they are there; nothing new is written to them.
//!
//! An item is its length (8 bytes), the same with every bit turned (8 bytes), its bytes, and the SHA-256 of all these. The first
//! item says what the file is about. An item that was cut off at the end is left out; anything else that does not check is damage.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use privet::Error;
use privet::setting::vertical::Earlier;
use privet::wire::{Malformed, Reader};
use sha2::{Digest, Sha256};

use crate::ledger::journal;

/// Before what a file is about.
const FIRST: &[u8] = b"privet record 1\n";
/// The two lengths.
const HEAD: usize = 16;
/// A hash.
const TAIL: usize = 32;
/// What values are called in such files.
const VALUES: [&str; 2] = ["the columns", "the labels"];
/// The longest such name.
const LONGEST: usize = 1000;

/// What an earlier version kept at `path` about `about`, if there is such a file with anything in it.
///
/// # Errors
/// [`Error::Journal`] if it cannot be read, is damaged, or is about something else.
pub fn earlier(path: &Path, about: &str) -> Result<Option<Earlier>, Error> {
    let bad =
        |what: &str, e: &dyn std::fmt::Display| journal!(Storage, "the file {} {what}: {e}", path.display());
    let mut bytes = Vec::new();
    match File::open(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.and_then(|mut file| file.read_to_end(&mut bytes)),
    }
    .map_err(|e| bad("cannot be read", &e))?;
    let items = items(&bytes).map_err(|(at, why)| {
        journal!(Damaged, "the file {} is damaged at byte {at}: {why}. Put it back from a backup, or move it away if the ledger has kept its \
             values; they are not drawn again",
            path.display())
    })?;
    let Some((first, items)) = items.split_first() else {
        return Ok(None);
    };
    let Some(made_for) = first.strip_prefix(FIRST) else {
        return Err(bad("cannot be used", &"it is not a record of privet"));
    };
    if items.is_empty() {
        return Ok(None);
    }
    if made_for != about.as_bytes() {
        return Err(bad(
            "is of another table or another ledger",
            &"the file that it was made from has changed since, or its ledger was replaced. A column is released once: put the file \
              and its ledger back as they were. Rows that are new are a data set of their own",
        ));
    }
    let other = |e: Malformed| {
        journal!(
            OtherVersion,
            "the file {} was written by another version of privet: {e}",
            path.display()
        )
    };
    let (mut run, mut value) = (None, None);
    for item in items {
        match Item::read(item).map_err(other)? {
            Item::Began(name) => run = Some(name),
            Item::Released(what, bytes) if VALUES.contains(&what.as_str()) => value = Some(bytes),
            Item::Released(..) => {}
        }
    }
    let run = run.ok_or_else(|| other(Malformed::new("it does not begin with a name")))?;
    Ok(Some(Earlier::new(run, value, path.display())))
}

/// Whether a file that begins with `bytes` is such a file.
pub fn is_record(bytes: &[u8]) -> bool {
    bytes.get(HEAD..).is_some_and(|rest| rest.starts_with(FIRST))
}

/// The two kinds of items that such files have.
enum Item {
    /// The name of the run that released the value.
    Began([u8; 16]),
    /// What was released, and its bytes.
    Released(String, Vec<u8>),
}

impl Item {
    fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader::new(bytes);
        let item = match from.byte()? {
            1 => Self::Began(from.array()?),
            3 => Self::Released(from.text(LONGEST)?, from.bytes()?.to_vec()),
            _ => return Err(Malformed::new("it has an item that is not of kept values")),
        };
        from.end()?;
        Ok(item)
    }
}

/// All items that are whole; or where the first one is that does not check, and why.
fn items(bytes: &[u8]) -> Result<Vec<&[u8]>, (usize, &'static str)> {
    let (mut items, mut at) = (Vec::new(), 0);
    while let Some(item) = next(&bytes[at..]) {
        let item = item.map_err(|why| (at, why))?;
        at += HEAD + item.len() + TAIL;
        items.push(item);
    }
    Ok(items)
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
