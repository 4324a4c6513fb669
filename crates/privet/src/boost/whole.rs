//! Coefficients and weights in whole numbers.
//!
//! Parties that boost together must agree on every coefficient and on every weight's factor to the last bit, on whatever machines they
//! are. Weights are whole numbers that sum to about [`TOTAL`]; α is a multiple of 2⁻³², found by squaring; exp(-α) is a fixed number of
//! terms of its series. No floating point takes part.
//!
//! # Paper
//! MABoost, figure 1, lines 15 to 20, and equation 14. The weight update is the one that [`Rates`](super::Rates) derives again.

/// What all weights of all parties sum to, but for rounding.
pub const TOTAL: u64 = 1 << 48;
/// The largest weight that is taken from anybody.
pub const LARGEST: u64 = TOTAL << 2;

/// How many binary digits of a coefficient are behind the point.
const DIGITS: u32 = 32;
/// The same of a factor.
const FACTOR_DIGITS: u32 = 40;
/// The same of exp(-α).
const EXP_DIGITS: u32 = 60;
/// The natural logarithm of 2 with 63 digits behind the point.
const LN_2: u128 = 0x58b9_0bfb_e8e7_bcd6;

/// α, as a multiple of 2⁻³².
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Alpha(pub i64);

impl Alpha {
    /// A number of steps of `2^-digits` each.
    pub fn steps(steps: u32, digits: u32) -> Self {
        Self(i64::from(steps) << (DIGITS - digits.min(DIGITS)))
    }

    /// The nearest to a number of at most 16 in size.
    pub fn nearest(number: f64) -> Self {
        // Exact: 37 binary digits at most.
        Self((number.clamp(-16.0, 16.0) * (1u64 << DIGITS) as f64).round() as i64)
    }

    /// As a model has it. Exact.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / (1u64 << DIGITS) as f64
    }

    /// exp(-|α|) with 60 digits behind the point.
    fn decay(self) -> u64 {
        // exp(-a) = 2^-n · exp(-(a - n·ln 2)), with 63 digits behind the point.
        let a = u128::from(self.0.unsigned_abs()) << (63 - DIGITS);
        let halvings = a / LN_2;
        let rest = a % LN_2;
        // Pairs of terms fall, and 24 of them leave less than 2^-80.
        let one = 1u128 << 63;
        let (mut sum, mut term) = (one, one);
        for k in 1..=24u128 {
            term = ((term * rest) >> 63) / k;
            sum = if k % 2 == 1 { sum - term } else { sum + term };
        }
        let shifted = (sum >> (63 - EXP_DIGITS)) >> halvings.min(127);
        // At most 2^60.
        shifted as u64
    }
}

/// The weight of rows that a learner is right about, wrong about, or silent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WholeRates {
    /// ε₊.
    pub right: u64,
    /// ε₋.
    pub wrong: u64,
    /// ε₀.
    pub silent: u64,
}

/// What weights are multiplied by, with 40 digits behind the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeFactors {
    right: u64,
    wrong: u64,
    silent: u64,
}

