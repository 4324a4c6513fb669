//! Inversion of a law on 0, 1, 2, … from the binary digits of its cumulative probabilities.
//!
//! Let `U` be uniform on [0, 1), an endless string of random bits, and `t_k = P(X ≤ k)`. Then `X = #{k : t_k ≤ U}` has
//! exactly the law. A table keeps the first 63 bits of each `t_k`, certified by [`Enclosure`]s, and one random word gives
//! 63 bits of `U` and a sign. If those 63 bits differ from every entry they decide `X`. If they equal one, which happens
//! with probability 2^-63 per entry, `U` gets more random bits and the thresholds are evaluated again with more digits
//! until they differ. So the law is exact, and nothing on the way is a float.
//!
//! Every draw does the same work but for that event: a guide, indexed by the leading digits of `1 - U`, tells where a
//! search of a fixed number of steps starts. Which cache lines it reads does depend on the value drawn.

use dashu_int::{IBig, UBig};

use super::Randomness;
use crate::privacy::enclosure::Enclosure;

/// A law on 0, 1, 2, …, told by its cumulative probabilities.
pub(crate) trait Cumulative {
    /// Encloses P(X ≤ 0), P(X ≤ 1), … with `bits` digits. All are below one: the last value of a finite law is left out.
    /// Each enclosure must become as narrow as one likes when `bits` grow.
    ///
    /// A digit is certified sooner or later if the number is not dyadic. Probabilities made of `exp` of rationals are
    /// irrational (Lindemann); those made of θ and Φ are only believed to be. What hangs on it is whether the building
    /// of a table ends, never the law that a built table draws.
    fn thresholds(&self, bits: usize) -> Box<dyn Iterator<Item = Enclosure> + '_>;
}

/// `first`, then `first` and the next, and so on.
pub(super) fn partial_sums(
    first: Enclosure,
    mut rest: impl Iterator<Item = Enclosure>,
) -> impl Iterator<Item = Enclosure> {
    std::iter::successors(Some(first), move |sum| Some(sum.add(&rest.next()?)))
}

/// Digits beyond those compared, for what recurrences lose: up to k² units after k steps, and k < 2^20.
pub(crate) const GUARD: usize = 64;
/// Random words drawn at once by the bulk form.
pub(crate) const BLOCK: usize = 256;
/// The largest guide, in entries: half of a first-level cache.
const GUIDE: usize = 1 << 12;

/// The thresholds of a law; `WIDTH` digits of each are kept. Tests keep few, which makes the rare event common.
#[derive(Debug, Clone)]
pub(crate) struct Thresholds<L, const WIDTH: u32 = 63> {
    law: L,
    /// `2^WIDTH − 1 − floor(t_k·2^WIDTH)`, falling; zeros at the end pad the search.
    tails: Vec<u64>,
    /// Where the search begins, by leading digits of `1 − U`.
    guide: Vec<u32>,
    /// Digits after the leading one that the guide looks at.
    mantissa: u32,
    /// The search halves this many times.
    steps: u32,
}

impl<L: Cumulative, const WIDTH: u32> Thresholds<L, WIDTH> {
    /// The table, unless it would take more than `limit` entries.
    pub(crate) fn new(law: L, limit: usize) -> Option<Self> {
        let mut bits = WIDTH as usize + GUARD + 1;
        let mut tails = loop {
            match tails::<WIDTH>(&law, bits, limit) {
                Tails::Certified(tails) => break tails,
                Tails::TooMany => return None,
                Tails::Unclear => bits *= 2,
            }
        };
        let (mantissa, guide, steps) = best_guide::<WIDTH>(&tails);
        tails.resize(tails.len() + (1 << steps), 0);
        Some(Self {
            law,
            tails,
            guide,
            mantissa,
            steps,
        })
    }

    pub(crate) fn law(&self) -> &L {
        &self.law
    }

    /// One value and an independent fair coin.
    #[inline]
    pub(crate) fn draw(&self, random: &mut Randomness) -> (u64, bool) {
        let word = random.word();
        self.read(word, self.steps, random)
    }

    /// One value with a random sign.
    #[inline]
    pub(crate) fn draw_signed(&self, random: &mut Randomness) -> i64 {
        let (magnitude, negative) = self.draw(random);
        let sign = -i64::from(negative);
        (magnitude as i64 ^ sign).wrapping_sub(sign)
    }

    /// Adds a value with a random sign to each of `values`, and clips to their type.
    pub(crate) fn add_signed(&self, values: &mut [i64], random: &mut Randomness) {
        self.for_each(values, random, |value, magnitude, coin| {
            let sign = -i64::from(coin);
            *value = value.saturating_add((magnitude as i64 ^ sign).wrapping_sub(sign));
        });
    }

    /// Draws a value and a fair coin for each item. Faster than single draws: these overlap.
    #[inline]
    pub(crate) fn for_each<T>(
        &self,
        items: &mut [T],
        random: &mut Randomness,
        apply: impl Fn(&mut T, u64, bool),
    ) {
        // The number of steps as a constant: the search unrolls and successive draws overlap.
        match self.steps {
            1 => self.for_each_after(items, 1, random, apply),
            2 => self.for_each_after(items, 2, random, apply),
            3 => self.for_each_after(items, 3, random, apply),
            steps => self.for_each_after(items, steps, random, apply),
        }
    }

