//! Logistic regression on vectors in memory, with a ridge of its own for every coordinate.

use super::SILENT;
use super::logistic::Loss;
use super::solver::{Curved, Objective, newton};

/// The gradient at the minimum, relative to the total weight.
const TOLERANCE: f64 = 1e-8;
/// Steps of Newton's method at most.
const STEPS: u32 = 50;

/// Weighted vectors, one after another.
#[derive(Debug, Clone, Copy)]
pub struct DenseRows<'a> {
    /// How many coordinates a vector has.
    pub dimension: usize,
    /// Vector after vector.
    pub values: &'a [f64],
    /// The weight of each.
    pub weights: &'a [f64],
}

impl<'a> DenseRows<'a> {
    /// One vector.
    pub fn row(&self, row: usize) -> &'a [f64] {
        &self.values[row * self.dimension..][..self.dimension]
    }
}

/// Minimises the weighted sum of logistic losses plus ½·Σ `ridge`·(θ − `centre`)². Targets are 0, 1 or between. A coordinate without a ridge is
/// bounded only by the data.
pub fn logistic(rows: &DenseRows<'_>, targets: &[f64], ridge: &[f64], centre: &[f64]) -> Vec<f64> {
    debug_assert_eq!(rows.values.len(), rows.weights.len() * rows.dimension);
    let total: f64 = rows.weights.iter().sum();
    let objective = DenseLogistic {
        rows,
        targets,
        ridge,
        centre,
        tolerance: TOLERANCE * total.max(f64::MIN_POSITIVE),
    };
    newton(&objective, STEPS, SILENT)
}

struct DenseLogistic<'a> {
    rows: &'a DenseRows<'a>,
    targets: &'a [f64],
    ridge: &'a [f64],
    centre: &'a [f64],
    tolerance: f64,
}

impl DenseLogistic<'_> {
    fn score(&self, at: &[f64], row: usize) -> f64 {
        self.rows.row(row).iter().zip(at).map(|(x, t)| x * t).sum()
    }
}

impl Objective for DenseLogistic<'_> {
    fn len(&self) -> usize {
        self.rows.dimension
    }

    fn value(&self, at: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = 0.0;
        for (((at, centre), ridge), gradient) in at
            .iter()
            .zip(self.centre)
            .zip(self.ridge)
            .zip(gradient.iter_mut())
        {
            let off = at - centre;
            value += ridge * off * off / 2.0;
            *gradient = ridge * off;
        }
        for (row, (weight, target)) in self.rows.weights.iter().zip(self.targets).enumerate() {
            let (loss, slope) = Loss::Logistic.at(self.score(at, row), *target);
            value += weight * loss;
            let factor = weight * slope;
            gradient
                .iter_mut()
                .zip(self.rows.row(row))
                .for_each(|(g, x)| *g += factor * x);
        }
        value
    }

    fn bend(&self) -> Vec<f64> {
        vec![1.0; self.rows.dimension]
    }

    fn tolerance(&self) -> f64 {
        self.tolerance
    }
}

impl Curved for DenseLogistic<'_> {
    fn curvature(&self, at: &[f64]) -> Vec<f64> {
        let width = self.rows.dimension;
        let mut matrix = vec![0.0; width * width];
        for (place, ridge) in self.ridge.iter().enumerate() {
            matrix[place * width + place] = *ridge;
        }
        for (row, weight) in self.rows.weights.iter().enumerate() {
            let e = (-self.score(at, row).abs()).exp();
            let factor = weight * e / ((1.0 + e) * (1.0 + e));
            let x = self.rows.row(row);
            for i in 0..width {
                let scaled = factor * x[i];
                let line = &mut matrix[i * width..][..=i];
                line.iter_mut().zip(x).for_each(|(m, x)| *m += scaled * x);
            }
        }
        matrix
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Symmetric rows: with the ridge r, the minimum of ln(1 + e^−t) + r t²/2 at t = σ(−t)/r.
    #[test]
    fn the_minimum_of_two_rows_is_where_the_gradient_vanishes() {
        let rows = DenseRows {
            dimension: 1,
            values: &[1.0, -1.0],
            weights: &[0.5, 0.5],
        };
        let found = logistic(&rows, &[1.0, 0.0], &[0.1], &[0.0])[0];
        let expected = 1.0 / (1.0 + found.exp()) / 0.1;
        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
        // A strong ridge keeps it at its centre.
        let held = logistic(&rows, &[1.0, 0.0], &[1e9], &[-3.0])[0];
        assert!((held + 3.0).abs() < 1e-6);
    }

    #[test]
    fn weights_count() {
        let rows = DenseRows {
            dimension: 1,
            values: &[1.0, 1.0],
            weights: &[3.0, 1.0],
        };
        let found = logistic(&rows, &[1.0, 0.0], &[1e-9], &[0.0])[0];
        assert!((found - 3f64.ln()).abs() < 1e-6);
    }
}
