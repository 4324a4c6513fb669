//! The privacy of each law, computed from its exact mass function and compared with its price: no sampling, no luck.

use privet::privacy::account::{Caps, MuSquared, Price, Rho};
use privet::privacy::mechanism::{Exponential, Gaussian, Laplace, Mechanism, PermuteAndFlip};
use privet::privacy::sampler::{Noise, RoundedGaussian};
use privet::privacy::{Epsilon, Norm, Ratio};
use privet_testkit::ratio::{approximate_delta, max_log_ratio};
use privet_testkit::selection::{probabilities_exponential, probabilities_permute_and_flip};

fn ratio(numerator: u64, denominator: u64) -> Ratio {
    Ratio::new(numerator, denominator).expect("positive")
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("an epsilon")
}

/// A law's mass around zero, wide enough that what is left out is below 1e-15, and the same law shifted.
fn shifted(mass: impl Fn(i64) -> f64, reach: i64, shift: i64) -> [Vec<f64>; 2] {
    [0, shift].map(|by| (-reach..=reach + shift).map(|k| mass(k - by)).collect())
}

#[test]
fn rounded_gaussians_never_exceed_their_curve() {
    for (n, d) in [(3, 10), (1, 1), (2, 1), (7, 1), (20, 1)] {
        let sigma = ratio(n, d);
        let law = RoundedGaussian::new(sigma.clone()).expect("a law");
        let mechanism = Gaussian::new(sigma.clone()).expect("a mechanism");
        for shift in [1i64, 3] {
            let price = mechanism
                .price(Norm::L2Squared((shift * shift) as u128))
                .expect("a price");
            let reach = (10.0 * sigma.to_f64()) as i64 + 3;
            let [p, q] = shifted(|k| law.mass(k), reach, shift);
            for at in [0.1, 0.5, 1.0, 2.0, 4.0] {
                let claimed = Caps::from(price).delta(epsilon(at)).to_f64();
                let truth = approximate_delta(&p, &q, at);
                assert!(
                    truth <= claimed * (1.0 + 1e-9) + 1e-13,
                    "σ {sigma} shift {shift} ε {at}: {truth} > {claimed}"
                );
                if n == 20 {
                    assert!(
                        truth > 0.98 * claimed - 1e-12,
                        "the curve is nearly attained: {truth} of {claimed}"
                    );
                }
            }
        }
    }
}

/// Scores of up to four candidates, and all ways in which they can move by zero or one, or by minus one to one.
fn moves(candidates: usize, from: i64, to: i64) -> Vec<Vec<i64>> {
    (0..candidates).fold(vec![Vec::new()], |all, _| {
        all.iter()
            .flat_map(|head| (from..=to).map(|next| [head.as_slice(), &[next]].concat()))
            .collect()
    })
}

#[test]
fn selections_attain_their_claim_and_no_more() {
    let rate = ratio(1, 2);
    type Oracle = fn(&[i64], f64) -> Vec<f64>;
    let laws: [(&str, Oracle, f64); 2] = [
        ("permute-and-flip", probabilities_permute_and_flip, 0.9999),
        ("exponential", probabilities_exponential, 0.99),
    ];
    for (name, probabilities, attains) in laws {
        for (from, to) in [(0, 1), (-1, 1)] {
            let width = (to - from) as u64;
            let price = PermuteAndFlip::new(rate.clone())
                .and_then(|m| m.price(Norm::Width(width)))
                .expect("a price");
            let Price::Pure(claimed) = price else {
                panic!("{price}")
            };
            let mut worst = 0f64;
            for candidates in 2..=3 {
                // Close together, and so far apart that one candidate is next to never chosen: there the exponential mechanism loses all of its ε.
                let close = moves(candidates, 0, 3);
                let far = close.iter().map(|scores| scores.iter().map(|s| 5 * s).collect());
                for scores in close.iter().cloned().chain(far) {
                    let p = probabilities(&scores, rate.to_f64());
                    for change in moves(candidates, from, to) {
                        let moved: Vec<i64> = scores.iter().zip(&change).map(|(s, c)| s + c).collect();
                        worst = worst.max(max_log_ratio(&p, &probabilities(&moved, rate.to_f64())));
                    }
                }
            }
            assert!(
                worst <= claimed.to_f64() * (1.0 + 1e-9),
                "{name}: {worst} > {claimed}"
            );
            assert!(
                worst >= attains * claimed.to_f64(),
                "{name} attains {worst} of {claimed} only"
            );
        }
    }
}

