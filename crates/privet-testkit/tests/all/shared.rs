//! Noise in shares: the exact laws of sums of shares, compared with what is proved of them.

use privet::privacy::account::{Caps, Price};
use privet::privacy::mechanism::{SharedGaussian, SharedLaplace, SharedMechanism};
use privet::privacy::sampler::{LaplaceShare, Noise, RoundedGaussian};
use privet::privacy::{Epsilon, Norm, Ratio, Sharing};
use privet_testkit::ratio::approximate_delta;
use statrs::function::erf::erfc;
use std::f64::consts::{PI, SQRT_2};

fn ratio(numerator: u64, denominator: u64) -> Ratio {
    Ratio::new(numerator, denominator).expect("positive")
}

/// As many honest owners at least, and one or two that collude.
fn honest(owners: u32) -> Sharing {
    let colluding = if owners == 1 { 2 } else { 1 };
    Sharing::new(owners + colluding, 0, colluding).expect("owners")
}

/// The law of a sum of `shares` independent draws, at −reach to reach.
fn sum_of(mass: impl Fn(i64) -> f64, shares: u32, reach: i64) -> Vec<f64> {
    let one: Vec<f64> = (-reach..=reach).map(mass).collect();
    let convolve = |sum: Vec<f64>| {
        let mut next = vec![0.0; sum.len()];
        for (i, p) in sum.iter().enumerate() {
            for (j, q) in one.iter().enumerate() {
                let at = (i + j).checked_sub(reach as usize);
                if let Some(cell) = at.and_then(|at| next.get_mut(at)) {
                    *cell += p * q;
                }
            }
        }
        next
    };
    (1..shares).fold(one.clone(), |sum, _| convolve(sum))
}

/// The law of round(T − ΣU), T normal of variance nσ² and n − 1 uniform U: the density of T and n uniforms at integers. By Poisson's
/// formula the sum below is the inverse Fourier transform, and its step of 1/256 repeats the law at a distance of 256.
fn ideal(sigma: f64, shares: u32, reach: i64) -> Vec<f64> {
    let step = 1.0 / 256.0;
    let at = |k: i64| {
        let term = |i: u32| {
            let x = f64::from(i) * step;
            let wave = if i == 0 { 1.0 } else { (PI * x).sin() / (PI * x) };
            let normal = (-2.0 * PI * PI * sigma * sigma * x * x * f64::from(shares)).exp();
            let both = if i == 0 { 1.0 } else { 2.0 };
            both * normal * wave.powi(shares as i32) * (2.0 * PI * k as f64 * x).cos()
        };
        step * (0..2000).map(term).sum::<f64>()
    };
    (-reach..=reach).map(at).collect()
}

/// ℓ of `gaussian#shared-rounded-gaussian`, with a factor on the exponent of q that is one in the proof.
fn proved(sigma: f64, shares: u32, exponent: f64) -> f64 {
    let q = (-exponent * PI * PI * sigma * sigma).exp();
    -f64::from(shares - 1) * (-2.0 * q / (1.0 - q)).ln_1p()
}

/// The masses of a rounded Gaussian, each computed once; beyond twelve deviations, where they are below 10⁻³², none.
fn masses(sigma: &Ratio) -> impl Fn(i64) -> f64 + use<> {
    let law = RoundedGaussian::new(sigma.clone()).expect("a law");
    let all: Vec<f64> = (0..=(12.0 * sigma.to_f64()) as i64 + 1)
        .map(|k| law.mass(k))
        .collect();
    move |k| all.get(k.unsigned_abs() as usize).copied().unwrap_or(0.0)
}

