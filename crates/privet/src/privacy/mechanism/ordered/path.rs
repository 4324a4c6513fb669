//! The path-metric geometric mechanism, and clamped geometric noise, which is its even case.
//!
//! Between neighbouring slots `i` and `i+1` there is a budget `c_i`; `d(x, y)` is the sum of those between `x` and `y`, and
//! `P(y|x) = v_y·exp(−d(x, y))`. Any two slots are told apart by exactly the distance between them, so what is declared is what
//! is spent. An infinite budget shows on which side of it a value lies; a zero one says nothing about it.

use std::collections::BTreeMap;

use dashu_ratio::RBig;

use super::channel::{Channel, RowLaw};
use super::loss::{Log, LogOdds};
use super::row_sampler::ChannelCache;
use super::{Audit, Loss, MOST, MOST_TABULATED, domain, positive};
use crate::Error;
use crate::privacy::enclosure::Enclosure;
use crate::privacy::sampler::DiscreteLaplace;
use crate::privacy::{Anchor, Epsilon, Randomness, Ratio};

/// Values on a line with a budget of its own between each two neighbours (PMG).
///
/// # Privacy
/// ρ(x, x′) is the sum of the budgets between them, for every pair; `docs/proofs/ordered.md#path-geometric`.
#[derive(Debug)]
pub struct PathGeometric {
    edges: Vec<Loss>,
    table: ChannelCache,
}

impl PathGeometric {
    /// One slot more than there are budgets.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there are none, or too many for a table.
    pub fn new(edges: Vec<Loss>) -> Result<Self, Error> {
        domain(edges.len() + 1, MOST_TABULATED)?;
        Ok(Self {
            edges,
            table: ChannelCache::default(),
        })
    }

    /// Parts of `width` slots with a budget of `within` between neighbours, and of `across` over a border.
    ///
    /// # Errors
    /// As [`PathGeometric::new`], or if a part has no slot.
    pub fn parts(slots: usize, width: usize, within: Loss, across: Loss) -> Result<Self, Error> {
        domain(slots, MOST_TABULATED)?;
        if width == 0 {
            return Err(Error::parameter("width", "a part has at least one slot"));
        }
        let edge = |left: usize| {
            if (left + 1).is_multiple_of(width) {
                across
            } else {
                within
            }
        };
        Self::new((0..slots - 1).map(edge).collect())
    }
}

/// The cumulative probabilities on a path: `P(Y ≤ y | x) = e^(−d(x, y))/(1 + e^(−c_y))` to the left of `x`, and one less the
/// mirror image of that from `x` on.
fn path_rows(edges: Vec<Loss>, bits: usize) -> RowLaw<'static> {
    let one = Enclosure::integer(1, bits);
    let mut decays = BTreeMap::new();
    for edge in &edges {
        decays.entry(*edge).or_insert_with(|| {
            let decay = match edge {
                Loss::Bounded(c) => Enclosure::ratio(&-c.to_ratio(), bits).exp(),
                Loss::Unbounded => Enclosure::integer(0, bits),
            };
            let share = one.div(&one.add(&decay));
            (decay, share)
        });
    }
    Box::new(move |x| {
        let step = |reach: &mut Enclosure, edge: &Loss| {
            let (decay, share) = &decays[edge];
            *reach = reach.mul(decay);
            Some(reach.mul(share))
        };
        let left = edges[..x].iter().rev().scan(one.clone(), step);
        let mut row: Vec<Enclosure> = left.collect();
        row.reverse();
        let right = edges[x..].iter().scan(one.clone(), step);
        row.extend(right.map(|tail| one.sub(&tail)));
        row
    })
}

