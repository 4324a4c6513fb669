//! The randomness of one owner in one round.

use std::fmt;

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::field::Prime;
use crate::Error;
use crate::sealed::{self, KeyStream};

/// A secret that is drawn for one round and wiped after it. The polynomials follow from it, from the owner, the round and the numbers: an
/// owner that is built again shares the same, and nothing else is ever shared with the same polynomials.
pub struct Seed(Zeroizing<[u8; 32]>);

impl Seed {
    /// A seed from the operating system.
    ///
    /// # Errors
    /// [`Error::Randomness`] if there is none.
    pub fn from_os() -> Result<Self, Error> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *seed).map_err(|e| Error::Randomness(e.to_string()))?;
        Ok(Self(seed))
    }

    /// The seed of these bytes.
    pub fn new(seed: [u8; 32]) -> Self {
        Self(Zeroizing::new(seed))
    }

    /// The seed, to be kept where nobody else reads, and no longer than its round.
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    pub(super) fn stream(&self, owner: u16, round: u32, numbers: &[u64]) -> Stream {
        let mut hash = Sha256::new();
        numbers
            .iter()
            .for_each(|number| hash.update(number.to_le_bytes()));
        let digest = Zeroizing::new(<[u8; 32]>::from(hash.finalize()));
        let info: [&[u8]; 4] = [
            b"privet sum 1",
            &owner.to_le_bytes(),
            &round.to_le_bytes(),
            &*digest,
        ];
        Stream {
            stream: sealed::key_stream(&self.0, &info),
            block: 0,
            bytes: Zeroizing::new([0; BLOCK]),
            used: BLOCK,
        }
    }
}

impl fmt::Debug for Seed {
    /// Does not print the seed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(…)")
    }
}

const BLOCK: usize = 512;

/// Random words: AES-128 in counter mode, 512 bytes for each nonce.
pub(super) struct Stream {
    stream: KeyStream,
    block: u64,
    bytes: Zeroizing<[u8; BLOCK]>,
    used: usize,
}

impl Stream {
    fn word(&mut self) -> u64 {
        if self.used == BLOCK {
            self.stream.fill(self.block, &mut *self.bytes);
            self.block += 1;
            self.used = 0;
        }
        let mut word = [0; 8];
        word.copy_from_slice(&self.bytes[self.used..self.used + 8]);
        self.used += 8;
        u64::from_le_bytes(word)
    }

    /// Uniform elements: the low bits of a word, and of the next one if they are not below the modulus.
    pub(super) fn fill<F: Prime>(&mut self, elements: &mut [u64]) {
        let bits = u64::MAX >> F::MODULUS.leading_zeros();
        for element in elements {
            *element = self.word() & bits;
            while *element >= F::MODULUS {
                *element = self.word() & bits;
            }
        }
    }
}
