//! The numbers `exp(-rate·gap)` for whole gaps, to 63 binary digits with a proved error.
//!
//! A selection needs one such number for every candidate and every draw. Here they come from small tables, one for
//! each digit of the gap: `exp(-rate·(h·B + l)) = exp(-rate·B)^h · exp(-rate)^l`. What the tables cannot decide,
//! [`Decay::exceeds`] does with [`Enclosure`]s, to as many digits as it takes, so nothing here rounds the law of a draw.
//!
//! The tables cost a few thousand multiplications at most, whatever the rate: tiny rates get more digits, not longer
//! tables. Which entry is read depends on the gap, so a gap may be seen by whoever can watch the processor's cache;
//! the number of instructions does not depend on it.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::Randomness;
use crate::privacy::enclosure::Enclosure;

/// Binary digits of one digit of the gap, at most: 8 KiB of table.
const DIGIT: u32 = 10;
/// Gaps whose first digits are tabulated without a product, at most: 2 KiB of table.
const FIRST: u64 = 1 << 11;
/// Binary digits of the numbers that tables are computed in, and of the enclosures that those start from.
const WORKING: usize = 128;
const BASE: usize = WORKING + 32;

/// `exp(-rate·gap)`, tabulated for one rate.
#[derive(Debug, Clone)]
pub(crate) struct Decay {
    rate: RBig,
    /// The leading digit, in units of 2^-63; its last entry is zero and stands for all gaps from there on.
    leading: Vec<u64>,
    shift: u32,
    /// The last digit, in units of 2^-64; a power of two in length.
    last: Vec<u64>,
    /// The digits between, for rates so small that two do not reach: in units of 2^-64, with their place.
    between: Vec<(u32, Vec<u64>)>,
    pub(crate) slack: u64,
    /// The first eight digits for small gaps, zero at the last and from there on; empty if that would take too many.
    first: Vec<u8>,
}

impl Decay {
    /// Binary digits of [`Decay::value`].
    pub(crate) const BITS: u32 = 63;

    /// Tabulates for a rate, which must be positive.
    pub(crate) fn new(rate: RBig) -> Self {
        Self::with_digits(rate, 64)
    }

    /// The same from tables cut to `digits` binary digits: fewer leave more to the rigorous path.
    pub(super) fn with_digits(rate: RBig, digits: u32) -> Self {
        // e^-45 < 2^-64: from this gap on nothing is left, so its digits need not be told apart.
        let (_, end) = (RBig::from(45) / &rate).ceil().into_parts();
        let end = u64::try_from(end).unwrap_or(u64::MAX);
        let bits = u64::BITS - end.leading_zeros();
        let (digit, count) = if bits <= 2 * DIGIT {
            (bits.div_ceil(2), 2)
        } else {
            (DIGIT, bits.div_ceil(DIGIT))
        };
        let cut = u64::MAX << (64 - digits);
        let mut base = Base::new(&rate, 0);
        let mut table = |place: u32, length: usize| -> Vec<u64> {
            if base.error > 1 << 40 {
                base = Base::new(&rate, place);
            }
            let (powers, next) = base.powers(length);
            base = next;
            powers.into_iter().map(|power| power & cut).collect()
        };

        let last = table(0, 1 << digit);
        let between = (1..count - 1)
            .map(|i| (i * digit, table(i * digit, 1 << digit)))
            .collect();
        let shift = digit * (count - 1);
        // At most 2^DIGIT, by the choice of the shift.
        let mut leading = table(shift, (end >> shift) as usize + 1);
        leading.iter_mut().for_each(|power| *power >>= 1);
        leading.push(0);

        // An entry is below its true value by at most E = 2 + (what the cut took). With x ≤ 2^63, b ≤ 2^64 true and
        // X ≤ x ≤ X + s, B ≤ b ≤ B + E known, xb − XB = x(b − B) + B(x − X) ≤ 2^63·E + 2^64·s: in units of
        // 2^64 the product is short by at most s + E/2, and by one more for its floor. So s starts at E for the leading
        // digit and grows by ⌈E/2⌉ + 1 for every further one. The entry that is zero is short by less than a half.
        let short = 2 + !cut;
        let slack = short + u64::from(count - 1) * (short.div_ceil(2) + 1);
        let mut decay = Self {
            leading,
            shift,
            last,
            between,
            slack,
            rate,
            first: Vec::new(),
        };
        // e^-(45/8) < 2^-8, and a value is never above the truth: from this gap on its first digits are zero.
        let zero = end.div_ceil(8);
        if zero < FIRST {
            let gaps: Vec<u64> = (0..=zero).collect();
            let mut values = vec![0; gaps.len()];
            decay.values(&gaps, |gap| *gap, &mut values);
            decay.first = values.into_iter().map(first_digits).collect();
        }
        decay
    }

