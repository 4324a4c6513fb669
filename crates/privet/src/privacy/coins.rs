//! Public randomness.

use super::sampler::{Randomness, bits};

/// A public random stream, for random planes, split candidates and shuffles of public values. Its seed may be published, so
/// it is never used for noise.
#[derive(Debug)]
pub struct Coins {
    seed: [u8; 32],
    stream: Randomness,
}

impl Coins {
    /// The stream of a published seed.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self {
            seed,
            stream: Randomness::public(seed),
        }
    }

    /// The seed that repeats the stream.
    pub fn seed(&self) -> [u8; 32] {
        self.seed
    }

    /// A uniform integer below `n`; zero if `n` is zero.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            0
        } else {
            bits::below(n, &mut self.stream)
        }
    }

    /// A uniform number on the grid of 2⁵³ steps in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.stream.word() >> 11) as f64 / (1u64 << 53) as f64
    }
}