#[test]
fn sums_of_rounded_gaussians_are_as_near_to_one_as_proved() {
    let mut closest = 0f64;
    for (numerator, denominator) in [(1, 2), (2, 3), (4, 5), (1, 1), (5, 4)] {
        let sigma = ratio(numerator, denominator);
        let mass = masses(&sigma);
        let sigma = sigma.to_f64();
        for shares in [2, 3, 5, 16] {
            let reach = (9.0 * sigma * f64::from(shares).sqrt()) as i64 + 4;
            let (sum, near) = (sum_of(&mass, shares, reach), ideal(sigma, shares, reach));
            let pairs = || sum.iter().zip(&near);
            // Below this, the rounding of floating point shows.
            let apart = pairs()
                .filter(|(_, q)| **q > 1e-5)
                .map(|(p, q)| (p / q).ln().abs());
            let apart = apart.fold(0.0, f64::max);
            let variation = pairs().map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0;
            let bound = proved(sigma, shares, 1.0);
            assert!(
                apart <= bound + 1e-10 && variation <= bound / 2.0 + 1e-13,
                "σ {sigma}, {shares} shares: {apart} and {variation}, proved {bound}"
            );
            closest = closest.max(apart / bound);
            // With twice the exponent, which a sum of two would have if their fractions were independent of the total, it does not hold.
            if shares == 2 {
                let wrong = proved(sigma, shares, 2.0);
                assert!(apart > 3.0 * wrong, "σ {sigma}: {apart}, and {wrong} would hold");
            }
        }
    }
    assert!(closest > 0.5, "the bound is nearly attained: {closest}");
}

fn shifted(law: &[f64], shift: usize) -> [Vec<f64>; 2] {
    let none = vec![0.0; shift];
    [[law, &none].concat(), [&none, law].concat()]
}

#[test]
fn shared_gaussians_never_exceed_their_curve() {
    let masses = [4, 5].map(|share| masses(&ratio(share, 1)));
    for owners in [1, 2, 5, 16] {
        for (share, shift) in [(4, 1u64), (4, 7), (5, 20)] {
            let mechanism = SharedGaussian::new(ratio(share, 1), honest(owners)).expect("a mechanism");
            let norm = Norm::L2Squared(u128::from(shift).pow(2));
            let price = mechanism.price(norm).expect("a price");
            let mass = &masses[share as usize - 4];
            let reach = (9.0 * mechanism.deviation(owners)) as i64 + 20;
            // One more honest owner than was counted on only adds noise.
            for shares in [owners, owners + 1] {
                let [p, q] = shifted(&sum_of(mass, shares, reach), shift as usize);
                for at in [0.1, 0.5, 1.0, 2.0] {
                    let claimed = Caps::from(price).delta(Epsilon::new(at).expect("an ε")).to_f64();
                    let truth = approximate_delta(&p, &q, at);
                    assert!(
                        truth <= claimed * (1.0 + 1e-9) + 1e-13,
                        "{shares} shares of σ {share}, shift {shift}, ε {at}: {truth} > {claimed}"
                    );
                    if shares == owners && claimed > 1e-3 {
                        assert!(truth > 0.97 * claimed, "{truth} of {claimed}");
                    }
                }
            }
        }
    }
}

/// What the least deviation is for: sixteen shares of deviation ¼ are worse than one draw of deviation 1.
#[test]
fn narrow_shares_exceed_the_curve_of_one_draw() {
    let law = RoundedGaussian::new(ratio(1, 4)).expect("a law");
    let [p, q] = shifted(&sum_of(|k| law.mass(k), 16, 40), 1);
    let one = Caps::from(Price::Gaussian("1".parse().expect("a μ²")));
    let excess = [0.5, 1.0, 2.0, 3.0].map(|at| {
        let claimed = one.delta(Epsilon::new(at).expect("an ε")).to_f64();
        approximate_delta(&p, &q, at) / claimed
    });
    assert!(excess.iter().any(|x| *x > 1.5), "{excess:?}");
    assert!(SharedGaussian::new(ratio(1, 4), honest(16)).is_err());
    assert!(SharedGaussian::new(ratio(3_999, 1_000), honest(16)).is_err());
}

fn phi(x: f64) -> f64 {
    erfc(-x / SQRT_2) / 2.0
}

/// δ of N(μ, 1) against N(0, 1).
fn delta(mu: f64, epsilon: f64) -> f64 {
    phi(-epsilon / mu + mu / 2.0) - epsilon.exp() * phi(-epsilon / mu - mu / 2.0)
}

