//! The weighted nearest centroid: a row is called by the class whose mean row is nearest.
//!
//! Rows are points as logistic regression sees them: a number is its place from -1 to 1 and a one where it is missing,
//! anything else has a one in its slot. Of two points x and μ, ‖x − μ‖² = ‖x‖² − 2μ·x + ‖μ‖², and ‖x‖² is the same for
//! every class: so the nearest centroid has the largest μ·x − ‖μ‖²/2, a sum over features. It is also the log-probability of
//! the class, up to a constant, if all classes are as likely and vary with variance one.
//!
//! It knows nothing of a prior: classes weigh alike however many rows they have. A class without rows has no centroid, and
//! is never the nearest. Numbers cannot be predicted with it.
//!
//! # Paper
//! LocalBoost, section IV-A (NCC) and algorithm 5.
//!
//! # Deviations
//! Line 11 divides weighted sums by the number of rows of the class, which is no mean where weights differ; here they
//! are divided by the weight of the class.

use super::design::Design;
use super::{Classes, Linear, Sample};

/// Half the square of the largest distance within one feature: between the two bounds of a number.
const FARTHEST: f64 = 2.0;

/// Fits a centroid for each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Centroid;

impl Centroid {
    /// One sum for each class, of which the largest is called; for two classes their difference, which is above zero where
    /// the second is nearer.
    pub fn classes(&self, sample: &Sample<'_>, classes: Classes<'_>) -> Vec<Linear> {
        let design = Design::new(sample);
        let sums: Vec<Vec<f64>> = centroids(&design, classes)
            .into_iter()
            .map(|centroid| match centroid {
                Some(centroid) => nearness(centroid),
                None => nowhere(&design),
            })
            .collect();
        match &sums[..] {
            [first, second] => {
                let difference: Vec<f64> = second.iter().zip(first).map(|(b, a)| b - a).collect();
                vec![design.linear(&difference)]
            }
            _ => sums.iter().map(|by| design.linear(by)).collect(),
        }
    }
}

/// The weighted mean row of each class, with a one in front; none for a class without weight.
fn centroids(design: &Design<'_>, classes: Classes<'_>) -> Vec<Option<Vec<f64>>> {
    let mean = |class: usize| {
        let parts = design.over_blocks(|rows| {
            let own = |row: usize| usize::from(classes.of[row]) == class;
            let factors: Vec<f64> = rows
                .clone()
                .map(|row| if own(row) { design.weights[row] } else { 0.0 })
                .collect();
            let mut sums = vec![0.0; design.width];
            design.gather(&factors, rows, &mut sums);
            sums
        });
        let mut sums = vec![0.0; design.width];
        for part in parts {
            sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        }
        let weight = sums[0];
        (weight > 0.0).then(|| sums.iter().map(|sum| sum / weight).collect())
    };
    (0..classes.count).map(mean).collect()
}

/// μ·x − ‖μ‖²/2.
fn nearness(mut centroid: Vec<f64>) -> Vec<f64> {
    let squares: f64 = centroid[1..].iter().map(|x| x * x).sum();
    centroid[0] = -squares / 2.0;
    centroid
}

/// Less than the nearness of any centroid to any row, which is at least minus half the square of their distance.
fn nowhere(design: &Design<'_>) -> Vec<f64> {
    let mut by = vec![0.0; design.width];
    by[0] = -FARTHEST * design.features() as f64 - 1.0;
    by
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Bins, Feature};
    use crate::learner::{Shape, Term};

    const NUMBER: Shape = Shape {
        slots: 3,
        ordered: 2,
        missing: 2,
        number: true,
    };
    const CATEGORY: Shape = Shape {
        slots: 3,
        ordered: 0,
        missing: 2,
        number: false,
    };

    fn features() -> [Feature; 2] {
        [
            Feature {
                bins: Bins::Narrow(vec![1, 0, 2, 1]),
                scaled: Some(vec![0.5, -1.0, 0.0, 1.0]),
            },
            Feature {
                bins: Bins::Narrow(vec![0, 0, 1, 1]),
                scaled: None,
            },
        ]
    }

    fn fit(weights: &[f64], of: &[u16], count: usize) -> Vec<Linear> {
        let features = features();
        let sample = Sample {
            shapes: &[NUMBER, CATEGORY],
            features: &features,
            weights,
        };
        Centroid.classes(&sample, Classes { of, count })
    }

    fn parts(linear: &Linear) -> (f64, f64, f64, Vec<f64>) {
        match &linear.terms[..] {
            [
                Term::Number {
                    slope, at_missing, ..
                },
                Term::Slots(slots),
            ] => (linear.intercept, *slope, *at_missing, slots.clone()),
            other => panic!("{other:?}"),
        }
    }

    /// Class 0: rows 0 (twice) and 1, means (0, 0 missing, slot 0); class 1: rows 2 and 3, means (1/2, 1/2 missing, slot 1).
    /// Squares 1 and 1/4 + 1/4 + 1 = 3/2, so the intercept of the difference is -1/4.
    #[test]
    fn two_classes_by_hand() {
        let fitted = fit(&[2.0, 1.0, 1.0, 1.0], &[0, 0, 1, 1], 2);
        assert_eq!(fitted.len(), 1);
        assert_eq!(parts(&fitted[0]), (-0.25, 0.5, 0.5, vec![-1.0, 1.0, 0.0]));
    }

    /// Each class its own sum; the third has no rows, and stays below anything: -2 · 2 - 1.
    #[test]
    fn a_class_without_rows_is_never_nearest() {
        let fitted = fit(&[2.0, 1.0, 1.0, 1.0], &[0, 0, 1, 1], 3);
        assert_eq!(parts(&fitted[0]), (-0.5, 0.0, 0.0, vec![1.0, 0.0, 0.0]));
        assert_eq!(parts(&fitted[1]), (-0.75, 0.5, 0.5, vec![0.0, 1.0, 0.0]));
        assert_eq!(parts(&fitted[2]), (-5.0, 0.0, 0.0, vec![0.0; 3]));
        // With two classes as well, whichever it is.
        let features = features();
        for only in [0, 1] {
            let fitted = fit(&[1.0; 4], &[only; 4], 2);
            for row in 0..4 {
                assert_eq!(fitted[0].sum(&features, row) > 0.0, only == 1);
            }
        }
        let nobody = fit(&[0.0; 4], &[0, 0, 1, 1], 2);
        assert_eq!(parts(&nobody[0]), (0.0, 0.0, 0.0, vec![0.0; 3]));
    }
}
