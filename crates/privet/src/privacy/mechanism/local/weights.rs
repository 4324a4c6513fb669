//! Two integer weights whose quotient is at most e^ε.

use dashu_ratio::RBig;

use crate::Error;
use crate::privacy::enclosure::Enclosure;
use crate::privacy::sampler::bits::below;
use crate::privacy::{Epsilon, Randomness};

/// Binary digits of the smaller weight.
const DIGITS: usize = 32;
/// Digits of the enclosure of e^ε.
const BITS: usize = 128;
/// Beyond this a message hides so little that the totals of weights need not fit a word.
const LARGEST: Epsilon = Epsilon::from_billionths(16_000_000_000);

/// Outputs have one of two weights.
///
/// # Privacy
/// The quotient is at most e^ε: the larger weight is a certified lower bound of e^ε·2³²; `docs/proofs/local.md#two-weights`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Weights {
    pub(super) likely: u64,
    pub(super) other: u64,
}

impl Weights {
    /// For an ε above zero.
    pub(super) fn new(epsilon: Epsilon) -> Result<Self, Error> {
        Self::part(epsilon, 1)
    }

    /// For one of `parts` equal parts of an ε.
    pub(super) fn part(epsilon: Epsilon, parts: u64) -> Result<Self, Error> {
        if epsilon == Epsilon::ZERO || epsilon > LARGEST {
            let why = format!("a local message has an ε above 0 and at most {LARGEST}, not {epsilon}");
            return Err(Error::parameter("epsilon", why));
        }
        let each = epsilon.to_ratio() / RBig::from(parts);
        let growth = Enclosure::ratio(&each, BITS).exp();
        let likely = u64::try_from(growth.low() >> (BITS - DIGITS))
            .map_err(|_| Error::internal("e^16 times 2^32 fits a word"))?;
        let other = 1 << DIGITS;
        if likely <= other {
            let why = format!(
                "an ε of {epsilon} in {parts} parts is too small: likely outputs would be drawn as others are"
            );
            return Err(Error::parameter("epsilon", why));
        }
        Ok(Self { likely, other })
    }

    /// The weight of so many likely outputs and so many others together, if it fits a word.
    pub(super) fn total(&self, likely: u64, others: u64) -> Option<u64> {
        let likely = likely.checked_mul(self.likely)?;
        likely.checked_add(others.checked_mul(self.other)?)
    }

    /// Whether a likely output is drawn, and which of its kind, for a [`total`](Self::total) that fits a word.
    pub(super) fn draw(&self, likely: u64, others: u64, random: &mut Randomness) -> (bool, u64) {
        let split = likely * self.likely;
        let u = below(split + others * self.other, random);
        let is_likely = u < split;
        let place = if is_likely {
            u / self.likely
        } else {
            (u - split) / self.other
        };
        (is_likely, place)
    }

    /// e^ε as it is drawn.
    pub(super) fn quotient(&self) -> f64 {
        self.likely as f64 / self.other as f64
    }

    /// By how much a likely output is preferred.
    pub(super) fn excess(&self) -> u64 {
        self.likely - self.other
    }
}
