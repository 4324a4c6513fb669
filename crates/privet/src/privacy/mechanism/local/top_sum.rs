//! How far the codewords nearest to a direction reach along it, on average: the constant by which k-closest is made unbiased.
//!
//! These are floats of public parameters: they scale what was drawn, and no ε depends on them.

use std::f64::consts::PI;

/// Steps of the integral over the angle.
const STEPS: usize = 4096;
/// The same in two dimensions, where the nearest of 1024 angles lie within four of those steps.
const STEPS_OF_A_CIRCLE: usize = 4 * STEPS;

/// The law of the angle between a fixed direction and a uniform one, in a number of dimensions of at least two.
pub(super) struct Angles {
    /// The density of each angle.
    density: Vec<f64>,
    /// The probability of a smaller angle.
    below: Vec<f64>,
    /// The mean cosine over smaller angles, times their probability.
    reach: Vec<f64>,
}

impl Angles {
    pub(super) fn new(dimension: usize) -> Self {
        let steps = match dimension {
            2 => STEPS_OF_A_CIRCLE,
            _ => STEPS,
        };
        let step = PI / steps as f64;
        let power = |angle: f64| angle.sin().max(0.0).powi(dimension as i32 - 2);
        let mut density = Vec::with_capacity(steps + 1);
        let mut below = Vec::with_capacity(steps + 1);
        let mut sum = 0.0;
        for i in 0..=steps {
            let angle = i as f64 * step;
            if i > 0 {
                let middle = power(angle - step / 2.0);
                sum += step / 6.0 * (density[i - 1] + 4.0 * middle + power(angle));
            }
            density.push(power(angle));
            below.push(sum);
        }
        let reach = (0..=steps)
            .map(|i| power(i as f64 * step) * (i as f64 * step).sin() / (dimension as f64 - 1.0) / sum);
        let reach = reach.collect();
        density.iter_mut().chain(&mut below).for_each(|x| *x /= sum);
        Self {
            density,
            below,
            reach,
        }
    }

    /// The mean of the sum of the `k` largest of `m` independent cosines: each of them is among these if fewer than `k` of the other m − 1
    /// angles are smaller, and the k-th smallest of those has a Beta(k, m − k) share of the angles below it.
    pub(super) fn top_sum(&self, m: u64, k: u64) -> f64 {
        let (k, rest) = (k as f64, (m - k) as f64);
        let log_beta = log_factorial(k - 1.0) + log_factorial(rest - 1.0) - log_factorial(m as f64 - 1.0);
        let term = |i: usize| {
            let below = self.below[i].clamp(1e-300, 1.0 - 1e-16);
            let log = (k - 1.0) * below.ln() + (rest - 1.0) * (-below).ln_1p() - log_beta;
            self.reach[i] * log.exp() * self.density[i]
        };
        let steps = self.below.len() - 1;
        let simpson = (0..=steps).map(|i| {
            let times = match i {
                i if i == 0 || i == steps => 1.0,
                i if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            times * term(i)
        });
        m as f64 * simpson.sum::<f64>() * PI / (3.0 * steps as f64)
    }
}

fn log_factorial(n: f64) -> f64 {
    (2..=n as u64).map(|i| (i as f64).ln()).sum()
}
