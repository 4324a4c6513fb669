//! Zero-concentrated differential privacy: a mechanism is ρ-zCDP if the Rényi divergence of every order α > 1 between
//! its outputs on neighbours is at most αρ (Bun and Steinke 2016).
//!
//! The price that every other price converts to. It converts to nothing but an (ε, δ).

use dashu_int::UBig;
use dashu_ratio::RBig;

use crate::Error;
use crate::privacy::decimal::quantity;
use crate::privacy::enclosure::Enclosure;
use crate::privacy::{Delta, Epsilon};

use super::gdp::MuSquared;
use super::{BITS, Caps, Price, largest};

const PLACES: usize = 18;

/// A zCDP price or cap ρ, in units of 10⁻¹⁸.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rho(u128);

quantity!(Rho, u128, PLACES, "a" "rho", u128::MAX);

impl Rho {
    /// A quantity of `units` times 10⁻¹⁸.
    pub const fn from_units(units: u128) -> Self {
        Self(units)
    }

    /// How many units of 10⁻¹⁸ it is.
    pub const fn units(self) -> u128 {
        self.0
    }

    /// The price of an ε-DP mechanism, ε²/2, rounded up.
    ///
    /// # Privacy
    /// Its loss has range 2ε. Bun and Steinke 2016; `docs/proofs/accounts.md#bounded-range-to-concentrated`.
    pub fn from_pure(epsilon: Epsilon) -> Self {
        Self(square(epsilon).div_ceil(2))
    }

    /// The price of a mechanism whose privacy loss stays, for each pair of neighbours, in some interval of length ε: the
    /// exponential mechanism, and not permute-and-flip. ε²/8, rounded up.
    ///
    /// # Privacy
    /// Cesar and Rogers 2021; `docs/proofs/accounts.md#bounded-range-to-concentrated`.
    pub fn from_bounded_range(epsilon: Epsilon) -> Self {
        Self(square(epsilon).div_ceil(8))
    }

    /// The price of a μ-GDP mechanism, μ²/2, rounded up.
    ///
    /// # Privacy
    /// The Rényi divergence of order α of the two normals is αμ²/2. Dong, Roth and Su 2022;
    /// `docs/proofs/accounts.md#gaussian-to-concentrated`.
    pub fn from_gaussian(mu_squared: MuSquared) -> Self {
        Self(mu_squared.units().div_ceil(2))
    }

    /// The largest ρ whose δ at `epsilon` is at most `delta`.
    ///
    /// # Privacy
    /// [`Caps::delta`](super::Caps::delta) of the answer was evaluated and is at most `delta`;
    /// `docs/proofs/accounts.md#concentrated-to-approximate`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if `delta` is zero: the ε of ρ is stated with a δ above zero.
    pub fn for_budget(epsilon: Epsilon, delta: Delta) -> Result<Self, Error> {
        largest("zero-concentrated", epsilon, delta, |units| {
            Price::Concentrated(Self(units))
        })
        .map(Self)
    }
}

/// ε² in units of 10⁻¹⁸: a billionth squared is one.
fn square(epsilon: Epsilon) -> u128 {
    u128::from(epsilon.billionths()).pow(2)
}

/// A Rényi order α = 1 + `excess`/2³².
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Order {
    excess: u128,
}

impl Order {
    /// The order nearest to 1 + `excess`, wherever that is not too close to one or too large to be of use.
    pub(super) fn new(excess: f64) -> Self {
        // Twenty digits are as good as all, and every platform's logarithm agrees on them: the same box, the same sentence.
        let excess = f64::from_bits(excess.to_bits() >> 32 << 32);
        let steps = (excess * 2f64.powi(32)).clamp(1.0, 2f64.powi(96));
        Self {
            excess: steps as u128,
        }
    }
}

/// A bound of δ at `epsilon` for a whole box through the Rényi divergence of one order, at most one.
///
/// ln δ ≤ (α−1)(D − ε) + (α−1)·ln(α−1) − α·ln α, where D adds up α(ρ + μ²/2) and the divergence of randomised response,
/// (α−1)·ε̂ + ln(1+e^−(2α−1)ε̂) − ln(1+e^−ε̂) over (α−1). Any order gives a valid bound.
///
/// # Privacy
/// Canonne, Kamath and Steinke 2020; `docs/proofs/accounts.md#concentrated-to-approximate`.
pub(super) fn delta(caps: &Caps, epsilon: Epsilon, order: &Order) -> Enclosure {
    let two = RBig::from(2);
    let excess = RBig::from_parts(order.excess.into(), UBig::ONE << 32);
    let alpha = &excess + RBig::ONE;
    let pure = caps.pure.to_ratio();
    let enclose = |x: &RBig| Enclosure::ratio(x, BITS);
    let one = enclose(&RBig::ONE);

    let normal = &alpha * (caps.rho.to_ratio() + caps.mu_squared.to_ratio() / &two);
    let moment = &excess * (normal + &pure - epsilon.to_ratio());
    let soft = |x: RBig| one.add(&enclose(&-x).exp()).ln();
    let coin = soft((&alpha + &excess) * &pure).sub(&soft(pure));
    let entropy = enclose(&excess)
        .mul(&enclose(&excess).ln())
        .sub(&enclose(&alpha).mul(&enclose(&alpha).ln()));
    let log = enclose(&moment).add(&coin).add(&entropy);
    // A bound above one says nothing, and its exponential may be a very long number.
    if *log.high() >= dashu_int::IBig::ZERO {
        one
    } else {
        log.exp()
    }
}
