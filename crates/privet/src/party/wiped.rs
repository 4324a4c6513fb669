//! Bytes that may hold a secret, and are many.

use std::fmt;
use std::ops::Deref;

use zeroize::Zeroize;

/// Bytes that are wiped when they go: eight at a time, because a state is handed over after every tree and most of it is what all know.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Wiped(Vec<u8>);

impl From<Vec<u8>> for Wiped {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl Deref for Wiped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Wiped {
    fn drop(&mut self) {
        // What stood behind the end before is wiped as well.
        self.0.resize(self.0.capacity(), 0);
        wipe(&mut self.0);
    }
}

impl fmt::Debug for Wiped {
    /// Does not print the bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wiped({} bytes)", self.0.len())
    }
}

/// Overwrites bytes with zeros, whatever becomes of them afterwards.
fn wipe(bytes: &mut [u8]) {
    let (first, words, last) = bytemuck::pod_align_to_mut::<u8, u64>(bytes);
    first.zeroize();
    words.zeroize();
    last.zeroize();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wherever they begin and end, and nothing beside them.
    #[test]
    fn all_bytes_are_wiped_and_no_others() {
        for first in 0..17 {
            for end in first..40 {
                let mut bytes = [7; 40];
                wipe(&mut bytes[first..end]);
                let zeros = |(at, byte): (usize, &u8)| (*byte == 0) == (first..end).contains(&at);
                assert!(bytes.iter().enumerate().all(zeros), "{first} to {end}: {bytes:?}");
            }
        }
    }
}
