//! Which split a node gets: every split is looked at, the best is taken. Ties go to the lower feature, then the lower slot.

use rayon::prelude::*;

use super::gain::{Order, Worth};
use super::level::{Level, Split};
use super::matrix::Column;
use super::shape::{Rule, Side};

/// Where undeclared and missing cells of an ordered feature go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// To the side with the larger gain.
    #[default]
    Learned,
    /// To this side.
    To(Side),
}

/// How the categories of a node are cut in two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Categories {
    /// Sorted by the values that their leaves would have, then cut like numbers.
    #[default]
    Sorted,
    /// One category against the rest.
    OneVsRest,
}

/// Takes the split with the largest gain.
#[derive(Debug, Clone, Default)]
pub struct Greedy {
    /// Which derivatives decide.
    pub order: Order,
    /// Added to the hessians of a leaf.
    pub lambda: f64,
    /// The least gain of a split.
    pub gamma: f64,
    /// The least sum of hessians (second order) or weights (first order) in a child.
    pub min_child_weight: f64,
    /// Where undeclared and missing cells go.
    pub missing: Missing,
    /// How categories are cut in two.
    pub categories: Categories,
    /// Whether values rise (1) or fall (-1) with a feature, by feature; short lists end in zeros.
    pub monotone: Vec<i8>,
}

/// The best of one feature.
#[derive(Debug)]
struct Best {
    gain: f64,
    slot: usize,
    others: Side,
    /// The slots that go left, for categories.
    set: Option<Vec<usize>>,
}

impl Greedy {
    /// The best question for each node of the level, or none where it ends.
    pub(super) fn choose(&self, level: &Level<'_>) -> Vec<Option<Split>> {
        let features: Vec<usize> = level.features().collect();
        let each = features.len();
        let pairs = level.nodes.len() * each;
        // Threads cost some microseconds to wake; a few thousand slots do not repay them.
        let parts = (pairs / 8).clamp(1, 8 * rayon::current_num_threads());
        let bests: Vec<Option<Best>> = (0..pairs)
            .into_par_iter()
            .with_min_len(pairs.div_ceil(parts).max(1))
            .map(|pair| self.best(level, pair / each, features[pair % each]))
            .collect();
        bests
            .chunks(each.max(1))
            .map(|bests| {
                let mut top: Option<(usize, &Best)> = None;
                for (&feature, best) in features.iter().zip(bests) {
                    if let Some(best) = best
                        && top.is_none_or(|(_, other)| best.gain > other.gain)
                    {
                        top = Some((feature, best));
                    }
                }
                top.map(|(feature, best)| Split {
                    feature,
                    rule: match &best.set {
                        Some(left) => Rule::one_of(level.columns()[feature].slots, left.iter().copied()),
                        None => Rule::UpTo {
                            slot: best.slot as u16,
                            others: best.others,
                        },
                    },
                    gain: best.gain,
                })
            })
            .collect()
    }

    /// The value of a leaf with these sums, in real units, between these bounds.
    pub fn leaf(&self, [g, h]: [f64; 2], [low, high]: [f64; 2]) -> f64 {
        let h = h + self.lambda;
        let value = if h > 0.0 { -g / h } else { 0.0 };
        value.max(low).min(high)
    }

    /// Whether values must rise (1) or fall (-1) with a feature, or are free (0).
    pub(super) fn direction(&self, feature: usize) -> i8 {
        self.monotone.get(feature).copied().unwrap_or(0)
    }