/// `−d(x, y)`: the factor `v_y` is a term of `y` alone.
fn path_odds(edges: &[Loss], x: usize) -> LogOdds {
    let further = |reach: &mut Option<Log>, edge: &Loss| {
        *reach = match (*reach, edge) {
            (Some(log), Loss::Bounded(c)) => Some(log.add(Log::epsilon(*c).neg())),
            _ => None,
        };
        Some(*reach)
    };
    let mut odds: LogOdds = edges[..x].iter().rev().scan(Some(Log::ZERO), further).collect();
    odds.reverse();
    odds.push(Some(Log::ZERO));
    odds.extend(edges[x..].iter().scan(Some(Log::ZERO), further));
    // Between two budgets of zero v_y is zero: nobody ever gets there.
    for y in 1..edges.len() {
        if edges[y - 1] == Loss::NONE && edges[y] == Loss::NONE {
            odds[y] = None;
        }
    }
    odds
}

impl Channel for PathGeometric {
    fn inputs(&self) -> usize {
        self.edges.len() + 1
    }

    fn rows(&self, bits: usize) -> RowLaw<'_> {
        path_rows(self.edges.clone(), bits)
    }

    fn odds(&self, x: usize) -> LogOdds {
        path_odds(&self.edges, x)
    }

    fn change(&self, values: &mut [u16], random: &mut Randomness) {
        self.table.change(self, values, random);
    }

    fn audit(&self) -> Audit {
        self.table.audit(self)
    }

    fn proof(&self) -> Anchor {
        Anchor::new("ordered#path-geometric")
    }

    fn describe(&self) -> String {
        let mut kinds: Vec<Loss> = self.edges.clone();
        kinds.sort();
        kinds.dedup();
        let kinds: Vec<String> = kinds.iter().take(4).map(Loss::to_string).collect();
        format!(
            "path geometric on {} slots, budgets {}",
            self.inputs(),
            kinds.join(", ")
        )
    }
}

/// `clamp(x + G)` with two-sided geometric noise, `P(G = g) ∝ exp(−ε·|g|)`: the default.
///
/// # Privacy
/// ρ(x, x′) = ε·|x − x′|, for every pair; `docs/proofs/ordered.md#clamped-geometric`.
#[derive(Debug)]
pub struct ClampedGeometric {
    epsilon: Epsilon,
    slots: usize,
    noise: DiscreteLaplace,
}

impl ClampedGeometric {
    /// ε per slot of distance, on a domain of `slots` slots.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε is zero or the number of slots is not supported.
    pub fn new(epsilon: Epsilon, slots: usize) -> Result<Self, Error> {
        domain(slots, MOST)?;
        let scale = Ratio::from_big(RBig::ONE / positive(epsilon)?)?;
        Ok(Self {
            epsilon,
            slots,
            noise: DiscreteLaplace::new(scale)?,
        })
    }
}

impl Channel for ClampedGeometric {
    fn inputs(&self) -> usize {
        self.slots
    }

    fn rows(&self, bits: usize) -> RowLaw<'_> {
        path_rows(vec![Loss::Bounded(self.epsilon); self.slots - 1], bits)
    }

    fn odds(&self, x: usize) -> LogOdds {
        path_odds(&vec![Loss::Bounded(self.epsilon); self.slots - 1], x)
    }

    fn proof(&self) -> Anchor {
        Anchor::new("ordered#clamped-geometric")
    }

    fn describe(&self) -> String {
        format!(
            "clamped geometric on {} slots, ε = {} each",
            self.slots, self.epsilon
        )
    }

    /// The noise does not depend on the value, so no table of rows is needed.
    fn change(&self, values: &mut [u16], random: &mut Randomness) {
        let top = (self.slots - 1) as u16;
        self.noise.add_clamped(values, top, random);
    }

    fn loss(&self, x: usize, other: usize) -> Loss {
        Loss::Bounded(self.epsilon).times(x.abs_diff(other) as u64)
    }

    /// In closed form: the domain may be too long to compare all rows.
    fn audit(&self) -> Audit {
        Audit {
            within: Loss::Bounded(self.epsilon),
            across: None,
            whole: self.loss(0, self.slots - 1),
        }
    }
}
