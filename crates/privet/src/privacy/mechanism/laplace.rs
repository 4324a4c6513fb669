//! Discrete Laplace noise on integer vectors: pure ε.

use dashu_ratio::RBig;

use super::{Mechanism, Paid, noisy, sealed, wrong_norm};
use crate::Error;
use crate::privacy::account::Price;
use crate::privacy::query::Norm;
use crate::privacy::sampler::{DiscreteLaplace, Noise};
use crate::privacy::{Epsilon, Private, Randomness, Ratio};

/// Adds independent discrete Laplace noise, `P(x) ∝ exp(−|x|/scale)`, to every coordinate.
///
/// # Privacy
/// Pure `Δ₁/scale`-DP for integer answers of L1 sensitivity `Δ₁`; proof in `docs/proofs/laplace.md#integer-vectors`.
#[derive(Debug)]
pub struct Laplace {
    law: DiscreteLaplace,
    scale: Ratio,
}

impl Laplace {
    /// Noise of the given scale.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the scale is beyond what 64-bit answers can carry.
    pub fn new(scale: Ratio) -> Result<Self, Error> {
        Ok(Self {
            law: DiscreteLaplace::new(scale.clone())?,
            scale,
        })
    }

    /// The least noise that costs `epsilon` for an answer of L1 sensitivity `l1`: scale `l1/ε`, exactly.
    ///
    /// # Errors
    /// [`Error::Parameter`] if either is zero, or the scale is beyond what 64-bit answers can carry.
    pub fn calibrated(epsilon: Epsilon, l1: u64) -> Result<Self, Error> {
        Self::new(calibrated_scale(epsilon, l1)?)
    }

    /// The scale of the noise.
    pub fn scale(&self) -> &Ratio {
        &self.scale
    }
}

impl sealed::Sealed for Laplace {}

impl Mechanism for Laplace {
    type Output = Vec<i64>;

    fn price(&self, norm: Norm) -> Result<Price, Error> {
        pure_price(norm, &self.scale)
    }

    fn draw(&self, answer: Private<Vec<i64>>, _paid: Paid, random: &mut Randomness) -> Vec<i64> {
        noisy(&self.law, answer, random)
    }

    fn describe(&self) -> String {
        format!("discrete Laplace noise of scale {}", self.scale)
    }

    fn variance(&self) -> f64 {
        self.law.variance()
    }
}

/// The scale that costs `epsilon` for an answer of L1 sensitivity `l1`.
pub(super) fn calibrated_scale(epsilon: Epsilon, l1: u64) -> Result<Ratio, Error> {
    let billion = RBig::from(1_000_000_000u64);
    if epsilon.billionths() == 0 {
        return Err(Error::parameter(
            "epsilon",
            "ε = 0 allows no answer at all: give it a positive share",
        ));
    }
    Ratio::from_big(RBig::from(l1) * billion / RBig::from(epsilon.billionths()))
}

/// What discrete Laplace noise of a scale costs.
pub(super) fn pure_price(norm: Norm, scale: &Ratio) -> Result<Price, Error> {
    let Norm::L1(bound) = norm else {
        return Err(wrong_norm("Laplace", "L1 norm", norm));
    };
    Ok(Price::Pure(Epsilon::from_ratio_up(
        &(RBig::from(bound) / scale.big()),
    )?))
}
