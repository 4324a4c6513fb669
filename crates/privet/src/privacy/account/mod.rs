//! What privacy costs: prices, caps, composition and conversion, every rounding against us.
//!
//! Three currencies: pure ε, zero-concentrated ρ (Bun and Steinke 2016) and Gaussian μ² (Dong, Roth and Su 2022). Each is
//! one number that simply adds up, also when the next price is chosen after seeing the earlier outputs, as long as a cap
//! on the sum was fixed before the first output: a *privacy filter* (Rogers et al. 2016; Feldman and Zrnic 2021; Smith
//! and Thakurta 2022; Koskela et al. 2022; Whitehouse et al. 2023).
//!
//! An (ε, δ) limit over several currencies at once is *not* a filter: an analyst who picks the next currency by the
//! outputs reaches almost twice δ. So a limit is a box of [`Caps`], one for each currency, and its (ε, δ) sentence is
//! computed from the whole box, spent or not.
//!
//! Not implemented: amplification by sampling, curves of single mechanisms, local and per-distance privacy.

mod beyond;
mod gdp;
mod pure;
mod split;
mod zcdp;

use std::convert::Infallible;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::memo::Memo;
use super::{Delta, Epsilon};
use crate::Error;
use gdp::units_up;

pub use gdp::MuSquared;
pub use zcdp::Rho;

/// Binary digits of every enclosure here: 10⁻¹⁸ is 60 of them, the largest factor that magnifies an error another 64.
const BITS: usize = 192;
/// Where a search for an ε begins, in billionths: about one.
const START: u64 = 1 << 30;

/// What one release costs, in the currency its mechanism is proved in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Price {
    /// ε-DP.
    Pure(Epsilon),
    /// ρ-zCDP.
    Concentrated(Rho),
    /// μ-GDP, as μ².
    Gaussian(MuSquared),
}

impl Price {
    /// The price for units that are `steps` changes apart: ε grows with the distance, ρ and μ² with its square.
    ///
    /// # Privacy
    /// Group privacy, `docs/proofs/accounts.md#group-privacy`. `None` if the price cannot be written.
    pub fn group(self, steps: u64) -> Option<Self> {
        match self {
            Self::Pure(_) => self.times(steps),
            Self::Concentrated(_) | Self::Gaussian(_) => self.times(steps)?.times(steps),
        }
    }

    /// The price of `n` releases at this price.
    ///
    /// # Privacy
    /// Sequential composition is a sum in every currency. `None` if the price cannot be written.
    pub fn times(self, n: u64) -> Option<Self> {
        Some(match self {
            Self::Pure(epsilon) => Self::Pure(epsilon.checked_mul(n)?),
            Self::Concentrated(rho) => Self::Concentrated(rho.checked_mul(n)?),
            Self::Gaussian(mu_squared) => Self::Gaussian(mu_squared.checked_mul(n)?),
        })
    }

    /// `so_many` of `parts` equal parts, rounded down; `None` if that is zero.
    pub fn part(self, so_many: u64, parts: u64) -> Option<Self> {
        let of = |units: u128| {
            let part = units.checked_mul(so_many.into())?.checked_div(parts.into())?;
            (part > 0).then_some(part)
        };
        Some(match self {
            Self::Pure(epsilon) => {
                let part = of(epsilon.billionths().into())?;
                Self::Pure(Epsilon::from_billionths(u64::try_from(part).ok()?))
            }
            Self::Concentrated(rho) => Self::Concentrated(Rho::from_units(of(rho.units())?)),
            Self::Gaussian(mu_squared) => Self::Gaussian(MuSquared::from_units(of(mu_squared.units())?)),
        })
    }

    /// The price of both releases, if they are of one currency.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Pure(a), Self::Pure(b)) => a.checked_add(b).map(Self::Pure),
            (Self::Concentrated(a), Self::Concentrated(b)) => a.checked_add(b).map(Self::Concentrated),
            (Self::Gaussian(a), Self::Gaussian(b)) => a.checked_add(b).map(Self::Gaussian),
            _ => None,
        }
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pure(epsilon) => write!(f, "pure ε of {epsilon}"),
            Self::Concentrated(rho) => write!(f, "zero-concentrated ρ of {rho}"),
            Self::Gaussian(mu_squared) => write!(f, "Gaussian μ² of {mu_squared}"),
        }
    }
}

