//! Rounded Gaussian noise on integer vectors: Gaussian DP.

use dashu_base::{BitTest, SquareRoot};
use dashu_int::UBig;
use dashu_ratio::RBig;

use super::{Mechanism, Paid, noisy, sealed, wrong_norm};
use crate::Error;
use crate::privacy::account::{MuSquared, Price};
use crate::privacy::query::Norm;
use crate::privacy::sampler::{Noise, RoundedGaussian};
use crate::privacy::{Private, Randomness, Ratio};

/// Adds independent rounded Gaussian noise, mass `Φ((k+½)/σ) − Φ((k−½)/σ)` at `k`, to every coordinate.
///
/// # Privacy
/// `f + round(N) = round(f + N)` for an integer `f`, so a release is post-processing of the real Gaussian mechanism and
/// never worse than `Δ₂/σ`-GDP; proof in `docs/proofs/gaussian.md#rounded-gaussian`. True for integers only, which is
/// why the input type has nothing else.
#[derive(Debug)]
pub struct Gaussian {
    law: RoundedGaussian,
    sigma: Ratio,
}

impl Gaussian {
    /// Noise of standard deviation `sigma` before rounding.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it is beyond what 64-bit answers can carry.
    pub fn new(sigma: Ratio) -> Result<Self, Error> {
        Ok(Self {
            law: RoundedGaussian::new(sigma.clone())?,
            sigma,
        })
    }

    /// The least noise (to 40 digits) that costs at most `mu_squared` for an answer of squared L2 sensitivity
    /// `l2_squared`: `σ² = Δ₂²/μ²`, rounded up.
    ///
    /// # Errors
    /// [`Error::Parameter`] if either is zero, or σ is beyond what 64-bit answers can carry.
    pub fn calibrated(mu_squared: MuSquared, l2_squared: u128) -> Result<Self, Error> {
        Self::new(sigma_for(mu_squared.to_ratio(), l2_squared)?)
    }

    /// The standard deviation before rounding.
    pub fn sigma(&self) -> &Ratio {
        &self.sigma
    }
}

impl sealed::Sealed for Gaussian {}

impl Mechanism for Gaussian {
    type Output = Vec<i64>;

    fn price(&self, norm: Norm) -> Result<Price, Error> {
        let squared = l2_squared(norm)?;
        let variance = self.sigma.big() * self.sigma.big();
        Ok(Price::Gaussian(MuSquared::from_ratio_up(
            &(RBig::from(squared) / variance),
        )?))
    }

    fn draw(&self, answer: Private<Vec<i64>>, _paid: Paid, random: &mut Randomness) -> Vec<i64> {
        noisy(&self.law, answer, random)
    }

    fn describe(&self) -> String {
        format!("rounded Gaussian noise of σ {}", self.sigma)
    }

    fn variance(&self) -> f64 {
        self.law.variance()
    }
}

pub(super) fn l2_squared(norm: Norm) -> Result<u128, Error> {
    match norm {
        Norm::L2Squared(squared) => Ok(squared),
        _ => Err(wrong_norm("Gaussian", "squared L2 norm", norm)),
    }
}

/// The smallest σ with some 40 digits such that `l2_squared/σ² ≤ price`.
pub(super) fn sigma_for(price: RBig, l2_squared: u128) -> Result<Ratio, Error> {
    if price <= RBig::ZERO || l2_squared == 0 {
        return Err(Error::parameter(
            "mu_squared",
            "a budget or a sensitivity of zero fixes no noise: both must be positive",
        ));
    }
    let variance = RBig::from(l2_squared) / price;
    let (numerator, denominator) = variance.into_parts();
    let (_, numerator) = numerator.into_parts();
    // σ ≈ 2^whole: keep 40 digits below its first.
    let whole = (numerator.bit_len() as i64 - denominator.bit_len() as i64).div_euclid(2);
    let digits = usize::try_from(40 - whole).unwrap_or(0);
    let scaled = (numerator << (2 * digits)) / denominator;
    let root = scaled.sqrt() + UBig::ONE;
    Ratio::from_big(RBig::from_parts(root.into(), UBig::ONE << digits))
}
