//! Empty cells of perturbed losses, by the last digits of their coefficients.
//!
//! Where a value of a category has no rows, its coefficient in objective perturbation is −V/ridge: if V is a floating-point number made of
//! 53 random bits, that is one of a set of numbers that anybody can list. One person with that value moves the coefficient by an
//! amount that has nothing to do with the set, and mostly off it. Somebody who is rare in several columns is seen in several coefficients.

use crate::epsilon::{Evidence, lower_bound};

/// What the attacker knows: how noise was made, and the ridge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseModel {
    /// The scale of Laplace noise that is thought to be −scale·ln(u), with u on the middles of 2⁵³ steps.
    pub scale: f64,
    /// The ridge.
    pub ridge: f64,
}

impl NoiseModel {
    /// Whether a coefficient is one that an empty cell can have, up to one unit in the last place.
    pub fn is_of_an_empty_cell(&self, coefficient: f64) -> bool {
        let noise = (coefficient * self.ridge).abs();
        let place = (-noise / self.scale).exp() * STEPS - 0.5;
        // Rounding puts the place off by a few steps.
        let near = |by: i32| {
            let unit = (place.round() + f64::from(by) + 0.5) / STEPS;
            let reached = laplace(self.scale, unit) / self.ridge;
            reached.to_bits().abs_diff(coefficient.abs().to_bits()) <= 1
        };
        (-64..=64).any(near)
    }

    /// How large ε is at least, by how many of a person's coefficients no empty cell can have; wrong with probability at most `miss`.
    /// Each release holds the coefficients of the person's cells.
    pub fn evidence(&self, without: &[Vec<f64>], with: &[Vec<f64>], miss: f64) -> Evidence {
        let off = |release: &Vec<f64>| {
            let off = release.iter().filter(|c| !self.is_of_an_empty_cell(**c));
            off.count()
        };
        let off = |releases: &[Vec<f64>]| releases.iter().map(off).collect::<Vec<usize>>();
        lower_bound(&off(without), &off(with), miss)
    }
}

const STEPS: f64 = (1u64 << 53) as f64;

/// Noise of one sign from a number in (0, 1).
fn laplace(scale: f64, unit: f64) -> f64 {
    scale * -unit.ln()
}

/// Objective perturbation as textbooks have it, in floating point: what the attack is for. `unit` gives numbers on the middles of 2⁵³
/// steps of (0, 1).
///
/// A row is the places of its ones and its label; there are `width` coefficients.
pub fn textbook(
    rows: &[(Vec<usize>, bool)],
    width: usize,
    known: NoiseModel,
    mut unit: impl FnMut() -> f64,
) -> Vec<f64> {
    let noise: Vec<f64> = (0..width)
        .map(|_| {
            let size = laplace(known.scale, unit());
            if unit() < 0.5 { size } else { -size }
        })
        .collect();
    let mut at = vec![0.0; width];
    // Newton's method: a dozen steps are more than enough for losses that hardly bend.
    for _ in 0..12 {
        let mut slope: Vec<f64> = at.iter().zip(&noise).map(|(x, v)| known.ridge * x + v).collect();
        let mut second = vec![vec![0.0; width]; width];
        (0..width).for_each(|i| second[i][i] = known.ridge);
        for (places, label) in rows {
            let sum: f64 = places.iter().map(|&place| at[place]).sum();
            let p = 1.0 / (1.0 + (-sum).exp());
            for &i in places {
                slope[i] += p - f64::from(u8::from(*label));
                places.iter().for_each(|&j| second[i][j] += p * (1.0 - p));
            }
        }
        for (x, step) in at.iter_mut().zip(solved(second, slope)) {
            *x -= step;
        }
    }
    at
}

/// Solves a system with a matrix that is positive definite, by elimination.
fn solved(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    for i in 0..right.len() {
        for j in i + 1..right.len() {
            let factor = matrix[j][i] / matrix[i][i];
            if factor != 0.0 {
                let pivot = matrix[i].clone();
                matrix[j]
                    .iter_mut()
                    .zip(&pivot)
                    .for_each(|(x, p)| *x -= factor * p);
                right[j] -= factor * right[i];
            }
        }
    }
    for i in (0..right.len()).rev() {
        let known: f64 = (i + 1..right.len()).map(|j| matrix[i][j] * right[j]).sum();
        right[i] = (right[i] - known) / matrix[i][i];
    }
    right
}
