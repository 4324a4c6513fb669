//! One of many candidates, by integer scores: permute-and-flip and the exponential mechanism, drawn exactly.
//!
//! **Permute-and-flip** (McKenna and Sheldon, "Permute-and-Flip: A New Mechanism for Differentially Private Selection",
//! 2020, algorithm 1) goes through the candidates in a uniformly random order, flips for each a coin that shows heads
//! with probability `exp(-rate·(best - score))`, and returns the first one with heads. Its running time tells how soon
//! that was. Here *every* coin is flipped and one of the heads is chosen uniformly. That is the same law: the coins do
//! not depend on the order, so given which of them show heads, the first of these in a uniformly random order is each
//! of these with the same probability. The best candidate always shows heads, so there is always one to choose.
//!
//! **The exponential mechanism** (McSherry and Talwar, 2007) returns candidate `i` with probability proportional to
//! `exp(rate·score_i)`: one uniform number is compared with the cumulative sums of the weights.
//!
//! No floating point is on the way of a draw. Coins and sums are decided by numbers with a proved error; the few draws
//! that those leave open are decided by more random digits and narrower enclosures, so the laws hold exactly, for any
//! scores and any positive rational rate. All candidates are looked at in every draw. Eight random digits leave a coin open
//! with probability 2^-7, and an open coin has another bias than a closed one: time that followed the number of open coins
//! would, together with the outcome, tell about the scores. So in each pool as many coins are settled, by 63 digits, as will ever
//! be open but with probability 2^-48. Those 63 digits leave a coin open with probability below 2^-58, and the draw
//! of the exponential mechanism among `k` candidates with probability below `k²·2^-57`; then time grows. Not hidden: which
//! entries of a table the processor's cache holds.
//!
//! The mechanism chooses the rate for a given ε.

use dashu_int::IBig;

use super::Randomness;
use super::bits::below;
use super::decay::{Decay, Digits};
use crate::Error;
use crate::privacy::Ratio;
use crate::privacy::enclosure::Enclosure;

/// Random digits that a coin looks at first: few, because a quarter of the time is spent on drawing them.
const PREFIX: u32 = 8;
/// Candidates whose coins are compared together: as many as a word has bits.
const BLOCK: usize = 64;
/// Candidates whose open coins are settled together.
const POOL: usize = 1024;

/// Draws candidates by their scores at one rate.
#[derive(Debug, Clone)]
pub struct Selection {
    decay: Decay,
}

impl Selection {
    /// Prepares for scores that count `exp(rate·score)`.
    ///
    /// # Errors
    /// None at present: any positive rate will do.
    pub fn new(rate: Ratio) -> Result<Self, Error> {
        Ok(Self {
            decay: Decay::new(rate.big().clone()),
        })
    }

    /// The index of one candidate, drawn by permute-and-flip.
    ///
    /// # Paper
    /// McKenna and Sheldon 2020, algorithm 1.
    ///
    /// # Deviations
    /// All coins are flipped and a head is chosen uniformly, which is the same law: see the module.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there are no candidates.
    pub fn permute_and_flip(&self, scores: &[i64], random: &mut Randomness) -> Result<usize, Error> {
        let best = best(scores)?;
        let heads = self.flip::<PREFIX>(best, scores, random);
        Ok(uniform_bit(&heads, random))
    }

    /// The index of one candidate, drawn with probability proportional to `exp(rate·score)`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there are no candidates.
    pub fn exponential(&self, scores: &[i64], random: &mut Randomness) -> Result<usize, Error> {
        let best = best(scores)?;
        let mut weights = vec![0; scores.len()];
        self.decay.values(scores, |score| gap(best, *score), &mut weights);
        // In units of 2^-63 no sum is short by more than this, nor is the total, so total·uniform lies in [low, high).
        let short = u128::from(self.decay.slack) * weights.len() as u128;
        let least: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
        let most = least + short;
        let uniform = random.word();
        let low = fraction(least, uniform);
        let high = fraction(most, uniform) + (most >> 64) + 2;

        // A sum below `passed` is at most low whatever it lacks; one from high on is above total·uniform.
        let passed = (low + 1).saturating_sub(short);
        let (mut index, mut open, mut sum) = (0, false, 0u128);
        // The sum over all candidates is above any fraction of itself.
        for weight in &weights[..weights.len() - 1] {
            sum = sum.wrapping_add(u128::from(*weight));
            index += usize::from(sum < passed);
            open |= (sum >= passed) & (sum < high);
        }
        if open {
            index = self.invert(best, scores, uniform, random);
        }
        Ok(index)
    }

