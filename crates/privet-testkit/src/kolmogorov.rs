//! Do these numbers follow this distribution function?
//!
//! The distance between the empirical and the claimed distribution function, judged by the inequality of Dvoretzky,
//! Kiefer and Wolfowitz with Massart's constant (1990): P(sup |F̂ - F| > t) ≤ 2 e^(-2nt²) at every n. Unlike
//! Kolmogorov's limit law it holds for *every* F, so the test is conservative, not wrong, for laws with atoms.

use crate::Verdict;

/// Tests `samples` against a right-continuous distribution function.
///
/// The function is asked for F(x) and, just before an atom, for F at the next smaller float: for a law on the integers
/// write it with `floor`, so that F(4.999…) = F(4).
///
/// The false-alarm rate is at most `false_alarm`, for any law and any number of samples.
///
/// # Panics
/// If there is no sample, the rate is not in (0, 1), or `cdf` leaves [0, 1] or falls.
pub fn fits(samples: &[f64], cdf: impl Fn(f64) -> f64, false_alarm: f64) -> Verdict {
    crate::check_rate(false_alarm);
    assert!(!samples.is_empty(), "no samples");
    if samples.iter().any(|x| x.is_nan()) {
        return Verdict::Refused {
            p_value: 0.0,
            because: "a sample is not a number".into(),
        };
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let (mut below, mut widest, mut place, mut last) = (0usize, 0.0f64, f64::NAN, 0.0f64);
    for ties in sorted.chunk_by(|a, b| a == b) {
        let x = ties[0];
        let (before, at) = (cdf(x.next_down()), cdf(x));
        assert!(
            0.0 <= before && last <= before && before <= at && at <= 1.0,
            "not a distribution function: F({x:e}-) = {before}, F({x:e}) = {at}, after {last}"
        );
        let until = below + ties.len();
        // F rises most above F̂ just before a jump of F̂, and F̂ most above F right at it.
        for gap in [before - below as f64 / n, until as f64 / n - at] {
            if gap > widest {
                (widest, place) = (gap, x);
            }
        }
        (below, last) = (until, at);
    }
    let p_value = (2.0 * (-2.0 * n * widest * widest).exp()).min(1.0);
    Verdict::judge(p_value, false_alarm, || {
        format!("the distribution functions are {widest} apart at {place}, with {n} samples")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samplers::{Source, laplace_cdf};

    const RATE: f64 = 1e-9;

    fn integers(n: usize, mut draw: impl FnMut() -> i64) -> Vec<f64> {
        (0..n).map(|_| draw() as f64).collect()
    }

    #[test]
    fn the_right_law_fits_and_wrong_ones_do_not() {
        let mut source = Source::seeded(10);
        let right = integers(40_000, || source.laplace(5.0));
        fits(&right, |x| laplace_cdf(x, 5.0), RATE).expect_fit();
        fits(&right, |x| laplace_cdf(x, 2.5), RATE).expect_refusal();
        // Half a step to the side: an off-by-one in a rounding.
        fits(&right, |x| laplace_cdf(x - 1.0, 5.0), RATE).expect_refusal();
        let positive = integers(40_000, || source.laplace(5.0).abs());
        fits(&positive, |x| laplace_cdf(x, 5.0), RATE).expect_refusal();
        let with_a_hole = [1.0, f64::NAN];
        fits(&with_a_hole, |x| laplace_cdf(x, 5.0), RATE).expect_refusal();
    }

    #[test]
    fn uniform_numbers_fit_and_squared_ones_do_not() {
        let mut source = Source::seeded(11);
        let uniform: Vec<f64> = (0..10_000).map(|_| source.unit()).collect();
        fits(&uniform, |x| x.clamp(0.0, 1.0), RATE).expect_fit();
        let squared: Vec<f64> = uniform.iter().map(|u| u * u).collect();
        fits(&squared, |x| x.clamp(0.0, 1.0), RATE).expect_refusal();
    }

    /// At rate 0.1, over 2000 repetitions, for a continuous law (where the bound is nearly tight) and one with large
    /// atoms (where it is not): more than 260 alarms would come with probability below 1e-4 at a true rate of 0.1.
    #[test]
    fn false_alarms_are_as_rare_as_stated() {
        let mut source = Source::seeded(12);
        let (mut smooth, mut atoms) = (0, 0);
        for _ in 0..2000 {
            let uniform: Vec<f64> = (0..100).map(|_| source.unit()).collect();
            smooth += u32::from(fits(&uniform, |x| x.clamp(0.0, 1.0), 0.1).is_refused());
            let narrow = integers(100, || source.laplace(0.5));
            atoms += u32::from(fits(&narrow, |x| laplace_cdf(x, 0.5), 0.1).is_refused());
        }
        assert!((100..260).contains(&smooth), "{smooth}");
        assert!(atoms < smooth, "{atoms}");
    }

    #[test]
    #[should_panic(expected = "not a distribution function")]
    fn a_mass_function_given_by_mistake_is_noticed() {
        let _ = fits(&[0.0, 1.0, 2.0], |x| (-x.abs()).exp(), RATE);
    }
}
