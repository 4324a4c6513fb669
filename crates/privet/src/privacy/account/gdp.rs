//! Gaussian differential privacy: a mechanism is μ-GDP if telling neighbours apart by its output is never easier than
//! telling N(0, 1) from N(μ, 1) by one draw (Dong, Roth and Su 2022).
//!
//! Everything here is a statement about that pair of normals, computed in enclosures. There is no conversion from zCDP:
//! a ρ-zCDP mechanism need not be √(2ρ)-GDP, and the discrete Gaussian is one that is not.

use std::convert::Infallible;
use std::sync::OnceLock;

use dashu_base::DivEuclid;
use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::Error;
use crate::privacy::decimal::quantity;
use crate::privacy::enclosure::{Enclosure, pi};
use crate::privacy::memo::Memo;
use crate::privacy::{Delta, Epsilon};

use super::{BITS, Price, largest};

const PLACES: usize = 18;

/// A Gaussian-DP price or cap μ², in units of 10⁻¹⁸.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MuSquared(u128);

quantity!(MuSquared, u128, PLACES, "a" "squared mu", u128::MAX);

impl MuSquared {
    /// A quantity of `units` times 10⁻¹⁸.
    pub const fn from_units(units: u128) -> Self {
        Self(units)
    }

    /// How many units of 10⁻¹⁸ it is.
    pub const fn units(self) -> u128 {
        self.0
    }

    /// The price of an ε-DP mechanism: μ = −2Φ⁻¹(1/(1+e^ε)), squared and rounded up.
    ///
    /// # Privacy
    /// The trade-off function of ε-DP is two straight lines; the normal one is convex and lies below both as soon as it
    /// lies below their corner. No smaller μ will do: randomised response has that corner. Dong, Roth and Su 2022;
    /// `docs/proofs/accounts.md#pure-to-gaussian`.
    pub fn from_pure(epsilon: Epsilon) -> Self {
        below_corner(epsilon.to_ratio())
    }

    /// The price of a mechanism whose privacy loss stays, for each pair of neighbours, in some interval of length ε: the
    /// exponential mechanism, and not permute-and-flip. μ = 2Φ⁻¹(e^(ε/2)/(1+e^(ε/2))), squared and rounded up.
    ///
    /// # Privacy
    /// The worst interval is the one centred on zero, which is ε/2-DP. Dong, Durfee and Rogers 2020;
    /// `docs/proofs/accounts.md#bounded-range-to-gaussian`.
    pub fn from_bounded_range(epsilon: Epsilon) -> Self {
        below_corner(epsilon.to_ratio() / RBig::from(2))
    }

    /// The largest μ² whose δ at `epsilon` is at most `delta`.
    ///
    /// # Privacy
    /// [`Caps::delta`](super::Caps::delta) of the answer was evaluated and is at most `delta`; `docs/proofs/accounts.md#gaussian-to-approximate`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if `delta` is zero: Gaussian noise needs δ > 0.
    pub fn for_budget(epsilon: Epsilon, delta: Delta) -> Result<Self, Error> {
        largest("Gaussian", epsilon, delta, |units| Price::Gaussian(Self(units))).map(Self)
    }

    /// μ itself.
    fn root(self) -> Enclosure {
        Enclosure::ratio(&self.to_ratio(), BITS).sqrt()
    }

