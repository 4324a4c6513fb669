//! Rigorous real arithmetic: every number is a pair of integers that encloses it.
//!
//! Samplers compare random digits with the digits of `exp(-x)` or `Φ(x)`; accounts need `δ(ε)` rounded against us. Both
//! need real functions whose error is *known*, which floating point does not give. Here a number is a closed interval
//! `[low, high]·2^-bits` with big integers at its ends; every operation rounds the low end down and the high end up, so
//! the true value never leaves. Precision is absolute: more `bits`, a narrower interval.

use crate::privacy::getters;
use dashu_base::{BitTest, DivEuclid, SquareRoot};
use dashu_int::IBig;
use dashu_ratio::RBig;

/// A real number known to lie in `[low, high] / 2^bits`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Enclosure {
    low: IBig,
    high: IBig,
    bits: usize,
}

impl Enclosure {
    /// The rational itself, as narrow as `bits` allow.
    pub(crate) fn ratio(value: &RBig, bits: usize) -> Self {
        let scaled = value.numerator() << bits;
        let denominator = IBig::from(value.denominator().clone());
        Self {
            low: floor_div(&scaled, &denominator),
            high: ceil_div(&scaled, &denominator),
            bits,
        }
    }

    /// A whole number, exactly.
    pub(crate) fn integer(value: impl Into<IBig>, bits: usize) -> Self {
        let scaled = value.into() << bits;
        Self {
            low: scaled.clone(),
            high: scaled,
            bits,
        }
    }

    /// `[low, high] / 2^bits`, for callers that bound a number themselves.
    pub(crate) fn between(low: IBig, high: IBig, bits: usize) -> Self {
        debug_assert!(low <= high);
        Self { low, high, bits }
    }

    getters! {
        /// `floor(x·2^bits)` is at least this.
        pub(crate) low(&low) -> &IBig;
        /// `ceil(x·2^bits)` is at most this.
        pub(crate) high(&high) -> &IBig;
        /// Binary digits after the point.
        pub(crate) bits(bits) -> usize;
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        debug_assert_eq!(self.bits, other.bits);
        Self {
            low: &self.low + &other.low,
            high: &self.high + &other.high,
            bits: self.bits,
        }
    }

    pub(crate) fn neg(&self) -> Self {
        Self {
            low: -&self.high,
            high: -&self.low,
            bits: self.bits,
        }
    }

    pub(crate) fn sub(&self, other: &Self) -> Self {
        self.add(&other.neg())
    }

    pub(crate) fn mul(&self, other: &Self) -> Self {
        debug_assert_eq!(self.bits, other.bits);
        if self.low >= IBig::ZERO && other.low >= IBig::ZERO {
            // Recurrences live here: as few allocations as the two products need.
            let high = &self.high * &other.high;
            let cut = high.trailing_zeros().is_some_and(|zeros| zeros < self.bits);
            let high = high >> self.bits;
            return Self {
                low: (&self.low * &other.low) >> self.bits,
                high: if cut { high + IBig::ONE } else { high },
                bits: self.bits,
            };
        }
        let corners = [
            &self.low * &other.low,
            &self.low * &other.high,
            &self.high * &other.low,
            &self.high * &other.high,
        ];
        let [mut low, mut high] = [corners[0].clone(), corners[0].clone()];
        for corner in corners {
            low = low.min(corner.clone());
            high = high.max(corner);
        }
        Self {
            low: floor_shift(&low, self.bits),
            high: ceil_shift(&high, self.bits),
            bits: self.bits,
        }
    }

    /// The number times `numerator / denominator`, whose denominator must not be zero.
    pub(crate) fn scale(&self, numerator: u64, denominator: u64) -> Self {
        let denominator = IBig::from(denominator);
        Self {
            low: floor_div(&(&self.low * numerator), &denominator),
            high: ceil_div(&(&self.high * numerator), &denominator),
            bits: self.bits,
        }
    }

    /// The quotient; `other` must lie above zero.
    pub(crate) fn div(&self, other: &Self) -> Self {
        assert!(
            other.low > IBig::ZERO,
            "an enclosure is divided by one that may be zero"
        );
        let by = |numerator: &IBig, up: bool| {
            let scaled = numerator.clone() << self.bits;
            // The wider divisor shrinks towards zero, the narrower one grows away from it.
            let negative = scaled < IBig::ZERO;
            let divisor = if negative == up { &other.high } else { &other.low };
            if up {
                ceil_div(&scaled, divisor)
            } else {
                floor_div(&scaled, divisor)
            }
        };
        Self {
            low: by(&self.low, false),
            high: by(&self.high, true),
            bits: self.bits,
        }
    }

