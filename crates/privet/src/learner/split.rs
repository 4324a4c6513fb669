//! The search for the best question about one feature.
//!
//! All that is needed of the rows is a histogram for each feature: sums by slot. Ordered features (numbers, ordinals, flags) are
//! cut at a slot, undeclared and missing cells each going to the better side. Categories are put into the order of their means
//! and cut there, which finds the best of all subsets (Fisher 1958; Breiman and others 1984 for two classes); where
//! there is no such order, with more classes, one category is set against the rest.
//!
//! Of equally good questions the first wins, by feature, then by slot, and no question at all comes before any. Slots without
//! weight go to the heavier side. Features are searched in parallel, each by one thread: nothing depends on how many
//! there are.
//!
//! Where rows are [`Sorted`], a number has a slot for each of its values instead of its bins, and the rest is the same.

use std::ops::Range;

use rayon::prelude::*;

use super::sorted::Ranks;
use super::{Sample, Shape, Sorted, StumpRule};
use crate::data::{Bins, Feature};

/// The criterion that a split maximises.
pub(super) trait Criterion: Sync {
    /// How many sums are kept for each slot.
    fn width(&self) -> usize;
    /// Adds every row, in order, to the sums of its slot.
    fn add(&self, slots: impl Iterator<Item = usize>, sums: &mut [f64]);
    /// The weight of some rows, from their sums.
    fn weight(&self, sums: &[f64]) -> f64;
    /// The gain of one leaf for these rows.
    fn gain(&self, sums: &[f64]) -> f64;
    /// The gain of a split: by default the sum over its two sides.
    fn worth(&self, left: &[f64], right: &[f64]) -> f64 {
        self.gain(left) + self.gain(right)
    }
    /// Where a category stands in the order in which the best subset is a beginning, if there is such an order.
    fn place(&self, sums: &[f64]) -> Option<f64>;
}

/// The best question, and the sums on both sides.
#[derive(Debug, Clone)]
pub(super) struct Best {
    pub(super) feature: usize,
    pub(super) rule: StumpRule,
    pub(super) left: Vec<f64>,
    pub(super) right: Vec<f64>,
}

impl Best {
    /// The question with an answer for each side; none if both sides are answered alike.
    pub(super) fn answered<A: PartialEq + Copy>(self, left: A, right: A) -> (usize, StumpRule, A, A) {
        match self.rule == StumpRule::All || left == right {
            true => (0, StumpRule::All, left, left),
            false => (self.feature, self.rule, left, right),
        }
    }
}

/// The best question about any feature; no question if none is better than that.
pub(super) fn best(sample: &Sample<'_>, sorted: &Sorted, criterion: &impl Criterion) -> Best {
    let features = (0..sample.features.len()).into_par_iter();
    let found: Vec<(f64, Best)> = features
        .filter_map(|feature| best_about(feature, sample, sorted, criterion))
        .collect();
    let mut found = found.into_iter();
    let Some(first) = found.next() else {
        return nothing_to_ask(sample.rows(), criterion);
    };
    // Each feature's "no question" is worth the same but for rounding: only a real question may replace another.
    let better = |best: (f64, Best), next: (f64, Best)| {
        if next.0 > best.0 && next.1.rule != StumpRule::All {
            next
        } else {
            best
        }
    };
    found.fold(first, better).1
}

/// The best question about one feature, and its worth; none if there is no such feature.
pub(super) fn best_about(
    feature: usize,
    sample: &Sample<'_>,
    sorted: &Sorted,
    criterion: &impl Criterion,
) -> Option<(f64, Best)> {
    let (column, shape) = (sample.features.get(feature)?, sample.shapes.get(feature)?);
    let axis = Axis::new(column, shape, sorted.ranks(feature));
    let sums = axis.sums(criterion);
    let histogram = Histogram {
        axis: &axis,
        sums: &sums,
        criterion,
    };
    Some(histogram.best(feature))
}

/// Without features all rows are answered alike.
fn nothing_to_ask(rows: usize, criterion: &impl Criterion) -> Best {
    let mut left = vec![0.0; criterion.width()];
    criterion.add(std::iter::repeat_n(0, rows), &mut left);
    Best {
        feature: 0,
        rule: StumpRule::All,
        right: vec![0.0; left.len()],
        left,
    }
}

/// The slots of one feature's rows: its bins, or its values in their order.
struct Axis<'a> {
    feature: &'a Feature,
    missing: u16,
    ranks: Option<&'a Ranks>,
    slots: u32,
    ordered: u32,
}