    /// δ_μ(x) = Φ(−x/μ + μ/2) − e^x·Φ(−x/μ − μ/2), the δ of N(μ, 1) against N(0, 1) at any real x.
    ///
    /// # Privacy
    /// Balle and Wang 2018; `docs/proofs/accounts.md#gaussian-to-approximate`.
    pub(super) fn delta(self, x: &RBig) -> Enclosure {
        let nothing = Enclosure::integer(0, BITS);
        let one = Enclosure::integer(1, BITS);
        if *x < RBig::ZERO {
            // P(A) − e^-y·Q(A) = (1 − e^-y) + e^-y·(Q(B) − e^y·P(B)) with B the complement of A, and the pair is symmetric.
            let shrink = Enclosure::ratio(x, BITS).exp();
            let rest = one.sub(&self.delta(&-x.clone()));
            return one.sub(&shrink.mul(&rest));
        }
        if self == Self::ZERO {
            return nothing;
        }
        let mu = self.root();
        let near = Enclosure::ratio(x, BITS).div(&mu).sub(&half(&mu));
        let far = near.add(&mu);
        // e^x·φ(far) = φ(near): no large exponential is ever formed.
        if three().low() <= near.low() {
            density(&near).mul(&mills(&near).sub(&mills(&far)))
        } else {
            let upper = near.neg().normal_cdf();
            upper.sub(&density(&near).mul(&mills(&far)))
        }
    }
}

/// The smallest μ² with Φ(−μ/2) ≤ 1/(1+e^ε), in whole units.
///
/// ln Φ(−a) is concave and falls, so Newton's steps reach the root from above and only the last unit remains to be decided.
/// The steps are a search; the answer is what `covers` says.
fn below_corner(epsilon: RBig) -> MuSquared {
    // A search for the ε of a price asks for about sixty.
    static KNOWN: Memo<RBig, MuSquared, 256> = Memo::new();
    let found: Result<_, Infallible> = KNOWN.get(epsilon, |epsilon| Ok(smallest_below_corner(epsilon)));
    found.unwrap_or_else(|never| match never {})
}

fn smallest_below_corner(epsilon: &RBig) -> MuSquared {
    if *epsilon == RBig::ZERO {
        return MuSquared::ZERO;
    }
    let epsilon = Enclosure::ratio(epsilon, BITS);
    let one = Enclosure::integer(1, BITS);
    let corner = epsilon.add(&one.add(&epsilon.neg().exp()).ln()).neg();
    let covers = |units: u128| {
        let a = half(&MuSquared(units).root());
        log_upper_tail(&a).high() <= corner.low()
    };

    let start = if epsilon.low() < three().low() {
        IBig::ZERO
    } else {
        epsilon.add(&epsilon).sqrt().low().clone()
    };
    let mut a = Enclosure::between(start.clone(), start, BITS);
    for _ in 0..64 {
        let step = log_upper_tail(&a).sub(&corner).mul(&mills(&a));
        let next = a.add(&step).high().clone();
        let settled = (&next - a.low()).clone() >> (BITS / 2);
        a = Enclosure::between(next.clone(), next, BITS);
        if settled == IBig::ZERO || settled == IBig::NEG_ONE {
            break;
        }
    }
    let double = a.add(&a);
    let mut units = units_up(&double.mul(&double));
    while !covers(units) {
        units += 1;
    }
    while units > 0 && covers(units - 1) {
        units -= 1;
    }
    MuSquared(units)
}

/// The smallest whole number of 10⁻¹⁸ that is surely not below `x`.
pub(super) fn units_up(x: &Enclosure) -> u128 {
    let scaled = x.high().max(&IBig::ZERO) * IBig::from(10u64.pow(18));
    let one = IBig::ONE << x.bits();
    let up = -((-scaled).div_euclid(&one));
    u128::try_from(up).unwrap_or(u128::MAX)
}

fn half(x: &Enclosure) -> Enclosure {
    x.mul(&Enclosure::ratio(&RBig::from_parts(1.into(), 2u8.into()), BITS))
}

/// From here on the continued fraction is the shorter way.
fn three() -> Enclosure {
    Enclosure::integer(3, BITS)
}

fn root_two_pi() -> &'static Enclosure {
    static ROOT: OnceLock<Enclosure> = OnceLock::new();
    ROOT.get_or_init(|| pi(BITS).mul(&Enclosure::integer(2, BITS)).sqrt())
}