    /// The first eight digits of [`Decay::value`] for each item.
    #[inline]
    pub(crate) fn firsts<T, const N: usize>(&self, items: &[T], gap: impl Fn(&T) -> u64) -> [u8; N] {
        let mut firsts = [0; N];
        if let Some(zero) = self.first.len().checked_sub(1) {
            for (item, first) in items.iter().zip(&mut firsts) {
                *first = self.first[gap(item).min(zero as u64) as usize];
            }
            firsts
        } else {
            let mut values = [0; N];
            self.values(items, gap, &mut values);
            values.map(first_digits)
        }
    }

    /// A number `v` such that `v ≤ exp(-rate·gap)·2^63 ≤ v + slack`.
    pub(crate) fn value(&self, gap: u64) -> u64 {
        let mut value = [0];
        self.values(&[gap], |gap| *gap, &mut value);
        value[0]
    }

    /// Such a number for each item.
    ///
    /// One loop for the two digits that nearly all rates need, and one for each further digit: a loop over digits
    /// inside the loop over items would cost twice the time.
    #[inline]
    pub(crate) fn values<T>(&self, items: &[T], gap: impl Fn(&T) -> u64, values: &mut [u64]) {
        let (leading, last) = (&self.leading[..], &self.last[..]);
        let (end, mask) = (leading.len() - 1, last.len() - 1);
        for (item, value) in items.iter().zip(values.iter_mut()) {
            let gap = gap(item);
            let top = gap.wrapping_shr(self.shift).min(end as u64) as usize;
            *value = high_half(leading[top], last[gap as usize & mask]);
        }
        for (place, table) in &self.between {
            for (item, value) in items.iter().zip(values.iter_mut()) {
                *value = high_half(*value, table[(gap(item) >> place) as usize & (table.len() - 1)]);
            }
        }
    }

    /// `exp(-rate·gap)` as narrowly as `bits` allow.
    pub(crate) fn enclosure(&self, gap: u64, bits: usize) -> Enclosure {
        Enclosure::ratio(&-(&self.rate * RBig::from(gap)), bits).exp()
    }

    /// Whether `exp(-rate·gap)` exceeds a uniform number whose first 63 digits are `uniform`.
    ///
    /// The uniform number gets twice the digits until the two differ. Its digits are random, so they do, with probability
    /// one; at a gap of zero the other number is known to be one at once.
    #[cold]
    #[inline(never)]
    pub(crate) fn exceeds(&self, gap: u64, uniform: u64, random: &mut Randomness) -> bool {
        let mut uniform = Digits::new(uniform, Self::BITS as usize);
        loop {
            uniform.double(random);
            let value = self.enclosure(gap, uniform.bits);
            if uniform.next() <= *value.low() {
                return true;
            }
            if uniform.value >= *value.high() {
                return false;
            }
        }
    }
}

/// The first binary digits of a uniform number in [0, 1), with more to come.
pub(crate) struct Digits {
    pub(crate) value: IBig,
    pub(crate) bits: usize,
}

impl Digits {
    pub(crate) fn new(value: u64, bits: usize) -> Self {
        Self {
            value: value.into(),
            bits,
        }
    }