/// A box of caps, one for each currency; also what has been spent of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caps {
    /// Pure ε.
    pub pure: Epsilon,
    /// Zero-concentrated ρ.
    pub rho: Rho,
    /// Gaussian μ².
    pub mu_squared: MuSquared,
}

impl From<Price> for Caps {
    /// A box with room for exactly this price.
    fn from(price: Price) -> Self {
        match price {
            Price::Pure(pure) => Self { pure, ..Self::ZERO },
            Price::Concentrated(rho) => Self { rho, ..Self::ZERO },
            Price::Gaussian(mu_squared) => Self {
                mu_squared,
                ..Self::ZERO
            },
        }
    }
}

impl fmt::Display for Caps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = [
            (self.pure != Epsilon::ZERO).then(|| Price::Pure(self.pure).to_string()),
            (self.rho != Rho::ZERO).then(|| Price::Concentrated(self.rho).to_string()),
            (self.mu_squared != MuSquared::ZERO).then(|| Price::Gaussian(self.mu_squared).to_string()),
        ]
        .into_iter()
        .flatten()
        .collect();
        f.write_str(if parts.is_empty() { "nothing" } else { "" })?;
        f.write_str(&parts.join(" and "))
    }
}

impl Caps {
    /// Nothing of any currency.
    pub const ZERO: Self = Self {
        pure: Epsilon::ZERO,
        rho: Rho::ZERO,
        mu_squared: MuSquared::ZERO,
    };

    /// Cap by cap.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        Some(Self {
            pure: self.pure.checked_add(other.pure)?,
            rho: self.rho.checked_add(other.rho)?,
            mu_squared: self.mu_squared.checked_add(other.mu_squared)?,
        })
    }

    /// What remains of each cap; zero where more than the cap was spent.
    pub fn remaining(&self, spent: &Self) -> Self {
        Self {
            pure: self.pure.checked_sub(spent.pure).unwrap_or_default(),
            rho: self.rho.checked_sub(spent.rho).unwrap_or_default(),
            mu_squared: self.mu_squared.checked_sub(spent.mu_squared).unwrap_or_default(),
        }
    }

    /// No cap of this box is above the limit's.
    fn within(self, limit: &Self) -> bool {
        self.pure <= limit.pure && self.rho <= limit.rho && self.mu_squared <= limit.mu_squared
    }

    /// The amount spent after `price`, or `None` if that exceeds the limit.
    ///
    /// The price is debited from its own cap where it fits, else through a proved conversion: pure ε as μ², then as ρ;
    /// μ² as ρ. ρ converts to nothing.
    ///
    /// # Privacy
    /// A filter for the limit: `docs/proofs/accounts.md#box-of-caps`.
    pub fn charge(self, limit: &Self, price: Price) -> Option<Self> {
        let spent = |price: Price| self.checked_add(price.into()).filter(|spent| spent.within(limit));
        spent(price).or_else(|| match price {
            Price::Pure(epsilon) => spent(Price::Gaussian(MuSquared::from_pure(epsilon)))
                .or_else(|| spent(Price::Concentrated(Rho::from_pure(epsilon)))),
            Price::Gaussian(mu_squared) => spent(Price::Concentrated(Rho::from_gaussian(mu_squared))),
            Price::Concentrated(_) => None,
        })
    }

    /// An upper bound of the δ that this box has at `epsilon`; [`Delta::MAX`] where nothing is promised.
    ///
    /// It is a sentence about caps that were fixed before the first output. What happened to be spent of them when a run
    /// chose to stop is not such a box, except for pure ε.
    ///
    /// Exact up to rounding for pure and Gaussian caps together. With a zCDP cap it is the better of two bounds: ε cut in
    /// two, one part for ρ and one for the rest; or all of it through one Rényi order.
    ///
    /// # Privacy
    /// `docs/proofs/accounts.md#box-of-caps`.
    pub fn delta(&self, epsilon: Epsilon) -> Delta {
        Delta::saturating(self.delta_units(epsilon))
    }

    /// The smallest ε whose δ bound is at most `delta`; [`Epsilon::MAX`] where there is none.
    ///
    /// # Privacy
    /// The bound was evaluated at the answer; `docs/proofs/accounts.md#rounding`.
    pub fn epsilon(&self, delta: Delta) -> Epsilon {
        if delta == Delta::ZERO {
            let promise = self.rho == Rho::ZERO && self.mu_squared == MuSquared::ZERO;
            return if promise { self.pure } else { Epsilon::MAX };
        }
        // All owners of a joint run say the same of their parts.
        static KNOWN: Memo<(Caps, Delta), Epsilon> = Memo::new();
        let found: Result<_, Infallible> = KNOWN.get((*self, delta), |_| Ok(self.smallest(delta)));
        found.unwrap_or_else(|never| match never {})
    }

    fn smallest(&self, delta: Delta) -> Epsilon {
        let fits = |e| self.delta_units(Epsilon::from_billionths(e)) <= delta.units().into();
        if fits(0) {
            return Epsilon::ZERO;
        }
        let (mut low, mut high) = (0, START);
        while !fits(high) {
            (low, high) = (high, high.saturating_mul(2));
            if low == high {
                return Epsilon::MAX;
            }
        }
        let units = |e: u128| self.delta_units(Epsilon::from_billionths(e as u64));
        let (_, high) = crossing(low.into(), high.into(), units, delta);
        Epsilon::from_billionths(high as u64)
    }

    /// The bound of [`Caps::delta`] in units of 10⁻¹⁸, which may be one or more.
    fn delta_units(&self, epsilon: Epsilon) -> u128 {
        if self.rho == Rho::ZERO {
            return units_up(&pure::delta(self.pure, self.mu_squared, epsilon));
        }
        let joint = units_up(&zcdp::delta(self, epsilon, &split::order(self, epsilon.to_f64())));
        if self.pure == Epsilon::ZERO && self.mu_squared == MuSquared::ZERO {
            return joint;
        }
        let part = split::best(self, epsilon);
        let rho = Self {
            rho: self.rho,
            ..Self::ZERO
        };
        let concentrated = zcdp::delta(&rho, part, &split::order(&rho, part.to_f64()));
        let rest = epsilon.checked_sub(part).unwrap_or_default();
        let cut = concentrated.add(&pure::delta(self.pure, self.mu_squared, rest));
        joint.min(units_up(&cut))
    }
}