/// φ(x), the standard normal density.
fn density(x: &Enclosure) -> Enclosure {
    half(&x.mul(x)).neg().exp().div(root_two_pi())
}

/// ln Φ(−a) for `a ≥ 0`.
fn log_upper_tail(a: &Enclosure) -> Enclosure {
    if a.low() < three().low() {
        return a.neg().normal_cdf().ln();
    }
    mills(a).ln().sub(&root_two_pi().ln()).sub(&half(&a.mul(a)))
}

/// Mills' ratio Φ(−a)/φ(a) for `a ≥ 0`.
///
/// Above three by Laplace's continued fraction 1/(a + 1/(a + 2/(a + …))): its tails lie between `a` and `a + n/a`, and an
/// enclosure of one tail encloses all before it.
fn mills(a: &Enclosure) -> Enclosure {
    if a.low() < three().low() {
        return a.neg().normal_cdf().div(&density(a));
    }
    // The n-th approximation is off by about e^(−2a√(2n)).
    let whole = u64::try_from(a.low() >> BITS).unwrap_or(u64::MAX).min(1 << 20);
    let depth = 8 + (BITS as u64 / (4 * whole)).pow(2);
    let reach = Enclosure::integer(depth + 1, BITS).div(a);
    let mut tail = Enclosure::between(a.low().clone(), a.add(&reach).high().clone(), BITS);
    for n in (1..=depth).rev() {
        tail = a.add(&Enclosure::integer(n, BITS).div(&tail));
    }
    Enclosure::integer(1, BITS).div(&tail)
}

#[cfg(test)]
mod tests {
    use super::super::Caps;
    use super::*;

    fn mu(squared: &str) -> MuSquared {
        squared.parse().expect(squared)
    }

    /// The enclosure is narrow and holds the number to 15 digits.
    fn holds(x: &Enclosure, expected: f64) {
        assert!(
            (x.high() - x.low()) >> (BITS / 2) == IBig::ZERO,
            "wide at {expected}"
        );
        let found = x.to_f64();
        assert!(
            (found / expected - 1.0).abs() < 1e-13,
            "{found} is not {expected}"
        );
    }

    #[test]
    fn tails_agree_where_the_two_ways_meet() {
        // Just below and above the switch at three, from mpmath to 30 digits.
        let below = Enclosure::ratio(&RBig::from_parts(29.into(), 10u8.into()), BITS);
        let above = Enclosure::ratio(&RBig::from_parts(31.into(), 10u8.into()), BITS);
        holds(&mills(&below), 0.313_448_658_286_231_77);
        holds(&mills(&above), 0.296_191_247_991_527);
        holds(&log_upper_tail(&above).neg(), 6.940_688_458_421_228);
        holds(&mills(&Enclosure::integer(0, BITS)), 1.253_314_137_315_500_3);
        holds(&mills(&Enclosure::integer(1000, BITS)), 9.999_990_000_03e-4);
    }

    #[test]
    fn delta_is_the_published_one_on_either_side() {
        // mpmath, 40 digits.
        for (squared, x, expected) in [
            ("1", "1", 0.126_936_737_506_643_95),
            ("0.01", "0.5", 6.856_582_455_838_727e-9),
            ("16", "2", 0.887_309_233_283_397_6),
            ("0.25", "0", 0.197_412_651_365_847_45),
        ] {
            let x: Epsilon = x.parse().expect(x);
            holds(&mu(squared).delta(&x.to_ratio()), expected);
        }
        // One identity ties δ(−x) to δ(x); check it against the formula itself.
        let x = RBig::from_parts((-3).into(), 2u8.into());
        let one = Enclosure::integer(1, BITS);
        let at = |n: i64| Enclosure::ratio(&RBig::from_parts(n.into(), 2u8.into()), BITS).normal_cdf();
        let direct = at(4).sub(&Enclosure::ratio(&x, BITS).exp().mul(&at(2)));
        let found = mu("1").delta(&x);
        assert!(found.low() <= direct.high() && found.high() >= direct.low());
        assert!(mu("0").delta(&x).high() < one.high());
        assert_eq!(mu("0").delta(&RBig::ZERO), Enclosure::integer(0, BITS));
    }