    /// Draws as many digits again, or a few more.
    pub(crate) fn double(&mut self, random: &mut Randomness) {
        let mut bytes = vec![0; self.bits.div_ceil(8)];
        random.fill(&mut bytes);
        let more = 8 * bytes.len();
        self.value = (&self.value << more) + IBig::from(UBig::from_le_bytes(&bytes));
        self.bits += more;
    }

    /// … and less than `next / 2^bits`.
    pub(crate) fn next(&self) -> IBig {
        &self.value + 1
    }
}

/// A number `q` between 0 and 1 with `value ≤ q·2^128 ≤ value + error`.
struct Base {
    value: u128,
    error: u128,
}

impl Base {
    /// `exp(-rate·2^place)`.
    fn new(rate: &RBig, place: u32) -> Self {
        let step = Enclosure::ratio(&-(rate * RBig::from(UBig::ONE << place as usize)), BASE);
        // At one end only, for half the time: below zero the exponential moves by less than its argument.
        let exp = Enclosure::between(step.low().clone(), step.low().clone(), BASE).exp();
        let high = exp.high() + (step.high() - step.low());
        let value = exp.low() >> (BASE - WORKING);
        let error = (high >> (BASE - WORKING)) + 1 - &value;
        Self {
            // Unwrap safety: the exponential of a negative number is below 1, and an enclosure of it is not negative.
            value: u128::try_from(value).expect("an exponential below one"),
            // Unwrap safety: the high end is not below the low end.
            error: u128::try_from(error).expect("an error above zero"),
        }
    }

    /// `q^0, q^1, …` in units of 2^-64, each short by less than 2, and the power that follows them.
    ///
    /// In units of 2^-128: with Q ≤ q ≤ Q + d and X ≤ x ≤ X + e, both true numbers at most 2^128, the floor of
    /// XQ/2^128 is below xq/2^128 by at most d + e + 1. One is written as 2^128 − 1, with an error of 1.
    fn powers(&self, length: usize) -> (Vec<u64>, Self) {
        let mut power = Self {
            value: u128::MAX,
            error: 1,
        };
        let mut powers = Vec::with_capacity(length + 1);
        for _ in 0..length {
            // Cut to 64 digits an entry is short by less than 1 + error/2^64.
            debug_assert!(power.error < 1 << 64);
            powers.push((power.value >> 64) as u64);
            power.value = high_half_wide(power.value, self.value);
            power.error += self.error + 1;
        }
        (powers, power)
    }
}

#[inline(always)]
fn first_digits(value: u64) -> u8 {
    (value >> (Decay::BITS - 8)) as u8
}

