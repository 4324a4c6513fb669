//! The paper's global and adjusted map; the third is in `local`.
//!
//! Each has one law and can be drawn by either of the paper's samplers: the exponential mechanism, which looks at every output,
//! and bounded discrete Laplace noise. The paper draws the latter again until it falls into the domain, and how often tells how
//! near to a border a value lies; here the same law is inverted, with the same work for every value.

use dashu_ratio::RBig;

use super::blocks::{Alignment, Blocks};
use super::channel::{Channel, RowLaw};
use super::hill::Hill;
use super::loss::LogOdds;
use super::row_sampler::ChannelCache;
use super::{Audit, MOST_TABULATED, Outputs, domain, positive};
use crate::Error;
use crate::privacy::enclosure::Enclosure;
use crate::privacy::{Anchor, Epsilon, Randomness, Ratio};

/// How a map is drawn: the law is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Route {
    /// Bounded discrete Laplace noise (section 4.3), by inversion: one random word for a value.
    #[default]
    BoundedLaplace,
    /// The exponential mechanism (algorithms 1 and 2): time grows with the domain.
    Exponential,
}

pub(super) fn half(epsilon: &RBig) -> Result<Ratio, Error> {
    Ratio::from_big(epsilon / RBig::from(2))
}

/// `P(y|x) ∝ exp(−ε·|x − y|/2)` on the whole domain.
///
/// # Paper
/// OpBoost, algorithm 1.
///
/// # Privacy
/// ε per slot of distance, of which it spends between a half and all; `docs/proofs/ordered.md#global-map`.
#[derive(Debug)]
pub struct GlobalMap {
    epsilon: Epsilon,
    slots: usize,
    hill: Hill,
    route: Route,
    table: ChannelCache,
}

impl GlobalMap {
    /// On a domain of `slots` slots.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε is zero or the number of slots is not supported.
    pub fn new(epsilon: Epsilon, slots: usize, route: Route) -> Result<Self, Error> {
        domain(slots, MOST_TABULATED)?;
        let hill = Hill::new(&half(&positive(epsilon)?)?, [slots]);
        Ok(Self {
            epsilon,
            slots,
            hill: hill.for_route(route),
            route,
            table: ChannelCache::default(),
        })
    }
}

impl Channel for GlobalMap {
    fn inputs(&self) -> usize {
        self.slots
    }

    fn rows(&self, bits: usize) -> RowLaw<'_> {
        let (sums, one) = (self.hill.sums(bits), Enclosure::integer(1, bits));
        Box::new(move |x| sums.cumulative(self.slots, x, &one))
    }

    fn odds(&self, x: usize) -> LogOdds {
        (0..self.slots)
            .map(|y| Some(self.hill.log(self.slots, x, y)))
            .collect()
    }

    fn change(&self, values: &mut [u16], random: &mut Randomness) {
        match self.route {
            Route::BoundedLaplace => self.table.change(self, values, random),
            Route::Exponential => {
                for value in values {
                    let x = usize::from(*value).min(self.slots - 1);
                    *value = self.hill.select(self.slots, x, random) as u16;
                }
            }
        }
    }

    fn audit(&self) -> Audit {
        self.table.audit(self)
    }

    fn proof(&self) -> Anchor {
        Anchor::new("ordered#global-map")
    }

    fn describe(&self) -> String {
        format!("global map on {} slots, ε = {}", self.slots, self.epsilon)
    }
}

/// What an [`AdjustedMap`] does between the parts and within one.
#[derive(Debug, Clone)]
pub struct Adjustment {
    /// Slots in a part, θ.
    pub width: usize,
    /// How much more of the budget is spent between parts, α.
    pub alpha: Ratio,
    /// Where parts begin.
    pub alignment: Alignment,
}

/// A part of the domain is drawn first, by a global map over the parts, then a slot in it.
///
/// # Paper
/// OpBoost, algorithm 2, with `ε_ner = ε/(α + θ/|D|)` and `ε_prt = α·θ·ε_ner`; aligned as in the reference implementation,
/// with its `ε_ner = ε/(α + 1/⌊(R − L)/θ⌋)`.
///
/// # Privacy
/// **Not** ε per slot of distance, against section 6.3: neighbours over a border are told apart by up to `ε_prt`.
/// What holds is computed pair by pair; `docs/proofs/ordered.md#adjusted-map`.
#[derive(Debug)]
pub struct AdjustedMap {
    epsilon: Epsilon,
    alpha: Ratio,
    blocks: Blocks,
    /// Between parts, and within them.
    outer: Hill,
    inner: Hill,
    near: RBig,
    route: Route,
    table: ChannelCache,
}