    fn best(&self, level: &Level<'_>, node: usize, feature: usize) -> Option<Best> {
        let column = &level.columns()[feature];
        let slots = level.histogram(node, feature);
        let node = &level.nodes[node];
        // In units of the grid a gain is g²/h; in real units it is this many times as much.
        let unit = level.grid.gradient / level.grid.hessian;
        let second = f64::from(u8::from(self.order == Order::Second));
        let constrained = self.monotone.iter().any(|&direction| direction != 0);
        let worth = Worth {
            lambda: second * self.lambda / level.grid.hessian,
            least: self.min_child_weight / level.grid.hessian,
            bounds: constrained.then(|| node.bounds.map(|bound| bound / unit)),
            direction: if column.ordered {
                self.direction(feature)
            } else {
                0
            },
        };
        let scan = Scan {
            worth,
            column: *column,
            slots,
            sums: node.sums,
        };
        let best = match (column.ordered, self.categories) {
            (true, _) => scan.ordered(self.missing),
            (false, Categories::Sorted) => scan.sorted(),
            (false, Categories::OneVsRest) => scan.one_by_one(),
        }?;
        let real = unit * level.grid.gradient;
        let whole = worth.whole(node.sums);
        // What rounding alone could have made is worth nothing.
        let noise = 1e-10 * (0.5 * real * whole).abs();
        let gain = 0.5 * real * (best.gain - whole) - self.gamma;
        (gain > noise).then_some(Best { gain, ..best })
    }
}

/// A look at one feature of one node.
struct Scan<'a> {
    worth: Worth,
    column: Column,
    slots: &'a [[f64; 2]],
    sums: [f64; 2],
}

#[inline]
fn plus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

#[inline]
fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

impl Scan<'_> {
    /// Cuts between slots, with the others on one side or the other.
    fn ordered(&self, missing: Missing) -> Option<Best> {
        let (ordinary, others) = self.slots.split_at(self.column.ordinary);
        let others = others.iter().fold([0.0; 2], |sum, &slot| plus(sum, slot));
        let sides: &[Side] = match missing {
            Missing::To(Side::Left) => &[Side::Left],
            Missing::To(Side::Right) => &[Side::Right],
            // Nobody there: both sides are worth the same.
            Missing::Learned if others == [0.0; 2] => &[Side::Right],
            Missing::Learned => &[Side::Right, Side::Left],
        };
        let mut best: Option<Best> = None;
        for &side in sides {
            let mut left = if side == Side::Left { others } else { [0.0; 2] };
            let mut top = (f64::NEG_INFINITY, 0);
            for (slot, &sums) in ordinary.iter().enumerate() {
                // An empty slot changes nothing, and the lower of equal slots wins.
                if sums == [0.0; 2] {
                    continue;
                }
                left = plus(left, sums);
                let gain = self.worth.halves(left, minus(self.sums, left));
                if gain > top.0 {
                    top = (gain, slot);
                }
            }
            if top.0 > best.as_ref().map_or(f64::NEG_INFINITY, |best| best.gain) {
                best = Some(Best {
                    gain: top.0,
                    slot: top.1,
                    others: side,
                    set: None,
                });
            }
        }
        best
    }

    /// The slots with rows, sorted by the values that their leaves would have.
    fn by_value(&self) -> Vec<usize> {
        let mut present: Vec<usize> = (0..self.slots.len())
            .filter(|&slot| self.slots[slot] != [0.0; 2])
            .collect();
        let value = |slot: usize| {
            let [g, h] = self.slots[slot];
            let h = h + self.worth.lambda;
            if h > 0.0 { g / h } else { 0.0 }
        };
        present.sort_by(|&a, &b| value(a).total_cmp(&value(b)).then(a.cmp(&b)));
        present
    }

    fn sorted(&self) -> Option<Best> {
        let present = self.by_value();
        let mut left = [0.0; 2];
        let mut top = (f64::NEG_INFINITY, 0);
        for (count, &slot) in present.iter().enumerate() {
            left = plus(left, self.slots[slot]);
            let gain = self.worth.halves(left, minus(self.sums, left));
            if gain > top.0 {
                top = (gain, count + 1);
            }
        }
        self.set(top.0, present[..top.1].to_vec())
    }

    fn one_by_one(&self) -> Option<Best> {
        let mut top = (f64::NEG_INFINITY, 0);
        for (slot, &sums) in self.slots.iter().enumerate() {
            let gain = self.worth.halves(sums, minus(self.sums, sums));
            if gain > top.0 {
                top = (gain, slot);
            }
        }
        self.set(top.0, vec![top.1])
    }

    fn set(&self, gain: f64, left: Vec<usize>) -> Option<Best> {
        let slot = left.iter().copied().min()?;
        gain.is_finite().then_some(Best {
            gain,
            slot,
            others: Side::Right,
            set: Some(left),
        })
    }
}