    #[inline(always)]
    fn for_each_after<T>(
        &self,
        items: &mut [T],
        steps: u32,
        random: &mut Randomness,
        apply: impl Fn(&mut T, u64, bool),
    ) {
        let mut bytes = [0u8; 8 * BLOCK];
        for block in items.chunks_mut(BLOCK) {
            let bytes = &mut bytes[..8 * block.len()];
            random.fill(bytes);
            let (words, _) = bytes.as_chunks::<8>();
            for (item, word) in block.iter_mut().zip(words) {
                let word = u64::from_le_bytes(*word);
                let (value, coin) = self.read(word, steps, random);
                apply(item, value, coin);
            }
        }
    }

    /// The coin is the one digit that the value does not look at: any other would tie the sign to the value.
    #[inline(always)]
    fn read(&self, word: u64, steps: u32, random: &mut Randomness) -> (u64, bool) {
        (self.find(word, steps, random), word & 1 == 1)
    }

    /// `#{k : t_k ≤ U}` where all but the last bit of `word` begin `1 − U`.
    #[inline(always)]
    fn find(&self, word: u64, steps: u32, random: &mut Randomness) -> u64 {
        let v = word >> (64 - WIDTH);
        let mut base = self.guide[key(v, self.mantissa)] as usize;
        for step in (0..steps).rev() {
            let half = 1usize << step;
            base += usize::from(self.tails[base + half - 1] > v) << step;
        }
        if self.tails[base] == v {
            return self.resolve(v, random);
        }
        base as u64
    }

    /// The known digits of `U` equal those of a threshold: more of both, until they differ.
    #[cold]
    #[inline(never)]
    fn resolve(&self, v: u64, random: &mut Randomness) -> u64 {
        let mut known = WIDTH as usize;
        let mut u = UBig::from((1u64 << WIDTH) - 1 - v);
        loop {
            let more = known.next_multiple_of(8);
            let mut bytes = vec![0; more / 8];
            random.fill(&mut bytes);
            u = (u << more) + UBig::from_le_bytes(&bytes);
            known += more;
            if let Some(x) = place(&self.law, &IBig::from(u.clone()), known) {
                return x;
            }
        }
    }
}

/// `#{k : t_k ≤ U}` for every `U` in `[u, u+1]·2^-known`, if that is one number.
fn place(law: &impl Cumulative, u: &IBig, known: usize) -> Option<u64> {
    let (low, high) = (u << GUARD, (u + 1) << GUARD);
    let mut x = 0;
    for t in law.thresholds(known + GUARD) {
        if *t.high() <= low {
            x += 1;
        } else if *t.low() >= high {
            break;
        } else {
            return None;
        }
    }
    Some(x)
}

enum Tails {
    Certified(Vec<u64>),
    /// An enclosure holds two different prefixes.
    Unclear,
    TooMany,
}

fn tails<const WIDTH: u32>(law: &impl Cumulative, bits: usize, limit: usize) -> Tails {
    let ones = (1u64 << WIDTH) - 1;
    // A probability below one has no prefix above all ones, whatever its enclosure says.
    let prefix = |end: &IBig| {
        let digits = (end >> (bits - WIDTH as usize)).max(IBig::ZERO);
        u64::try_from(&digits).unwrap_or(ones).min(ones)
    };
    let mut tails = Vec::new();
    for t in law.thresholds(bits) {
        debug_assert_eq!(t.bits(), bits);
        if tails.len() == limit {
            return Tails::TooMany;
        }
        let digits = prefix(t.low());
        if digits != prefix(t.high()) {
            return Tails::Unclear;
        }
        tails.push(ones - digits);
        if digits == ones {
            break;
        }
    }
    Tails::Certified(tails)
}

/// Numbers of about equal logarithm share a key: tails fall like a geometric series, so few share one.
#[inline(always)]
pub(crate) fn key(v: u64, mantissa: u32) -> usize {
    let shift = (64 - mantissa - 1).saturating_sub(v.leading_zeros());
    ((shift as usize) << mantissa) + (v >> shift) as usize
}

/// The smallest guide after which one comparison decides, or the best of those that are not too large.
fn best_guide<const WIDTH: u32>(tails: &[u64]) -> (u32, Vec<u32>, u32) {
    let mut mantissa = 1;
    loop {
        let (guide, steps) = guide::<WIDTH>(tails, mantissa);
        if steps <= 1 || 2 * guide.len() > GUIDE || mantissa + 2 > WIDTH {
            return (mantissa, guide, steps);
        }
        mantissa += 1;
    }
}

/// For each key how many tails lie above all numbers of that key, and the steps to find a place among those within.
fn guide<const WIDTH: u32>(tails: &[u64], mantissa: u32) -> (Vec<u32>, u32) {
    let above = |v: u64| tails.partition_point(|tail| *tail > v);
    let keys = key((1 << WIDTH) - 1, mantissa) + 1;
    let first = |key: usize| {
        let shift = (key >> mantissa).saturating_sub(1);
        ((key - (shift << mantissa)) as u64) << shift
    };
    let mut most = 0;
    let guide = (0..keys)
        .map(|key| {
            let start = above(first(key + 1) - 1);
            most = most.max(above(first(key)) - start);
            start as u32
        })
        .collect();
    (guide, usize::BITS - most.leading_zeros())
}

#[cfg(test)]
mod tests;
