//! Choosing one of several candidates by noisy score.

use dashu_ratio::RBig;

use super::{Mechanism, Paid, sealed, wrong_norm};
use crate::Error;
use crate::privacy::account::{MuSquared, Price, Rho};
use crate::privacy::query::Norm;
use crate::privacy::sampler::Selection;
use crate::privacy::{Epsilon, Private, Randomness, Ratio};

/// Permute-and-flip (McKenna & Sheldon 2020): never worse than the exponential mechanism at the same pure ε.
///
/// # Privacy
/// Pure `rate·width`; proof in `docs/proofs/selection.md#permute-and-flip`. It is *not* of bounded range: in zCDP it
/// costs ε²/2, never ε²/8.
#[derive(Debug)]
pub struct PermuteAndFlip {
    law: Selection,
    rate: Ratio,
}

impl PermuteAndFlip {
    /// Scores weighted by `exp(rate·score)`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the sampler cannot be built for that rate.
    pub fn new(rate: Ratio) -> Result<Self, Error> {
        Ok(Self {
            law: Selection::new(rate.clone())?,
            rate,
        })
    }

    /// The sharpest choice that costs `epsilon` for scores of that width: rate `ε/width`, exactly.
    ///
    /// # Errors
    /// [`Error::Parameter`] if either is zero.
    pub fn calibrated(epsilon: Epsilon, width: u64) -> Result<Self, Error> {
        Self::new(rate_for(epsilon, width)?)
    }
}

impl sealed::Sealed for PermuteAndFlip {}

impl Mechanism for PermuteAndFlip {
    type Output = usize;

    fn price(&self, norm: Norm) -> Result<Price, Error> {
        Ok(Price::Pure(epsilon_for(&self.rate, norm)?))
    }

    fn draw(&self, answer: Private<Vec<i64>>, _paid: Paid, random: &mut Randomness) -> usize {
        // A ledger refuses a query without coordinates, so there is always one to choose.
        self.law.permute_and_flip(&answer.expose(), random).unwrap_or(0)
    }

    fn describe(&self) -> String {
        format!("permute-and-flip of rate {}", self.rate)
    }

    /// Of the exponential noise of rate `rate` that an equivalent noisy maximum adds to each score.
    fn variance(&self) -> f64 {
        self.rate.to_f64().powi(-2)
    }
}

/// The exponential mechanism (McSherry & Talwar 2007), in the account of your choice.
///
/// # Privacy
/// With `ε = rate·width` it is pure ε-DP and of range ε, hence `ε²/8`-zCDP and GDP with
/// `μ = 2Φ⁻¹(e^(ε/2)/(1+e^(ε/2)))`; proof in `docs/proofs/selection.md#exponential`.
#[derive(Debug)]
pub struct Exponential {
    law: Selection,
    rate: Ratio,
    charged: Charged,
}

/// The account that an exponential mechanism is charged to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Charged {
    Pure,
    Concentrated,
    Gaussian,
}

impl Exponential {
    /// Scores weighted by `exp(rate·score)`, charged as pure ε.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the sampler cannot be built for that rate.
    pub fn pure(rate: Ratio) -> Result<Self, Error> {
        Self::new(rate, Charged::Pure)
    }

    /// The same, charged in zCDP.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the sampler cannot be built for that rate.
    pub fn concentrated(rate: Ratio) -> Result<Self, Error> {
        Self::new(rate, Charged::Concentrated)
    }

    /// The same, charged in Gaussian DP.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the sampler cannot be built for that rate.
    pub fn gaussian(rate: Ratio) -> Result<Self, Error> {
        Self::new(rate, Charged::Gaussian)
    }

    fn new(rate: Ratio, charged: Charged) -> Result<Self, Error> {
        Ok(Self {
            law: Selection::new(rate.clone())?,
            rate,
            charged,
        })
    }
}

impl sealed::Sealed for Exponential {}

impl Mechanism for Exponential {
    type Output = usize;

    fn price(&self, norm: Norm) -> Result<Price, Error> {
        let epsilon = epsilon_for(&self.rate, norm)?;
        Ok(match self.charged {
            Charged::Pure => Price::Pure(epsilon),
            Charged::Concentrated => Price::Concentrated(Rho::from_bounded_range(epsilon)),
            Charged::Gaussian => Price::Gaussian(MuSquared::from_bounded_range(epsilon)),
        })
    }

    fn draw(&self, answer: Private<Vec<i64>>, _paid: Paid, random: &mut Randomness) -> usize {
        self.law.exponential(&answer.expose(), random).unwrap_or(0)
    }

    fn describe(&self) -> String {
        format!("exponential mechanism of rate {}", self.rate)
    }

    /// Of the Gumbel noise of scale `1/rate` that an equivalent noisy maximum adds to each score.
    fn variance(&self) -> f64 {
        std::f64::consts::PI.powi(2) / 6.0 / self.rate.to_f64().powi(2)
    }
}

/// The rate at which scores of that width cost `epsilon`.
pub(crate) fn rate_for(epsilon: Epsilon, width: u64) -> Result<Ratio, Error> {
    if epsilon.billionths() == 0 || width == 0 {
        return Err(Error::parameter(
            "epsilon",
            "a budget or a width of zero fixes no rate: both must be positive",
        ));
    }
    Ratio::from_big(RBig::from(epsilon.billionths()) / (RBig::from(1_000_000_000u64) * RBig::from(width)))
}

fn epsilon_for(rate: &Ratio, norm: Norm) -> Result<Epsilon, Error> {
    let Norm::Width(width) = norm else {
        return Err(wrong_norm("selection", "width", norm));
    };
    Epsilon::from_ratio_up(&(rate.big() * RBig::from(width)))
}