impl WholeRates {
    /// Those of several parties together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            right: self.right.saturating_add(other.right),
            wrong: self.wrong.saturating_add(other.wrong),
            silent: self.silent.saturating_add(other.silent),
        }
    }

    /// Adds a row.
    pub fn add(&mut self, margin: i8, weight: u64) {
        let sum = match margin {
            1.. => &mut self.right,
            0 => &mut self.silent,
            _ => &mut self.wrong,
        };
        *sum = sum.saturating_add(weight);
    }

    /// The weight of all rows.
    pub fn total(&self) -> u64 {
        self.right.saturating_add(self.wrong).saturating_add(self.silent)
    }

    /// Whether each is small enough to be computed with.
    pub fn is_sound(&self) -> bool {
        [self.right, self.wrong, self.silent]
            .iter()
            .all(|sum| *sum <= LARGEST)
    }

    /// α: half the logarithm of ε₊ + δ to ε₋ + δ.
    ///
    /// # Paper
    /// MABoost, equation 14.
    pub fn coefficient(&self, smoothing: u64) -> Alpha {
        let [p, q] = [self.right, self.wrong].map(|sum| sum.min(LARGEST).saturating_add(smoothing.max(1)));
        let size = half_logarithm(p.max(q), p.min(q));
        Alpha(if p >= q { size } else { -size })
    }

    /// What weights are multiplied by, so that those of all parties sum to [`TOTAL`].
    ///
    /// # Paper
    /// MABoost, figure 1, line 20, derived again.
    pub fn factors(&self, alpha: Alpha) -> WholeFactors {
        self.factors_to(alpha, TOTAL)
    }

    /// The same for another sum.
    pub fn factors_to(&self, alpha: Alpha, sum: u64) -> WholeFactors {
        // Times exp(-|α|), so that none is above one: what was wrong keeps its weight, what was right is decayed twice.
        let once = alpha.decay();
        let twice = Alpha(alpha.0.saturating_mul(2)).decay();
        let one = 1u64 << EXP_DIGITS;
        let (right, wrong) = if alpha.0 >= 0 { (twice, one) } else { (one, twice) };
        let parts = [(self.right, right), (self.wrong, wrong), (self.silent, once)];
        let normaliser: u128 = parts
            .iter()
            .map(|(rate, factor)| u128::from(*rate.min(&LARGEST)) * u128::from(*factor))
            .sum();
        let divisor = (normaliser >> FACTOR_DIGITS).max(1);
        let scaled = |factor: u64| {
            let scaled = u128::from(factor) * u128::from(sum.min(LARGEST)) / divisor;
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        WholeFactors {
            right: scaled(right),
            wrong: scaled(wrong),
            silent: scaled(once),
        }
    }
}

impl WholeFactors {
    /// For a coefficient alone, without bringing weights back to one sum; `doublings` is the power of two that they are multiplied by
    /// besides.
    pub fn unscaled(alpha: Alpha, doublings: i32) -> Self {
        let decay = u128::from(alpha.decay().max(1));
        let one = 1u128 << EXP_DIGITS;
        let down = EXP_DIGITS - FACTOR_DIGITS;
        // exp(α) with 40 digits behind the point: 2^60 · 2^40 / exp(-α).
        let (fall, rise) = (decay >> down, (one << FACTOR_DIGITS) / decay);
        let (right, wrong) = if alpha.0 >= 0 { (fall, rise) } else { (rise, fall) };
        let scaled = |factor: u128| {
            let moved = match doublings {
                0.. => factor << doublings.min(20),
                _ => factor >> doublings.unsigned_abs().min(60),
            };
            u64::try_from(moved).unwrap_or(u64::MAX)
        };
        Self {
            right: scaled(right),
            wrong: scaled(wrong),
            silent: scaled(one >> down),
        }
    }

    /// The factor of rows that were wrong, with so many digits behind the point: exp(α), if it is not scaled.
    pub fn rise(&self, digits: u32) -> u64 {
        self.wrong >> (FACTOR_DIGITS - digits.min(FACTOR_DIGITS))
    }

    /// The weight afterwards of a row: at least one, so that none is lost for good.
    pub fn apply(&self, margin: i8, weight: u64) -> u64 {
        let factor = match margin {
            1.. => self.right,
            0 => self.silent,
            _ => self.wrong,
        };
        let scaled = (u128::from(weight) * u128::from(factor) + (1 << (FACTOR_DIGITS - 1))) >> FACTOR_DIGITS;
        u64::try_from(scaled).unwrap_or(LARGEST).clamp(1, LARGEST)
    }
}

