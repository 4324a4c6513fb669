//! The discrete Gaussian law `P(x) ∝ exp(-x²/2σ²)`.
//!
//! Small σ take one table draw. Wide ones follow CKS20, algorithm 3: a discrete Laplace draw `y` of scale
//! `t = floor(σ)+1`, kept with probability `exp(-(|y| − σ²/t)²/2σ²)`; a refused draw starts again from nothing, so how
//! often says nothing about the value kept.

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::geometric::decay;
use super::noise::{Noise, float, supported, whole_bits};
use super::table::{Cumulative, Thresholds};
use super::{DiscreteLaplace, Randomness, bernoulli};
use crate::Error;
use crate::privacy::Ratio;
use crate::privacy::enclosure::{Enclosure, pi};

/// Whole parts of σ of at most this many digits get a table: about 9.4 entries per unit, 0.5 µs each to build.
const SINGLE: usize = 9;

/// `q, q⁴, q⁹, …`
pub(super) fn squares(q: &Enclosure) -> impl Iterator<Item = Enclosure> + use<> {
    let square = q.mul(q);
    let mut ratio = q.clone();
    let mut weight = Enclosure::integer(1, q.bits());
    std::iter::repeat_with(move || {
        weight = weight.mul(&ratio);
        ratio = ratio.mul(&square);
        weight.clone()
    })
}

/// `Σ q^(j²)` over all integers, for `q` of at most `exp(-1/2)`.
fn square_sum(q: &Enclosure) -> Enclosure {
    let bits = q.bits();
    let mut sum = Enclosure::integer(1, bits);
    for weight in squares(q) {
        sum = sum.add(&weight).add(&weight);
        if *weight.high() <= IBig::ONE {
            break;
        }
    }
    // Each further weight is below a fourth of the one before it, which was one unit at most.
    Enclosure::between(sum.low().clone(), sum.high() + 1, bits)
}

/// `Σ exp(-j²/2σ²)` over all integers; above σ = 1 by Poisson's formula, whose series is the shorter one there.
fn theta(sigma: &RBig, bits: usize) -> Enclosure {
    if *sigma <= RBig::ONE {
        return square_sum(&decay(&rate(sigma), bits));
    }
    let work = bits + 2 * whole_bits(sigma) + 16;
    let pi = pi(work);
    let exponent = pi
        .mul(&pi)
        .mul(&Enclosure::ratio(&(sigma.sqr() * RBig::from(2)), work));
    let sum = square_sum(&exponent.neg().exp());
    let factor = pi.add(&pi).sqrt().mul(&Enclosure::ratio(sigma, work));
    sum.mul(&factor).rounded(bits)
}

/// `1/2σ²`.
pub(super) fn rate(sigma: &RBig) -> RBig {
    RBig::ONE / (sigma.sqr() * RBig::from(2))
}

/// `P(|X| ≤ k)` for the discrete Gaussian.
#[derive(Debug, Clone)]
struct Magnitude {
    sigma: RBig,
}

impl Cumulative for Magnitude {
    fn thresholds(&self, bits: usize) -> Box<dyn Iterator<Item = Enclosure> + '_> {
        let one = Enclosure::integer(1, bits);
        let inverse = one.div(&theta(&self.sigma, bits));
        let rest = squares(&decay(&rate(&self.sigma), bits)).map(|weight| weight.add(&weight));
        Box::new(partial_sums(one, rest).map(move |sum| sum.mul(&inverse)))
    }
}

/// `P(k) ∝ exp(-k²/2σ²)` on 0, 1, 2, …: the cells from which the real normal is drawn.
#[derive(Debug, Clone)]
pub(super) struct Half {
    pub(super) sigma: RBig,
}

impl Cumulative for Half {
    fn thresholds(&self, bits: usize) -> Box<dyn Iterator<Item = Enclosure> + '_> {
        let one = Enclosure::integer(1, bits);
        let inverse = one.add(&one).div(&theta(&self.sigma, bits).add(&one));
        let rest = squares(&decay(&rate(&self.sigma), bits));
        Box::new(partial_sums(one, rest).map(move |sum| sum.mul(&inverse)))
    }
}

/// `first`, then `first` and the next, and so on.
pub(super) fn partial_sums(
    first: Enclosure,
    mut rest: impl Iterator<Item = Enclosure>,
) -> impl Iterator<Item = Enclosure> {
    std::iter::successors(Some(first), move |sum| Some(sum.add(&rest.next()?)))
}

/// Algorithm 3 with its constants in machine words; σ must be at least one.
#[derive(Debug, Clone)]
struct Rejection {
    proposal: DiscreteLaplace,
    sigma: RBig,
    /// `t`, the scale of the proposal.
    scale: RBig,
    /// `1/(σ√2)` is `slope / 2^(64+shift)`, cut off.
    slope: u64,
    shift: u32,
    /// `σ/(t√2)` in units of 2^-64.
    offset: u64,
}

