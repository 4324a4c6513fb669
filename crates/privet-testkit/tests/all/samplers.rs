//! Every sampler against its exact mass function, and wrong samplers that must be refused.
//!
//! Each test refuses a right sampler with probability at most 1e-6 and draws fresh randomness, so no seed hides a wrong one.
//! `PRIVET_FULL=1` draws twenty times as many. `oracle/` compares with OpenDP's samplers.

use privet::privacy::Ratio;
use privet::privacy::sampler::{
    DiscreteLaplace, LaplaceShare, Noise, Randomness, RoundedGaussian, Selection, coin, exp_coin, uniform,
};
use privet_testkit::chi_square::fits;
use privet_testkit::epsilon::supports_agree;
use privet_testkit::selection::{probabilities_exponential, probabilities_permute_and_flip};
use privet_testkit::skipped::full;

const FALSE_ALARM: f64 = 1e-6;

fn samples() -> usize {
    if full() { 8_000_000 } else { 400_000 }
}

fn ratio(numerator: u64, denominator: u64) -> Ratio {
    Ratio::new(numerator, denominator).expect("positive")
}

fn random() -> Randomness {
    Randomness::from_os().expect("randomness")
}

/// A law, its name, and its mass function in floats, written down without the library's help.
struct Known {
    name: String,
    law: Box<dyn Noise>,
    mass: Box<dyn Fn(i64) -> f64>,
}

fn laplace_mass(scale: f64) -> impl Fn(i64) -> f64 {
    move |k| (0.5 / scale).tanh() * (-(k.abs() as f64) / scale).exp()
}

fn rounded_gaussian_mass(sigma: f64) -> impl Fn(i64) -> f64 {
    // In the upper tail, where nothing cancels.
    let tail = move |x: f64| 0.5 * statrs::function::erf::erfc(x / sigma / std::f64::consts::SQRT_2);
    move |k| tail(k.abs() as f64 - 0.5) - tail(k.abs() as f64 + 0.5)
}

/// The difference of two negative binomials of shape 1/n: their correlation, summed.
fn share_mass(scale: f64, parties: u32) -> impl Fn(i64) -> f64 {
    let (q, r) = ((-1.0 / scale).exp(), 1.0 / f64::from(parties));
    let mut part = vec![(1.0 - q).powf(r)];
    for k in 0..(60.0 * scale) as usize + 60 {
        part.push(part[k] * q * (k as f64 + r) / (k as f64 + 1.0));
    }
    let memory = std::cell::RefCell::new(std::collections::HashMap::new());
    move |k| {
        let shift = k.unsigned_abs() as usize;
        let sum = || part.iter().skip(shift).zip(&part).map(|(a, b)| a * b).sum();
        *memory.borrow_mut().entry(shift).or_insert_with(sum)
    }
}

fn laws() -> Vec<Known> {
    // Nearly all mass at zero, tables of all sizes, and just beyond them: digits and rejection.
    let parameters = [(1, 50), (1, 2), (3, 2), (10, 1), (333, 10), (129, 1), (700, 1)];
    let mut laws = Vec::new();
    for (n, d) in parameters {
        let (exact, float) = (ratio(n, d), n as f64 / d as f64);
        laws.push(Known {
            name: format!("discrete Laplace {n}/{d}"),
            law: Box::new(DiscreteLaplace::new(exact.clone()).expect("a law")),
            mass: Box::new(laplace_mass(float)),
        });
        laws.push(Known {
            name: format!("rounded Gaussian {n}/{d}"),
            law: Box::new(RoundedGaussian::new(exact).expect("a law")),
            mass: Box::new(rounded_gaussian_mass(float)),
        });
    }
    for (scale, parties) in [(10, 3), (50, 1), (7, 40)] {
        laws.push(Known {
            name: format!("share of {parties}, scale {scale}"),
            law: Box::new(LaplaceShare::new(ratio(scale, 1), parties).expect("a law")),
            mass: Box::new(share_mass(scale as f64, parties)),
        });
    }
    laws
}

fn bulk(law: &dyn Noise, n: usize) -> Vec<i64> {
    let mut values = vec![0; n];
    law.add_to(&mut values, &mut random());
    values
}

fn single(law: &dyn Noise, n: usize) -> Vec<i64> {
    let mut random = random();
    (0..n)
        .map(|_| i64::try_from(law.draw(&mut random)).expect("a small value"))
        .collect()
}

#[test]
fn every_law_has_its_exact_mass() {
    for Known { name, law, mass } in laws() {
        for k in [0, 1, -1, 2, 7] {
            let (ours, theirs) = (law.mass(k), mass(k));
            let close = (ours - theirs).abs() <= 1e-9 * theirs || theirs < 1e-12;
            assert!(close, "{name}: the mass of {k} is {theirs}, not {ours}");
        }
        let verdict = fits(bulk(law.as_ref(), samples()), &mass, FALSE_ALARM);
        assert!(!verdict.is_refused(), "{name}, in bulk: {verdict:?}");
        let verdict = fits(single(law.as_ref(), samples() / 4), &mass, FALSE_ALARM);
        assert!(!verdict.is_refused(), "{name}, one by one: {verdict:?}");
    }
}