impl<'a> Axis<'a> {
    fn new(feature: &'a Feature, shape: &Shape, ranks: Option<&'a Ranks>) -> Self {
        let (slots, ordered) = match ranks {
            Some(ranks) => (ranks.values.len() + 1, ranks.values.len()),
            None => (shape.slots, shape.ordered),
        };
        Self {
            feature,
            missing: shape.missing,
            ranks,
            slots: slots as u32,
            ordered: ordered as u32,
        }
    }

    /// Whether slots have an order; a number without a single value has only its missing ones.
    fn is_ordered(&self) -> bool {
        self.ordered > 0 || self.ranks.is_some()
    }

    fn sums(&self, criterion: &impl Criterion) -> Vec<f64> {
        let mut sums = vec![0.0; self.slots as usize * criterion.width()];
        match (self.ranks, &self.feature.bins) {
            (Some(ranks), _) => criterion.add(ranks.of.iter().map(|&rank| rank as usize), &mut sums),
            (None, Bins::Narrow(bins)) => {
                criterion.add(bins.iter().map(|&slot| usize::from(slot)), &mut sums);
            }
            (None, Bins::Wide(bins)) => {
                criterion.add(bins.iter().map(|&slot| usize::from(slot)), &mut sums);
            }
        }
        sums
    }

    fn rule(&self, question: SlotRule) -> StumpRule {
        // Bins have numbers of 16 bits.
        let narrow = |slots: Vec<u32>| slots.into_iter().map(|slot| slot as u16).collect();
        match (question, self.ranks) {
            (SlotRule::AtMost { slot, besides }, Some(ranks)) => StumpRule::UpTo {
                place: ranks.place_after(slot),
                missing: self.missing,
                with_missing: !besides.is_empty(),
            },
            (SlotRule::AtMost { slot, besides }, None) => StumpRule::AtMost {
                slot: slot as u16,
                besides: narrow(besides),
            },
            (SlotRule::OneOf(slots), _) => StumpRule::OneOf(narrow(slots)),
        }
    }
}

/// Which slots of an axis are on the left.
enum SlotRule {
    AtMost { slot: u32, besides: Vec<u32> },
    OneOf(Vec<u32>),
}

impl SlotRule {
    fn is_left(&self, slot: u32) -> bool {
        match self {
            Self::AtMost { slot: last, besides } => slot <= *last || besides.binary_search(&slot).is_ok(),
            Self::OneOf(slots) => slots.binary_search(&slot).is_ok(),
        }
    }
}

/// The sums of one feature.
struct Histogram<'a, C> {
    axis: &'a Axis<'a>,
    sums: &'a [f64],
    criterion: &'a C,
}