impl AdjustedMap {
    /// On a domain of `slots` slots.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε is zero, there are fewer than two parts, or the number of slots is not supported.
    pub fn new(epsilon: Epsilon, slots: usize, adjustment: Adjustment, route: Route) -> Result<Self, Error> {
        let Adjustment {
            width,
            alpha,
            alignment,
        } = adjustment;
        let blocks = Blocks::new(slots, width, alignment)?;
        let share = match alignment {
            Alignment::FirstSlot => RBig::from_parts(width.into(), (slots as u64).into()),
            // The width is below the number of slots, so this is at least one.
            Alignment::Zero { .. } => RBig::ONE / RBig::from((slots - 1) / width),
        };
        let near = positive(epsilon)? / (alpha.big() + share);
        let far = alpha.big() * RBig::from(width) * &near;
        let outer = Hill::new(&half(&far)?, [blocks.count()]);
        let inner = Hill::new(&half(&near)?, blocks.widths());
        Ok(Self {
            epsilon,
            alpha,
            blocks,
            outer: outer.for_route(route),
            inner: inner.for_route(route),
            near,
            route,
            table: ChannelCache::default(),
        })
    }

    /// `⌈t/θ⌉·ε_prt + θ·ε_ner`, which Definition 4.4 allows at distance `t`, to the accuracy of a float.
    pub fn definition(&self, distance: usize) -> f64 {
        self.policy(distance.div_ceil(self.blocks.width))
    }

    /// The same with `⌊t/θ⌋`, as the reference implementation counts: it does **not** hold.
    pub fn definition_as_published(&self, distance: usize) -> f64 {
        self.policy(distance / self.blocks.width)
    }

    fn policy(&self, parts: usize) -> f64 {
        let width = RBig::from(self.blocks.width);
        let between = RBig::from(parts) * self.alpha.big() * &width * &self.near;
        (between + width * &self.near).to_f64().value()
    }
}

impl Channel for AdjustedMap {
    fn inputs(&self) -> usize {
        self.blocks.inputs
    }

    fn outputs(&self) -> Outputs {
        self.blocks.outputs()
    }

    fn rows(&self, bits: usize) -> RowLaw<'_> {
        let (outer, inner) = (self.outer.sums(bits), self.inner.sums(bits));
        let [zero, one] = [0, 1].map(|x| Enclosure::integer(x, bits));
        Box::new(move |x| {
            let mut ends = outer.cumulative(self.blocks.count(), self.blocks.of(x), &one);
            ends.push(one.clone());
            let (mut row, mut start) = (Vec::new(), zero.clone());
            for (block, end) in ends.into_iter().enumerate() {
                let (width, anchor) = self.blocks.anchor(block, x);
                let within = inner.cumulative(width, anchor, &end.sub(&start));
                row.extend(within.iter().map(|t| start.add(t)));
                row.push(end.clone());
                start = end;
            }
            row.pop();
            row
        })
    }

    fn odds(&self, x: usize) -> LogOdds {
        let (from, count) = (self.blocks.of(x), self.blocks.count());
        let slots = (0..count).flat_map(|block| {
            let (width, anchor) = self.blocks.anchor(block, x);
            let between = self.outer.log(count, from, block);
            (0..width).map(move |y| Some(between.add(self.inner.log(width, anchor, y))))
        });
        slots.collect()
    }

    fn part(&self, x: usize) -> usize {
        self.blocks.of(x)
    }

    fn change(&self, values: &mut [u16], random: &mut Randomness) {
        match self.route {
            Route::BoundedLaplace => self.table.change(self, values, random),
            Route::Exponential => {
                for value in values {
                    let x = usize::from(*value).min(self.inputs() - 1);
                    let block = self.outer.select(self.blocks.count(), self.blocks.of(x), random);
                    let (width, anchor) = self.blocks.anchor(block, x);
                    *value = (self.blocks.start(block) + self.inner.select(width, anchor, random)) as u16;
                }
            }
        }
    }

    fn audit(&self) -> Audit {
        self.table.audit(self)
    }

    fn proof(&self) -> Anchor {
        Anchor::new("ordered#adjusted-map")
    }

    fn describe(&self) -> String {
        format!(
            "adjusted map on {} slots, ε = {}, α = {}, parts of {}{}",
            self.inputs(),
            self.epsilon,
            self.alpha,
            self.blocks.width,
            self.blocks.aligned()
        )
    }
}