#[test]
fn bounded_range_prices_hold_for_every_pair() {
    let rate = ratio(2, 1);
    let zcdp = Exponential::concentrated(rate.clone())
        .and_then(|m| m.price(Norm::Width(1)))
        .expect("a price");
    let gdp = Exponential::gaussian(rate.clone())
        .and_then(|m| m.price(Norm::Width(1)))
        .expect("a price");
    let (Price::Concentrated(rho), Price::Gaussian(_)) = (zcdp, gdp) else {
        panic!("{zcdp} {gdp}")
    };
    let orders = [1.1, 1.5, 2.0, 4.0, 16.0];
    let epsilons = [0.1, 0.5, 1.0, 1.5];
    let claimed: Vec<f64> = epsilons
        .iter()
        .map(|e| Caps::from(gdp).delta(epsilon(*e)).to_f64())
        .collect();
    let (mut worst_order, mut worst_delta, mut flipped) = (0f64, 0f64, 0f64);
    for scores in moves(3, 0, 3) {
        for change in moves(3, 0, 1) {
            let moved: Vec<i64> = scores.iter().zip(&change).map(|(s, c)| s + c).collect();
            let [p, q] = [&scores, &moved].map(|s| probabilities_exponential(s, rate.to_f64()));
            for order in orders {
                let sum: f64 = p
                    .iter()
                    .zip(&q)
                    .map(|(p, q)| p.powf(order) * q.powf(1.0 - order))
                    .sum();
                worst_order = worst_order.max(sum.ln() / (order - 1.0) / (order * rho.to_f64()));
                let [p, q] = [&scores, &moved].map(|s| probabilities_permute_and_flip(s, rate.to_f64()));
                let sum: f64 = p
                    .iter()
                    .zip(&q)
                    .map(|(p, q)| p.powf(order) * q.powf(1.0 - order))
                    .sum();
                flipped = flipped.max(sum.ln() / (order - 1.0) / (order * rho.to_f64()));
            }
            for (at, claimed) in epsilons.iter().zip(&claimed) {
                worst_delta = worst_delta.max(approximate_delta(&p, &q, *at) / claimed);
            }
        }
    }
    assert!(worst_order <= 1.0 + 1e-9, "zCDP exceeded: {worst_order}");
    assert!(worst_delta <= 1.0 + 1e-9, "GDP exceeded: {worst_delta}");
    assert!(
        worst_order > 0.9 && worst_delta > 0.9,
        "the pairs must come close: {worst_order}, {worst_delta}"
    );
    assert!(
        flipped > 1.5,
        "permute-and-flip has no bounded range, so charging it ε²/8 would be wrong: {flipped}"
    );
}

#[test]
fn prices_are_rounded_up() {
    // 1/3 has no end in decimals: the price is the next billionth, the next 10^-18.
    let laplace = Laplace::new(ratio(3, 1)).expect("a mechanism");
    assert_eq!(
        laplace.price(Norm::L1(1)).expect("a price"),
        Price::Pure(Epsilon::from_billionths(333_333_334))
    );
    let gaussian = Gaussian::new(ratio(3, 1)).expect("a mechanism");
    let ninth = MuSquared::from_units(111_111_111_111_111_112);
    assert_eq!(
        gaussian.price(Norm::L2Squared(1)).expect("a price"),
        Price::Gaussian(ninth)
    );
    // An eighth of the square of 0.333333334 ends in a half unit.
    let exponential = Exponential::concentrated(ratio(1, 3)).expect("a mechanism");
    assert_eq!(
        exponential.price(Norm::Width(1)).expect("a price"),
        Price::Concentrated(Rho::from_units(13_888_888_944_444_445))
    );
    // A calibrated mechanism never costs more than it was calibrated to, and hardly less.
    for units in [1u128, 999_999_999_999_999_999, 123_456_789_012_345_678_901] {
        let budget = MuSquared::from_units(units);
        let Ok(mechanism) = Gaussian::calibrated(budget, 7) else {
            continue;
        };
        let Price::Gaussian(price) = mechanism.price(Norm::L2Squared(7)).expect("a price") else {
            panic!()
        };
        assert!(
            price <= budget && price.units() as f64 >= units as f64 * (1.0 - 1e-9),
            "{price} of {budget}"
        );
    }
    for billionths in [1, 7, 333_333_333, 1_000_000_000, 20_000_000_000] {
        let budget = Epsilon::from_billionths(billionths);
        let mechanism = Laplace::calibrated(budget, 13).expect("a mechanism");
        assert_eq!(
            mechanism.price(Norm::L1(13)).expect("a price"),
            Price::Pure(budget),
            "exactly"
        );
    }
}
