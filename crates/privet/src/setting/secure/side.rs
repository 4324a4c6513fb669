//! One party's rows with their weights.

use sha2::{Digest, Sha256};

use super::grid::{self, Merging};
use super::weak::Weak;
use super::{CutPlaces, Plan, StartWeights};
use crate::Error;
use crate::boost::{LARGEST, TOTAL, WholeFactors, WholeRates};
use crate::data::{Cells, Target};
use crate::learner::{Call, Classes, Sample, Shape, Sorted, StumpRule};

/// One party's rows, and what they weigh. Everything here is computed without the other party.
pub struct Side {
    /// As they were read.
    cells: Cells,
    /// As stumps are searched: on the merged bins, or by their values.
    searched: Option<Cells>,
    shapes: Vec<Shape>,
    merging: Vec<Merging>,
    sorted: Sorted,
    classes: Vec<u16>,
    weights: Vec<u64>,
}

impl Side {
    /// The rows of a table that was read for the plan. With `start = "rows"` their weight is set when both have said how many they are.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the table was read for another plan.
    pub fn new(plan: &Plan, cells: Cells) -> Result<Self, Error> {
        let misread = || Error::misuse("the table was not read for this plan");
        let rows = cells.rows();
        let classes = match cells.target() {
            Some(Target::Classes(classes)) => classes.clone(),
            None if rows == 0 => Vec::new(),
            _ => return Err(misread()),
        };
        let on_grid = *plan.secure().thresholds() == CutPlaces::Grid;
        let merging = plan.merging().to_vec();
        // A table of which no row was read may have no columns either.
        let searched = match on_grid && rows > 0 {
            true => Some(grid::merged(&merging, &cells)?),
            false => None,
        };
        let shapes: Vec<Shape> = match on_grid {
            true => merging.iter().map(Merging::shape).collect(),
            false => plan.shapes().to_vec(),
        };
        let zeros = vec![0.0; rows];
        let sample = Sample::new(plan.shapes(), &cells, &zeros).ok_or_else(misread)?;
        if !on_grid && !sample.has_values() {
            return Err(misread());
        }
        let sorted = match on_grid {
            true => Sorted::default(),
            false => Sorted::new(&sample),
        };
        let mut side = Self {
            cells,
            searched,
            shapes,
            merging,
            sorted,
            classes,
            weights: vec![1; rows],
        };
        if *plan.secure().start() == StartWeights::Halves {
            side.weigh(TOTAL / 2, rows as u64);
        }
        Ok(side)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.weights.len()
    }

    /// The weights of all rows.
    pub fn weights(&self) -> &[u64] {
        &self.weights
    }

    /// The class of each row.
    pub fn classes(&self) -> &[u16] {
        &self.classes
    }