#[inline(always)]
fn high_half(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// The upper 128 of the 256 bits of a product, by halves.
fn high_half_wide(a: u128, b: u128) -> u128 {
    let split = |x: u128| (x >> 64, x & u128::from(u64::MAX));
    let ((a1, a0), (b1, b0)) = (split(a), split(b));
    // Neither sum overflows: (2^64 − 1)² + 2·(2^64 − 1) < 2^128.
    let (middle, carry) = split(a1 * b0 + ((a0 * b0) >> 64));
    a1 * b1 + middle + ((a0 * b1 + carry) >> 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates from far beyond one to so small that no gap of 64 bits matters.
    fn rates() -> Vec<RBig> {
        let one = UBig::ONE;
        [
            (one.clone(), one.clone()),
            (one.clone(), UBig::from(20u32)),
            (one.clone(), UBig::from(2000u32)),
            (one.clone(), UBig::from(1_000_000u32)),
            (one.clone(), UBig::from(1_000_000_000u32)),
            (UBig::from(355u32), UBig::from(113u32)),
            ((&one << 200) - 1u32, (&one << 203) + 1u32),
            (one.clone() << 200, one.clone()),
            (one.clone(), &one << 200),
        ]
        .map(|(numerator, denominator)| RBig::from_parts(numerator.into(), denominator))
        .to_vec()
    }

    #[test]
    fn values_are_within_their_error() {
        let mut random = Randomness::seeded(11);
        for rate in rates() {
            for digits in [64, 40, 9] {
                let decay = Decay::with_digits(rate.clone(), digits);
                let mut gaps: Vec<u64> = (0..70).chain([1 << 40, u64::MAX - 1, u64::MAX]).collect();
                // Gaps of all lengths, and both sides of every place where a table ends.
                gaps.extend((0..200).map(|i| random.word() >> (i % 64)));
                let ends = [decay.leading.len() as u64, decay.leading.len() as u64 - 1];
                gaps.extend(ends.map(|end| end.saturating_mul(1 << decay.shift)));
                gaps.extend(ends.map(|end| end.saturating_mul(1 << decay.shift) - 1));
                let firsts: [u8; 512] = decay.firsts(&gaps, |gap| *gap);
                for (gap, first) in gaps.into_iter().zip(firsts) {
                    let truth = decay.enclosure(gap, 63 + 20);
                    let value = decay.value(gap);
                    assert!(IBig::from(value) << 20 <= *truth.high(), "{rate} {digits} {gap}");
                    let top = IBig::from(value) + IBig::from(decay.slack);
                    assert!(top << 20 >= *truth.low(), "{rate} {digits} {gap}");
                    assert_eq!(first, first_digits(value), "{rate} {digits} {gap}");
                }
            }
        }
    }

    #[test]
    fn errors_and_tables_stay_small() {
        for rate in rates() {
            let decay = Decay::new(rate.clone());
            assert!(decay.slack <= 16, "{rate}: {}", decay.slack);
            let tables = decay.between.iter().map(|(_, table)| table.len()).sum::<usize>();
            assert!(
                decay.leading.len() + decay.last.len() + tables <= 7 << DIGIT,
                "{rate}"
            );
        }
    }

    #[test]
    fn wide_products_are_those_of_big_integers() {
        let mut random = Randomness::seeded(12);
        let mut wide = || u128::from(random.word()) << 64 | u128::from(random.word());
        for _ in 0..1000 {
            let (a, b) = (wide(), wide());
            assert_eq!(UBig::from(high_half_wide(a, b)), (UBig::from(a) * b) >> 128);
        }
        assert_eq!(high_half_wide(u128::MAX, u128::MAX), u128::MAX - 1);
    }

    /// Which of two numbers is larger is decided rightly even if 63 digits agree.
    #[test]
    fn close_numbers_are_told_apart() {
        let mut random = Randomness::seeded(13);
        let decay = Decay::new(RBig::from_parts(1.into(), 20u32.into()));
        for gap in [1, 3, 50, 700] {
            let truth = decay.enclosure(gap, 63);
            let digits = u64::try_from(truth.low()).expect("63 digits");
            assert!(decay.exceeds(gap, digits - 2, &mut random));
            assert!(!decay.exceeds(gap, digits + 3, &mut random));
            // The rest of the digits makes a fair share of heads, neither none nor all (false alarm below 1e-6).
            let digits = u64::try_from(decay.enclosure(gap, 90).low() >> 27).expect("63 digits");
            let share = f64::from(
                u32::try_from(decay.enclosure(gap, 90).low() & IBig::from((1 << 27) - 1)).expect("27 bits"),
            ) / f64::from(1 << 27);
            let n = 400;
            let heads = (0..n).filter(|_| decay.exceeds(gap, digits, &mut random)).count();
            let deviation = (heads as f64 - share * f64::from(n)).abs();
            // Hoeffding: 2·exp(-2·55²/400) < 1e-6.
            assert!(deviation < 55.0, "{gap}: {heads} of {n}, expected {share}");
        }
        assert!(
            decay.exceeds(0, (1 << 63) - 1, &mut random),
            "certainty has no digits to miss"
        );
        assert!(!decay.exceeds(u64::MAX, 1, &mut random));
    }
}
