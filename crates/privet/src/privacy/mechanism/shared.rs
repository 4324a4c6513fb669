//! Noise that owners add in shares: each adds its own to its own numbers, and only the sum over the owners is opened.
//!
//! What one owner draws protects nobody by itself, so it is not released: it can only enter a joint sum, as a
//! [`Contribution`](crate::privacy::Contribution) that [`Ledger::share`](crate::privacy::Ledger::share) makes.

use dashu_ratio::RBig;

use super::gaussian::{l2_squared, sigma_for};
use super::laplace::{calibrated_scale, pure_price};
use super::{Paid, sealed};
use crate::Error;
use crate::privacy::account::{MuSquared, Price};
use crate::privacy::joint::residue;
use crate::privacy::query::Norm;
use crate::privacy::sampler::{LaplaceShare, Noise, RoundedGaussian};
use crate::privacy::{Epsilon, Private, Randomness, Ratio, Sharing};

/// The least deviation of one owner's share of Gaussian noise.
const LEAST_SHARE: u64 = 4;
/// The largest price of one joint draw in μ².
const MOST_MU_SQUARED: MuSquared = MuSquared::from_units(100 * 10u128.pow(18));
/// What the sum of shares is charged above the real Gaussian mechanism.
const SHARED_UNIT: MuSquared = MuSquared::from_units(1);

/// A randomised joint sum with a price: each owner adds a share of the noise.
///
/// Implementations live in this module only, as those of [`Mechanism`](super::Mechanism).
///
/// # Privacy
/// `docs/proofs/shares.md#joint-sums`.
pub trait SharedMechanism: sealed::Sealed {
    /// The owners that add shares, and what is assumed of them.
    fn sharing(&self) -> Sharing;

    /// What one joint sum costs each owner whose own numbers one change moves by at most `norm`, rounded up. It is the price of the
    /// noise that [`Sharing::honest`] shares have together.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the mechanism has no guarantee in that norm; [`Error::Parameter`] if the noise is too little for it.
    fn price(&self, norm: Norm) -> Result<Price, Error>;

    /// The answer with one owner's share of noise, modulo [`MODULUS`](crate::privacy::joint::MODULUS). The work does not depend on
    /// the value or the noise.
    fn draw(&self, answer: Private<Vec<i64>>, paid: Paid, random: &mut Randomness) -> Vec<u64>;

    /// The mechanism and its parameters in words.
    fn describe(&self) -> String;

    /// The standard deviation of the noise in a sum of `contributions` owners' numbers: of all that are in it, since those who collude
    /// add noise, too.
    fn deviation(&self, contributions: u32) -> f64;
}

/// Shares of rounded Gaussian noise on integer vectors: Gaussian DP.
///
/// # Privacy
/// A sum of rounded Gaussian shares is no rounded Gaussian, but where each share has a deviation of at least 4 it is so near
/// to one that a single unit of μ² covers the difference; proof in `docs/proofs/gaussian.md#shared-rounded-gaussian`.
#[derive(Debug)]
pub struct SharedGaussian {
    law: RoundedGaussian,
    share: Ratio,
    /// Of as many shares before rounding as there are honest owners at least.
    variance: RBig,
    sharing: Sharing,
}

impl SharedGaussian {
    /// Shares of standard deviation `share` before rounding.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a share's deviation is below 4, or beyond what 64-bit answers can carry.
    pub fn new(share: Ratio, sharing: Sharing) -> Result<Self, Error> {
        if *share.big() < RBig::from(LEAST_SHARE) {
            let why = format!(
                "a share of Gaussian noise of deviation {:.3}: it must be at least {LEAST_SHARE}, so that the sum of rounded shares is as \
                 private as one rounded draw. Multiply the answers by a public number, such as {}",
                share.to_f64(),
                (LEAST_SHARE as f64 / share.to_f64()).ceil()
            );
            return Err(Error::parameter("sigma", why));
        }
        Ok(Self {
            law: RoundedGaussian::new(share.clone())?,
            variance: share.big() * share.big() * RBig::from(sharing.honest()),
            share,
            sharing,
        })
    }

    /// The least noise (to 40 digits) whose joint sum costs at most `mu_squared` for an owner's answer of squared L2 sensitivity
    /// `l2_squared`.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`Error::Parameter`] if either is zero.
    pub fn calibrated(mu_squared: MuSquared, l2_squared: u128, sharing: Sharing) -> Result<Self, Error> {
        let price = mu_squared.checked_sub(SHARED_UNIT).unwrap_or_default();
        let by_share = price.to_ratio() * RBig::from(sharing.honest());
        Self::new(sigma_for(by_share, l2_squared)?, sharing)
    }

