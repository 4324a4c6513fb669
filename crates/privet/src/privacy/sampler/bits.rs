//! Uniform integers and rational coins.

use std::num::NonZeroU64;

use dashu_int::UBig;
use dashu_ratio::RBig;

use super::Randomness;
use crate::Error;
use crate::privacy::Ratio;

/// Up to here Lemire's division runs with probability 2^-40 at most.
const SMALL: u64 = 1 << 24;

/// A uniform integer below `n`.
pub fn uniform(n: NonZeroU64, random: &mut Randomness) -> u64 {
    below(n.get(), random)
}

/// A coin that shows heads with probability `p`.
///
/// # Errors
/// [`Error::Parameter`] if `p` is above one.
pub fn coin(p: &Ratio, random: &mut Randomness) -> Result<bool, Error> {
    if *p.big() > RBig::ONE {
        let why = format!("{p} is no probability: it is above one");
        return Err(Error::parameter("probability", why));
    }
    Ok(bernoulli(p.big(), random))
}

/// A uniform integer below `n`, which must not be zero.
///
/// Each value is accepted equally often, so how often a draw is repeated says nothing about what it gave. Up to
/// [`SMALL`] by Lemire's multiplication, whose division runs for exactly `n` of the 2^64 words; which values those words
/// give depends on `n`, so beyond, where they are not rare, by random bits that are refused while too large.
#[inline]
pub(crate) fn below(n: u64, random: &mut Randomness) -> u64 {
    debug_assert_ne!(n, 0);
    if n > SMALL {
        return masked(n, || random.word());
    }
    let mut wide = u128::from(random.word()) * u128::from(n);
    if (wide as u64) < n {
        let refuse = n.wrapping_neg() % n;
        while (wide as u64) < refuse {
            wide = u128::from(random.word()) * u128::from(n);
        }
    }
    (wide >> 64) as u64
}

/// A uniform integer below `n`, which must be at least two: ⌈log2 n⌉ digits of a word, of which more than half are below.
#[inline]
fn masked(n: u64, mut word: impl FnMut() -> u64) -> u64 {
    let mask = u64::MAX >> (n - 1).leading_zeros();
    loop {
        let value = word() & mask;
        if value < n {
            return value;
        }
    }
}

/// A uniform integer below a `n` of any size, which must not be zero: random bits, refused while too large.
fn below_big(n: &UBig, random: &mut Randomness) -> UBig {
    use dashu_base::BitTest;
    let bits = n.bit_len();
    let mut bytes = vec![0u8; bits.div_ceil(8)];
    loop {
        random.fill(&mut bytes);
        let spare = bytes.len() * 8 - bits;
        if let Some(top) = bytes.last_mut() {
            *top &= 0xff >> spare;
        }
        let value = UBig::from_le_bytes(&bytes);
        if value < *n {
            return value;
        }
    }
}

/// A coin that shows heads with probability `p`, which must lie in [0, 1].
fn bernoulli(p: &RBig, random: &mut Randomness) -> bool {
    let (numerator, denominator) = (p.numerator(), p.denominator());
    match (u64::try_from(numerator), u64::try_from(denominator)) {
        (Ok(numerator), Ok(denominator)) => below(denominator, random) < numerator,
        _ => dashu_int::IBig::from(below_big(denominator, random)) < *numerator,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_big_uniforms_cover_their_range_alone() {
        let mut random = Randomness::seeded(1);
        for n in 1..=9u64 {
            let mut seen = [[0u32; 9]; 2];
            for _ in 0..2000 {
                seen[0][below(n, &mut random) as usize] += 1;
                let big = below_big(&UBig::from(n), &mut random);
                seen[1][u64::try_from(big).expect("small") as usize] += 1;
            }
            for counts in seen {
                // Each of at most nine values is missed with probability (8/9)^2000 < 1e-100.
                assert!(counts[..n as usize].iter().all(|c| *c > 0));
                assert!(counts[n as usize..].iter().all(|c| *c == 0));
            }
        }
    }

    #[test]
    fn masked_words_are_refused_from_n_on() {
        for n in 2..=65u64 {
            let range = n.next_power_of_two();
            for word in 0..2 * range {
                // Zero comes next if the word is refused.
                let expected = Some(word % range).filter(|x| *x < n).unwrap_or(0);
                let mut words = [word, 0].into_iter();
                let ours = masked(n, || words.next().expect("zero is kept"));
                assert_eq!(
                    (ours, words.len() == 1),
                    (expected, word % range < n),
                    "{word} below {n}"
                );
            }
        }
        for n in [SMALL + 1, (1 << 32) + 1, 3 << 61, (1 << 63) + 1, u64::MAX] {
            let mut words = [n, n - 1].into_iter();
            assert_eq!(masked(n, || words.next().expect("n − 1 is kept")), n - 1);
            let [mut ours, mut words] = [3, 3].map(Randomness::seeded);
            assert_eq!(
                below(n, &mut ours),
                masked(n, || words.word()),
                "{n} is not small"
            );
        }
    }

    #[test]
    fn coins_at_the_ends_are_certain() {
        let mut random = Randomness::seeded(2);
        assert!((0..100).all(|_| bernoulli(&RBig::ONE, &mut random)));
        assert!((0..100).all(|_| !bernoulli(&RBig::ZERO, &mut random)));
    }
}