    #[test]
    fn a_pure_epsilon_of_one_is_a_mu_of_1_232() {
        let price = MuSquared::from_pure(Epsilon::new(1.0).expect("an epsilon"));
        assert!((price.to_f64().sqrt() - 1.232_035_4).abs() < 1e-6, "{price}");
        let ranged = MuSquared::from_bounded_range(Epsilon::new(2.0).expect("an epsilon"));
        assert_eq!(ranged, price, "a range of 2 centred on zero is a pure 1");
        assert_eq!(MuSquared::from_pure(Epsilon::ZERO), MuSquared::ZERO);
        assert_eq!(MuSquared::from_bounded_range(Epsilon::ZERO), MuSquared::ZERO);
    }

    #[test]
    fn conversions_answer_at_both_ends_of_the_scale() {
        let mut last = MuSquared::ZERO;
        for billionths in [
            1,
            2,
            1000,
            500_000_000,
            3_000_000_000,
            50_000_000_000,
            1_000_000_000_000,
            u64::MAX,
        ] {
            let price = MuSquared::from_pure(Epsilon::from_billionths(billionths));
            assert!(price > last, "{billionths}");
            last = price;
        }
        // μ ≈ ε·√(π/2) for a small ε, μ² ≈ 8ε for a large one.
        assert_eq!(MuSquared::from_pure(Epsilon::from_billionths(1)), MuSquared(2));
        assert!((last.to_f64() / (8.0 * Epsilon::MAX.to_f64()) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_smallest_unit_that_covers_is_found() {
        // Φ(−μ/2)·(1+e^ε) is at most one at the answer and above one a unit lower: at twice the digits, by another way.
        for billionths in [1u64, 7_654_321, 1_000_000_000, 2_345_678_901, 6_000_000_000] {
            let epsilon = Epsilon::from_billionths(billionths);
            let bits = 2 * BITS;
            let odds = Enclosure::ratio(&epsilon.to_ratio(), bits).exp();
            let factor = odds.add(&Enclosure::integer(1, bits));
            let at = |units: u128| {
                let mu = Enclosure::ratio(&MuSquared(units).to_ratio(), bits).sqrt();
                let half = mu.div(&Enclosure::integer(2, bits));
                half.neg().normal_cdf().mul(&factor)
            };
            let price = MuSquared::from_pure(epsilon).units();
            assert!(*at(price).high() <= IBig::ONE << bits, "{billionths}");
            assert!(*at(price - 1).low() > IBig::ONE << bits, "{billionths}");
        }
    }

    #[test]
    fn a_budget_is_used_up_and_not_exceeded() {
        for (epsilon, delta) in [
            ("1", "1e-6"),
            ("0.1", "1e-9"),
            ("10", "0.001"),
            ("0", "0.1"),
            ("1000", "1e-6"),
        ] {
            let (epsilon, delta): (Epsilon, Delta) = (
                epsilon.parse().expect("an epsilon"),
                delta.parse().expect("a delta"),
            );
            let mu_squared = MuSquared::for_budget(epsilon, delta).expect("a budget");
            let delta_of = |mu_squared| Caps::from(Price::Gaussian(mu_squared)).delta(epsilon);
            assert!(delta_of(mu_squared) <= delta);
            assert!(delta_of(MuSquared(mu_squared.0 + 1)) > delta);
        }
        let budget = MuSquared::for_budget(Epsilon::MAX, Delta::MAX).expect("a budget");
        assert!(budget > MuSquared::ZERO);
        assert!(MuSquared::for_budget(Epsilon::MAX, Delta::ZERO).is_err());
    }
}