/// The most units that a budget may spend in one currency, so that their δ at `epsilon` is at most `delta`.
fn largest(kind: &str, epsilon: Epsilon, delta: Delta, price: impl Fn(u128) -> Price) -> Result<u128, Error> {
    if delta == Delta::ZERO {
        let why = format!("a {kind} budget needs a delta above zero, such as 1e-6");
        return Err(Error::parameter("delta", why));
    }
    // Nothing fits, and fewer always fit if more do.
    let fits = |units| Caps::from(price(units)).delta_units(epsilon) <= delta.units().into();
    let (mut low, mut high) = (0, 1u128);
    while fits(high) {
        low = high;
        match high.checked_mul(2) {
            Some(double) => high = double,
            None => return Ok(low),
        }
    }
    let units = |units| Caps::from(price(units)).delta_units(epsilon);
    Ok(crossing(low, high, units, delta).0)
}

/// The numbers next to each other between `low` and `high` of which only one has a bound of at most `delta`, as only one of these two has; the
/// bound rises or falls.
///
/// Places are guessed as if √(−ln δ) were a straight line, which it nearly is for normal noise, and looked at on both sides. That is a
/// search: what fits decides.
fn crossing(low: u128, high: u128, units: impl Fn(u128) -> u128, delta: Delta) -> (u128, u128) {
    let most = u128::from(delta.units());
    let height = |units: u128| (-(units.max(1) as f64 * 1e-18).ln()).max(0.0).sqrt();
    let (at_low, at_high) = (units(low), units(high));
    let fits_low = at_low <= most;
    let (mut low, mut high) = ((low, height(at_low)), (high, height(at_high)));
    while high.0 - low.0 > 1 {
        let width = high.0 - low.0;
        let middle = low.0 + width / 2;
        let share = (height(most) - low.1) / (high.1 - low.1);
        let guess = low.0 + (width as f64 * share.clamp(0.0, 1.0)) as u128;
        let reach = (width as f64).sqrt() as u128;
        for place in [guess.saturating_sub(reach), guess.saturating_add(reach), middle] {
            // The middle only if the guess was no good.
            let is_needed = place != middle || high.0 - low.0 > width / 8;
            if is_needed && low.0 < place && place < high.0 {
                let at = units(place);
                let end = if (at <= most) == fits_low {
                    &mut low
                } else {
                    &mut high
                };
                *end = (place, height(at));
            }
        }
    }
    (low.0, high.0)
}

#[cfg(test)]
mod tests;
