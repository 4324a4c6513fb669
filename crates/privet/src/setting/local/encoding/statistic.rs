//! What an owner computes from all of its rows: one vector, whose length does not depend on how many rows there are.
//!
//! # Paper
//! LocalBoost, Algorithms 5 (centroids), 6 (cross tables) and 7 (a local classifier). There, weights are not renormalised, so that a range or a
//! sum tells them, and labels are sent as they are. Here weights of an owner sum to one, and labels are part of the vector.

use super::learners::called;
use super::map::dot;

/// Steps of a local classifier's training: as many for every owner.
const STEPS: usize = 400;

/// What is computed.
///
/// With weights w of rows that sum to one, coordinates φ, and for each class k the sign s of a row: + if its label is k, else −. *Contrasts*
/// are the second class if there are two, else all classes.
#[derive(Debug, Clone, PartialEq)]
pub enum Statistic {
    /// Σ w·φ.
    Mean,
    /// Σ w·s·φ for each contrast.
    SignedMean,
    /// Σ w·φ; for each class but the first Σ w·s·φ; for each class but the first Σ w·s.
    ClassMeans,
    /// For each contrast and each coordinate: Σ w·s over rows with φ > 0, and over the others.
    CrossTable,
    /// Σ w·φ·φᵀ, the upper half, row by row.
    SecondMoments,
    /// For each contrast: how the logistic loss at these weights (one for each coordinate, contrast after contrast) falls fastest, Σ w·s·φ/(1 + e^(s·θ·φ)).
    Gradient {
        /// The published weights θ.
        at: Vec<f64>,
    },
    /// For each contrast: the weights of a logistic classifier, trained on the owner's own rows.
    Classifier {
        /// The factor of |θ|²/2 in its loss: above zero.
        ridge: f64,
    },
    /// Σ w·e, where e is + for a row on which a published learner errs, else −.
    Errors {
        /// For each class, one after another, a weight for each coordinate.
        scores: Vec<f64>,
    },
    /// The bin of one column and the label of one row, as a category.
    Cell,
}

/// Rows of one owner: φ of each, one after another.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// Coordinates of a row.
    pub dimension: usize,
    /// The coordinates of all rows.
    pub values: &'a [f64],
    /// The number of each row's class.
    pub labels: &'a [u16],
    /// The weight of each row; they sum to one.
    pub weights: &'a [f64],
    /// How many classes there are.
    pub classes: usize,
}

/// The classes whose signs make a statistic.
pub fn contrasts(classes: usize) -> std::ops::Range<usize> {
    match classes {
        0..=1 => 0..0,
        2 => 1..2,
        more => 0..more,
    }
}

impl Statistic {
    /// How long the vector is, for rows of so many coordinates and labels of so many classes; zero for a cell.
    pub fn width(&self, dimension: usize, classes: usize) -> usize {
        let contrasts = contrasts(classes).len();
        match self {
            Self::Mean => dimension,
            Self::SignedMean | Self::Gradient { .. } | Self::Classifier { .. } => dimension * contrasts,
            Self::ClassMeans => classes * dimension + classes - 1,
            Self::CrossTable => 2 * dimension * contrasts,
            Self::SecondMoments => dimension * (dimension + 1) / 2,
            Self::Errors { .. } => 1,
            Self::Cell => 0,
        }
    }

    /// Whether labels are part of it.
    pub fn needs_labels(&self) -> bool {
        !matches!(self, Self::Mean | Self::SecondMoments)
    }