impl Rejection {
    fn new(sigma: RBig) -> Result<Self, Error> {
        let scale = RBig::from(sigma.trunc() + 1);
        let bits = 320;
        let root = Enclosure::integer(2, bits).sqrt();
        let slope = Enclosure::ratio(&(RBig::ONE / &sigma), bits).div(&root);
        let word =
            |x: &Enclosure, unit: usize| u64::try_from(&(x.low() >> (bits - unit))).unwrap_or(u64::MAX);
        // 2^shift ≤ σ < 2^(shift+1): the slope has 63 or 64 digits.
        let shift = whole_bits(&sigma).saturating_sub(1);
        Ok(Self {
            proposal: DiscreteLaplace::of(scale.clone())?,
            slope: word(&slope, 64 + shift),
            shift: shift as u32,
            offset: word(&Enclosure::ratio(&(&sigma / &scale), bits).div(&root), 64),
            sigma,
            scale,
        })
    }

    #[inline]
    fn draw(&self, random: &mut Randomness) -> i128 {
        loop {
            let y = self.proposal.draw(random);
            let size = y.unsigned_abs();
            if bernoulli::happens(self.exponent(size), |bits| self.exact(size, bits), random) {
                return y;
            }
        }
    }

    /// `(|y| − σ²/t)²/2σ² = (|y|/(σ√2) − σ/(t√2))²` in units of 2^-64.
    ///
    /// With `z` the root: `slope` is above 2^62.5, so `z` is off by at most `(2.83(z+0.71)+2)·2^-64` and `exp(-z²)` by
    /// `(2z(2.83z+4.01)+1)·exp(-z²)·2^-64 < 6·2^-64`, within the slack of the coin. From `z = 8` on nothing is left of it.
    #[inline]
    fn exponent(&self, size: u128) -> u128 {
        // σ is at most 2^60: a size of 2^64 has z > 8.
        let size = size.min(u64::MAX.into());
        let z = ((size * u128::from(self.slope)) >> self.shift).abs_diff(u128::from(self.offset));
        let z = z.min((8 << 64) - 1);
        let (whole, part) = (z >> 64, z & u128::from(u64::MAX));
        ((whole * whole) << 64) + 2 * whole * part + ((part * part) >> 64)
    }

    fn exact(&self, size: u128, bits: usize) -> Enclosure {
        let shift = self.sigma.sqr() / &self.scale;
        let x = (RBig::from(size) - shift).sqr() * rate(&self.sigma);
        decay(&x, bits)
    }
}

#[derive(Debug, Clone)]
enum Way {
    Table(Thresholds<Magnitude>),
    Wide(Box<Rejection>),
}

/// The discrete Gaussian law: `P(x) ∝ exp(-x²/2σ²)` on the integers.
#[derive(Debug, Clone)]
pub struct DiscreteGaussian {
    sigma: RBig,
    way: Way,
}

impl DiscreteGaussian {
    /// # Errors
    /// [`Error::Parameter`] if `sigma` is above 2^60.
    pub fn new(sigma: Ratio) -> Result<Self, Error> {
        let sigma = supported("sigma", &sigma)?;
        if whole_bits(&sigma) <= SINGLE {
            let law = Magnitude { sigma: sigma.clone() };
            if let Some(table) = Thresholds::new(law, 1 << 14) {
                let way = Way::Table(table);
                return Ok(Self { sigma, way });
            }
        }
        Self::wide(sigma)
    }

    fn wide(sigma: RBig) -> Result<Self, Error> {
        let way = Way::Wide(Box::new(Rejection::new(sigma.clone())?));
        Ok(Self { sigma, way })
    }
}

impl Noise for DiscreteGaussian {
    #[inline]
    fn draw(&self, random: &mut Randomness) -> i128 {
        match &self.way {
            Way::Table(table) => table.draw_signed(random).into(),
            Way::Wide(rejection) => rejection.draw(random),
        }
    }

    fn add_to(&self, values: &mut [i64], random: &mut Randomness) {
        match &self.way {
            Way::Table(table) => table.add_signed(values, random),
            Way::Wide(rejection) => super::noise::add_each(values, || rejection.draw(random)),
        }
    }

    fn variance(&self) -> f64 {
        let sigma = self.sigma.to_f64().value();
        if sigma > 3.0 {
            // Poisson's formula: it differs from σ² by less than 1e-70 of it.
            return sigma * sigma;
        }
        let weight = |k: i32| (-f64::from(k * k) / (2.0 * sigma * sigma)).exp();
        let square: f64 = (1..200).map(|k| f64::from(k * k) * weight(k)).sum();
        let rest: f64 = (1..200).map(weight).sum();
        2.0 * square / (1.0 + 2.0 * rest)
    }

    fn mass(&self, k: i64) -> f64 {
        float(|bits| {
            let square = RBig::from(IBig::from(k) * k);
            decay(&(rate(&self.sigma) * square), bits).div(&theta(&self.sigma, bits))
        })
    }
}

#[cfg(test)]
mod tests;
