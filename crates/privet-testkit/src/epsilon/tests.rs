use std::collections::BTreeMap;

use super::*;
use crate::samplers::Source;

const MISS: f64 = 1e-6;

#[test]
fn a_correct_mechanism_is_not_accused_and_nearly_reached() {
    let mut source = Source::seeded(40);
    for epsilon in [0.25, 1.0, 2.0] {
        let d = source.laplaces(0, 1.0 / epsilon, 400_000);
        let d2 = source.laplaces(1, 1.0 / epsilon, 400_000);
        let found = lower_bound(&d, &d2, MISS);
        assert!(found.bound <= epsilon, "{epsilon}: {found:?}");
        assert!(found.bound > 0.85 * epsilon, "{epsilon}: {found:?}");
    }
}

#[test]
fn half_scale_and_understated_sensitivity_are_caught() {
    let mut source = Source::seeded(41);
    // Claimed: ε = 1 at sensitivity 1.
    let half = lower_bound(
        &source.laplaces(0, 0.5, 200_000),
        &source.laplaces(1, 0.5, 200_000),
        MISS,
    );
    assert!(half.bound > 1.5, "{half:?}");
    let moved = lower_bound(
        &source.laplaces(0, 1.0, 200_000),
        &source.laplaces(2, 1.0, 200_000),
        MISS,
    );
    assert!(moved.bound > 1.5, "{moved:?}");
    // Either direction: the telling side may be the second.
    let clipped: Vec<i64> = source
        .laplaces(0, 1.0, 200_000)
        .into_iter()
        .map(|x| x.max(0))
        .collect();
    let whole = source.laplaces(0, 1.0, 200_000);
    assert!(lower_bound(&clipped, &whole, MISS).bound > 5.0);
    assert!(lower_bound(&whole, &clipped, MISS).bound > 5.0);
}

#[test]
fn a_coin_biased_beyond_its_claim_is_caught() {
    let mut source = Source::seeded(42);
    let mut answers = |truth: f64| -> Vec<bool> { (0..200_000).map(|_| source.coin(truth)).collect() };
    let claim = 3f64.ln();
    let honest = lower_bound(&answers(0.75), &answers(0.25), MISS);
    assert!(honest.bound <= claim && honest.bound > 0.95 * claim, "{honest:?}");
    let biased = lower_bound(&answers(0.78), &answers(0.22), MISS);
    assert!(biased.bound > claim, "{biased:?}");
}

#[test]
fn delta_is_bounded_at_a_given_epsilon() {
    let mut source = Source::seeded(43);
    // Randomised response with p = 0.8 at ε = ln 2: δ = 0.8 - 2 · 0.2 = 0.4.
    let mut answers = |truth: f64| -> Vec<bool> { (0..100_000).map(|_| source.coin(truth)).collect() };
    let (d, d2) = (answers(0.8), answers(0.2));
    let found = delta_lower_bound(2f64.ln(), &d, &d2, MISS);
    assert!(found.bound <= 0.4 && found.bound > 0.37, "{found:?}");
    assert_eq!(delta_lower_bound(4.5f64.ln(), &d, &d2, MISS).bound, 0.0);
    // And ε beyond a δ: (0.8 - 0.4) / 0.2 = 2.
    let beyond = lower_bound_beyond(0.4, &d, &d2, MISS);
    assert!(
        beyond.bound <= 2f64.ln() && beyond.bound > 1.85f64.ln(),
        "{beyond:?}"
    );
}

/// Coins at Φ(1) against Φ(−1): what a single event shows of μ = 2.
#[test]
fn mu_is_bounded_without_knowing_the_event() {
    let mut source = Source::seeded(47);
    let mut answers = |truth: f64| -> Vec<bool> { (0..100_000).map(|_| source.coin(truth)).collect() };
    let honest = mu_lower_bound(&answers(0.841_344_7), &answers(0.158_655_3), MISS);
    assert!(honest.bound <= 2.0 && honest.bound > 1.9, "{honest:?}");
    // The same at nine tenths of the noise: Φ(10/9).
    let mutant = mu_lower_bound(&answers(0.866_740_1), &answers(0.133_259_9), MISS);
    assert!(mutant.bound > 2.0, "{mutant:?}");
    assert_eq!(mu_lower_bound(&answers(0.5), &answers(0.5), MISS).bound, 0.0);
}

#[test]
fn scattered_values_are_found_where_thresholds_see_nothing() {
    // One neighbour gives only even numbers: no half-line differs, every value does.
    let mut source = Source::seeded(44);
    let d: Vec<i64> = source
        .laplaces(0, 10.0, 50_000)
        .into_iter()
        .map(|x| x & !1)
        .collect();
    let d2 = source.laplaces(0, 10.0, 50_000);
    assert!(lower_bound(&d, &d2, MISS).bound > 5.0);
    supports_agree(&d, &d2, 2.0, 1e-9).expect_refusal();
}

/// At `miss` = 0.2 over 300 repetitions of a mechanism whose ε is known exactly: more than 95 misses would come with
/// probability below 1e-6 if the true rate were 0.2.
#[test]
fn the_bound_is_wrong_no_more_often_than_stated() {
    let mut source = Source::seeded(45);
    let wrong = (0..300)
        .filter(|_| {
            let (d, d2) = (source.laplaces(0, 2.0, 2000), source.laplaces(1, 2.0, 2000));
            lower_bound(&d, &d2, 0.2).bound > 0.5
        })
        .count();
    assert!(wrong <= 95, "{wrong}");
}

