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

use rayon::prelude::*;

use super::{Rule, Sample, Shape};
use crate::data::Bins;

/// What a good question is.
pub(super) trait Criterion: Sync {
    /// How many sums are kept for each slot.
    fn width(&self) -> usize;
    /// Adds every row, in order, to the sums of its slot.
    fn add(&self, slots: impl Iterator<Item = usize>, sums: &mut [f64]);
    /// The weight of some rows, from their sums.
    fn weight(&self, sums: &[f64]) -> f64;
    /// What it is worth to answer these rows alike; a question is worth the sum of its sides.
    fn gain(&self, sums: &[f64]) -> f64;
    /// Where a category stands in the order in which the best subset is a beginning, if there is such an order.
    fn place(&self, sums: &[f64]) -> Option<f64>;
}

/// The best question, and the sums on both sides.
#[derive(Debug, Clone)]
pub(super) struct Best {
    pub(super) feature: usize,
    pub(super) rule: Rule,
    pub(super) left: Vec<f64>,
    pub(super) right: Vec<f64>,
}

/// The best question about any feature; no question if none is better than that.
pub(super) fn best(sample: &Sample<'_>, criterion: &impl Criterion) -> Best {
    let found: Vec<(f64, Best)> = sample
        .features
        .par_iter()
        .zip(sample.shapes)
        .enumerate()
        .map(|(feature, (column, shape))| {
            let sums = histogram(&column.bins, shape.slots, criterion);
            let histogram = Histogram {
                shape,
                sums: &sums,
                criterion,
            };
            histogram.best(feature)
        })
        .collect();
    let none = Best {
        feature: 0,
        rule: Rule::All,
        left: vec![0.0; criterion.width()],
        right: vec![0.0; criterion.width()],
    };
    let mut found = found.into_iter();
    let Some(first) = found.next() else { return none };
    // Each feature's "no question" is worth the same but for rounding: only a real question may replace another.
    let better = |best: (f64, Best), next: (f64, Best)| {
        if next.0 > best.0 && next.1.rule != Rule::All {
            next
        } else {
            best
        }
    };
    found.fold(first, better).1
}

fn histogram(bins: &Bins, slots: usize, criterion: &impl Criterion) -> Vec<f64> {
    let width = criterion.width();
    let mut sums = vec![0.0; slots * width];
    match bins {
        Bins::Narrow(bins) => criterion.add(bins.iter().map(|&slot| usize::from(slot)), &mut sums),
        Bins::Wide(bins) => criterion.add(bins.iter().map(|&slot| usize::from(slot)), &mut sums),
    }
    sums
}

/// The sums of one feature.
struct Histogram<'a, C> {
    shape: &'a Shape,
    sums: &'a [f64],
    criterion: &'a C,
}

