//! What kept columns and labels are bound to, and files in which a version before kept them.

use sha2::{Digest, Sha256};

use crate::Error;
use crate::data::{Cells, Table, Target};
use crate::error::JournalFault;
use crate::privacy::{Binding, Ledger, Private};
use crate::wire::Malformed;

/// The rows of a table, by the columns at these places or by its classes, by its ids, and by its owner's mark.
const ROWS: [&str; 3] = ["table", "ids", "file"];

/// What is kept of the rows that a value was made from: keyed hashes, by which only the ledger's owner recognises them.
pub(super) fn rows_of(
    table: &Table,
    places: Option<&[usize]>,
    ledger: &mut Ledger,
) -> Result<Binding, Error> {
    let cells = table.cells();
    let hash: Private<[u8; 32]> = match places {
        Some(places) => cells.as_ref().map(|cells| hash_of_columns(cells, places)),
        None => cells.as_ref().map(hash_of_classes),
    };
    let mut binding = Binding::default().with(ROWS[0], ledger.fingerprint(hash)?);
    if table.has_ids() {
        let ids = cells.as_ref().map(hash_of_ids);
        binding = binding.with(ROWS[1], ledger.fingerprint(ids)?);
    }
    if let Some(mark) = ledger.mark().map(str::to_owned) {
        binding = binding.with(ROWS[2], mark);
    }
    Ok(binding)
}

fn hash_of_columns(cells: &Cells, places: &[usize]) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(b"columns\0");
    for &place in places {
        hash.update((cells.rows() as u64).to_le_bytes());
        let bins = cells.features().get(place).map(|feature| &feature.bins);
        hash_slots(&mut hash, bins.into_iter().flat_map(|bins| bins.iter()));
    }
    hash.finalize().into()
}

fn hash_of_classes(cells: &Cells) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(b"classes\0");
    if let Some(Target::Classes(classes)) = cells.target() {
        hash_slots(&mut hash, classes.iter().copied());
    }
    hash.finalize().into()
}

fn hash_slots(hash: &mut Sha256, slots: impl Iterator<Item = u16>) {
    let mut buffer = Vec::with_capacity(1 << 13);
    for slot in slots {
        buffer.extend_from_slice(&slot.to_le_bytes());
        if buffer.len() >= 1 << 13 {
            hash.update(&buffer);
            buffer.clear();
        }
    }
    hash.update(&buffer);
}

fn hash_of_ids(cells: &Cells) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(b"ids\0");
    for id in cells.ids().into_iter().flat_map(|ids| ids.iter()) {
        hash.update((id.len() as u64).to_le_bytes());
        hash.update(id);
    }
    hash.finalize().into()
}

/// That rows are those that a kept value was made from.
pub(super) fn check_rows(kept: &Binding, now: &Binding) -> Result<(), Error> {
    if !ROWS.iter().any(|name| kept.contradicts(now, name)) {
        return Ok(());
    }
    Err(Error::journal(
        JournalFault::OtherJob,
        "the table has changed since its values were released and kept with the ledger. A column is released once: put the table back as \
         it was, in the same order. Rows that are new are a data set of their own, with a name of its own",
    ))
}

/// What was kept has its digest, and is still not what this version can read.
pub(super) fn unreadable(what: &str, e: &Malformed) -> Error {
    let why = format!("the {what} that were kept cannot be read by this version: {e}");
    Error::journal(JournalFault::OtherVersion, why)
}

/// Other processes were always faster.
pub(super) fn moved_on() -> Error {
    let why = "other processes are releasing the same columns: wait until they have ended";
    Error::journal(JournalFault::MovedOn, why)
}

/// Columns or labels that a version before kept in a file: the run that released them, and their bytes, if they are whole.
#[derive(Debug, Clone)]
pub struct Earlier {
    run: String,
    value: Option<Vec<u8>>,
    file: String,
}

impl Earlier {
    /// What was found in a file: the secret name of its run, and the value.
    pub fn new(run: [u8; 16], value: Option<Vec<u8>>, file: impl std::fmt::Display) -> Self {
        Self {
            run: crate::privacy::journal::hexadecimal(&run),
            value,
            file: file.to_string(),
        }
    }

    pub(super) fn run(&self) -> &str {
        &self.run
    }

    pub(super) fn value(&self) -> Option<&[u8]> {
        self.value.as_deref()
    }

    /// The file does not say what the ledger says.
    pub(super) fn mismatch(&self) -> Error {
        let why = format!(
            "{} does not hold what the ledger knows of: one of them was cut, damaged, exchanged or put back to an older copy. Values are \
             stored with the ledger, and such a file of an earlier version must agree with it. If the ledger is as it should be, move the \
             file away; if not, remove the files beside the ledger that end in -wal and -shm, and put it back from a backup. Nothing \
             was drawn",
            self.file
        );
        Error::journal(JournalFault::Damaged, why)
    }
}
