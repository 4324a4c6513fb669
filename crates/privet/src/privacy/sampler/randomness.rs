//! The one source of randomness.
//!
//! A ChaCha20 stream keyed by the operating system. Not `Clone`: a copied stream would repeat noise.
//! Before every draw of a mechanism the ledger calls [`Randomness::renew`], which mixes fresh bytes of the operating
//! system into the key: a forked process, a restored snapshot or a second fit in the same second never sees the
//! same stream. Whoever reads the state can recompute what was drawn since the last renewal, for the key is in it, and
//! foresee what will be drawn until the next; what was drawn before the last renewal he cannot recompute.

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::Error;

/// A cryptographic stream of random words, owned by a ledger and lent by `&mut`.
pub struct Randomness {
    stream: ChaCha20Rng,
    seeded: bool,
}

impl Randomness {
    /// A stream keyed by the operating system.
    ///
    /// # Errors
    /// [`Error::Randomness`] if the operating system has none to give.
    pub fn from_os() -> Result<Self, Error> {
        Ok(Self {
            stream: ChaCha20Rng::from_seed(os_key()?),
            seeded: false,
        })
    }

    /// A repeatable stream, for experiments only: anybody who knows the seed can subtract the noise, so every
    /// certificate made with it is void.
    pub fn seeded(seed: u64) -> Self {
        Self {
            stream: ChaCha20Rng::seed_from_u64(seed),
            seeded: true,
        }
    }

    /// The stream of a seed that everybody may know: for [`Coins`](crate::privacy::Coins), never for noise.
    pub(crate) fn public(seed: [u8; 32]) -> Self {
        Self {
            stream: ChaCha20Rng::from_seed(seed),
            seeded: true,
        }
    }

    /// Whether the stream is seeded, and so protects nobody.
    pub fn is_seeded(&self) -> bool {
        self.seeded
    }

    /// The next 64 random bits.
    #[inline]
    pub(crate) fn word(&mut self) -> u64 {
        self.stream.next_u64()
    }

    /// Fills `bytes` with random bytes.
    #[inline]
    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        self.stream.fill_bytes(bytes);
    }

    /// Fills `bytes` with random bytes: the measure that samplers are compared with, not a way to draw noise.
    #[doc(hidden)]
    pub fn bytes(&mut self, bytes: &mut [u8]) {
        self.fill(bytes);
    }

    /// Rekeys from the operating system; a seeded stream just goes on.
    pub(crate) fn renew(&mut self) -> Result<(), Error> {
        if !self.seeded {
            let mut key = os_key()?;
            let mut old = [0; 32];
            self.stream.fill_bytes(&mut old);
            key.iter_mut().zip(old).for_each(|(k, o)| *k ^= o);
            self.stream = ChaCha20Rng::from_seed(key);
        }
        Ok(())
    }
}

#[cfg(test)]
impl Randomness {
    /// A stream in a known state that is not marked as seeded, as two processes have after a fork or a restored snapshot.
    pub(crate) fn forked(seed: u64) -> Self {
        Self {
            seeded: false,
            ..Self::seeded(seed)
        }
    }
}

impl std::fmt::Debug for Randomness {
    /// Does not print the state, from which the noise follows.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Randomness")
            .field("seeded", &self.seeded)
            .finish_non_exhaustive()
    }
}

fn os_key() -> Result<[u8; 32], Error> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(Error::randomness)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renewed_stream_shares_nothing_with_its_twin() {
        let [mut one, mut other] = [Randomness::forked(7), Randomness::forked(7)];
        assert_eq!(one.word(), other.word(), "twins until they are renewed");
        one.renew().expect("randomness");
        other.renew().expect("randomness");
        let words = |random: &mut Randomness| -> Vec<u64> { (0..8).map(|_| random.word()).collect() };
        assert_ne!(words(&mut one), words(&mut other));
        let [mut one, mut other] = [Randomness::seeded(7), Randomness::seeded(7)];
        one.renew().expect("nothing to do");
        assert_eq!(words(&mut one), words(&mut other), "a seed stays repeatable");
    }
}
