//! Draws from the row of an input, by inversion: one random word and the same work for every value.
//!
//! As in [`sampler::table`](crate::privacy::sampler), a table keeps the first 64 binary digits of `t_y = P(Y ≤ y | x)`, certified
//! by enclosures, and `Y = #{y : t_y ≤ U}` for a uniform `U` of which a random word gives the first 64 digits. If those equal
//! an entry, which happens with probability 2^-64 per entry, both get more digits until they differ: the law is exact, also
//! where it is far smaller than 2^-64, and no ratio of two rows is damaged by rounding.
//!
//! Rows fall off on both sides of their input, so the guide that tells where a search starts is indexed by the leading digits of
//! `U` or of `1 − U`, whichever is smaller.

use std::sync::OnceLock;

use dashu_int::{IBig, UBig};

use super::Audit;
use super::channel::{Channel, audit};
use crate::privacy::Randomness;
use crate::privacy::enclosure::Enclosure;
use crate::privacy::sampler::table::{BLOCK, GUARD, key};

/// Entries of all guides together, at most: what stays in a second-level cache.
const GUIDES: usize = 1 << 19;

/// What a channel computes once: its sampler at the first draw, and its audit on first use.
#[derive(Debug, Default)]
pub(super) struct ChannelCache {
    rows: OnceLock<RowSampler>,
    audit: OnceLock<Audit>,
}

impl ChannelCache {
    pub(super) fn change(&self, channel: &impl Channel, values: &mut [u16], random: &mut Randomness) {
        let rows = self.rows.get_or_init(|| RowSampler::new(channel));
        rows.change(channel, values, random);
    }

    pub(super) fn audit(&self, channel: &impl Channel) -> Audit {
        *self.audit.get_or_init(|| audit(channel))
    }
}

/// A sampler for the rows of a channel; `WIDTH` digits of each threshold are kept. Tests keep few, which makes the rare event common.
#[derive(Debug)]
pub(super) struct RowSampler<const WIDTH: u32 = 64> {
    /// `floor(t_y·2^WIDTH)`, rising; ones at the end pad the search.
    cuts: Vec<u64>,
    stride: usize,
    /// Where the search begins, by side and leading digits.
    guide: Vec<u16>,
    keys: usize,
    mantissa: u32,
    steps: u32,
    inputs: usize,
}

impl<const WIDTH: u32> RowSampler<WIDTH> {
    const ONES: u64 = u64::MAX >> (64 - WIDTH);

    pub(super) fn new(channel: &impl Channel) -> Self {
        let inputs = channel.inputs();
        let mut bits = WIDTH as usize + GUARD;
        let rows = loop {
            let row = channel.rows(bits);
            let certain: Option<Vec<Vec<u64>>> = (0..inputs)
                .map(|x| row(x).iter().map(Self::prefix).collect())
                .collect();
            match certain {
                Some(rows) => break rows,
                None => bits *= 2,
            }
        };
        let mut mantissa = 1;
        let (keys, starts, steps) = loop {
            let guide = Self::guide(&rows, mantissa);
            if guide.2 <= 1 || 2 * guide.1.len() > GUIDES || mantissa == 10 || mantissa + 2 > WIDTH {
                break guide;
            }
            mantissa += 1;
        };
        let stride = rows.iter().map(Vec::len).max().unwrap_or(0) + (1 << steps);
        let mut cuts = Vec::with_capacity(stride * inputs);
        for row in &rows {
            cuts.extend(row);
            cuts.resize(cuts.len().next_multiple_of(stride), Self::ONES);
        }
        Self {
            cuts,
            stride,
            guide: starts,
            keys,
            mantissa,
            steps,
            inputs,
        }
    }

    /// The digits that are kept, if the enclosure determines them.
    fn prefix(t: &Enclosure) -> Option<u64> {
        let of = |end: &IBig| {
            let digits = (end >> (t.bits() - WIDTH as usize)).max(IBig::ZERO);
            u64::try_from(&digits).unwrap_or(Self::ONES).min(Self::ONES)
        };
        let digits = of(t.low());
        (digits == of(t.high())).then_some(digits)
    }

