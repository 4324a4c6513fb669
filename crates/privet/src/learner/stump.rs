//! Decision stumps: one question about one feature, and a vote for each answer.
//!
//! Which question is best is found by `split`: on the bins of the schema, or, where rows were [`Sorted`], between any
//! two neighbouring values.

use serde::{Deserialize, Serialize};

use super::linear::finite;
use super::split::{self, Criterion};
use super::{Classes, Sample, Shape, Sorted};
use crate::data::Feature;

/// One question about one feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stump {
    /// The number of the feature.
    pub feature: usize,
    /// Which slots are on the left.
    pub rule: StumpRule,
    /// The vote on the left.
    pub left: f64,
    /// The vote on the right.
    pub right: f64,
}

/// Which cells are on the left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum StumpRule {
    /// All of them: a constant.
    All,
    /// The slots up to one, and some beyond, for undeclared or missing cells.
    AtMost {
        /// The last of the first slots.
        slot: u16,
        /// Slots beyond it, in rising order.
        besides: Vec<u16>,
    },
    /// These slots, in rising order.
    OneOf(Vec<u16>),
    /// The numbers up to a place between the bounds, wherever bins meet.
    UpTo {
        /// The place, from -1 at the lower bound to 1 at the upper.
        place: f64,
        /// The slot of missing numbers.
        missing: u16,
        /// Whether they are on the left as well.
        with_missing: bool,
    },
}

impl StumpRule {
    /// Whether a slot is on the left. Numbers that were not kept count as the middle.
    pub fn is_left(&self, slot: u16) -> bool {
        match self {
            Self::All => true,
            Self::AtMost { slot: last, besides } => slot <= *last || besides.binary_search(&slot).is_ok(),
            Self::OneOf(slots) => slots.binary_search(&slot).is_ok(),
            Self::UpTo {
                place,
                missing,
                with_missing,
            } => {
                if slot == *missing {
                    *with_missing
                } else {
                    0.0 <= *place
                }
            }
        }
    }

    /// Whether a row is on the left, of features that the rule fits.
    #[inline]
    pub fn takes(&self, features: &[Feature], feature: usize, row: usize) -> bool {
        if matches!(self, Self::All) {
            return true;
        }
        let Feature { bins, scaled } = &features[feature];
        let slot = bins.get(row);
        match (self, scaled) {
            (Self::UpTo { place, missing, .. }, Some(scaled)) if slot != *missing => {
                f64::from(scaled[row]) <= *place
            }
            _ => self.is_left(slot),
        }
    }

    /// Whether it needs numbers as they are, besides their bins.
    pub fn needs_values(&self) -> bool {
        matches!(self, Self::UpTo { .. })
    }
}

impl Stump {
    /// The vote for a slot of its feature. Numbers that were not kept count as the middle.
    pub fn vote(&self, slot: u16) -> f64 {
        if self.rule.is_left(slot) {
            self.left
        } else {
            self.right
        }
    }

    /// The vote for a row.
    #[inline]
    pub fn vote_for(&self, features: &[Feature], row: usize) -> f64 {
        if self.rule.takes(features, self.feature, row) {
            self.left
        } else {
            self.right
        }
    }

    pub(super) fn check(&self, shapes: &[Shape]) -> Result<(), String> {
        let Some(shape) = shapes.get(self.feature) else {
            return Err(format!(
                "a stump asks for feature {} of {}",
                self.feature,
                shapes.len()
            ));
        };
        finite(self.left)?;
        finite(self.right)?;
        let (first, list): (_, &[u16]) = match &self.rule {
            StumpRule::All => (None, &[]),
            StumpRule::UpTo { place, missing, .. } => return up_to(self.feature, shape, *place, *missing),
            StumpRule::AtMost { slot, besides } => (Some(*slot), besides),
            StumpRule::OneOf(slots) => (None, slots),
        };
        let all: Vec<u16> = first.into_iter().chain(list.iter().copied()).collect();
        if !all.is_sorted_by(|a, b| a < b) {
            return Err(format!(
                "the slots of feature {} are not in rising order",
                self.feature
            ));
        }
        match all.last() {
            Some(&last) if usize::from(last) >= shape.slots => Err(format!(
                "a stump asks for slot {last} of the {} of feature {}",
                shape.slots, self.feature
            )),
            _ => Ok(()),
        }
    }

    /// The question after which the weighted mean on each side has the least squared error. Numbers are cut anywhere if
    /// they were sorted, and at their bins otherwise.
    pub fn numbers(sample: &Sample<'_>, sorted: &Sorted, numbers: &[f64]) -> Self {
        let squares = Squares {
            numbers,
            weights: sample.weights,
        };
        let best = split::best(sample, sorted, &squares);
        let mean = |sums: &[f64]| if sums[0] > 0.0 { sums[1] / sums[0] } else { 0.0 };
        Self {
            feature: best.feature,
            rule: best.rule,
            left: mean(&best.left),
            right: mean(&best.right),
        }
    }
}

fn up_to(feature: usize, shape: &Shape, place: f64, missing: u16) -> Result<(), String> {
    finite(place)?;
    if !shape.number {
        return Err(format!("a threshold on feature {feature}, which is not a number"));
    }
    if missing != shape.missing {
        return Err(format!(
            "feature {feature} is missing in slot {}, not {missing}",
            shape.missing
        ));
    }
    Ok(())
}

