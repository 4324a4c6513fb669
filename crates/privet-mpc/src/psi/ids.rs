//! The ids of one's own rows.

use std::collections::HashMap;
use std::fmt;

use sha2::{Digest, Sha256};

use crate::Error;

/// How many ids a list may hold at most, whatever was agreed on. An answer, with 48 bytes for each id where both sides have as many, then
/// takes 1.5 GiB: less than the largest message that Privet's parties send.
pub const MOST_IDS: usize = 1 << 25;

/// One id per row, as bytes. None is empty and none occurs twice, since a row is matched with one row of the peer.
#[derive(Clone)]
pub struct Ids {
    text: Vec<u8>,
    ends: Vec<usize>,
    pub(super) digest: [u8; 32],
}

impl Ids {
    /// The ids of rows 0, 1, 2, …
    ///
    /// Nothing is normalised: whether `ann` and `Ann ` are one person is for the parties to settle before.
    ///
    /// # Errors
    /// [`Error::EmptyIds`] and [`Error::RepeatedIds`], with every row that is at fault; [`Error::TooManyIds`].
    pub fn new<I: AsRef<[u8]>>(ids: impl IntoIterator<Item = I>) -> Result<Self, Error> {
        let (mut text, mut ends, mut hash) = (Vec::new(), Vec::new(), Sha256::new());
        for id in ids {
            let id = id.as_ref();
            text.extend_from_slice(id);
            ends.push(text.len());
            hash.update((id.len() as u64).to_le_bytes());
            hash.update(id);
        }
        let digest = hash.finalize().into();
        let ids = Self { text, ends, digest };
        if ids.len() > MOST_IDS {
            return Err(Error::TooManyIds { most: MOST_IDS });
        }
        let empty: Vec<usize> = (0..ids.len()).filter(|&row| ids.get(row).is_empty()).collect();
        if !empty.is_empty() {
            return Err(Error::EmptyIds(empty));
        }
        let mut rows = HashMap::with_capacity(ids.len());
        let mut repeated = Vec::new();
        for row in 0..ids.len() {
            let first = *rows.entry(ids.get(row)).or_insert(row);
            if first != row {
                repeated.push((first, row));
            }
        }
        if !repeated.is_empty() {
            return Err(Error::RepeatedIds(repeated));
        }
        Ok(ids)
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(super) fn get(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.text[start..self.ends[row]]
    }
}

impl fmt::Debug for Ids {
    /// Does not print the ids.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ids").finish_non_exhaustive()
    }
}