    /// The standard deviation of one owner's share before rounding.
    pub fn share(&self) -> &Ratio {
        &self.share
    }
}

impl sealed::Sealed for SharedGaussian {}

impl SharedMechanism for SharedGaussian {
    fn sharing(&self) -> Sharing {
        self.sharing
    }

    fn price(&self, norm: Norm) -> Result<Price, Error> {
        let real = MuSquared::from_ratio_up(&(RBig::from(l2_squared(norm)?) / &self.variance))?;
        let price = real
            .checked_add(SHARED_UNIT)
            .filter(|price| *price <= MOST_MU_SQUARED);
        let price = price.ok_or_else(|| {
            let why = format!(
                "a joint draw that costs μ² = {real}: at most {MOST_MU_SQUARED} is proved; add more noise"
            );
            Error::parameter("mu_squared", why)
        })?;
        Ok(Price::Gaussian(price))
    }

    fn draw(&self, answer: Private<Vec<i64>>, _paid: Paid, random: &mut Randomness) -> Vec<u64> {
        noisy_residues(&self.law, answer, random)
    }

    fn describe(&self) -> String {
        format!(
            "rounded Gaussian noise in shares of σ {}, {} of them honest",
            self.share,
            self.sharing.honest()
        )
    }

    fn deviation(&self, contributions: u32) -> f64 {
        (self.law.variance() * f64::from(contributions)).sqrt()
    }
}

/// Shares of discrete Laplace noise on integer vectors: pure ε.
///
/// # Privacy
/// As many shares as there are honest owners at least have exactly the law of discrete Laplace noise together, and more
/// only add noise; proof in `docs/proofs/laplace.md#shared-laplace`.
#[derive(Debug)]
pub struct SharedLaplace {
    law: LaplaceShare,
    scale: Ratio,
    sharing: Sharing,
}

impl SharedLaplace {
    /// Shares of which [`Sharing::honest`] sum to discrete Laplace noise of this scale.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the scale is above what a table of shares holds: divide the answers by a public step first
    /// ([`Query::floored`](crate::privacy::Query::floored)).
    pub fn new(scale: Ratio, sharing: Sharing) -> Result<Self, Error> {
        Ok(Self {
            law: LaplaceShare::new(scale.clone(), sharing.honest())?,
            scale,
            sharing,
        })
    }

    /// The least noise whose joint sum costs `epsilon` for an owner's answer of L1 sensitivity `l1`: scale `l1/ε`, exactly.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`Error::Parameter`] if either is zero.
    pub fn calibrated(epsilon: Epsilon, l1: u64, sharing: Sharing) -> Result<Self, Error> {
        Self::new(calibrated_scale(epsilon, l1)?, sharing)
    }

    /// The scale of the noise that the least number of honest shares has together.
    pub fn scale(&self) -> &Ratio {
        &self.scale
    }
}

impl sealed::Sealed for SharedLaplace {}

impl SharedMechanism for SharedLaplace {
    fn sharing(&self) -> Sharing {
        self.sharing
    }

    fn price(&self, norm: Norm) -> Result<Price, Error> {
        pure_price(norm, &self.scale)
    }

    fn draw(&self, answer: Private<Vec<i64>>, _paid: Paid, random: &mut Randomness) -> Vec<u64> {
        noisy_residues(&self.law, answer, random)
    }

    fn describe(&self) -> String {
        format!(
            "discrete Laplace noise of scale {} in {} honest shares",
            self.scale,
            self.sharing.honest()
        )
    }

    fn deviation(&self, contributions: u32) -> f64 {
        (self.law.variance() * f64::from(contributions)).sqrt()
    }
}

/// The answer with noise on every coordinate, modulo the modulus of joint sums. Nothing is clipped: a clipped share would not be a part of
/// the sum that was proved.
fn noisy_residues(law: &impl Noise, answer: Private<Vec<i64>>, random: &mut Randomness) -> Vec<u64> {
    let answer = zeroize::Zeroizing::new(answer.expose());
    let noisy = |value: &i64| residue(i128::from(*value) + law.draw(random));
    answer.iter().map(noisy).collect()
}
