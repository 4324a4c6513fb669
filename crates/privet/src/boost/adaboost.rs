//! Boosting of stumps.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::{Ensemble, Link, Member};
use crate::learner::{Call, Classes, Learner, Progress, Sample, Sorted, Stump, sum};

/// The least weighted error that a coefficient is computed from: a stump without errors would get an infinite one.
const LEAST_ERROR: f64 = 1e-10;
/// What each stump's vote is multiplied by in least-squares boosting (Bühlmann and Yu 2003).
const SHRINKAGE: f64 = 0.1;

/// Where stumps cut numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Thresholds {
    /// Where the schema's bins meet: nothing about a row can be read off a threshold.
    #[default]
    Bins,
    /// Halfway between two neighbouring numbers, which are data.
    Exact,
}

impl Thresholds {
    /// The sorted rows for the search, computed once and used in every round.
    pub(super) fn sorted(self, sample: &Sample<'_>) -> Sorted {
        match self {
            Self::Bins => Sorted::default(),
            Self::Exact => Sorted::new(sample),
        }
    }
}

/// Brings weights to a sum of one, if they have a sum above zero.
pub(super) fn sums_to_one(weights: &mut [f64]) -> bool {
    let total = sum(weights.len(), |row| weights[row]);
    weights.par_iter_mut().for_each(|weight| *weight /= total);
    total > 0.0
}

/// Boosts stumps for a number of rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdaBoost {
    /// Rounds at most.
    pub rounds: u32,
    /// Where numbers are cut.
    pub thresholds: Thresholds,
}

impl AdaBoost {
    /// Discrete AdaBoost for two classes, SAMME for more. Stops early when a stump makes no errors, or is no better than
    /// guessing.
    ///
    /// # Paper
    /// Freund and Schapire 1997, figure 2; Zhu and others 2009, algorithm 2 (SAMME).
    pub fn classes(&self, sample: &Sample<'_>, classes: Classes<'_>, progress: Progress<'_>) -> Ensemble {
        let two = classes.count <= 2;
        let mut ensemble = Ensemble::new(
            if two { Link::Vote } else { Link::Softmax },
            vec![0.0; if two { 1 } else { classes.count }],
            Vec::new(),
        );
        let sorted = self.thresholds.sorted(sample);
        let guessing = 1.0 - 1.0 / classes.count as f64;
        let mut weights = sample.weights().to_vec();
        for round in 0..self.rounds {
            if progress(u64::from(round), u64::from(self.rounds)).is_break() {
                break;
            }
            if !sums_to_one(&mut weights) {
                break;
            }
            let call = Call::fit(&sample.reweighted(&weights), &sorted, classes);
            let errs = |row: usize| call.class(sample.features(), row) != classes.of[row];
            let error = sum(weights.len(), |row| if errs(row) { weights[row] } else { 0.0 });
            if error >= guessing {
                break;
            }
            let bounded = error.max(LEAST_ERROR);
            let odds = ((1.0 - bounded) / bounded).ln();
            if two {
                let sign = |class: u16| if class == 0 { -1.0 } else { 1.0 };
                ensemble.members.push(Member::new(
                    odds / 2.0,
                    0,
                    Learner::Stump(call.stump(sign(call.left), sign(call.right))),
                ));
            } else {
                ensemble
                    .members
                    .extend(votes(&call, odds + (classes.count as f64 - 1.0).ln()));
            }
            if error <= 0.0 {
                break;
            }
            // With the sum brought back to one, this is the papers' update: what was right is divided by the odds.
            let factor = (1.0 / odds.exp()) / if two { 1.0 } else { classes.count as f64 - 1.0 };
            weights.par_iter_mut().enumerate().for_each(|(row, weight)| {
                if !errs(row) {
                    *weight *= factor;
                }
            });
        }
        let _ = progress(u64::from(self.rounds), u64::from(self.rounds));
        ensemble
    }

    /// Discrete AdaBoost for each class against all others, one after another with weights begun anew: a class's score is the margin of its own stumps.
    pub fn one_versus_all(
        &self,
        sample: &Sample<'_>,
        classes: Classes<'_>,
        progress: Progress<'_>,
    ) -> Ensemble {
        let mut ensemble = Ensemble::new(Link::Softmax, vec![0.0; classes.count], Vec::new());
        let stopped = AtomicBool::new(false);
        let each = u64::from(self.rounds);
        for class in 0..classes.count {
            let is_of: Vec<u16> = classes
                .of
                .iter()
                .map(|of| u16::from(usize::from(*of) == class))
                .collect();
            let against = Classes { of: &is_of, count: 2 };
            let found = self.classes(sample, against, &|done, _| {
                let next = progress(class as u64 * each + done, classes.count as u64 * each);
                stopped.fetch_or(next.is_break(), Ordering::Relaxed);
                next
            });
            let members = found.members.into_iter();
            ensemble.members.extend(members.map(|member| Member {
                output: class,
                ..member
            }));
            if stopped.load(Ordering::Relaxed) {
                break;
            }
        }
        ensemble
    }

    /// Least-squares boosting: each stump is fitted to the residuals of the ones before, and a tenth of it is added.
    ///
    /// # Paper
    /// Bühlmann and Yu 2003, section 2.
    pub fn numbers(&self, sample: &Sample<'_>, numbers: &[f32], progress: Progress<'_>) -> Ensemble {
        let weights = sample.weights();
        let total = sum(weights.len(), |row| weights[row]);
        let mean = if total > 0.0 {
            sum(weights.len(), |row| weights[row] * f64::from(numbers[row])) / total
        } else {
            0.0
        };
        let mut left: Vec<f64> = numbers.iter().map(|&number| f64::from(number) - mean).collect();
        let sorted = self.thresholds.sorted(sample);
        let mut members = Vec::new();
        for round in 0..self.rounds {
            if progress(u64::from(round), u64::from(self.rounds)).is_break() {
                break;
            }
            let stump = Stump::numbers(sample, &sorted, &left);
            if stump.left == 0.0 && stump.right == 0.0 {
                break;
            }
            left.par_iter_mut()
                .enumerate()
                .for_each(|(row, left)| *left -= SHRINKAGE * stump.vote_for(sample.features(), row));
            members.push(Member::new(SHRINKAGE, 0, Learner::Stump(stump)));
        }
        let _ = progress(u64::from(self.rounds), u64::from(self.rounds));
        Ensemble::new(Link::Identity, vec![mean], members)
    }
}

/// A vote for one class on each side: one member for each of the two classes.
fn votes(call: &Call, weight: f64) -> Vec<Member> {
    let member = |class: u16, stump: Stump| Member::new(weight, usize::from(class), Learner::Stump(stump));
    if call.left == call.right {
        return vec![member(call.left, call.stump(1.0, 1.0))];
    }
    vec![
        member(call.left, call.stump(1.0, 0.0)),
        member(call.right, call.stump(0.0, 1.0)),
    ]
}
