//! The half normal law on integers: `P(k) ∝ exp(-k²/2σ²)` on 0, 1, 2, …
//!
//! The cells from which a real normal variable is drawn (`normal`), and the series that `rounded` needs, too.

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::geometric::decay;
use super::noise::whole_bits;
use super::table::{Cumulative, partial_sums};
use crate::privacy::enclosure::{Enclosure, pi};

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

/// `P(k) ∝ exp(-k²/2σ²)` on 0, 1, 2, …
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

#[cfg(test)]
mod tests {
    use super::super::noise::tests::{agree, keeps_its_law_in_few_digits, narrow};
    use super::*;

    #[test]
    fn both_series_of_the_normaliser_agree() {
        for (n, d) in [(1u64, 1u64), (11, 10), (3, 2), (4, 1)] {
            let sigma = RBig::from_parts(n.into(), d.into());
            let poisson = theta(
                &(&sigma + RBig::from_parts(1.into(), 1_000_000_000_000u64.into())),
                200,
            );
            let mut direct = 1.0;
            let s = n as f64 / d as f64;
            direct += 2.0
                * (1..100)
                    .map(|k| (-f64::from(k * k) / (2.0 * s * s)).exp())
                    .sum::<f64>();
            assert!((poisson.to_f64() - direct).abs() < 1e-10, "σ = {n}/{d}");
        }
        // At σ = 1 the direct series is in use; Poisson's at 1 + 2^-150 differs by less than 2^-148.
        let next = RBig::ONE + RBig::from_parts(IBig::ONE, dashu_int::UBig::ONE << 150);
        let gap = theta(&next, 300).sub(&theta(&RBig::ONE, 300));
        assert!(*gap.low() > IBig::ZERO && *gap.high() < IBig::ONE << 153);
    }

    /// With digits to spare a wrong last digit is rounded away: here there are none.
    #[test]
    fn sums_of_squares_hold_what_they_leave_out() {
        for bits in 1..=12usize {
            // q up to exp(-1/2) = 0.606…
            for q in 0..=(1u64 << bits) * 3 / 5 {
                let at = |bits: usize, q: IBig| square_sum(&Enclosure::between(q.clone(), q, bits));
                let (few, many) = (at(bits, q.into()), at(300, IBig::from(q) << (300 - bits)));
                let shift = 300 - bits;
                assert!(
                    few.low() << shift <= *many.low() && *many.high() <= few.high() << shift,
                    "q = {q}/2^{bits}"
                );
            }
        }
    }

    #[test]
    fn thresholds_agree_with_direct_sums() {
        let bits = 200;
        for (n, d) in [(1u64, 2u64), (3, 2), (10, 1)] {
            let sigma = RBig::from_parts(n.into(), d.into());
            let weight = |k: u64| decay(&(rate(&sigma) * RBig::from(k * k)), bits);
            // Beyond 18σ weights are below 2^-230.
            let last = 18 * n / d + 1;
            let sum = |k: u64| (1..=k).fold(weight(0), |sum, j| sum.add(&weight(j)));
            let (all, law) = (sum(last), Half { sigma: sigma.clone() });
            for (k, ours) in (0..9).zip(law.thresholds(bits)) {
                assert!(
                    agree(&ours, &sum(k).div(&all)) && narrow(&ours, 20),
                    "P(H ≤ {k}) at σ = {sigma}"
                );
            }
        }
    }

    #[test]
    fn few_digits_keep_the_law() {
        let weight = |k: i64| (-(k * k) as f64 / 12.5).exp();
        let all: f64 = (0..60).map(weight).sum();
        let sigma = RBig::from_parts(5.into(), 2u8.into());
        assert!(keeps_its_law_in_few_digits(Half { sigma }, |k| weight(k) / all));
    }
}
