//! The randomness of one side in the set-up, or in one circuit.

use std::fmt;

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::message::{Exchange, derive, pack};
use crate::Error;

/// A secret that is drawn for one set-up or one circuit, and wiped after it.
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

    /// The seed, to be kept where nobody else reads, and no longer than its circuit.
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    /// What follows from the seed for a purpose in an exchange.
    pub(crate) fn derive(&self, what: &str, exchange: &Exchange, more: &[u8]) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(derive(what, &self.0, &[exchange.as_bytes(), more]))
    }
}

impl fmt::Debug for Seed {
    /// Does not print the seed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(…)")
    }
}

/// A digest of a side's input, for one's own record: whoever guesses the input can check the guess with it, so it is not for the peer.
pub fn digest(bits: &[bool]) -> Zeroizing<[u8; 32]> {
    let mut hash = Sha256::new_with_prefix(b"privet garble 1 input");
    hash.update((bits.len() as u64).to_le_bytes());
    hash.update(&*Zeroizing::new(pack(bits)));
    Zeroizing::new(hash.finalize().into())
}
