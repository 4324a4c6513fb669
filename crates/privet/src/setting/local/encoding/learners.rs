//! What the rounds before have found, as it is published to the owners of a round: they weigh their rows by it.
//!
//! # Paper
//! LocalBoost, Algorithm 4, lines 4 to 9. Weights are renormalised within each owner (the paper does not, and a message then tells them).

use super::map::dot;
use super::statistic::Rows;

/// One learner and its weight in the vote.
#[derive(Debug, Clone, PartialEq)]
pub struct Learner {
    /// Its weight α in the vote.
    pub alpha: f64,
    /// For each class, one after another, a weight for each coordinate of φ. A row is of the class whose product is largest; of the first of
    /// equal ones.
    pub scores: Vec<f64>,
}

impl Learner {
    /// The class of a row.
    pub fn class(&self, x: &[f64]) -> usize {
        called(&self.scores, x)
    }
}

/// The class that scores call for a row.
pub(super) fn called(scores: &[f64], x: &[f64]) -> usize {
    let scores = scores.chunks(x.len().max(1)).map(|weights| dot(weights, x));
    let better = |best: (usize, f64), this: (usize, f64)| if this.1 > best.1 { this } else { best };
    scores.enumerate().fold((0, f64::NEG_INFINITY), better).0
}

/// Weights of an owner's rows after these learners, that sum to one: each error of a learner multiplies by e^α.
pub fn row_weights(learners: &[Learner], rows: &Rows<'_>) -> Vec<f64> {
    let exponent = |(x, label): (&[f64], &u16)| -> f64 {
        let erred = learners
            .iter()
            .filter(|learner| learner.class(x) != usize::from(*label));
        erred.map(|learner| learner.alpha).sum()
    };
    let values = rows.values.chunks(rows.dimension.max(1));
    let exponents: Vec<f64> = values.zip(rows.labels).map(exponent).collect();
    let largest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = exponents.iter().map(|e| (e - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}