impl<C: Criterion> Histogram<'_, C> {
    fn slot(&self, slot: u16) -> &[f64] {
        let width = self.criterion.width();
        &self.sums[usize::from(slot) * width..][..width]
    }

    fn total(&self, slots: impl Iterator<Item = u16>) -> Vec<f64> {
        let mut total = vec![0.0; self.criterion.width()];
        for slot in slots {
            plus(&mut total, self.slot(slot));
        }
        total
    }

    fn slots(&self) -> impl Iterator<Item = u16> + Clone {
        (0..self.shape.slots).map(|slot| slot as u16)
    }

    /// The best question about this feature, and what it is worth.
    fn best(&self, feature: usize) -> (f64, Best) {
        let left = self.total(self.slots());
        let right = vec![0.0; left.len()];
        let constant = self.criterion.gain(&left);
        let none = Best {
            feature,
            rule: Rule::All,
            left,
            right,
        };
        let found = if self.shape.ordered > 0 {
            self.ordered(constant)
        } else {
            let places: Option<Vec<(f64, u16)>> = self
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
            Some((gain, rule)) => {
                let left = self.total(self.slots().filter(|&slot| rule.is_left(slot)));
                let right = self.total(self.slots().filter(|&slot| !rule.is_left(slot)));
                let best = Best {
                    feature,
                    rule,
                    left,
                    right,
                };
                (gain, best)
            }
        }
    }

    /// The best cut of an order, with some slots beyond it free to go to either side: how many slots of the order are on
    /// the left, and which of the free ones, as bits.
    fn cut(&self, order: &[u16], free: &[u16], above: f64) -> Option<(f64, usize, usize)> {
        let width = self.criterion.width();
        // Sums from the right are kept and not taken as differences: a side without rows is then exactly empty.
        let mut rest = vec![0.0; (order.len() + 1) * width];
        for (at, &slot) in order.iter().enumerate().rev() {
            let (before, after) = rest.split_at_mut((at + 1) * width);
            before[at * width..].copy_from_slice(&after[..width]);
            plus(&mut before[at * width..], self.slot(slot));
        }
        let sides: Vec<[Vec<f64>; 2]> = (0..1_usize << free.len())
            .map(|goes| {
                let side = |is: usize| {
                    let chosen = free
                        .iter()
                        .enumerate()
                        .filter(move |(bit, _)| goes >> bit & 1 == is);
                    self.total(chosen.map(|(_, &slot)| slot))
                };
                [side(1), side(0)]
            })
            .collect();
        let mut found = None;
        let mut most = above;
        let mut first = vec![0.0; width];
        let (mut left, mut right) = (vec![0.0; width], vec![0.0; width]);
        for (at, &slot) in order.iter().enumerate() {
            plus(&mut first, self.slot(slot));
            for (goes, [with_left, with_right]) in sides.iter().enumerate() {
                left.copy_from_slice(&first);
                plus(&mut left, with_left);
                right.copy_from_slice(&rest[(at + 1) * width..][..width]);
                plus(&mut right, with_right);
                let gain = self.criterion.gain(&left) + self.criterion.gain(&right);
                if gain > most {
                    most = gain;
                    found = Some((gain, at + 1, goes));
                }
            }
        }
        found
    }

    fn ordered(&self, above: f64) -> Option<(f64, Rule)> {
        let order: Vec<u16> = self.slots().take(self.shape.ordered).collect();
        let free: Vec<u16> = self.slots().skip(self.shape.ordered).collect();
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
        let rule = Rule::AtMost {
            slot: order[first - 1],
            besides: besides.map(|(_, &slot)| slot).collect(),
        };
        Some((gain, rule))
    }

    fn subset(&self, mut places: Vec<(f64, u16)>, above: f64) -> Option<(f64, Rule)> {
        places.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let order: Vec<u16> = places.into_iter().map(|(_, slot)| slot).collect();
        let (gain, first, _) = self.cut(&order, &[], above)?;
        let (left, right) = order.split_at(first);
        let weight = |side: &[u16]| self.criterion.weight(&self.total(side.iter().copied()));
        // The lighter side is the one that is listed, so that what has no weight goes to the heavier.
        let mut listed = if weight(left) > weight(right) { right } else { left }.to_vec();
        listed.sort_unstable();
        Some((gain, Rule::OneOf(listed)))
    }

    fn one(&self, above: f64) -> Option<(f64, Rule)> {
        let total = self.total(self.slots());
        let mut rest = total.clone();
        let mut found = None;
        let mut most = above;
        for slot in self.slots() {
            for ((rest, total), own) in rest.iter_mut().zip(&total).zip(self.slot(slot)) {
                *rest = total - own;
            }
            let gain = self.criterion.gain(self.slot(slot)) + self.criterion.gain(&rest);
            if gain > most {
                most = gain;
                found = Some((gain, Rule::OneOf(vec![slot])));
            }
        }
        found
    }
}

fn plus(sums: &mut [f64], more: &[f64]) {
    sums.iter_mut().zip(more).for_each(|(sum, x)| *sum += x);
}