    /// The rows.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// A digest of the rows without their weights, for one's own record.
    pub(super) fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(b"privet secure rows 1\0");
        hash.update((self.rows() as u64).to_le_bytes());
        for class in &self.classes {
            hash.update(class.to_le_bytes());
        }
        for feature in self.cells.features() {
            for slot in feature.bins.iter() {
                hash.update(slot.to_le_bytes());
            }
            hash.update([u8::from(feature.scaled.is_some())]);
            for number in feature.scaled.iter().flatten() {
                hash.update(number.to_bits().to_le_bytes());
            }
        }
        hash.finalize().into()
    }

    /// The same rows with weights from a checkpoint; nothing if there are not as many.
    pub(super) fn with_weights(mut self, weights: Vec<u64>) -> Option<Self> {
        let fits = weights.len() == self.weights.len();
        self.weights = weights;
        fits.then_some(self)
    }

    /// Each row weighs its part of `total`, which `rows` rows share.
    pub(super) fn weigh(&mut self, total: u64, rows: u64) {
        let each = (total / rows.max(1)).max(1);
        self.weights.fill(each);
    }

    fn total(&self) -> u64 {
        self.weights.iter().sum()
    }

    /// The best stump about one attribute, and the weight of the rows that it is right about.
    ///
    /// # Paper
    /// MABoost, figure 1, lines 5 and 8.
    pub fn best(&self, feature: usize) -> (Call, u64) {
        self.best_at(feature, &self.as_floats())
    }

    /// Sums of whole numbers below 2^53 are exact.
    fn as_floats(&self) -> Vec<f64> {
        self.weights.iter().map(|&weight| weight as f64).collect()
    }

    fn best_at(&self, feature: usize, weights: &[f64]) -> (Call, u64) {
        let cells = self.searched.as_ref().unwrap_or(&self.cells);
        let classes = Classes {
            of: &self.classes,
            count: 2,
        };
        let found = Sample::new(&self.shapes, cells, weights)
            .and_then(|sample| Call::about(feature, &sample, &self.sorted, classes));
        match found {
            Some((call, right)) => {
                let rule = match self.searched {
                    Some(_) => self.merging[feature].unmerged(call.rule),
                    None => call.rule,
                };
                (Call { rule, ..call }, right as u64)
            }
            None => (constant(feature, 0), 0),
        }
    }

    /// For each attribute, whether there is a stump that errs on less than half of the weight.
    ///
    /// # Paper
    /// MABoost, figure 1, lines 6 and 9, read relative to the party's own weight: the weights of both sum to one, so that the condition as
    /// it is printed always holds.
    pub fn free(&self) -> Vec<bool> {
        let (weights, total) = (self.as_floats(), self.total());
        let free = |feature| u128::from(self.best_at(feature, &weights).1) * 2 > u128::from(total);
        (0..self.shapes.len()).map(free).collect()
    }

    /// The best stump about any attribute; of equals the first.
    ///
    /// # Paper
    /// MABoost, remark 3.
    pub fn best_of_all(&self) -> Call {
        let weights = self.as_floats();
        let mut best = self.best_at(0, &weights);
        for feature in 1..self.shapes.len() {
            let next = self.best_at(feature, &weights);
            if next.1 > best.1 {
                best = next;
            }
        }
        best.0
    }

    /// The weight of rows that each stump of the grid is wrong about, in the order of [`Plan::candidates`].
    pub(super) fn errors(&self, attribute: Option<usize>) -> Vec<u64> {
        let classes = self.weights.iter().zip(&self.classes);
        let mut all = [0u64; 2];
        for (weight, class) in classes {
            all[usize::from(*class != 0)] += weight;
        }
        let mut errors = vec![all[1], all[0]];
        let attributes = match attribute {
            Some(attribute) => attribute..attribute + 1,
            None => 0..self.shapes.len(),
        };
        for attribute in attributes {
            let sums = self.histogram(attribute);
            let ordered = self.shapes[attribute].ordered;
            let mut left = [0u64; 2];
            let count = if ordered > 0 { ordered - 1 } else { sums.len() };
            for sum in &sums[..count] {
                if ordered > 0 {
                    left = [left[0] + sum[0], left[1] + sum[1]];
                } else {
                    left = *sum;
                }
                let right = [all[0] - left[0], all[1] - left[1]];
                errors.extend([left[1] + right[0], left[0] + right[1]]);
            }
        }
        errors
    }

    /// The weights of both classes in each merged slot.
    fn histogram(&self, attribute: usize) -> Vec<[u64; 2]> {
        let mut sums = vec![[0u64; 2]; self.shapes[attribute].slots];
        let cells = self.searched.as_ref().unwrap_or(&self.cells);
        if let Some(feature) = cells.features().get(attribute) {
            for ((slot, class), weight) in feature.bins.iter().zip(&self.classes).zip(&self.weights) {
                sums[usize::from(slot)][usize::from(*class != 0)] += weight;
            }
        }
        sums
    }

    /// The weights of rows that a classifier is right about, wrong about, or silent on.
    ///
    /// # Paper
    /// MABoost, figure 1, lines 15 to 17: this party's part of the sums.
    pub fn rates(&self, weak: &Weak) -> WholeRates {
        let mut rates = WholeRates::default();
        for (row, weight) in self.weights.iter().enumerate() {
            rates.add(
                weak.margin(self.cells.features(), row, self.classes[row]),
                *weight,
            );
        }
        rates
    }

    /// Multiplies weights.
    ///
    /// # Paper
    /// MABoost, figure 1, lines 19 and 20.
    pub fn reweigh(&mut self, weak: &Weak, factors: &WholeFactors) {
        for (row, weight) in self.weights.iter_mut().enumerate() {
            *weight = factors.apply(
                weak.margin(self.cells.features(), row, self.classes[row]),
                *weight,
            );
        }
        // Only one who does not follow the protocol makes weights grow: their sum stays one that is computed with.
        let total: u128 = self.weights.iter().map(|weight| u128::from(*weight)).sum();
        let most = u128::from(LARGEST);
        let excess = (total / most).checked_ilog2().map_or(0, |digits| digits + 1);
        if excess > 0 {
            self.weights
                .iter_mut()
                .for_each(|weight| *weight >>= excess.min(63));
        }
    }
}

/// A stump that calls one class for all rows.
pub(super) fn constant(feature: usize, class: u16) -> Call {
    Call {
        feature,
        rule: StumpRule::All,
        left: class,
        right: class,
    }
}
