//! Samplers for this crate's own tests: right ones, and ones that are wrong on purpose.

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

pub(crate) struct Source(ChaCha20Rng);

impl Source {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(ChaCha20Rng::seed_from_u64(seed))
    }

    /// Uniform on the multiples of 2^-53 in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn coin(&mut self, heads: f64) -> bool {
        self.unit() < heads
    }

    fn geometric(&mut self, scale: f64) -> i64 {
        ((1.0 - self.unit()).ln() * -scale).floor() as i64
    }

    /// P(x) ∝ e^(-|x|/scale): the difference of two geometrics.
    pub(crate) fn laplace(&mut self, scale: f64) -> i64 {
        self.geometric(scale) - self.geometric(scale)
    }

    /// The textbook Laplace on floats, whose support gives its centre away (Mironov 2012).
    pub(crate) fn float_laplace(&mut self, centre: f64, scale: f64) -> f64 {
        let u = self.unit();
        let sign = if self.coin(0.5) { 1.0 } else { -1.0 };
        centre + sign * scale * -(1.0 - u).ln()
    }

    pub(crate) fn laplaces(&mut self, centre: i64, scale: f64, n: usize) -> Vec<i64> {
        (0..n).map(|_| centre + self.laplace(scale)).collect()
    }
}

/// The mass of the discrete Laplace law.
pub(crate) fn laplace_mass(x: i64, scale: f64) -> f64 {
    let q = (-1.0 / scale).exp();
    (1.0 - q) / (1.0 + q) * (-(x.unsigned_abs() as f64) / scale).exp()
}

/// Its distribution function, right-continuous.
pub(crate) fn laplace_cdf(x: f64, scale: f64) -> f64 {
    let q = (-1.0 / scale).exp();
    let floor = x.floor();
    if floor < 0.0 {
        q.powf(-floor) / (1.0 + q)
    } else {
        1.0 - q.powf(floor + 1.0) / (1.0 + q)
    }
}
