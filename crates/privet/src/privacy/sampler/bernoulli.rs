//! A coin that shows heads with probability `exp(-x)`.
//!
//! The textbook way (CKS20, algorithm 1) tosses rational coins until one fails, so its time tells the outcome. Here a
//! uniform number is compared with `exp(-x)`: 64 digits of both at once, more of them only if these do not decide
//! (probability below 2^-58). Both outcomes take the same work.

use std::sync::OnceLock;

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::Randomness;
use crate::privacy::Ratio;
use crate::privacy::enclosure::Enclosure;

/// Callers of [`quick`] may be off by this much, in units of 2^-64, in the probability that their `x` stands for.
pub(crate) const CALLER_SLACK: u64 = 16;
/// [`exp_minus`] is off by at most 10 units; one more since the random word is itself cut off.
const SLACK: u64 = CALLER_SLACK + 11;
/// From here on `exp(-x)` is below 2^-92: no digit of it is left.
const FAR: u128 = 64 << 64;

/// A coin that shows heads with probability `exp(-x)`.
pub fn exp_coin(x: &Ratio, random: &mut Randomness) -> bool {
    exp_minus_coin(x.big(), random)
}

/// Heads with probability `exp(-x)`; `x` must not be negative.
fn exp_minus_coin(x: &RBig, random: &mut Randomness) -> bool {
    debug_assert!(*x >= RBig::ZERO);
    let parts = (u64::try_from(x.numerator()), u64::try_from(x.denominator()));
    let fixed = match parts {
        (Ok(numerator), Ok(denominator)) => (u128::from(numerator) << 64) / u128::from(denominator),
        _ => u128::try_from(&(x * RBig::from(IBig::ONE << 64)).trunc()).unwrap_or(FAR),
    };
    let v = random.word();
    match quick(fixed, v) {
        Some(heads) => heads,
        None => settle(
            Uniform::new(v),
            |bits| Enclosure::ratio(&-x.clone(), bits).exp(),
            random,
        ),
    }
}

/// Whether a uniform number that begins with `v` is below `exp(-x/2^64)`, if that is clear.
#[inline]
pub(crate) fn quick(x: u128, v: u64) -> Option<bool> {
    let p = exp_minus(x);
    (v.abs_diff(p) > SLACK).then_some(v < p)
}

#[cold]
#[inline(never)]
fn settle(mut v: Uniform, exact: impl Fn(usize) -> Enclosure, random: &mut Randomness) -> bool {
    loop {
        v.extend(random);
        if let Some(heads) = v.below(&exact(v.known + 32)) {
            return heads;
        }
    }
}

/// A uniform number on [0, 1) of which some digits are known.
#[derive(Debug, Clone)]
pub(crate) struct Uniform {
    pub(crate) digits: UBig,
    pub(crate) known: usize,
}

impl Uniform {
    pub(crate) fn new(word: u64) -> Self {
        Self::from_digits(word.into(), 64)
    }

    pub(crate) fn from_digits(digits: UBig, known: usize) -> Self {
        Self { digits, known }
    }

    /// 64 more digits.
    pub(crate) fn extend(&mut self, random: &mut Randomness) {
        self.digits = (&self.digits << 64) + random.word();
        self.known += 64;
    }

    /// All numbers that it may still be.
    pub(crate) fn enclosure(&self, bits: usize) -> Enclosure {
        let low = IBig::from(self.digits.clone());
        let shift = bits - self.known;
        Enclosure::between(&low << shift, (low + 1) << shift, bits)
    }

    /// Whether it is below a number, if that is clear.
    pub(crate) fn below(&self, p: &Enclosure) -> Option<bool> {
        let own = self.enclosure(p.bits());
        if own.high() <= p.low() {
            Some(true)
        } else if own.low() >= p.high() {
            Some(false)
        } else {
            None
        }
    }
}

/// `exp(-x/2^64)·2^64`, off by at most 10.
///
/// `x` is split into a whole part, two groups of six digits and a rest `r < 2^-12`, whose series ends at `r⁴/24`. The
/// three factors of the tables are off by at most 1 each (exactly 1 for entry 0, where one is stored as 1 − 2^-64), the
/// series by less than 4 (three divisions cut off; `r⁵/120`; one is stored likewise), the three products cut off less
/// than 1 each, and no factor is above one: less than 10 in all.
#[inline]
pub(crate) fn exp_minus(x: u128) -> u64 {
    let [wholes, sixths, twelfths] = powers();
    let x = x.min(FAR - 1);
    let [whole, sixth, twelfth] = [64, 58, 52].map(|shift| (x >> shift) as usize & 63);
    let high = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 64) as u64;
    let r = x as u64 & ((1 << 52) - 1);
    let r2 = high(r, r);
    let r3 = high(r2, r);
    let r4 = high(r3, r);
    // 2^64 − r + …, less one so that it fits for r = 0.
    let series = u64::MAX - r + r2 / 2 - r3 / 6 + r4 / 24;
    high(
        high(wholes[whole], sixths[sixth]),
        high(twelfths[twelfth], series),
    )
}