/// Half of ln(p/q), for p ≥ q > 0, as a multiple of 2⁻³², rounded down.
fn half_logarithm(p: u64, q: u64) -> i64 {
    // x = p/q with 62 digits behind the point, at most 2^113; then brought into [1, 2).
    let mut x = (u128::from(p) << 62) / u128::from(q.max(1));
    let mut whole: u128 = 0;
    while x >= 2 << 62 {
        x >>= 1;
        whole += 1;
    }
    // Binary digits of log2(x): x is squared, and halved where it has passed 2.
    let mut digits = whole;
    for _ in 0..40 {
        x = (x * x) >> 62;
        let passed = x >= 2 << 62;
        digits = digits << 1 | u128::from(passed);
        if passed {
            x >>= 1;
        }
    }
    // 40 digits of log2 times 63 of ln 2, and half of that.
    ((digits * LN_2) >> (40 + 63 + 1 - DIGITS)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_are_half_logarithms_of_odds() {
        for (p, q) in [
            (1, 1),
            (2, 1),
            (3, 2),
            (TOTAL, 1 << 20),
            (TOTAL - 1, TOTAL - 2),
            (7, 5),
            (1 << 40, 3),
        ] {
            let found = half_logarithm(p, q) as f64 / (1u64 << 32) as f64;
            let real = (p as f64 / q as f64).ln() / 2.0;
            assert!((found - real).abs() < 1e-9, "{p}/{q}: {found} {real}");
        }
        let rates = WholeRates {
            right: 5 << 40,
            wrong: 2 << 40,
            silent: 0,
        };
        let swapped = WholeRates {
            right: rates.wrong,
            wrong: rates.right,
            ..rates
        };
        assert_eq!(rates.coefficient(1 << 30).0, -swapped.coefficient(1 << 30).0);
    }

    #[test]
    fn decays_are_exponentials() {
        for alpha in [0.0, 0.1, 0.125, 0.5, std::f64::consts::LN_2, 1.0, 3.25, 7.5, 16.0] {
            let alpha = Alpha::nearest(alpha);
            let found = alpha.decay() as f64 / (1u64 << 60) as f64;
            let real = (-alpha.to_f64()).exp();
            assert!((found / real - 1.0).abs() < 1e-9, "{alpha:?}: {found} {real}");
        }
        assert_eq!(Alpha(0).decay(), 1 << 60);
        assert_eq!(Alpha::steps(3, 3).to_f64(), 0.375);
    }

    /// The factors are those that `Rates` gives in floating point, and weights sum to the total again.
    #[test]
    fn factors_are_those_of_rates() {
        let cases = [
            (50, 10, 40),
            (100, 0, 0),
            (60, 40, 0),
            (1, 1, 98),
            (0, 0, 100),
            (10, 30, 60),
        ];
        for (right, wrong, silent) in cases {
            let unit = TOTAL / 100;
            let rates = WholeRates {
                right: right * unit,
                wrong: wrong * unit,
                silent: silent * unit,
            };
            let alpha = rates.coefficient(TOTAL / 1000);
            let real = super::super::Rates {
                right: right as f64 / 100.0,
                wrong: wrong as f64 / 100.0,
                silent: silent as f64 / 100.0,
            };
            let factors = rates.factors(alpha);
            let expected = real.factors(alpha.to_f64());
            let of = |factor: u64| factor as f64 / (1u64 << 40) as f64;
            for (found, real) in [
                (factors.right, expected.right),
                (factors.wrong, expected.wrong),
                (factors.silent, expected.silent),
            ] {
                assert!(
                    (of(found) / real - 1.0).abs() < 1e-8,
                    "{rates:?}: {} {real}",
                    of(found)
                );
            }
            let plain = WholeFactors::unscaled(alpha, 0);
            assert!((of(plain.wrong) - alpha.to_f64().exp()).abs() < 1e-8);
            assert_eq!(plain.silent, 1 << 40);
            let after = factors.apply(1, rates.right)
                + factors.apply(-1, rates.wrong)
                + factors.apply(0, rates.silent);
            assert!(after.abs_diff(TOTAL) < 1 << 12, "{rates:?}: {after}");
        }
    }

    /// Whatever another party says, nothing overflows.
    #[test]
    fn no_rates_overflow() {
        let sizes = [0, 1, TOTAL, LARGEST, u64::MAX];
        for right in sizes {
            for wrong in sizes {
                for silent in sizes {
                    let rates = WholeRates { right, wrong, silent };
                    let alpha = rates.coefficient(0);
                    let factors = rates.factors(alpha);
                    for margin in [-1, 0, 1] {
                        assert!((1..=LARGEST).contains(&factors.apply(margin, LARGEST)));
                    }
                }
            }
        }
    }
}