    /// The square root of a number that is not negative.
    pub(crate) fn sqrt(&self) -> Self {
        assert!(self.low >= IBig::ZERO, "the square root of a negative enclosure");
        let root = |x: &IBig| {
            let (_, magnitude) = (x << self.bits).into_parts();
            IBig::from(magnitude.sqrt())
        };
        let high = root(&self.high);
        let exact = &high * &high == &self.high << self.bits;
        Self {
            low: root(&self.low),
            high: if exact { high } else { high + 1 },
            bits: self.bits,
        }
    }

    /// `e^x`.
    pub(crate) fn exp(&self) -> Self {
        self.monotone(exp_point)
    }

    /// `ln x` for a number above zero.
    pub(crate) fn ln(&self) -> Self {
        assert!(
            self.low > IBig::ZERO,
            "the logarithm of an enclosure that may be zero"
        );
        self.monotone(ln_point)
    }

    /// `Φ(x)`, the standard normal distribution function.
    pub(crate) fn normal_cdf(&self) -> Self {
        self.monotone(normal_cdf_point)
    }

    /// The same number with fewer digits.
    pub(crate) fn rounded(&self, bits: usize) -> Self {
        debug_assert!(bits <= self.bits);
        let drop = self.bits - bits;
        Self {
            low: floor_shift(&self.low, drop),
            high: ceil_shift(&self.high, drop),
            bits,
        }
    }

    /// An upper bound, for display.
    pub(crate) fn to_f64(&self) -> f64 {
        RBig::from_parts(self.high.clone(), dashu_int::UBig::ONE << self.bits)
            .to_f64()
            .value()
    }

    /// A function that grows with its argument, from its values at the two ends.
    fn monotone(&self, at: fn(&IBig, usize) -> (IBig, IBig)) -> Self {
        let (low, high) = at(&self.low, self.bits);
        let high = if self.low == self.high {
            high
        } else {
            at(&self.high, self.bits).1
        };
        Self {
            low,
            high,
            bits: self.bits,
        }
    }
}

/// Encloses `e^(x/2^bits)·2^bits`: halve the argument until the series is short, sum it, square back.
fn exp_point(x: &IBig, bits: usize) -> (IBig, IBig) {
    let negative = *x < IBig::ZERO;
    let magnitude = if negative { -x } else { x.clone() };
    let whole = bit_length(&magnitude).saturating_sub(bits);
    // e^-y < 2^-bits as soon as y > bits: nothing of it is left above the last digit.
    if negative && magnitude > (IBig::from(bits) << bits) {
        return (IBig::ZERO, IBig::ONE);
    }
    let halvings = whole + 6;
    // Each squaring doubles the relative error, and e^y itself magnifies it: guard digits for both.
    let growth = floor_shift(&(&magnitude * IBig::from(3)), bits + 1).max(IBig::ZERO);
    let growth = usize::try_from(growth).unwrap_or(usize::MAX).min(1 << 24);
    let work = bits + 2 * halvings + growth + 24;

    let y = &magnitude << (work - bits - halvings);
    let one = Enclosure::integer(1, work);
    let mut power = series(&one.low, [&y, &y], 1.., work);
    for _ in 0..halvings {
        power = power.mul(&power);
    }
    if negative {
        power = one.div(&power);
    }
    let power = power.rounded(bits);
    (power.low, power.high)
}

/// `first·(1 + f/d₁ + f²/(d₁d₂) + …)` for a first term and a factor `f` in `[low, high]·2^-bits` that are not negative,
/// and divisors that grow. No digits to spare: callers give them.
fn series(
    first: &IBig,
    [f_low, f_high]: [&IBig; 2],
    divisors: impl Iterator<Item = u64>,
    bits: usize,
) -> Enclosure {
    let (mut term_low, mut term_high) = (first.clone(), first.clone());
    let (mut low, mut high) = (first.clone(), first.clone());
    for divisor in divisors {
        let divisor = IBig::from(divisor);
        term_low = floor_div(&floor_shift(&(&term_low * f_low), bits), &divisor);
        term_high = ceil_div(&ceil_shift(&(&term_high * f_high), bits), &divisor);
        low += &term_low;
        high += &term_high;
        // From here on each term is less than half of the one before it.
        if term_high <= IBig::ONE && (f_high << 1) < (&divisor << bits) {
            break;
        }
    }
    // So what is left out is at most the last term.
    high += &term_high;
    Enclosure { low, high, bits }
}

/// Encloses `ln(x/2^bits)·2^bits` as `e·ln 2 + 2·artanh((m−1)/(m+1))` with `m` between 3/4 and 3/2.
fn ln_point(x: &IBig, bits: usize) -> (IBig, IBig) {
    let work = bits + 32;
    let length = bit_length(x);
    let mut exponent = length as i64 - bits as i64;
    // m = x / 2^length lies in [1/2, 1); lift the lower half of it.
    let mut m_bits = length;
    if (x << 2) < (IBig::from(3) << length) {
        m_bits -= 1;
        exponent -= 1;
    }
    let unit = IBig::ONE << m_bits;
    let log = artanh(&(x - &unit), &(x + &unit), work);
    let two = artanh(&IBig::ONE, &IBig::from(3), work);
    let exponent = Enclosure::integer(exponent, work);
    let sum = log.add(&two.mul(&exponent));
    let sum = sum.add(&sum).rounded(bits);
    (sum.low, sum.high)
}