type Cdf = Box<dyn Fn(f64) -> f64>;

/// `P(X ≤ k)` of the laws that are too wide to sum up, in floats: at these widths both are within 1e-7 of it.
fn wide_laws() -> Vec<(&'static str, Box<dyn Noise>, Cdf)> {
    let (scale, sigma) = (ratio(1_000_003, 7), ratio(50_000, 1));
    let (s, d) = (scale.to_f64(), sigma.to_f64());
    let laplace = move |k: f64| {
        if k < 0.0 {
            0.5 * (k / s).exp()
        } else {
            1.0 - 0.5 * (-k / s).exp()
        }
    };
    let normal = move |k: f64| 0.5 * statrs::function::erf::erfc(-k / d / std::f64::consts::SQRT_2);
    // A sum over integers up to k is the integral up to k + ½.
    vec![
        (
            "discrete Laplace",
            Box::new(DiscreteLaplace::new(scale).expect("a law")),
            Box::new(move |k| laplace(k + 0.5)),
        ),
        (
            "rounded Gaussian",
            Box::new(RoundedGaussian::new(sigma).expect("a law")),
            Box::new(move |k| normal(k + 0.5)),
        ),
    ]
}

#[test]
fn wide_laws_have_their_shape_and_even_digits() {
    for (name, law, cdf) in wide_laws() {
        let step = (law.variance().sqrt() / 8.0) as i64;
        let cell = |k: i64| {
            let p = cdf((k * step + step - 1) as f64) - cdf((k * step - 1) as f64);
            if k.abs() > 400 { 0.0 } else { p.max(1e-300) }
        };
        let folded = bulk(law.as_ref(), samples())
            .into_iter()
            .map(|x| x.div_euclid(step));
        let verdict = fits(folded, cell, FALSE_ALARM);
        assert!(!verdict.is_refused(), "{name}: {verdict:?}");
        let narrow = bulk(law.as_ref(), samples())
            .into_iter()
            .map(|x| (x * 19 / 20).div_euclid(step));
        assert!(
            fits(narrow, cell, FALSE_ALARM).is_refused(),
            "{name} at 19/20 of its width went through"
        );
        // The last digits of a wide law are uniform to within 1e-4 of one cell: far below what shows.
        let low = bulk(law.as_ref(), samples())
            .into_iter()
            .map(|x| x.rem_euclid(16));
        let verdict = fits(
            low,
            |k| if (0..16).contains(&k) { 1.0 / 16.0 } else { 0.0 },
            FALSE_ALARM,
        );
        assert!(!verdict.is_refused(), "{name}, last digits: {verdict:?}");
    }
}

#[test]
fn shares_sum_to_laplace_noise() {
    let parties = 5;
    let share = LaplaceShare::new(ratio(10, 1), parties).expect("a law");
    let mut sums = vec![0; samples() / 2];
    for _ in 0..parties {
        share.add_to(&mut sums, &mut random());
    }
    fits(sums, laplace_mass(10.0), FALSE_ALARM).expect_fit();
}

#[test]
fn integers_and_coins_are_fair() {
    let (n, mut random) = (samples(), random());
    // Small, just above a power of two, and so large that most words are refused once.
    for sides in [1u64, 2, 6, 257] {
        let draws: Vec<i64> = (0..n)
            .map(|_| uniform(sides.try_into().expect("not zero"), &mut random) as i64)
            .collect();
        let mass = |k: i64| {
            if (0..sides as i64).contains(&k) {
                1.0 / sides as f64
            } else {
                0.0
            }
        };
        fits(draws, mass, FALSE_ALARM).expect_fit();
    }
    let large = (1u64 << 63) + 1;
    let upper = (0..n)
        .filter(|_| uniform(large.try_into().expect("not zero"), &mut random) >= large / 2)
        .count();
    let two = |p: f64| {
        move |k: i64| {
            if k == 1 {
                p
            } else if k == 0 {
                1.0 - p
            } else {
                0.0
            }
        }
    };
    let counted = |heads: usize| (0..n).map(move |i| i64::from(i < heads));
    fits(counted(upper), two(0.5), FALSE_ALARM).expect_fit();
    for (a, b) in [(1, 3), (999, 1000), (u64::MAX / 3, u64::MAX)] {
        let p = ratio(a, b);
        let heads = (0..n)
            .filter(|_| coin(&p, &mut random).expect("a probability"))
            .count();
        fits(counted(heads), two(p.to_f64()), FALSE_ALARM).expect_fit();
        let heads = (0..n).filter(|_| exp_coin(&p, &mut random)).count();
        fits(counted(heads), two((-p.to_f64()).exp()), FALSE_ALARM).expect_fit();
        fits(counted(heads + n / 100), two((-p.to_f64()).exp()), FALSE_ALARM).expect_refusal();
    }
    assert!(coin(&ratio(3, 2), &mut random).is_err());
}

