//! Objective perturbation as it is printed, in floating point: void.
//!
//! Kept for the round ball of Chaudhuri, Monteleoni and Sarwate (2011), for whose noise we have no exact counterpart
//! (`docs/proofs/objective.md#the-sphere`).

use super::super::Paid;
use crate::Error;
use crate::privacy::{Epsilon, Private, Randomness, Relation, getters};

/// Why its runs are void.
pub const ROUNDING_TELLS: &str = "noise and minimum were computed in floating point, and the last digits of the coefficients can show \
                                  whether one person was in the table";

/// What the noise gets of ε; the ridge gets the rest.
const SHARE: f64 = 0.85;

/// A loss whose rows have slopes no longer than one and a curvature of at most ¼, perturbed by noise in a sphere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floating {
    dimension: usize,
    epsilon: Epsilon,
    scale: f64,
    ridge: f64,
}

impl Floating {
    /// The noise and the ridge that real numbers would ask for.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε is zero or there is no coefficient.
    pub fn calibrated(epsilon: Epsilon, relation: &Relation, dimension: usize) -> Result<Self, Error> {
        let rows = f64::from(relation.rows().get());
        let scale = relation.steps() as f64 / (SHARE * epsilon.to_f64());
        let ridge = (0.25 / ((1.0 - SHARE) * epsilon.to_f64() / rows).exp_m1()).max(1.0);
        if dimension == 0 || !scale.is_finite() || !ridge.is_finite() {
            let why = format!(
                "epsilon = {epsilon} asks for more noise than numbers can hold, or there is no coefficient"
            );
            return Err(Error::parameter("epsilon", why));
        }
        Ok(Self {
            dimension,
            epsilon,
            scale,
            ridge,
        })
    }

    getters! {
        /// Its price in ε, although the run is void.
        pub epsilon(epsilon) -> Epsilon;
        /// The ridge, on every coefficient.
        pub ridge(ridge) -> f64;
    }

    /// The standard deviation of one coordinate of the noise.
    pub fn deviation(&self) -> f64 {
        self.scale * (self.dimension as f64 + 1.0).sqrt()
    }

    /// The mechanism and its parameters in words.
    pub fn describe(&self) -> String {
        format!(
            "the floating-point minimum of a loss of {} coefficients with noise of scale {} in the sphere and a ridge of {}",
            self.dimension, self.scale, self.ridge
        )
    }

    /// Draws noise, and lets `solve` find the minimum. The number of coefficients is public: the vector that `solve` returns is cut or
    /// padded to it, and values that are not finite count as zero, since an error would depend on the rows.
    pub(in crate::privacy) fn minimum(
        &self,
        solve: impl FnOnce(Private<Vec<f64>>) -> Private<Vec<f64>>,
        _paid: Paid,
        random: &mut Randomness,
    ) -> Vec<f64> {
        let radius = self.scale * (0..self.dimension).map(|_| exponential(random)).sum::<f64>();
        let direction: Vec<f64> = (0..self.dimension).map(|_| normal(random)).collect();
        let length = direction
            .iter()
            .map(|x| x * x)
            .sum::<f64>()
            .sqrt()
            .max(f64::MIN_POSITIVE);
        let noise = direction.iter().map(|x| radius * x / length).collect();
        let mut found = solve(Private::wrap(noise)).expose();
        found.resize(self.dimension, 0.0);
        found.iter_mut().filter(|x| !x.is_finite()).for_each(|x| *x = 0.0);
        found
    }
}

/// A number on the middles of 2⁵³ steps of (0, 1).
fn unit(random: &mut Randomness) -> f64 {
    ((random.word() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

fn exponential(random: &mut Randomness) -> f64 {
    -unit(random).ln()
}

/// Box and Muller (1958).
fn normal(random: &mut Randomness) -> f64 {
    let radius = (2.0 * exponential(random)).sqrt();
    radius * (std::f64::consts::TAU * unit(random)).cos()
}
