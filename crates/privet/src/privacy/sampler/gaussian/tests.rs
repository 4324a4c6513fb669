//! The discrete Gaussian: its series, its thresholds and its law.

use super::super::noise::tests::{
    agree, bulk, draws, fits, keeps_its_law_in_few_digits, long, narrow, ratio,
};
use super::*;

fn law(sigma: Ratio) -> DiscreteGaussian {
    DiscreteGaussian::new(sigma).expect("a σ")
}

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
        let weights: Vec<_> = (0..=18 * n / d + 1).map(weight).collect();
        let sum = |k: usize| {
            weights[1..=k]
                .iter()
                .fold(weights[0].clone(), |s, w| s.add(w).add(w))
        };
        let (full, half) = (sum(weights.len() - 1), |k| sum(k).add(&weights[0]));
        let [magnitudes, cells]: [Box<dyn Cumulative>; 2] = [
            Box::new(Magnitude { sigma: sigma.clone() }),
            Box::new(Half { sigma: sigma.clone() }),
        ];
        let both = magnitudes.thresholds(bits).zip(cells.thresholds(bits));
        for (k, (m, h)) in both.take(9).enumerate() {
            assert!(
                agree(&m, &sum(k).div(&full)) && narrow(&m, 20),
                "P(|X| ≤ {k}) at σ = {sigma}"
            );
            let cell = half(k).div(&half(weights.len() - 1));
            assert!(agree(&h, &cell) && narrow(&h, 20), "P(H ≤ {k}) at σ = {sigma}");
        }
    }
}

#[test]
fn few_digits_keep_the_law() {
    let noise = law(ratio(5, 2));
    let sigma = noise.sigma.clone();
    let mass = |k: i64| noise.mass(k) * if k == 0 { 1.0 } else { 2.0 };
    assert!(keeps_its_law_in_few_digits(Magnitude { sigma }, mass));
}

#[test]
fn gaussian_fits_its_mass_and_no_neighbour() {
    for (n, d) in [(1, 50), (1, 2), (3, 2), (10, 1), (75, 2)] {
        let noise = law(ratio(n, d));
        let near = law(ratio(n * 21, d * 20));
        let reach = (8 * n / d + 4) as i64;
        for sample in [draws(&noise, 100_000, 21), bulk(&noise, 100_000, 22)] {
            assert!(fits(&sample, reach, |k| noise.mass(k)), "σ = {n}/{d}");
            let tiny = n * 10 < d;
            assert_eq!(
                fits(&sample, reach, |k| near.mass(k)),
                tiny,
                "σ = {n}/{d} and 5% more"
            );
        }
    }
}

#[test]
fn rejection_has_the_same_law() {
    for sigma in [ratio(1, 1), ratio(3, 2), ratio(10, 1), long(21, 2), ratio(130, 1)] {
        let noise = DiscreteGaussian::wide(sigma.big().clone()).expect("a σ");
        let reach = 8 * sigma.to_f64() as i64 + 4;
        assert!(
            fits(&draws(&noise, 100_000, 23), reach, |k| noise.mass(k)),
            "σ = {sigma}"
        );
        assert!(
            fits(&bulk(&noise, 100_000, 24), reach, |k| noise.mass(k)),
            "σ = {sigma}"
        );
    }
}

#[test]
fn exponent_is_within_the_slack() {
    for sigma in [
        ratio(3, 2),
        ratio(1000, 3),
        long(100_000, 7),
        ratio((1 << 60) - 7, 1),
        ratio(1 << 60, 1),
    ] {
        let rejection = Rejection::new(sigma.big().clone()).expect("a σ");
        let unit = sigma.big().trunc();
        for i in 0..60u64 {
            let size = u128::try_from(&(&unit * i / IBig::from(4) + i)).expect("small");
            let ours = Enclosure::between(
                -IBig::from(rejection.exponent(size)) << 64,
                -IBig::from(rejection.exponent(size)) << 64,
                128,
            );
            let gap = ours.exp().sub(&rejection.exact(size, 128));
            let slack = IBig::from(6) << 64;
            assert!(
                *gap.low() >= -&slack && *gap.high() <= slack,
                "|y| = {size} at σ = {sigma}"
            );
        }
    }
}

/// Groups of about equal probability by Φ, and the lowest digits.
#[test]
fn very_wide_sigmas_fit_in_groups() {
    for bits in [20u32, 60] {
        let sigma = ratio(1 << bits, 1);
        let noise = law(sigma);
        let sample = draws(&noise, 50_000, 25);
        let edge = |i: i32| {
            Enclosure::ratio(&RBig::from_parts(i.into(), 8u8.into()), 80)
                .normal_cdf()
                .to_f64()
        };
        let groups: Vec<i128> = sample.iter().map(|x| x >> (bits - 3)).collect();
        assert!(
            fits(&groups, 40, |k| edge(k as i32 + 1) - edge(k as i32)),
            "σ = 2^{bits}"
        );
        let low: Vec<i128> = sample.iter().map(|x| x & 255).collect();
        assert!(fits(&low, 255, |k| if k >= 0 { 1.0 / 256.0 } else { 0.0 }));
    }
}

#[test]
fn variance_is_that_of_the_masses() {
    for (n, d) in [(1, 3), (3, 2), (7, 2)] {
        let noise = law(ratio(n, d));
        let sum: f64 = (-60..=60).map(|k| noise.mass(k)).sum();
        let square: f64 = (-60..=60).map(|k| (k * k) as f64 * noise.mass(k)).sum();
        assert!((sum - 1.0).abs() < 1e-12 && (square / noise.variance() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn seeded_streams_repeat() {
    for sigma in [ratio(3, 1), ratio(1_000_000, 1)] {
        let noise = law(sigma);
        assert_eq!(draws(&noise, 100, 26), draws(&noise, 100, 26));
    }
    assert!(DiscreteGaussian::new(ratio(u64::MAX, 1)).is_err());
}