/// The last step of the proof, at distances λ that floating point can tell: μ′ − μ as large as proved is enough, and half of λ is not.
#[test]
fn a_unit_of_price_covers_the_distance_of_shared_noise() {
    let mut refuted = false;
    for mu in [0.1, 0.5, 1.0, 3.0] {
        for lambda in [1e-6f64, 1e-4, 1e-3] {
            let covers = |step: f64| {
                let at = (0..400).map(|i| f64::from(i) * 0.02 * (mu + mu * mu));
                let mut both = at.map(|e| (lambda.exp() * delta(mu, e - 2.0 * lambda), delta(mu + step, e)));
                both.all(|(real, claimed)| real <= claimed + 1e-15)
            };
            // The path ends at μ′ itself, so its own bound is part of x.
            let step = |most: f64| {
                let x = most / 2.0 + 2.0 * lambda / mu;
                lambda * 2.0 * (2.0 * PI).sqrt() * (x * x / 2.0).exp()
            };
            let enough = step(mu + step(mu + 0.1));
            assert!(enough < 0.1, "{enough}");
            assert!(covers(enough), "μ {mu}, λ {lambda}");
            refuted |= !covers(lambda / 2.0);
        }
    }
    assert!(refuted, "a test that passes everything");
    // The constants of the proof.
    let lambda = 2f64.powi(64) * 2.0 * (-16.0 * PI * PI).exp() * 1.001;
    assert!(lambda < 1e-48, "{lambda}");
    assert!(2.0 * (2.0 * PI).sqrt() * 12.5001f64.exp() < 1.4e6);
    assert!(1.4e6 * lambda < 1e-18 / 20.0);
}

#[test]
fn laplace_shares_of_the_honest_minimum_and_more_keep_the_claim() {
    for owners in [1u32, 2, 5, 16] {
        let mechanism = SharedLaplace::new(ratio(2, 1), honest(owners)).expect("a mechanism");
        let Price::Pure(claimed) = mechanism.price(Norm::L1(3)).expect("a price") else {
            panic!("a pure price")
        };
        let law = LaplaceShare::new(ratio(2, 1), owners).expect("a law");
        let masses: Vec<f64> = (0..=100).map(|k| law.mass(k)).collect();
        let worst = |shares| {
            let sum = sum_of(|k| masses[k.unsigned_abs() as usize], shares, 100);
            // Away from where the sum was cut off.
            let middle = (40..=157).map(|i| (sum[i] / sum[i + 3]).ln().abs());
            middle.fold(0.0, f64::max)
        };
        assert!(
            (worst(owners) / claimed.to_f64() - 1.0).abs() < 1e-9,
            "{owners} honest shares attain it"
        );
        for more in [1, 3] {
            let worst = worst(owners + more);
            assert!(worst < claimed.to_f64(), "{owners} and {more} more: {worst}");
        }
        if owners > 1 {
            assert!(worst(owners - 1) > 1.001 * claimed.to_f64(), "one is missing");
        }
    }
}

#[test]
fn shared_prices_are_those_of_the_honest_minimum() {
    let sharing = Sharing::new(20, 2, 2).expect("owners");
    let gaussian = SharedGaussian::new(ratio(5, 1), sharing).expect("a mechanism");
    // 400/(16 · 25), and one unit for what rounding in shares adds.
    let price = gaussian.price(Norm::L2Squared(400)).expect("a price");
    assert_eq!(
        price,
        Price::Gaussian("1.000000000000000001".parse().expect("a μ²"))
    );
    assert!(
        gaussian.price(Norm::L2Squared(40_000)).is_err(),
        "beyond what is proved"
    );
    assert!(gaussian.price(Norm::L1(1)).is_err());
    let laplace = SharedLaplace::new(ratio(3, 1), sharing).expect("a mechanism");
    let third = Price::Pure(Epsilon::from_billionths(333_333_334));
    assert_eq!(laplace.price(Norm::L1(1)).expect("a price"), third);
    assert!(laplace.price(Norm::L2Squared(1)).is_err());
    for units in [2, 999_999_999_999_999, 123_456_789_012_345_678u128] {
        let budget = privet::privacy::account::MuSquared::from_units(units);
        let mechanism = SharedGaussian::calibrated(budget, 1 << 20, sharing).expect("a mechanism");
        let Price::Gaussian(price) = mechanism.price(Norm::L2Squared(1 << 20)).expect("a price") else {
            panic!("a Gaussian price")
        };
        assert!(
            price <= budget && price.units() as f64 >= units as f64 * (1.0 - 1e-9),
            "{price} of {budget}"
        );
    }
    let epsilon: Epsilon = "0.7".parse().expect("an ε");
    let laplace = SharedLaplace::calibrated(epsilon, 13, sharing).expect("a mechanism");
    assert_eq!(
        laplace.price(Norm::L1(13)).expect("a price"),
        Price::Pure(epsilon)
    );
    // All shares in a sum count for the noise that is there.
    let deviation = (18.0 * (25.0 + 1.0 / 12.0f64)).sqrt();
    assert!((gaussian.deviation(18) / deviation - 1.0).abs() < 1e-12);
    assert!((laplace.deviation(32) / laplace.deviation(8) - 2.0).abs() < 1e-12);
}

