//! The law `P(y) ∝ exp(−rate·|y − x|)` on a stretch of slots: what the paper's three maps are made of.

use std::collections::BTreeMap;

use dashu_ratio::RBig;

use super::loss::Log;
use super::maps::Route;
use crate::privacy::Ratio;
use crate::privacy::enclosure::Enclosure;
use crate::privacy::sampler::{Randomness, Selection};

/// Digits of the normalisers whose logarithms are claimed.
const CLAIMED: usize = 160;

/// `exp(−rate·|y − x|)` for `x` and `y` in `0..width`, with normalisers for each `x`.
#[derive(Debug)]
pub(super) struct Hill {
    rate: RBig,
    /// `rate·j` for all distances.
    falls: Vec<Log>,
    /// `ln Z` by the slots on the two sides of `x`, the fewer first.
    normalisers: BTreeMap<(usize, usize), Log>,
    selection: Option<Selection>,
}

impl Hill {
    /// For stretches of these widths. `rate` must be positive.
    pub(super) fn new(rate: &Ratio, widths: impl IntoIterator<Item = usize>) -> Self {
        let rate = rate.big();
        let widths: Vec<usize> = widths.into_iter().collect();
        let reach = widths.iter().copied().max().unwrap_or(1);
        let sums = DecaySums::new(rate, reach, CLAIMED);
        let mut normalisers = BTreeMap::new();
        for width in widths {
            for x in 0..width.div_ceil(2) {
                normalisers
                    .entry((x, width - 1 - x))
                    .or_insert_with(|| Log::ln(&sums.up_to(x, width - 1)));
            }
        }
        Self {
            rate: rate.clone(),
            falls: (0..reach).map(|j| Log::ratio(&(rate * RBig::from(j)))).collect(),
            normalisers,
            selection: None,
        }
    }

    /// Prepared for [`Hill::select`], if that is the route.
    pub(super) fn for_route(mut self, route: Route) -> Self {
        let rate = Ratio::from_big(self.rate.clone());
        self.selection = match route {
            Route::BoundedLaplace => None,
            Route::Exponential => rate.and_then(Selection::new).ok(),
        };
        self
    }

    pub(super) fn sums(&self, bits: usize) -> DecaySums {
        DecaySums::new(&self.rate, self.falls.len(), bits)
    }

    /// `ln P(y|x)`, exactly so.
    pub(super) fn log(&self, width: usize, x: usize, y: usize) -> Log {
        let sides = (x.min(width - 1 - x), x.max(width - 1 - x));
        self.falls[x.abs_diff(y)].add(self.normalisers[&sides]).neg()
    }

    /// One draw by the exponential mechanism over all `width` slots.
    ///
    /// # Paper
    /// OpBoost, algorithm 1: every weight is looked at.
    pub(super) fn select(&self, width: usize, x: usize, random: &mut Randomness) -> usize {
        let scores: Vec<i64> = (0..width).map(|y| -(x.abs_diff(y) as i64)).collect();
        let chosen = self
            .selection
            .as_ref()
            .and_then(|s| s.exponential(&scores, random).ok());
        // Unwrap safety: the route was prepared, its rate is positive, and there is at least one slot.
        chosen.expect("a selection among slots")
    }
}

/// `Σ_{j ≤ n} exp(−rate·j)` for `n` = 0, 1, …
pub(super) struct DecaySums(Vec<Enclosure>);

impl DecaySums {
    fn new(rate: &RBig, reach: usize, bits: usize) -> Self {
        let q = Enclosure::ratio(&-rate.clone(), bits).exp();
        let one = Enclosure::integer(1, bits);
        let sums = std::iter::successors(Some(one.clone()), |sum| Some(sum.mul(&q).add(&one)));
        Self(sums.take(reach).collect())
    }

    /// `Σ exp(−rate·|x − y|)` over `y ≤ last`.
    fn up_to(&self, x: usize, last: usize) -> Enclosure {
        match last.checked_sub(x) {
            Some(beyond) => self.0[x].add(&self.0[beyond]).sub(&self.one()),
            None => self.0[x].sub(&self.0[x - last - 1]),
        }
    }

    fn one(&self) -> Enclosure {
        Enclosure::integer(1, self.0[0].bits())
    }

    /// `P(Y ≤ 0), …, P(Y < width − 1)` at `x`, all multiplied with `by`.
    pub(super) fn cumulative(&self, width: usize, x: usize, by: &Enclosure) -> Vec<Enclosure> {
        let share = by.div(&self.up_to(x, width - 1));
        (0..width - 1).map(|y| self.up_to(x, y).mul(&share)).collect()
    }
}
