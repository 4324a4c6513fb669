//! Noisy counts, and how uncertain a function of them is.

use crate::model::metrics::{Estimate, Metric, interval};

/// How many times its noise a count must be before anything is divided by it.
pub(super) const SIGNIFICANT: f64 = 5.0;

/// How many times its noise a sum of the last counts may be and still be nothing.
const INSIGNIFICANT: f64 = 3.0;

/// Counts with noise. They may be negative.
#[derive(Debug, Clone)]
pub(super) struct Noisy {
    pub(super) counts: Vec<f64>,
    /// The variance of the noise of each.
    variance: f64,
}

impl Noisy {
    pub(super) fn new(counts: &[i64], variance: f64) -> Self {
        Self {
            counts: counts.iter().map(|count| *count as f64).collect(),
            variance,
        }
    }

    /// Some of the counts, next to each other.
    pub(super) fn part(&self, from: usize, to: usize) -> Self {
        self.with(self.counts[from..to].to_vec())
    }

    /// Other counts with the same noise.
    pub(super) fn with(&self, counts: Vec<f64>) -> Self {
        Self {
            counts,
            variance: self.variance,
        }
    }

    pub(super) fn sum(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// A sum that the noise does not hide, with weights.
    pub(super) fn significant(&self, weight: impl Fn(usize) -> f64) -> Option<f64> {
        let sum: f64 = self.each(|cell, count| weight(cell) * count);
        let noise = self.noise(&weight);
        (sum > SIGNIFICANT * noise.sqrt()).then_some(sum)
    }

    /// Between what a sum with weights must lie.
    pub(super) fn between(&self, weight: impl Fn(usize) -> f64) -> (f64, f64) {
        let sum: f64 = self.each(|cell, count| weight(cell) * count);
        let reach = interval::Z * (self.noise(&weight) + self.sampling(&weight)).sqrt();
        (sum - reach, sum + reach)
    }

    /// The first bin from which on all sums up to the last are hidden by the noise: what is there may be nothing.
    pub(super) fn quiet_from(&self) -> usize {
        let (mut tail, mut bins) = (0.0, 0.0);
        for (bin, count) in self.counts.iter().enumerate().rev() {
            tail += count;
            bins += 1.0;
            if tail > INSIGNIFICANT * f64::sqrt(bins * self.variance) {
                return bin + 1;
            }
        }
        0
    }

    /// How many rows there are, about: the interval is that of the noise alone.
    pub(super) fn rows(&self) -> Estimate {
        let reach = interval::Z * self.noise(|_| 1.0).sqrt();
        let sum = self.sum();
        let [value, low, high] = [sum, sum - reach, sum + reach].map(|x| x.max(0.0));
        Estimate { value, low, high }
    }

    /// The variance that the noise gives to a figure of these slopes.
    pub(super) fn noise(&self, slope: impl Fn(usize) -> f64) -> f64 {
        self.each(|cell, _| slope(cell).powi(2) * self.variance)
    }

    /// The variance that drawing rows gives to a figure of these slopes: a figure of shares has Σ c·slope = 0, and then
    /// the counts' covariances cancel.
    pub(super) fn sampling(&self, slope: impl Fn(usize) -> f64) -> f64 {
        self.each(|cell, count| slope(cell).powi(2) * count).max(0.0)
    }

    /// The figure with an interval for sampling and noise, and `bins` added to both ends.
    pub(super) fn estimate(
        &self,
        metric: Metric,
        value: f64,
        bins: f64,
        slope: impl Fn(usize) -> f64,
    ) -> Option<Estimate> {
        let variance = self.noise(&slope) + self.sampling(&slope);
        let reach = interval::Z * variance.sqrt() + bins;
        Estimate::within(metric, value, (value - reach, value + reach))
    }

    /// The mean of what rows are worth by their cell, for `rows` rows, and how far the bins can put it off.
    pub(super) fn mean(&self, rows: f64, typical: &[super::bins::Typical]) -> (f64, f64) {
        let value = self.each(|cell, count| count * typical[cell].value);
        // Negative counts would make the bins look finer than they are.
        let off = self.each(|cell, count| count.max(0.0) * typical[cell].off);
        (value / rows, off / rows)
    }

    fn each(&self, f: impl Fn(usize, f64) -> f64) -> f64 {
        self.counts
            .iter()
            .enumerate()
            .map(|(cell, count)| f(cell, *count))
            .sum()
    }
}