/// A question with a class for each answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The number of the feature.
    pub feature: usize,
    /// Which slots are on the left.
    pub rule: StumpRule,
    /// The class that is called on the left.
    pub left: u16,
    /// The class that is called on the right.
    pub right: u16,
}

impl Call {
    /// The question after which calling the heavier class on each side errs least. Numbers are cut anywhere if they were
    /// sorted, and at their bins otherwise. A question with the same answer on both sides is none.
    pub fn fit(sample: &Sample<'_>, sorted: &Sorted, classes: Classes<'_>) -> Self {
        let errors = Errors {
            classes,
            weights: sample.weights,
        };
        let best = split::best(sample, sorted, &errors);
        let (left, right) = (heaviest(&best.left), heaviest(&best.right));
        let (feature, rule, left, right) = best.answered(left, right);
        Self {
            feature,
            rule,
            left,
            right,
        }
    }

    /// The question about one feature that errs least, or none if that errs as little; and the weight of the rows that it is right about.
    /// Whole weights with a sum below 2⁵³ are added without rounding, so that no other question about the feature is right about more.
    pub fn about(
        feature: usize,
        sample: &Sample<'_>,
        sorted: &Sorted,
        classes: Classes<'_>,
    ) -> Option<(Self, f64)> {
        let errors = Errors {
            classes,
            weights: sample.weights,
        };
        let (right_about, best) = split::best_about(feature, sample, sorted, &errors)?;
        let (left, right) = (heaviest(&best.left), heaviest(&best.right));
        let (_, rule, left, right) = best.answered(left, right);
        let call = Self {
            feature,
            rule,
            left,
            right,
        };
        Some((call, right_about))
    }

    /// The class that is called for a row.
    #[inline]
    pub fn class(&self, features: &[Feature], row: usize) -> u16 {
        if self.rule.takes(features, self.feature, row) {
            self.left
        } else {
            self.right
        }
    }

    /// Whether it asks the same and always calls the other of two classes.
    pub fn is_reverse_of(&self, other: &Self) -> bool {
        let same_feature = self.feature == other.feature || self.rule == StumpRule::All;
        same_feature && self.rule == other.rule && self.left != other.left && self.right != other.right
    }

    /// The stump that votes `left` and `right` where this calls its left or right class.
    pub fn stump(&self, left: f64, right: f64) -> Stump {
        Stump {
            feature: self.feature,
            rule: self.rule.clone(),
            left,
            right,
        }
    }
}

/// The heaviest class; of equals the first.
fn heaviest(weights: &[f64]) -> u16 {
    let mut best = 0;
    for (class, weight) in weights.iter().enumerate() {
        if *weight > weights[best] {
            best = class;
        }
    }
    best as u16
}

/// The weight of each class.
pub(super) struct Errors<'a> {
    pub(super) classes: Classes<'a>,
    pub(super) weights: &'a [f64],
}

impl Criterion for Errors<'_> {
    fn width(&self) -> usize {
        self.classes.count
    }

    fn add(&self, slots: impl Iterator<Item = usize>, sums: &mut [f64]) {
        for ((slot, &class), weight) in slots.zip(self.classes.of).zip(self.weights) {
            sums[slot * self.classes.count + usize::from(class)] += weight;
        }
    }

    fn weight(&self, sums: &[f64]) -> f64 {
        sums.iter().sum()
    }

    fn gain(&self, sums: &[f64]) -> f64 {
        sums.iter().fold(0.0, |most: f64, &weight| most.max(weight))
    }

    fn place(&self, sums: &[f64]) -> Option<f64> {
        match sums {
            [first, second] => Some(second / (first + second)),
            _ => None,
        }
    }
}

/// The weight, and the weighted sum of the numbers.
struct Squares<'a> {
    numbers: &'a [f64],
    weights: &'a [f64],
}

impl Criterion for Squares<'_> {
    fn width(&self) -> usize {
        2
    }

    fn add(&self, slots: impl Iterator<Item = usize>, sums: &mut [f64]) {
        for ((slot, number), weight) in slots.zip(self.numbers).zip(self.weights) {
            let own = &mut sums[slot * 2..][..2];
            own[0] += weight;
            own[1] += weight * number;
        }
    }

    fn weight(&self, sums: &[f64]) -> f64 {
        sums[0]
    }

    fn gain(&self, sums: &[f64]) -> f64 {
        if sums[0] > 0.0 {
            sums[1] * sums[1] / sums[0]
        } else {
            0.0
        }
    }

    fn place(&self, sums: &[f64]) -> Option<f64> {
        Some(sums[1] / sums[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a feature there is nothing to ask: the heavier class, or the mean.
    #[test]
    fn without_features_a_stump_is_a_constant() {
        let sample = Sample {
            shapes: &[],
            features: &[],
            weights: &[1.0, 2.0, 4.0],
        };
        let of = [0, 0, 1];
        let sorted = Sorted::new(&sample);
        for sorted in [Sorted::default(), sorted] {
            let call = Call::fit(&sample, &sorted, Classes { of: &of, count: 2 });
            assert_eq!((&call.rule, call.left, call.right), (&StumpRule::All, 1, 1));
            assert_eq!(call.class(&[], 0), 1);
            let stump = Stump::numbers(&sample, &sorted, &[7.0, 7.0, 0.0]);
            assert_eq!((&stump.rule, stump.left), (&StumpRule::All, 3.0));
            assert_eq!(stump.vote_for(&[], 2), 3.0);
        }
    }
}
