//! One party's rows with their weights.

use sha2::{Digest, Sha256};

use super::grid::{self, Merging};
use super::voter::{Voter, VotingTree};
use super::weak::{Round, Weak, sign};
use super::{CutPlaces, Plan, StartWeights};
use crate::Error;
use crate::boost::{LARGEST, TOTAL, WholeFactors, WholeRates};
use crate::data::{Cells, Target};
use crate::learner::tree::{Categories, Engine, Greedy, Grid, Growth, Matrix, Packed, Plan as TreePlan};
use crate::learner::{Call, Classes, Sample, Shape, Sorted, StumpRule};

/// One party's rows, and what they weigh. Everything here is computed without the other party.
pub struct Side {
    /// As they were read.
    cells: Cells,
    /// As stumps are searched: on the merged bins, or by their values.
    searched: Option<Cells>,
    /// As trees are grown.
    snapped: Option<Cells>,
    shapes: Vec<Shape>,
    sorted: Sorted,
    /// The class of each row.
    classes: Vec<u16>,
    /// The same for the rounds of now: of more than two classes, 1 for the one that is told from all others, which are 0.
    against: Vec<u16>,
    /// What each row weighs where a class begins.
    start: u64,
    weights: Vec<u64>,
    /// The sum of all coefficients for the second class, less those for the first.
    scores: Vec<i64>,
    plan: Plan,
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
        let merging = plan.merging();
        // A table of which no row was read may have no columns either.
        let searched = match on_grid && rows > 0 {
            true => Some(grid::merged(merging, &cells)?),
            false => None,
        };
        let snapped = match *plan.secure().depth() > 1 && rows > 0 {
            true => Some(grid::snapped(merging, &cells)?),
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
            snapped,
            shapes,
            sorted,
            against: classes.clone(),
            classes,
            start: 1,
            weights: vec![1; rows],
            scores: vec![0; rows],
            plan: plan.clone(),
        };
        if *plan.secure().start() == StartWeights::Halves {
            side.weigh(TOTAL / u64::from(plan.parties()), rows as u64);
        }
        side.turn_to(0);
        Ok(side)
    }

    /// Weights and scores begin anew, for the class that is told from all others now. Two classes are told from each other.
    pub(super) fn turn_to(&mut self, output: usize) {
        if self.plan.outputs() > 1 {
            let is_of = |class: &u16| u16::from(usize::from(*class) == output);
            self.against = self.classes.iter().map(is_of).collect();
        }
        self.weights.fill(self.start);
        self.scores.fill(0);
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

    /// What each row weighs where a class begins.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// The same rows with weights from a checkpoint; nothing if there are not as many.
    pub(super) fn with_weights(mut self, start: u64, weights: Vec<u64>) -> Option<Self> {
        let fits = weights.len() == self.weights.len();
        (self.start, self.weights) = (start, weights);
        fits.then_some(self)
    }

    /// Each row weighs its part of `total`, which `rows` rows share.
    pub(super) fn weigh(&mut self, total: u64, rows: u64) {
        self.start = (total / rows.max(1)).max(1);
        self.weights.fill(self.start);
    }

    fn total(&self) -> u64 {
        self.weights.iter().sum()
    }

    /// The party's classifier of a round: about one group of attributes, or about any attribute.
    pub fn voter(&self, group: Option<usize>) -> Voter {
        match (*self.plan.secure().depth(), group) {
            (2.., group) => self.grown(group).into(),
            (_, Some(group)) => self.best(group).0.into(),
            (_, None) => self.best_of_all().into(),
        }
    }

    /// The best stump about a group of attributes, and the weight of the rows that it is right about.
    ///
    /// # Paper
    /// MABoost, figure 1, lines 5 and 8. Remark 3: subclasses of any kind.
    pub fn best(&self, group: usize) -> (Call, u64) {
        self.best_among(self.plan.group(group), &self.as_floats())
    }

    /// The best stump about some attributes; of equals the first.
    fn best_among(&self, features: std::ops::Range<usize>, weights: &[f64]) -> (Call, u64) {
        let mut best = self.best_at(features.start, weights);
        for feature in features.skip(1) {
            let next = self.best_at(feature, weights);
            if next.1 > best.1 {
                best = next;
            }
        }
        best
    }

    /// A tree about a group of attributes, or about any, grown greedily: first the split after which the weighted means of classes are nearest to
    /// the classes. Weights are rounded to 15 digits, so that sums are exact and the tree is the same whenever it is grown again.
    fn grown(&self, group: Option<usize>) -> VotingTree {
        let constant = |class| VotingTree {
            nodes: Vec::new(),
            leaves: vec![class],
        };
        let heaviest = self.weights.iter().copied().max().unwrap_or(0).max(1);
        let Some(cells) = &self.snapped else {
            return constant(0);
        };
        let Ok(matrix) = Matrix::new(cells, self.plan.schema()) else {
            return constant(0);
        };
        let most = Packed::GRADIENT as u64;
        let lanes = self.weights.iter().zip(&self.against).map(|(weight, class)| {
            // At most 15 digits.
            let rounded = (u128::from(*weight) * u128::from(most) / u128::from(heaviest)) as i32;
            Packed::new(-i32::from(sign(*class)) * rounded, rounded)
        });
        let lanes: Vec<Packed> = lanes.collect();
        let chosen = match group {
            Some(group) => self.plan.group(group),
            None => 0..self.plan.attributes(),
        };
        let used: Vec<bool> = (0..self.plan.attributes())
            .map(|feature| chosen.contains(&feature))
            .collect();
        let growing = TreePlan {
            lanes: &lanes,
            grid: Grid::UNIT,
            rows: None,
            used: &used,
            growth: Growth::Levels((*self.plan.secure().depth()).into()),
            rate: 1.0,
        };
        let greedy = Greedy {
            // So that a node of categories shows one of them and not a set.
            categories: Categories::OneVsRest,
            ..Greedy::default()
        };
        let tree = Engine::new(&matrix).grow(&growing, &greedy);
        let merging = self.plan.merging();
        VotingTree::of(&tree, self.plan.shapes(), |feature, slot| {
            merging[feature].between_groups(slot)
        })
    }

    /// Sums of whole numbers below 2^53 are exact.
    fn as_floats(&self) -> Vec<f64> {
        self.weights.iter().map(|&weight| weight as f64).collect()
    }

    fn best_at(&self, feature: usize, weights: &[f64]) -> (Call, u64) {
        let cells = self.searched.as_ref().unwrap_or(&self.cells);
        let classes = Classes {
            of: &self.against,
            count: 2,
        };
        let found = Sample::new(&self.shapes, cells, weights)
            .and_then(|sample| Call::about(feature, &sample, &self.sorted, classes));
        match found {
            Some((call, right)) => {
                let rule = match self.searched {
                    Some(_) => self.plan.merging()[feature].unmerged(call.rule),
                    None => call.rule,
                };
                (Call { rule, ..call }, right as u64)
            }
            None => (constant(feature, 0), 0),
        }
    }

    /// For each group of attributes, whether there is a stump that errs on less than half of the weight.
    ///
    /// # Paper
    /// MABoost, figure 1, lines 6 and 9, read relative to the party's own weight: the weights of both sum to one, so that the condition as
    /// it is printed always holds.
    pub fn free(&self) -> Vec<bool> {
        let (weights, total) = (self.as_floats(), self.total());
        let free = |group| {
            let (_, right) = self.best_among(self.plan.group(group), &weights);
            u128::from(right) * 2 > u128::from(total)
        };
        (0..self.plan.groups()).map(free).collect()
    }

    /// The best stump about any attribute; of equals the first.
    ///
    /// # Paper
    /// MABoost, remark 3.
    pub fn best_of_all(&self) -> Call {
        self.best_among(0..self.plan.attributes(), &self.as_floats()).0
    }

    /// The weight of rows that each stump of the grid is wrong about, in the order of [`Plan::candidates`].
    pub(super) fn errors(&self, group: Option<usize>) -> Vec<u64> {
        let classes = self.weights.iter().zip(&self.against);
        let mut all = [0u64; 2];
        for (weight, class) in classes {
            all[usize::from(*class != 0)] += weight;
        }
        let mut errors = vec![all[1], all[0]];
        let attributes = match group {
            Some(group) => self.plan.group(group),
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
            for ((slot, class), weight) in feature.bins.iter().zip(&self.against).zip(&self.weights) {
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
                weak.margin(self.cells.features(), row, self.against[row]),
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
                weak.margin(self.cells.features(), row, self.against[row]),
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

impl Side {
    /// Adds a round's votes to the scores of rows.
    pub(super) fn score(&mut self, round: &Round) {
        for (row, score) in self.scores.iter_mut().enumerate() {
            let vote = i64::from(round.weak.vote(self.cells.features(), row));
            *score = score.saturating_add(vote * round.alpha.0);
        }
    }

    /// How many rows the model so far is wrong or undecided about.
    pub(super) fn wrong(&self) -> u64 {
        let rows = self.scores.iter().zip(&self.against);
        let wrong = rows.filter(|(score, class)| score.signum() != i64::from(sign(**class)));
        wrong.count() as u64
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