/// `artanh(numerator/denominator)` for a quotient of at most 1/3 in size: `Σ q^(2n+1)/(2n+1)`.
fn artanh(numerator: &IBig, denominator: &IBig, bits: usize) -> Enclosure {
    if *numerator < IBig::ZERO {
        return artanh(&-numerator, denominator, bits).neg();
    }
    odd_powers(numerator, denominator, bits + 16, false).rounded(bits)
}

/// `Σ (±1)^n q^(2n+1)/(2n+1)` for `0 ≤ q ≤ 1/3`: artanh, or arctan when the signs alternate. No digits to spare: callers
/// give them.
fn odd_powers(numerator: &IBig, denominator: &IBig, bits: usize, alternate: bool) -> Enclosure {
    let mut power_low = floor_div(&(numerator << bits), denominator);
    let mut power_high = ceil_div(&(numerator << bits), denominator);
    let (square_low, square_high) = (
        floor_shift(&(&power_low * &power_low), bits),
        ceil_shift(&(&power_high * &power_high), bits),
    );
    let (mut low, mut high) = (IBig::ZERO, IBig::ZERO);
    let mut n = 0u64;
    loop {
        let odd = IBig::from(2 * n + 1);
        let (term_low, term_high) = (floor_div(&power_low, &odd), ceil_div(&power_high, &odd));
        if alternate && n % 2 == 1 {
            low -= &term_high;
            high -= &term_low;
        } else {
            low += &term_low;
            high += &term_high;
        }
        power_low = floor_shift(&(&power_low * &square_low), bits);
        power_high = ceil_shift(&(&power_high * &square_high), bits);
        n += 1;
        if power_high <= IBig::ONE {
            break;
        }
    }
    // What is left out is below 9/8 of the next power.
    low -= 2;
    high += 2;
    Enclosure { low, high, bits }
}

/// π by Machin's formula.
pub(crate) fn pi(bits: usize) -> Enclosure {
    let work = bits + 32;
    let fifth = odd_powers(&IBig::ONE, &IBig::from(5), work, true);
    let small = odd_powers(&IBig::ONE, &IBig::from(239), work, true);
    let sum = fifth
        .mul(&Enclosure::integer(16, work))
        .sub(&small.mul(&Enclosure::integer(4, work)));
    sum.rounded(bits)
}

/// Encloses `Φ(x/2^bits)·2^bits` by `Φ(x) = ½ + φ(x)·Σ x^(2n+1)/(2n+1)!!`, whose terms are all positive.
fn normal_cdf_point(x: &IBig, bits: usize) -> (IBig, IBig) {
    let one = IBig::ONE << bits;
    if *x < IBig::ZERO {
        let (low, high) = normal_cdf_point(&-x, bits);
        return (&one - high, &one - low);
    }
    // 1 − Φ(x) ≤ e^(−x²/2)/2 < 2^-bits once x² > 2·bits.
    if x * x > IBig::from(2 * bits) << (2 * bits) {
        return (&one - 1, one);
    }
    let work = bits + 24;
    let x = x << 24;
    let square = &x * &x;
    let (square_low, square_high) = (floor_shift(&square, work), ceil_shift(&square, work));
    let series = series(&x, [&square_low, &square_high], (3..).step_by(2), work);
    let half_square = Enclosure {
        low: floor_shift(&square_low, 1),
        high: ceil_shift(&square_high, 1),
        bits: work,
    };
    let two_pi = pi(work).mul(&Enclosure::integer(2, work));
    let density = half_square.neg().exp().div(&two_pi.sqrt());
    let half = Enclosure::between(IBig::ONE << (work - 1), IBig::ONE << (work - 1), work);
    let value = density.mul(&series).add(&half).rounded(bits);
    (value.low, value.high.min(one))
}

fn bit_length(x: &IBig) -> usize {
    x.clone().into_parts().1.bit_len()
}

fn floor_div(a: &IBig, positive: &IBig) -> IBig {
    a.div_euclid(positive)
}

fn ceil_div(a: &IBig, positive: &IBig) -> IBig {
    -((-a).div_euclid(positive))
}

fn floor_shift(a: &IBig, bits: usize) -> IBig {
    a >> bits
}

fn ceil_shift(a: &IBig, bits: usize) -> IBig {
    -((-a) >> bits)
}

#[cfg(test)]
mod tests;