impl<C: Criterion> Histogram<'_, C> {
    fn slot(&self, slot: u32) -> &[f64] {
        let width = self.criterion.width();
        &self.sums[slot as usize * width..][..width]
    }

    fn total(&self, slots: impl Iterator<Item = u32>) -> Vec<f64> {
        let mut total = vec![0.0; self.criterion.width()];
        for slot in slots {
            plus(&mut total, self.slot(slot));
        }
        total
    }

    fn slots(&self) -> Range<u32> {
        0..self.axis.slots
    }

    /// The best split on this feature, and its gain.
    fn best(&self, feature: usize) -> (f64, Best) {
        let left = self.total(self.slots());
        let right = vec![0.0; left.len()];
        let constant = self.criterion.worth(&left, &right);
        let none = Best {
            feature,
            rule: StumpRule::All,
            left,
            right,
        };
        let found = if self.axis.is_ordered() {
            self.ordered(constant)
        } else {
            let places: Option<Vec<(f64, u32)>> = self
                .slots()
                .filter(|&slot| self.criterion.weight(self.slot(slot)) > 0.0)
                .map(|slot| Some((self.criterion.place(self.slot(slot))?, slot)))
                .collect();
            match places {
                Some(places) => self.subset(places, constant),
                None => self.one(constant),
            }
        };
        match found {
            None => (constant, none),
            Some((gain, question)) => {
                let left = self.total(self.slots().filter(|&slot| question.is_left(slot)));
                let right = self.total(self.slots().filter(|&slot| !question.is_left(slot)));
                let best = Best {
                    feature,
                    rule: self.axis.rule(question),
                    left,
                    right,
                };
                (gain, best)
            }
        }
    }

    /// The best cut of an order, with some slots beyond it free to go to either side: how many slots of the order are on
    /// the left, and which of the free ones, as bits.
    fn cut(&self, order: &[u32], free: &[u32], above: f64) -> Option<(f64, usize, usize)> {
        let width = self.criterion.width();
        // Sums from the right are kept and not taken as differences: a side without rows is then exactly empty.
        let mut rest = vec![0.0; (order.len() + 1) * width];
        for (at, &slot) in order.iter().enumerate().rev() {
            let (before, after) = rest.split_at_mut((at + 1) * width);
            let sums = before[at * width..].iter_mut().zip(after);
            for ((sum, more), own) in sums.zip(self.slot(slot)) {
                *sum = *more + own;
            }
        }
        // Those without weight make no difference on either side.
        let weighty = free.iter().enumerate().fold(0, |bits, (bit, &slot)| {
            bits | usize::from(self.criterion.weight(self.slot(slot)) > 0.0) << bit
        });
        let sides: Vec<(usize, [Vec<f64>; 2])> = (0..1_usize << free.len())
            .filter(|goes| goes & !weighty == 0)
            .map(|goes| {
                let side = |is: usize| {
                    let chosen = free
                        .iter()
                        .enumerate()
                        .filter(move |(bit, _)| goes >> bit & 1 == is);
                    self.total(chosen.map(|(_, &slot)| slot))
                };
                (goes, [side(1), side(0)])
            })
            .collect();
        let mut found = None;
        let mut most = above;
        let mut first = vec![0.0; width];
        let (mut left, mut right) = (vec![0.0; width], vec![0.0; width]);
        for (at, &slot) in order.iter().enumerate() {
            plus(&mut first, self.slot(slot));
            if weighty == 0 {
                let gain = self.criterion.worth(&first, &rest[(at + 1) * width..][..width]);
                if gain > most {
                    most = gain;
                    found = Some((gain, at + 1, 0));
                }
                continue;
            }
            for (goes, [with_left, with_right]) in &sides {
                left.copy_from_slice(&first);
                plus(&mut left, with_left);
                right.copy_from_slice(&rest[(at + 1) * width..][..width]);
                plus(&mut right, with_right);
                let gain = self.criterion.worth(&left, &right);
                if gain > most {
                    most = gain;
                    found = Some((gain, at + 1, *goes));
                }
            }
        }
        found
    }

    fn ordered(&self, above: f64) -> Option<(f64, SlotRule)> {
        let order: Vec<u32> = self.slots().take(self.axis.ordered as usize).collect();
        let free: Vec<u32> = self.slots().skip(self.axis.ordered as usize).collect();
        let (gain, first, goes) = self.cut(&order, &free, above)?;
        let weigh = |side: usize| {
            let sums = self.total(
                free.iter()
                    .enumerate()
                    .filter(|(bit, _)| goes >> bit & 1 == side)
                    .map(|(_, &slot)| slot),
            );
            let part = if side == 1 {
                &order[..first]
            } else {
                &order[first..]
            };
            self.criterion.weight(&sums) + self.criterion.weight(&self.total(part.iter().copied()))
        };
        let left_is_heavier = weigh(1) > weigh(0);
        let besides = free.iter().enumerate().filter(|(bit, slot)| {
            if self.criterion.weight(self.slot(**slot)) > 0.0 {
                goes >> bit & 1 == 1
            } else {
                left_is_heavier
            }
        });
        let question = SlotRule::AtMost {
            slot: order[first - 1],
            besides: besides.map(|(_, &slot)| slot).collect(),
        };
        Some((gain, question))
    }

    fn subset(&self, mut places: Vec<(f64, u32)>, above: f64) -> Option<(f64, SlotRule)> {
        places.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let order: Vec<u32> = places.into_iter().map(|(_, slot)| slot).collect();
        let (gain, first, _) = self.cut(&order, &[], above)?;
        let (left, right) = order.split_at(first);
        let weight = |side: &[u32]| self.criterion.weight(&self.total(side.iter().copied()));
        // The lighter side is the one that is listed, so that what has no weight goes to the heavier.
        let mut listed = if weight(left) > weight(right) { right } else { left }.to_vec();
        listed.sort_unstable();
        Some((gain, SlotRule::OneOf(listed)))
    }

    fn one(&self, above: f64) -> Option<(f64, SlotRule)> {
        let total = self.total(self.slots());
        let mut rest = total.clone();
        let mut found = None;
        let mut most = above;
        for slot in self.slots() {
            for ((rest, total), own) in rest.iter_mut().zip(&total).zip(self.slot(slot)) {
                *rest = total - own;
            }
            let gain = self.criterion.worth(self.slot(slot), &rest);
            if gain > most {
                most = gain;
                found = Some((gain, SlotRule::OneOf(vec![slot])));
            }
        }
        found
    }
}

fn plus(sums: &mut [f64], more: &[f64]) {
    sums.iter_mut().zip(more).for_each(|(sum, x)| *sum += x);
}