    /// One bit for every candidate, set with probability `exp(-rate·(best - score))`.
    #[inline]
    fn flip<const PREFIX: u32>(&self, best: i64, scores: &[i64], random: &mut Randomness) -> Vec<u64> {
        // So that the true first digits are those of the value, or the next after them.
        debug_assert!(self.decay.slack <= 1 << (Decay::BITS - PREFIX));
        let mut heads = vec![0; scores.len().div_ceil(BLOCK)];
        for (pool, heads) in scores.chunks(POOL).zip(heads.chunks_mut(POOL / BLOCK)) {
            let mut uniforms = [0; POOL];
            random.fill(&mut uniforms[..pool.len()]);
            uniforms.iter_mut().for_each(|uniform| *uniform >>= 8 - PREFIX);
            let mut open = Open::new();
            let (of_blocks, _) = uniforms.as_chunks::<BLOCK>();
            for (i, (block, uniforms)) in pool.chunks(BLOCK).zip(of_blocks).enumerate() {
                let prefixes = self.decay.firsts(block, |score| gap(best, *score));
                let prefixes = prefixes.map(|prefix| prefix >> (8 - PREFIX));
                let (below, unclear) = compare(uniforms, &prefixes);
                let here = u64::MAX >> (BLOCK - block.len());
                heads[i] = below & here;
                open.push(i * BLOCK, unclear & here);
            }
            // As many as may be open, whether or not they are: what is settled twice or for nothing changes nothing.
            for slot in 0..settled(pool.len()).max(open.count) {
                let i = usize::from(open.places[slot]);
                let head = self.settle::<PREFIX>(gap(best, pool[i]), uniforms[i], random);
                heads[i / BLOCK] |= u64::from(head & (slot < open.count)) << (i % BLOCK);
            }
        }
        heads
    }

    /// A coin that its first digits do not decide.
    #[inline]
    fn settle<const PREFIX: u32>(&self, gap: u64, prefix: u8, random: &mut Randomness) -> bool {
        let value = self.decay.value(gap);
        let rest = Decay::BITS - PREFIX;
        let uniform = u64::from(prefix) << rest | random.word() >> (64 - rest);
        let head = uniform < value;
        if !head & (uniform < value + self.decay.slack) {
            return self.decay.exceeds(gap, uniform, random);
        }
        head
    }

    /// Inversion for a uniform number whose first 64 digits do not decide.
    #[cold]
    #[inline(never)]
    fn invert(&self, best: i64, scores: &[i64], uniform: u64, random: &mut Randomness) -> usize {
        let mut uniform = Digits::new(uniform, 64);
        loop {
            uniform.double(random);
            let bits = uniform.bits;
            let mut sum = Enclosure::integer(IBig::ZERO, bits);
            let sums: Vec<Enclosure> = scores
                .iter()
                .map(|score| {
                    sum = sum.add(&self.decay.enclosure(gap(best, *score), bits));
                    sum.clone()
                })
                .collect();
            let target = Enclosure::between(uniform.value.clone(), uniform.next(), bits).mul(&sum);
            let sums = &sums[..sums.len() - 1];
            let passed = sums.iter().filter(|sum| sum.high() <= target.low()).count();
            let beyond = sums.iter().filter(|sum| sum.low() >= target.high()).count();
            if passed + beyond == sums.len() {
                return passed;
            }
        }
    }
}