    /// The vector of one owner's rows; zeros if there are none.
    pub fn vector(&self, rows: &Rows<'_>) -> Vec<f64> {
        let (d, classes) = (rows.dimension, rows.classes);
        let mut vector = vec![0.0; self.width(d, classes)];
        match self {
            Self::Mean => rows.add_mean(|_| 1.0, &mut vector),
            Self::SignedMean => {
                for (class, part) in contrasts(classes).zip(vector.chunks_mut(d.max(1))) {
                    rows.add_mean(|row| rows.sign(row, class), part);
                }
            }
            Self::ClassMeans => {
                let (means, masses) = vector.split_at_mut(classes * d);
                for (class, part) in means.chunks_mut(d.max(1)).enumerate() {
                    let sign = |row| if class == 0 { 1.0 } else { rows.sign(row, class) };
                    rows.add_mean(sign, part);
                }
                for (class, mass) in (1..classes).zip(masses) {
                    *mass = rows.each().map(|(row, w, _)| w * rows.sign(row, class)).sum();
                }
            }
            Self::CrossTable => {
                for (class, part) in contrasts(classes).zip(vector.chunks_mut((2 * d).max(1))) {
                    for (row, w, x) in rows.each() {
                        for (pair, x) in part.chunks_mut(2).zip(x) {
                            pair[usize::from(*x <= 0.0)] += w * rows.sign(row, class);
                        }
                    }
                }
            }
            Self::SecondMoments => {
                for (_, w, x) in rows.each() {
                    let mut place = 0;
                    for i in 0..d {
                        for j in i..d {
                            vector[place] += w * x[i] * x[j];
                            place += 1;
                        }
                    }
                }
            }
            Self::Gradient { at } => {
                let parts = vector.chunks_mut(d.max(1)).zip(at.chunks(d.max(1)));
                for (class, (part, at)) in contrasts(classes).zip(parts) {
                    rows.add_descent(class, at, part);
                }
            }
            Self::Classifier { ridge } => {
                for (class, part) in contrasts(classes).zip(vector.chunks_mut(d.max(1))) {
                    part.copy_from_slice(&rows.classifier(class, *ridge));
                }
            }
            Self::Errors { scores } => {
                let errs = |row: usize, x: &[f64]| {
                    rows.labels.get(row).map(|label| usize::from(*label)) != Some(called(scores, x))
                };
                let signed = rows.each().map(|(row, w, x)| if errs(row, x) { w } else { -w });
                vector[0] = signed.sum();
            }
            Self::Cell => {}
        }
        vector
    }
}

impl<'a> Rows<'a> {
    /// The number, weight and coordinates of each row.
    fn each(&self) -> impl Iterator<Item = (usize, f64, &'a [f64])> + use<'a> {
        let rows = self.values.chunks(self.dimension.max(1)).zip(self.weights);
        rows.enumerate().map(|(row, (x, w))| (row, *w, x))
    }

    fn sign(&self, row: usize, class: usize) -> f64 {
        match self.labels.get(row) {
            Some(label) if usize::from(*label) == class => 1.0,
            _ => -1.0,
        }
    }

    fn add_mean(&self, factor: impl Fn(usize) -> f64, into: &mut [f64]) {
        for (row, w, x) in self.each() {
            let factor = w * factor(row);
            into.iter_mut().zip(x).for_each(|(sum, x)| *sum += factor * x);
        }
    }

    /// Minus the gradient of the mean logistic loss.
    fn add_descent(&self, class: usize, at: &[f64], into: &mut [f64]) {
        let push = |row: usize, x: &[f64]| {
            let sign = self.sign(row, class);
            sign / (1.0 + (sign * dot(at, x)).exp())
        };
        for (row, w, x) in self.each() {
            let factor = w * push(row, x);
            into.iter_mut().zip(x).for_each(|(sum, x)| *sum += factor * x);
        }
    }

    /// A ridge logistic classifier, by Nesterov's method for losses that are at least and at most so steep: the same steps for all rows.
    fn classifier(&self, class: usize, ridge: f64) -> Vec<f64> {
        let squares: f64 = self.each().map(|(_, w, x)| w * dot(x, x)).sum();
        let steepest = squares / 4.0 + ridge;
        let root = (ridge / steepest).sqrt();
        let momentum = (1.0 - root) / (1.0 + root);
        let (mut at, mut ahead) = (vec![0.0; self.dimension], vec![0.0; self.dimension]);
        let mut descent = vec![0.0; self.dimension];
        for _ in 0..STEPS {
            descent.iter_mut().for_each(|sum| *sum = 0.0);
            self.add_descent(class, &ahead, &mut descent);
            for ((at, ahead), descent) in at.iter_mut().zip(&mut ahead).zip(&descent) {
                let next = *ahead + (descent - ridge * *ahead) / steepest;
                *ahead = next + momentum * (next - *at);
                *at = next;
            }
        }
        at
    }
}