/// Why splitting matters: on the samples that chose it, the best single value of a perfectly private mechanism (the two
/// "neighbours" are the same) looks like a leak nearly always, with an interval that is right for any *fixed* value.
#[test]
fn choosing_and_measuring_on_the_same_samples_accuses_the_innocent() {
    let mut source = Source::seeded(46);
    let (mut naive, mut split) = (0, 0);
    let (miss, n) = (0.05, 20_000);
    for _ in 0..30 {
        let mut draw = || -> Vec<i64> { (0..n).map(|_| (source.unit() * 1000.0) as i64).collect() };
        let (d, d2) = (draw(), draw());
        let mut counts = BTreeMap::<i64, [u64; 2]>::new();
        d.iter().for_each(|x| counts.entry(*x).or_default()[0] += 1);
        d2.iter().for_each(|x| counts.entry(*x).or_default()[1] += 1);
        let bound = |c: &[u64; 2]| {
            let low = at_least(Tally::new(c[0], n as u64), miss / 2.0);
            (low / at_most(Tally::new(c[1], n as u64), miss / 2.0)).ln()
        };
        naive += u32::from(counts.values().map(bound).fold(0.0, f64::max) > 0.0);
        split += u32::from(lower_bound(&d, &d2, miss).bound > 0.0);
    }
    // At a rate of 0.05 more than 8 of 30 would come with probability below 1e-4.
    assert!(naive > 15, "{naive}");
    assert!(split <= 8, "{split}");
}

#[test]
fn supports_that_differ_are_refused_and_rare_values_are_not() {
    let mut source = Source::seeded(47);
    let (d, d2) = (source.laplaces(0, 1.0, 100_000), source.laplaces(1, 1.0, 100_000));
    supports_agree(&d, &d2, 1.0, 1e-9).expect_fit();
    // Off by one at the edge of a clamp: -5 … 5 on one neighbour, -4 … 6 on the other.
    let on: Vec<i64> = d.iter().map(|x| (*x).clamp(-5, 5)).collect();
    let off: Vec<i64> = d2.iter().map(|x| (*x).clamp(-4, 6)).collect();
    supports_agree(&on, &off, 1.0, 1e-9).expect_refusal();
    supports_agree(&off, &on, 1.0, 1e-9).expect_refusal();
}

/// At rate 0.5 on many rare values, where one-sided values abound: the bound is proved, this guards the code.
#[test]
fn rare_values_raise_no_alarm_even_at_a_loose_rate() {
    let mut source = Source::seeded(48);
    let alarms = (0..100)
        .filter(|_| {
            let (d, d2) = (source.laplaces(0, 500.0, 1000), source.laplaces(1, 500.0, 1000));
            supports_agree(&d, &d2, 0.002, 0.5).is_refused()
        })
        .count();
    assert!(alarms <= 75, "{alarms}");
}

/// Mironov (2012): the textbook Laplace on floats. On a coarse uniform (10 bits here, so that few samples suffice; with
/// 53 bits the holes are the same and only rarer met) each neighbour has values that the other cannot give, bit for bit.
#[test]
fn float_laplace_is_given_away_by_its_bit_patterns() {
    let mut source = Source::seeded(49);
    let mut draw = |centre: f64| -> Vec<i64> {
        (0..400_000)
            .map(|_| {
                let u = ((source.unit() * 1024.0).floor() + 0.5) / 1024.0;
                let sign = if source.coin(0.5) { 1.0 } else { -1.0 };
                ordered(centre + sign * -u.ln())
            })
            .collect()
    };
    let (d, d2) = (draw(0.0), draw(1.0));
    supports_agree(&d, &d2, 1.0, 1e-9).expect_refusal();
    assert!(lower_bound(&d, &d2, MISS).bound > 4.0);
}

/// The same with full 53-bit uniforms, decided by arithmetic instead of counting: for most outputs around the centre no
/// uniform on the other neighbour leads to that very float.
#[test]
fn float_laplace_has_outputs_with_no_preimage_on_the_neighbour() {
    let mut source = Source::seeded(50);
    let step = 1.0 / (1u64 << 53) as f64;
    let reachable = |output: f64, centre: f64| {
        // The uniforms whose noise could round to this output, and a few beyond.
        let guess = ((-(output - centre).abs()).exp() / step).round();
        (-64..=64).any(|i| {
            let u = (guess + f64::from(i)) * step;
            (0.0 < u && u <= 1.0)
                && [1.0, -1.0]
                    .iter()
                    .any(|sign| centre + sign * 1.0 * -u.ln() == output)
        })
    };
    let outputs: Vec<f64> = (0..2000).map(|_| source.float_laplace(0.0, 1.0)).collect();
    assert!(
        outputs.iter().all(|x| reachable(*x, 0.0)),
        "the search finds what was drawn"
    );
    let foreign = outputs.iter().filter(|x| !reachable(**x, 1.0)).count();
    assert!(foreign > 400, "{foreign}");
}

#[test]
fn keys_order_floats_as_numbers() {
    let mut floats = [
        3.5,
        -0.0,
        0.0,
        -1e300,
        f64::INFINITY,
        1e-310,
        -2.0,
        f64::NEG_INFINITY,
    ];
    floats.sort_by_key(|x| ordered(*x));
    assert!(floats.windows(2).all(|w| w[0] <= w[1]));
    assert_ne!(ordered(0.0), ordered(-0.0));
}