fn best(scores: &[i64]) -> Result<i64, Error> {
    let first = scores.first().copied();
    let first =
        first.ok_or_else(|| Error::parameter("candidates", "a selection needs at least one candidate"))?;
    // Four maxima side by side: one alone waits for itself at every step.
    let mut best = [first; 4];
    let (fours, rest) = scores.as_chunks::<4>();
    for four in fours {
        for (best, score) in best.iter_mut().zip(four) {
            *best = (*best).max(*score);
        }
    }
    Ok(best.iter().chain(rest).copied().fold(first, i64::max))
}

/// The undecided coins of a pool, in the order of their places.
struct Open {
    /// One more than there can be, for what is written for nothing.
    places: [u16; POOL + 1],
    count: usize,
}

impl Open {
    fn new() -> Self {
        Self {
            places: [0; POOL + 1],
            count: 0,
        }
    }

    /// Notes the set bits of a block, which begins at `start`, in the same time for all blocks but one in 2^46.
    #[inline]
    fn push(&mut self, start: usize, mut bits: u64) {
        for _ in 0..settled(BLOCK) {
            self.places[self.count] = (start + bits.trailing_zeros() as usize % BLOCK) as u16;
            self.count += usize::from(bits != 0);
            bits &= bits.wrapping_sub(1);
        }
        while bits != 0 {
            self.places[self.count] = (start + bits.trailing_zeros() as usize) as u16;
            self.count += 1;
            bits &= bits - 1;
        }
    }
}

/// So many of `coins` are open at the most, but with probability below 2^-48: each is with probability 2^-7, and the number is
/// binomial. A test sums it up.
const fn settled(coins: usize) -> usize {
    const MOST: [usize; 11] = [1, 2, 4, 7, 8, 10, 13, 16, 20, 27, 38];
    MOST[coins.next_power_of_two().trailing_zeros() as usize]
}

/// Which uniform numbers are below their probability for sure, and which are undecided.
#[inline(always)]
fn compare(uniforms: &[u8; BLOCK], prefixes: &[u8; BLOCK]) -> (u64, u64) {
    let (mut below, mut open) = ([0; BLOCK], [0; BLOCK]);
    for i in 0..BLOCK {
        below[i] = u8::from(uniforms[i] < prefixes[i]);
        // Two of all first digits, whatever the probability: this tells nothing about it.
        open[i] = u8::from(uniforms[i].wrapping_sub(prefixes[i]) < 2);
    }
    (packed(&below), packed(&open))
}

/// 64 bytes of 0 or 1 as the bits of a word, the first the lowest.
#[inline(always)]
fn packed(flags: &[u8; BLOCK]) -> u64 {
    let (eights, _) = flags.as_chunks::<8>();
    eights.iter().rev().fold(0, |word, eight| {
        // Byte j, moved by 56 − 7j bits, lands on bit 56 + j; no two moves meet.
        let byte = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word << 8 | byte
    })
}

/// `best - score`, which is not negative and may need all 64 bits.
#[inline(always)]
fn gap(best: i64, score: i64) -> u64 {
    best.wrapping_sub(score) as u64
}

/// `floor(whole·part / 2^64)`.
fn fraction(whole: u128, part: u64) -> u128 {
    let part = u128::from(part);
    (whole >> 64) * part + (((whole & u128::from(u64::MAX)) * part) >> 64)
}

/// The position of one of the bits that are set, each with the same probability, in one pass that looks at all words.
fn uniform_bit(words: &[u64], random: &mut Randomness) -> usize {
    let count: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
    let target = below(count, random);
    let (mut before, mut index, mut word, mut rank) = (0, 0, 0, 0);
    for (i, candidate) in words.iter().enumerate() {
        let after = before + u64::from(candidate.count_ones());
        let here = u64::from((before <= target) & (target < after)).wrapping_neg();
        index |= i & here as usize;
        word |= candidate & here;
        rank |= target.wrapping_sub(before) & here;
        before = after;
    }
    // The bit of that rank within its word: skip halves that have too few.
    let mut position = 0;
    for width in [32, 16, 8, 4, 2, 1] {
        let few = u64::from(((word >> position) & ((1 << width) - 1)).count_ones());
        let skip = u64::from(few <= rank);
        position += width * skip;
        rank -= few * skip;
    }
    index * BLOCK + position as usize
}

#[cfg(test)]
mod tests;