/// `exp(-i)`, `exp(-i/2^6)` and `exp(-i/2^12)` for `i` below 64, in units of 2^-64.
fn powers() -> &'static [[u64; 64]; 3] {
    static POWERS: OnceLock<[[u64; 64]; 3]> = OnceLock::new();
    POWERS.get_or_init(|| {
        [0u32, 6, 12].map(|shift| {
            let bits = 160;
            let step = RBig::from_parts(-IBig::ONE, UBig::ONE << shift as usize);
            let step = Enclosure::ratio(&step, bits).exp();
            let mut power = Enclosure::integer(1, bits);
            std::array::from_fn(|_| {
                let digits = u64::try_from(&(power.low() >> (bits - 64))).unwrap_or(u64::MAX);
                power = power.mul(&step);
                digits
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_point_exponential_keeps_its_bound() {
        let mut random = Randomness::seeded(6);
        let mut points = vec![
            0u128,
            1,
            (1 << 52) - 1,
            1 << 52,
            (1 << 64) - 1,
            1 << 64,
            FAR - 1,
            FAR,
            u128::MAX,
        ];
        for shift in 57..64 {
            points.extend((0..400).map(|_| (u128::from(random.word()) << 6) >> (63 - shift)));
        }
        for x in points {
            let exact = Enclosure::between(-IBig::from(x), -IBig::from(x), 64);
            let exact = Enclosure::between(exact.low() << 64, exact.high() << 64, 128).exp();
            let ours = IBig::from(exp_minus(x)) << 64;
            assert!(exact.low() - &ours <= IBig::from(10) << 64, "too small at {x}");
            assert!(&ours - exact.high() <= IBig::from(10) << 64, "too large at {x}");
        }
    }

    /// The probability may be anywhere within the caller's slack of `exp(-x)`: what 64 digits decide must hold for all
    /// of it and for every continuation of the digits, and only about 2^-58 of the words may be left open.
    #[test]
    fn quick_decisions_hold_for_all_that_is_still_possible() {
        let mut random = Randomness::seeded(61);
        let ends = [
            0u128,
            1,
            1 << 52,
            (1 << 64) - 1,
            1 << 64,
            (44 << 64) + 7,
            FAR - 1,
            FAR,
            u128::MAX,
        ];
        // A rest of all ones and next to them: the series cuts off most.
        let rests = (0..2000).map(|i| (i % 64) << 58 | (i * 37 % 64) << 52 | ((1 << 52) - 1 - i * i));
        let words = (0..3000).map(|i| u128::from(random.word()) << 6 >> (i % 7));
        for x in ends.into_iter().chain(rests).chain(words) {
            let exponent = -IBig::from(x.min(FAR)) << 136;
            let exact = Enclosure::between(exponent.clone(), exponent, 200).exp();
            let slack = IBig::from(CALLER_SLACK) << 136;
            let (least, most) = (exact.low() - &slack, exact.high() + &slack);
            let p = exp_minus(x);
            let near = |d| [p.checked_sub(d), p.checked_add(d)];
            let mut open = 0;
            for v in (0..64).flat_map(near).flatten() {
                match quick(x, v) {
                    Some(true) => assert!(
                        (IBig::from(v) + IBig::ONE) << 136usize <= least,
                        "{v} is not clearly below at {x}"
                    ),
                    Some(false) => assert!(IBig::from(v) << 136 >= most, "{v} is not clearly above at {x}"),
                    None => open += 1,
                }
            }
            assert!(open <= 64, "{open} words are open at {x}");
        }
    }

    #[test]
    fn digits_decide_or_ask_for_more() {
        for (n, d) in [(0u64, 1u64), (1, 3), (1, 1), (5, 2), (100, 1)] {
            let x = RBig::from_parts(n.into(), d.into());
            let p = Enclosure::ratio(&-x, 200).exp();
            let cut = u64::try_from(&(p.low() >> 192)).expect("small");
            for v in 0..256u64 {
                let own = Uniform::from_digits(v.into(), 8);
                let expected = if n == 0 {
                    Some(true)
                } else {
                    (v != cut).then_some(v < cut)
                };
                assert_eq!(own.below(&p), expected, "{v}/256 against exp(-{n}/{d})");
            }
        }
    }

    /// Digits equal to the threshold's own: the rest decides, with the rest's probability. False alarm below 1e-9.
    #[test]
    fn settled_coins_follow_the_remaining_digits() {
        let mut random = Randomness::seeded(7);
        let exact = |bits| Enclosure::ratio(&RBig::from_parts((-1).into(), 3u8.into()), bits).exp();
        let p = exact(200);
        let first = p.low() >> (200 - 64);
        let rest = Enclosure::between(p.low() - (&first << 136), p.high() - (&first << 136), 136).to_f64();
        let n = 20_000;
        let first = u64::try_from(&first).expect("a fraction");
        let heads = (0..n)
            .filter(|_| settle(Uniform::new(first), exact, &mut random))
            .count();
        assert!((heads as f64 / f64::from(n) - rest).abs() < (22.0f64 / 2.0 / f64::from(n)).sqrt());
    }

    /// False alarm below 1e-8: Hoeffding's bound for five coins.
    #[test]
    fn coins_show_heads_as_often_as_told() {
        let mut random = Randomness::seeded(8);
        let long = RBig::from_parts(IBig::ONE << 200, (UBig::ONE << 201) + UBig::ONE);
        let cases =
            [(1u64, 3u64), (7, 5), (1, 1000), (30, 1)].map(|(n, d)| RBig::from_parts(n.into(), d.into()));
        for x in cases.into_iter().chain([long]) {
            let n = 100_000;
            let heads = (0..n).filter(|_| exp_minus_coin(&x, &mut random)).count();
            let p = (-x.to_f64().value()).exp();
            assert!(
                (heads as f64 / f64::from(n) - p).abs() < (22.0f64 / 2.0 / f64::from(n)).sqrt(),
                "exp(-{x})"
            );
        }
        assert!((0..1000).all(|_| exp_minus_coin(&RBig::ZERO, &mut random)));
        let far = RBig::from(IBig::ONE << 100);
        assert!((0..1000).all(|_| !exp_minus_coin(&far, &mut random)));
    }
}