#[test]
fn selections_have_their_exact_probabilities() {
    let scores = [3, -7, 11, 11, 0, 12, -400];
    let rate = ratio(1, 6);
    let selection = Selection::new(rate.clone()).expect("a selection");
    let mut random = random();
    let n = samples();
    let flipped: Vec<i64> = (0..n)
        .map(|_| {
            selection
                .permute_and_flip(&scores, &mut random)
                .expect("a choice") as i64
        })
        .collect();
    let weighed: Vec<i64> = (0..n)
        .map(|_| selection.exponential(&scores, &mut random).expect("a choice") as i64)
        .collect();
    let at = |p: Vec<f64>| {
        move |k: i64| {
            usize::try_from(k)
                .ok()
                .and_then(|k| p.get(k).copied())
                .unwrap_or(0.0)
        }
    };
    let permute_and_flip = at(probabilities_permute_and_flip(&scores, rate.to_f64()));
    let exponential = at(probabilities_exponential(&scores, rate.to_f64()));
    fits(flipped.iter().copied(), &permute_and_flip, FALSE_ALARM).expect_fit();
    fits(weighed.iter().copied(), &exponential, FALSE_ALARM).expect_fit();
    fits(flipped, &exponential, FALSE_ALARM).expect_refusal();
    fits(weighed, &permute_and_flip, FALSE_ALARM).expect_refusal();
}

#[test]
fn wrong_samplers_are_refused() {
    let n = samples();
    let law = DiscreteLaplace::new(ratio(10, 1)).expect("a law");
    let mass = laplace_mass(10.0);
    let refused = |name: &str, values: Vec<i64>| {
        assert!(
            fits(values, &mass, FALSE_ALARM).is_refused(),
            "{name} went through"
        );
    };
    refused(
        "half the scale",
        bulk(&DiscreteLaplace::new(ratio(5, 1)).expect("a law"), n),
    );
    refused(
        "nine tenths of the scale",
        bulk(&DiscreteLaplace::new(ratio(9, 1)).expect("a law"), n),
    );
    refused(
        "a shifted support",
        bulk(&law, n).into_iter().map(|x| x + 1).collect(),
    );
    refused(
        "a missing zero",
        bulk(&law, n)
            .into_iter()
            .map(|x| if x == 0 { 1 } else { x })
            .collect(),
    );
    refused("zero counted for both signs", {
        let flip = |x: i64, other: i64| if x == 0 { other.signum().min(0) } else { x };
        bulk(&law, n)
            .into_iter()
            .zip(bulk(&law, n))
            .map(|(x, y)| flip(x, y))
            .collect()
    });
    refused(
        "a cut tail",
        bulk(&law, n).into_iter().map(|x| x.clamp(-60, 60)).collect(),
    );
    refused("a biased sign", {
        let nudged = |(i, x): (usize, i64)| if i % 25 == 0 { x.abs() } else { x };
        bulk(&law, n).into_iter().enumerate().map(nudged).collect()
    });
    refused("a rounded float Laplace", {
        // −scale·ln U truncated towards zero: the right shape, the wrong law.
        let uniform = |x: i64| (x.rem_euclid(1 << 20) as f64 + 0.5) / f64::from(1 << 20);
        let wide = DiscreteLaplace::new(ratio(1 << 30, 1)).expect("a law");
        let draw =
            |(x, sign): (i64, i64)| (-10.0 * uniform(x).ln()) as i64 * if sign % 2 == 0 { 1 } else { -1 };
        bulk(&wide, n).into_iter().zip(bulk(&wide, n)).map(draw).collect()
    });
    // The rounded Gaussian is not the discrete one, P(k) ∝ exp(-k²/2).
    let weight = |k: i64| (-(k * k) as f64 / 2.0).exp();
    let total: f64 = (-40..=40).map(weight).sum();
    let rounded = bulk(&RoundedGaussian::new(ratio(1, 1)).expect("a law"), n);
    fits(rounded, |k| weight(k) / total, FALSE_ALARM).expect_refusal();
}

#[test]
fn neighbours_have_one_support() {
    // Pure ε = 0.1 for a shift of one: whatever comes on one side must be possible on the other.
    let law = DiscreteLaplace::new(ratio(10, 1)).expect("a law");
    let here = bulk(&law, samples());
    let there: Vec<i64> = bulk(&law, samples()).into_iter().map(|x| x + 1).collect();
    supports_agree(&here, &there, 0.1, FALSE_ALARM).expect_fit();
    // On a grid of two steps the shift shows at once.
    let coarse = |values: &[i64], by: i64| values.iter().map(|x| 2 * x + by).collect::<Vec<i64>>();
    supports_agree(&coarse(&here, 0), &coarse(&there, 1), 0.1, FALSE_ALARM).expect_refusal();
}
