//! The Piecewise mechanism on a public grid: the ordinary ε that the paper compares with.
//!
//! Its interval of likely outputs has irrational ends that depend on the input, so the input lies on a grid (the slots) before it
//! is drawn, and outputs are rounded to the same grid; see Wang et al. 2019, "Collecting and Analyzing Multidimensional Data
//! with Local Differential Privacy". In units of a slot, with `g = 1/(e^(ε/2) − 1)` and `m = (k − 1)·g`: outputs lie in
//! `[−m, k − 1 + m]`, likely ones in `[l, l + m]` with `l = x − (k − 1 − x)·g`, and are `e^ε` times as likely.

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::channel::{Channel, RowLaw};
use super::loss::{Log, LogOdds};
use super::row_sampler::ChannelCache;
use super::{Audit, MOST_TABULATED, Outputs, domain, positive};
use crate::Error;
use crate::privacy::enclosure::Enclosure;
use crate::privacy::{Anchor, Epsilon, Randomness};

/// Digits of the lengths whose logarithms are claimed.
const CLAIMED: usize = 192;
/// Inputs times outputs of a table, at most.
const CELLS: usize = 1 << 22;

/// The Piecewise mechanism on slots.
///
/// # Privacy
/// At most ε between any two slots, whatever their distance; `docs/proofs/ordered.md#piecewise`.
#[derive(Debug)]
pub struct Piecewise {
    epsilon: Epsilon,
    slots: usize,
    /// Outputs below the first slot, and as many above the last.
    margin: usize,
    table: ChannelCache,
}

impl Piecewise {
    /// Outputs outside the domain become its nearest end.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε is zero or the number of slots is not supported.
    pub fn clipped(epsilon: Epsilon, slots: usize) -> Result<Self, Error> {
        domain(slots, MOST_TABULATED)?;
        positive(epsilon)?;
        Ok(Self {
            epsilon,
            slots,
            margin: 0,
            table: ChannelCache::default(),
        })
    }

    /// Outputs outside the domain stay where they are.
    ///
    /// # Errors
    /// As [`Piecewise::clipped`], or if there would be too many outputs.
    pub fn unclipped(epsilon: Epsilon, slots: usize) -> Result<Self, Error> {
        let clipped = Self::clipped(epsilon, slots)?;
        // The last output is the one that k − 1 + m is rounded to.
        let reach = Lengths::new(&clipped, CLAIMED).margin;
        let half = IBig::ONE << (CLAIMED - 1);
        let margin = usize::try_from((reach.high() + half) >> CLAIMED).unwrap_or(usize::MAX);
        let outputs = margin.saturating_mul(2).saturating_add(slots);
        if outputs > usize::from(u16::MAX) || outputs * slots > CELLS {
            let why = format!(
                "at ε = {epsilon} outputs on {slots} slots spread over {outputs}: clip them, or take fewer slots"
            );
            return Err(Error::parameter("slots", why));
        }
        Ok(Self { margin, ..clipped })
    }

    fn count(&self) -> usize {
        self.slots + 2 * self.margin
    }
}

/// The lengths of one mechanism, in slots.
struct Lengths {
    growth: Enclosure,
    margin: Enclosure,
    last: Enclosure,
    /// `g`.
    slope: Enclosure,
}

impl Lengths {
    fn new(of: &Piecewise, bits: usize) -> Self {
        let exp = |x: RBig| Enclosure::ratio(&x, bits).exp();
        let epsilon = of.epsilon.to_ratio();
        let one = Enclosure::integer(1, bits);
        let slope = one.div(&exp(&epsilon / RBig::from(2)).sub(&one));
        let last = Enclosure::integer(of.slots - 1, bits);
        Self {
            growth: exp(epsilon).sub(&one),
            margin: last.mul(&slope),
            last,
            slope,
        }
    }

    /// Where the likely outputs of an input begin and end.
    fn likely(&self, x: usize) -> [Enclosure; 2] {
        let here = Enclosure::integer(x, self.last.bits());
        let low = here.sub(&self.last.sub(&here).mul(&self.slope));
        let high = low.add(&self.margin);
        [low, high]
    }

    /// The end of output `y`'s cell: all that is below, in the first cell, and all that is above, in the last.
    fn end(&self, of: &Piecewise, y: usize) -> Enclosure {
        let bits = self.last.bits();
        match y {
            0 => self.margin.neg(),
            y if y == of.count() => self.last.add(&self.margin),
            y => {
                let twice = IBig::from(2 * y) - IBig::from(2 * of.margin + 1);
                let end = twice << (bits - 1);
                Enclosure::between(end.clone(), end, bits)
            }
        }
    }
}

fn clamp(x: &Enclosure, [low, high]: &[Enclosure; 2]) -> Enclosure {
    let at = |end: fn(&Enclosure) -> &IBig| end(x).max(end(low)).min(end(high)).clone();
    Enclosure::between(at(Enclosure::low), at(Enclosure::high), x.bits())
}

impl Channel for Piecewise {
    fn inputs(&self) -> usize {
        self.slots
    }

    fn outputs(&self) -> Outputs {
        Outputs {
            lowest: -(self.margin as i32),
            count: self.count(),
        }
    }

    /// Lengths count once, and `e^ε − 1` times more where they are likely.
    fn rows(&self, bits: usize) -> RowLaw<'_> {
        let shape = Lengths::new(self, bits);
        let ends: Vec<Enclosure> = (0..=self.count()).map(|y| shape.end(self, y)).collect();
        Box::new(move |x| {
            let likely = shape.likely(x);
            let weight = |y: usize| {
                let extra = clamp(&ends[y], &likely).sub(&likely[0]).mul(&shape.growth);
                ends[y].sub(&ends[0]).add(&extra)
            };
            let all = weight(self.count());
            (1..self.count()).map(|y| weight(y).div(&all)).collect()
        })
    }

    /// `ln(1 + (e^ε − 1)·s)` for the likely share `s` of a cell: its length is a term of the output alone.
    fn odds(&self, x: usize) -> LogOdds {
        let shape = Lengths::new(self, CLAIMED);
        let one = Enclosure::integer(1, CLAIMED);
        let likely = shape.likely(x);
        let mut start = shape.end(self, 0);
        let cells = (1..=self.count()).map(|y| {
            let end = shape.end(self, y);
            let cell = [std::mem::replace(&mut start, end.clone()), end];
            let inside = cell[0].low() >= likely[0].high() && cell[1].high() <= likely[1].low();
            let outside = cell[1].high() <= likely[0].low() || cell[0].low() >= likely[1].high();
            Some(match (inside, outside) {
                (true, _) => Log::epsilon(self.epsilon),
                (_, true) => Log::ZERO,
                _ => {
                    let length = clamp(&cell[1], &likely).sub(&clamp(&cell[0], &likely));
                    let share = length.div(&cell[1].sub(&cell[0]));
                    Log::ln(&one.add(&share.mul(&shape.growth))).within(self.epsilon)
                }
            })
        });
        cells.collect()
    }

    fn change(&self, values: &mut [u16], random: &mut Randomness) {
        self.table.change(self, values, random);
    }

    fn audit(&self) -> Audit {
        self.table.audit(self)
    }

    fn proof(&self) -> Anchor {
        Anchor::new("ordered#piecewise")
    }

    fn describe(&self) -> String {
        let clipped = if self.margin == 0 { ", clipped" } else { "" };
        format!("piecewise on {} slots{clipped}, ε = {}", self.slots, self.epsilon)
    }
}