#[test]
fn floored_sums_move_no_further_than_claimed() {
    let (mut attained, mut refuted) = ([false; 2], false);
    // Every move of up to three numbers, from every place of one step.
    for step in 1..=4i64 {
        let places = |numbers: u32| {
            (0..step.pow(numbers)).map(move |mut code| {
                let digit = |_| {
                    let digit = code % step;
                    code /= step;
                    digit
                };
                (0..numbers).map(digit).collect::<Vec<i64>>()
            })
        };
        for moves in [-5i64..=5, -5..=5, -5..=5]
            .iter()
            .fold(vec![vec![]], |all, range| {
                let longer = |head: &Vec<i64>| {
                    range
                        .clone()
                        .map(|x| [&head[..], &[x]].concat())
                        .collect::<Vec<_>>()
                };
                all.iter().flat_map(longer).collect::<Vec<Vec<i64>>>()
            })
        {
            let touched = moves.iter().filter(|x| **x != 0).count() as u64;
            if touched == 0 {
                continue;
            }
            let l1: u64 = moves.iter().map(|x| x.unsigned_abs()).sum();
            let squared: u128 = moves.iter().map(|x| u128::from(x.unsigned_abs()).pow(2)).sum();
            let floor = |norm: Norm| norm.floored(step as u64, touched).expect("a step");
            let (Norm::L1(most), Norm::L2Squared(most_squared)) =
                (floor(Norm::L1(l1)), floor(Norm::L2Squared(squared)))
            else {
                panic!("norms keep their kind")
            };
            assert!(most <= l1 && most_squared <= squared);
            for place in places(3) {
                let moved = place.iter().zip(&moves).map(|(a, x)| {
                    let apart = (a + x).div_euclid(step) - a.div_euclid(step);
                    apart.unsigned_abs()
                });
                let moved: Vec<u64> = moved.collect();
                let sum: u64 = moved.iter().sum();
                let sum_squared: u128 = moved.iter().map(|x| u128::from(*x).pow(2)).sum();
                assert!(
                    sum <= most && sum_squared <= most_squared,
                    "{moves:?} from {place:?} by {step}"
                );
                attained[0] |= step > 2 && touched > 1 && sum == most;
                attained[1] |= step > 2 && touched > 1 && sum_squared == most_squared;
                // To divide the norm and round it up once is not enough.
                refuted |= sum > l1.div_ceil(step as u64);
            }
        }
    }
    assert!(attained == [true; 2] && refuted, "{attained:?} {refuted}");
    assert_eq!(Norm::L1(1_000_000).floored(64, 2), Some(Norm::L1(15_626)));
    assert_eq!(Norm::L1(7).floored(0, 2), None);
    assert_eq!(Norm::Width(7).floored(2, 2), None);
    // Numbers that no machine word holds on the way.
    assert_eq!(
        Norm::L2Squared(u128::MAX).floored(1, u64::MAX),
        Some(Norm::L2Squared(u128::MAX))
    );
    assert!(Norm::L2Squared(u128::MAX).floored(u64::MAX, u64::MAX).is_some());
}