    /// Keys to a side, the starts for all rows, and the steps that every search needs after them.
    fn guide(rows: &[Vec<u64>], mantissa: u32) -> (usize, Vec<u16>, u32) {
        let last = Self::ONES >> 1;
        let keys = key(last, mantissa) + 1;
        let first = |key: usize| {
            let shift = (key >> mantissa).saturating_sub(1);
            ((key - (shift << mantissa)) as u64) << shift
        };
        let ends = |key: usize| {
            let end = if key + 1 == keys { last } else { first(key + 1) - 1 };
            (first(key), end)
        };
        let (mut starts, mut most) = (Vec::with_capacity(2 * keys * rows.len()), 0);
        for row in rows {
            let below = |u: u64| row.partition_point(|cut| *cut < u);
            let left = (0..keys).map(ends);
            let right = (0..keys).map(ends).map(|(a, b)| (Self::ONES - b, Self::ONES - a));
            for (low, high) in left.chain(right) {
                let start = below(low);
                most = most.max(below(high) - start);
                starts.push(start as u16);
            }
        }
        (keys, starts, usize::BITS - most.leading_zeros())
    }

    /// Replaces each value by a draw from its row; a value outside the domain counts as the last.
    pub(super) fn change(&self, channel: &impl Channel, values: &mut [u16], random: &mut Randomness) {
        // The number of steps as a constant: the search unrolls and successive draws overlap.
        match self.steps {
            0 => self.change_after(0, channel, values, random),
            1 => self.change_after(1, channel, values, random),
            2 => self.change_after(2, channel, values, random),
            3 => self.change_after(3, channel, values, random),
            4 => self.change_after(4, channel, values, random),
            steps => self.change_after(steps, channel, values, random),
        }
    }

    #[inline(always)]
    fn change_after(&self, steps: u32, channel: &impl Channel, values: &mut [u16], random: &mut Randomness) {
        let mut bytes = [0u8; 8 * BLOCK];
        for block in values.chunks_mut(BLOCK) {
            let bytes = &mut bytes[..8 * block.len()];
            random.fill(bytes);
            let (words, _) = bytes.as_chunks::<8>();
            for (value, word) in block.iter_mut().zip(words) {
                let x = usize::from(*value).min(self.inputs - 1);
                let u = u64::from_le_bytes(*word) >> (64 - WIDTH);
                let y = self.find(x, u, steps);
                *value = if self.cuts[x * self.stride + y] == u {
                    resolve::<WIDTH>(channel, x, u, random)
                } else {
                    y as u16
                };
            }
        }
    }

    /// How many entries of the row lie below `u`.
    #[inline(always)]
    pub(super) fn find(&self, x: usize, u: u64, steps: u32) -> usize {
        let right = u >> (WIDTH - 1);
        let folded = u ^ (right.wrapping_neg() & Self::ONES);
        let place = (2 * x + right as usize) * self.keys + key(folded, self.mantissa);
        let row = &self.cuts[x * self.stride..][..self.stride];
        let mut base = usize::from(self.guide[place]);
        for step in (0..steps).rev() {
            let half = 1usize << step;
            base += usize::from(row[base + half - 1] < u) << step;
        }
        base
    }
}

#[cfg(test)]
impl<const WIDTH: u32> RowSampler<WIDTH> {
    pub(super) fn row(&self, x: usize) -> &[u64] {
        &self.cuts[x * self.stride..][..self.stride - (1 << self.steps)]
    }

    pub(super) fn steps(&self) -> u32 {
        self.steps
    }
}

/// The known digits of `U` equal those of a threshold: more of both, until they differ.
#[cold]
#[inline(never)]
fn resolve<const WIDTH: u32>(channel: &impl Channel, x: usize, u: u64, random: &mut Randomness) -> u16 {
    let mut known = WIDTH as usize;
    let mut u = UBig::from(u);
    loop {
        let more = known.next_multiple_of(8);
        let mut bytes = vec![0; more / 8];
        random.fill(&mut bytes);
        u = (u << more) + UBig::from_le_bytes(&bytes);
        known += more;
        let (low, high) = (
            IBig::from(u.clone()) << GUARD,
            IBig::from(&u + UBig::ONE) << GUARD,
        );
        let row = channel.rows(known + GUARD)(x);
        let below = row.iter().take_while(|t| *t.high() <= low).count();
        if row.get(below).is_none_or(|t| *t.low() >= high) {
            return below as u16;
        }
    }
}
