//! σ(t) = 1/(1 + e^−t) in integers, with an error that is proved: `docs/proofs/objective.md#certified-slopes`.

use dashu_int::IBig;

use crate::privacy::enclosure::Enclosure;

/// Binary digits of what [`fast`] is asked, after the point.
pub(super) const ASKED: usize = 64;
/// Binary digits of what it answers.
pub(super) const DIGITS: usize = 62;
/// It is never further off than this, in units of its last digit, also for an argument that lost what is below its own last digit.
pub(super) const ERROR: i64 = 3;

/// ln 2, rounded down to 64 digits.
const LN_2: u128 = 0xB172_17F7_D1CF_79AB;
/// Terms of the series of e^−r: r²¹/21! is below 2^−75 for r ≤ ln 2.
const TERMS: u64 = 20;

/// σ(t/2^64)·2^62.
pub(super) fn fast(t: i128) -> i64 {
    let upper = upper_half(t.unsigned_abs());
    if t < 0 { (1 << DIGITS) - upper } else { upper }
}

/// σ of a number that is not negative.
fn upper_half(t: u128) -> i64 {
    let one = 1u128 << ASKED;
    // e^−64 is below the last digit by far.
    if t >= 64 * one {
        return 1 << DIGITS;
    }
    // e^−t = 2^−k·e^−r, and 2^−k makes up for k times the error of ln 2.
    let (k, r) = (t / LN_2, t % LN_2);
    let mut power = one;
    for n in (1..=TERMS).rev() {
        // Both fit: r < 0.7·2^64 and power ≤ 2^64.
        let term = ((r * power) >> ASKED) as u64 / n;
        power = one - u128::from(term);
    }
    let power = power >> k;
    ((1u128 << (ASKED + DIGITS)) / (one + power)) as i64
}

/// σ(t/2^digits)·2^bits, and how far off that can be at most.
pub(super) fn precise(t: &IBig, digits: usize, bits: usize) -> (IBig, IBig) {
    let negative = *t < IBig::ZERO;
    let size = if negative { -t } else { t.clone() };
    let scaled = size << bits;
    let below: IBig = scaled >> digits;
    let power = Enclosure::between(-(&below + IBig::ONE), -below, bits).exp();
    let one = Enclosure::integer(1, bits);
    let upper = one.div(&one.add(&power));
    let value = if negative { one.sub(&upper) } else { upper };
    (value.low().clone(), value.high() - value.low())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Corners of every step of the computation, and numbers spread over all sizes.
    fn arguments() -> Vec<i128> {
        let mut all = vec![0, 1, 2, i128::MAX, i128::MIN, i128::MIN + 1];
        for k in 0..100u128 {
            for near in [0, 1, 2, LN_2 / 2, LN_2 - 1] {
                all.push((k * LN_2 + near) as i128);
            }
        }
        let mut state = 1u128;
        for bits in 1..72 {
            for _ in 0..20 {
                state = state
                    .wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645)
                    .wrapping_add(1);
                all.push((state >> (128 - bits)) as i128);
            }
        }
        let mirrored: Vec<i128> = all.iter().map(|t| t.wrapping_neg()).collect();
        [all, mirrored].concat()
    }

    /// How far off an answer is, in units of the last digit, rounded up. An argument stands for all that begin with its digits.
    fn off(answer: i64, t: i128) -> f64 {
        let bits = 100;
        let ends = [IBig::from(t), IBig::from(t) + IBig::ONE].map(|t| precise(&t, ASKED, bits));
        let off = |bound: IBig| {
            let apart = (IBig::from(answer) << (bits - DIGITS)) - bound;
            let apart = if apart < IBig::ZERO { -apart } else { apart };
            f64::from(i32::try_from(apart >> (bits - DIGITS - 10)).unwrap_or(i32::MAX)) / 1024.0
        };
        let [low, high] = ends;
        off(low.0).max(off(high.0 + high.1)) + 1.0 / 1024.0
    }

    #[test]
    fn the_fast_sigmoid_is_as_near_as_it_is_proved_to_be() {
        let worst =
            |answer: fn(i128) -> i64| arguments().iter().map(|&t| off(answer(t), t)).fold(0.0, f64::max);
        assert!(worst(fast) < ERROR as f64, "{}", worst(fast));
        // The test can fail: an error of twice the bound is seen.
        let wrong: fn(i128) -> i64 = |t| fast(t) + 2 * ERROR;
        assert!(worst(wrong) > ERROR as f64);
        for t in arguments() {
            assert!((0..=1 << DIGITS).contains(&fast(t)), "{t}");
        }
    }

    #[test]
    fn the_precise_sigmoid_encloses_and_narrows() {
        for t in arguments() {
            let (coarse, error) = precise(&t.into(), ASKED, 90);
            let (fine, narrow) = precise(&t.into(), ASKED, 300);
            assert!(error <= IBig::from(8), "{t}: {error}");
            // The coarse bounds hold the fine ones.
            assert!(&coarse << 210 <= fine, "{t}");
            assert!((coarse + error) << 210 >= fine + narrow, "{t}");
        }
    }
}
