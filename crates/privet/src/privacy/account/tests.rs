//! The box of caps: what it admits, what it refuses, and the sentence it makes.

use super::*;

fn epsilon(text: &str) -> Epsilon {
    text.parse().expect(text)
}

fn delta(text: &str) -> Delta {
    text.parse().expect(text)
}

/// μ as a price.
fn gaussian(mu: f64) -> Price {
    Price::Gaussian(MuSquared::from_units((mu * mu * 1e18).ceil() as u128))
}

fn caps(pure: &str, rho: &str, mu_squared: &str) -> Caps {
    Caps {
        pure: epsilon(pure),
        rho: rho.parse().expect(rho),
        mu_squared: mu_squared.parse().expect(mu_squared),
    }
}

#[test]
fn prices_have_plain_words_and_exact_json() {
    for (price, json, words) in [
        (Price::Pure(epsilon("0.5")), r#"{"pure":"0.5"}"#, "pure ε of 0.5"),
        (
            Price::Concentrated(Rho::from_units(1)),
            r#"{"concentrated":"0.000000000000000001"}"#,
            "zero-concentrated ρ of 0.000000000000000001",
        ),
        (
            Price::Gaussian(MuSquared::from_units(10u128.pow(18))),
            r#"{"gaussian":"1"}"#,
            "Gaussian μ² of 1",
        ),
    ] {
        assert_eq!(serde_json::to_string(&price).expect("serializes"), json);
        assert_eq!(serde_json::from_str::<Price>(json).expect("reads back"), price);
        assert_eq!(price.to_string(), words);
    }
    let limit = caps("1", "0.5", "0.25");
    let json = serde_json::to_string(&limit).expect("serializes");
    assert_eq!(json, r#"{"pure":"1","rho":"0.5","mu_squared":"0.25"}"#);
    assert_eq!(serde_json::from_str::<Caps>(&json).expect("reads back"), limit);
}

#[test]
fn groups_pay_for_their_distance_and_repeats_add_up() {
    let pure = Price::Pure(epsilon("0.5"));
    let rho = Price::Concentrated(Rho::from_units(5));
    let gaussian = Price::Gaussian(MuSquared::from_units(7));
    assert_eq!(pure.group(3), Some(Price::Pure(epsilon("1.5"))));
    assert_eq!(rho.group(3), Some(Price::Concentrated(Rho::from_units(45))));
    assert_eq!(
        gaussian.group(3),
        Some(Price::Gaussian(MuSquared::from_units(63)))
    );
    for price in [pure, rho, gaussian] {
        assert_eq!(price.group(1), Some(price));
        assert_eq!(price.times(2), price.checked_add(price));
    }
    assert_eq!(pure.checked_add(rho), None, "currencies do not mix");
    assert_eq!(Price::Pure(Epsilon::MAX).times(2), None);
    assert_eq!(Price::Gaussian(MuSquared::MAX).group(2), None);
}

#[test]
fn a_charge_takes_its_own_cap_first_and_then_one_way_conversions() {
    let limit = caps("1", "1", "1");
    let half = Price::Pure(epsilon("0.5"));
    let mut spent = Caps::ZERO;
    for pure in ["0.5", "1"] {
        spent = spent.charge(&limit, half).expect("room in ε");
        assert_eq!(spent, caps(pure, "0", "0"));
    }
    // μ² of ε = 0.5 is 0.38924…: two of them fit the second cap.
    let as_gaussian = MuSquared::from_pure(epsilon("0.5"));
    for times in [1, 2] {
        spent = spent.charge(&limit, half).expect("room in μ²");
        assert_eq!(Some(spent.mu_squared), as_gaussian.checked_mul(times));
        assert_eq!(spent.rho, Rho::ZERO);
    }
    // Then eight of ρ = 0.125.
    for times in 1..=8 {
        spent = spent.charge(&limit, half).expect("room in ρ");
        assert_eq!(Some(spent.rho), Rho::from_pure(epsilon("0.5")).checked_mul(times));
    }
    assert_eq!(spent.charge(&limit, half), None);
    assert_eq!(limit.remaining(&spent).rho, Rho::ZERO);
    assert_eq!(
        limit.remaining(&spent).mu_squared.checked_add(spent.mu_squared),
        Some(limit.mu_squared)
    );

    // μ² falls back to ρ only, ρ to nothing.
    let limit = caps("10", "0.5", "10");
    assert_eq!(
        Caps::ZERO.charge(&limit, Price::Concentrated("0.6".parse().expect("a rho"))),
        None
    );
    let limit = caps("10", "0.5", "0.5");
    let spent = Caps::ZERO.charge(&limit, gaussian(1.0)).expect("room in ρ");
    assert_eq!(spent, caps("0", "0.5", "0"));
    assert_eq!(spent.charge(&limit, gaussian(1.0)), None);
    // What is over its limit stays refused, whatever is asked.
    assert_eq!(
        caps("11", "0", "0").charge(&limit, Price::Pure(Epsilon::ZERO)),
        None
    );
}

/// The second step is chosen by the first output: a Gaussian or a pure one, each of which alone would just fit (ε, δ).
/// Admitting both choices reaches almost twice δ; a box admits one of them, and it was fixed beforehand which.
#[test]
fn a_box_refuses_the_counter_examples_of_a_mixed_filter() {
    for (at, limit_delta, first, second, pure) in [
        ("1", 1e-6, 0.10, 0.2145, "0.613"),
        ("1", 1e-6, 0.15, 0.1831, "0.405"),
        ("1", 1e-3, 0.20, 0.3329, "0.579"),
        ("4", 1e-6, 0.50, 0.6723, "1.763"),
    ] {
        let Some(Caps { mu_squared: both, .. }) = Caps::ZERO
            .charge(&caps("0", "0", "10"), gaussian(first))
            .and_then(|spent| spent.charge(&caps("0", "0", "10"), gaussian(second)))
        else {
            panic!("room for two")
        };
        let Price::Gaussian(mu_squared) = gaussian(first) else {
            panic!("a Gaussian price")
        };
        let normals = Caps::from(Price::Gaussian(both));
        let mixed = Caps {
            pure: epsilon(pure),
            mu_squared,
            ..Caps::ZERO
        };
        // Either box makes the sentence (to the digits of the table), so the naive rule admits either choice.
        for limit in [normals, mixed] {
            let bound = limit.delta(epsilon(at)).to_f64();
            assert!((bound / limit_delta - 1.0).abs() < 0.03, "{limit:?}: {bound}");
        }
        let after = |limit: &Caps| {
            Caps::ZERO
                .charge(limit, gaussian(first))
                .expect("the first step fits")
        };
        let pure = Price::Pure(epsilon(pure));
        assert!(after(&normals).charge(&normals, gaussian(second)).is_some());
        assert_eq!(after(&normals).charge(&normals, pure), None);
        assert!(after(&mixed).charge(&mixed, pure).is_some());
        assert_eq!(after(&mixed).charge(&mixed, gaussian(second)), None);
    }
}

/// δ that an analyst reaches with a Gaussian μ₁ first and then, by its output, the better of the continuations.
fn reached(first: f64, at: f64, next: impl Fn(f64) -> f64) -> f64 {
    let step = 1e-3;
    (-12_000..12_000)
        .map(|i| {
            let noise = f64::from(i) * step;
            let density = (-noise * noise / 2.0).exp() / std::f64::consts::TAU.sqrt();
            let loss = first * noise + first * first / 2.0;
            step * density * next(at - loss)
        })
        .sum()
}

/// δ of randomised response with a normal draw, in floats.
fn coin_and_normal(pure: f64, mu: f64, x: f64) -> f64 {
    let truth = 1.0 / (1.0 + (-pure).exp());
    truth * split::normal_delta(mu, x - pure) + (1.0 - truth) * split::normal_delta(mu, x + pure)
}

#[test]
fn an_adaptive_analyst_beats_the_naive_filter_and_not_the_box() {
    for (at, limit_delta, first, second, pure) in [
        (1.0, 1e-6, 0.10, 0.2145, 0.613),
        (1.0, 1e-6, 0.15, 0.1831, 0.405),
        (1.0, 1e-3, 0.20, 0.3329, 0.579),
        (4.0, 1e-6, 0.50, 0.6723, 1.763),
    ] {
        let either = |x| coin_and_normal(0.0, second, x).max(coin_and_normal(pure, 0.0, x));
        assert!(
            reached(first, at, either) > 1.7 * limit_delta,
            "the analyst is strong enough to tell"
        );
        // Inside a box with both caps, the same analyst, and one who also uses up what is left, stay below its sentence.
        let limit = Caps {
            pure: Epsilon::new(pure).expect("an epsilon"),
            rho: Rho::ZERO,
            mu_squared: MuSquared::from_units(((first * first + second * second) * 1e18).ceil() as u128),
        };
        let bound = limit.delta(Epsilon::new(at).expect("an epsilon")).to_f64();
        assert!(reached(first, at, either) <= bound);
        let all = reached(first, at, |x| coin_and_normal(pure, second, x));
        assert!(
            (all / bound - 1.0).abs() < 1e-5,
            "and the bound is reached: {all} {bound}"
        );
    }
}

#[test]
fn a_pure_box_fails_never_from_its_epsilon_on() {
    let limit = caps("1.5", "0", "0");
    assert_eq!(limit.delta(epsilon("1.5")), Delta::ZERO);
    assert_eq!(limit.delta(Epsilon::MAX), Delta::ZERO);
    assert_eq!(limit.epsilon(Delta::ZERO), epsilon("1.5"));
    // (e^1.5 − e^0.5)/(1 + e^1.5), rounded up.
    let expected = (1.5f64.exp() - 0.5f64.exp()) / (1.0 + 1.5f64.exp());
    assert!((limit.delta(epsilon("0.5")).to_f64() - expected).abs() < 1e-14);
    assert!(limit.epsilon(delta("1e-6")) < epsilon("1.5"));
    assert_eq!(Caps::ZERO.epsilon(Delta::ZERO), Epsilon::ZERO);
    assert_eq!(Caps::ZERO.delta(Epsilon::ZERO), Delta::ZERO);
    assert_eq!(
        caps("1", "0", "0.01").epsilon(Delta::ZERO),
        Epsilon::MAX,
        "a normal draw always may fail"
    );
}

#[test]
fn the_sentence_grows_with_every_cap_and_shrinks_with_epsilon() {
    let boxes = [
        caps("0", "0", "0"),
        caps("0.1", "0", "0"),
        caps("0.1", "0", "0.01"),
        caps("0.1", "0.01", "0.01"),
        caps("0.3", "0.01", "0.01"),
        caps("0.3", "0.01", "0.09"),
        caps("0.3", "0.1", "0.09"),
        caps("2", "0.1", "0.09"),
    ];
    for pair in boxes.windows(2) {
        for at in ["0", "0.05", "0.5", "1", "3", "8"] {
            let [less, more] = [0, 1].map(|i| pair[i].delta(epsilon(at)));
            assert!(less <= more, "{pair:?} at {at}: {less} {more}");
        }
        assert!(pair[0].epsilon(delta("1e-6")) <= pair[1].epsilon(delta("1e-6")));
    }
    for limit in boxes {
        let deltas = ["0", "0.05", "0.5", "1", "3", "8", "50"].map(|at| limit.delta(epsilon(at)));
        assert!(deltas.is_sorted_by(|a, b| a >= b), "{limit:?}: {deltas:?}");
    }
}

#[test]
fn epsilon_answers_with_the_first_billionth_that_keeps_delta() {
    for limit in [
        caps("0", "0", "0.25"),
        caps("1", "0", "0.01"),
        caps("2", "0", "0"),
        caps("0.01", "0", "4"),
    ] {
        for text in ["1e-18", "1e-9", "1e-6", "0.001", "0.5", "0.999"] {
            let answer = limit.epsilon(delta(text));
            assert!(limit.delta(answer) <= delta(text));
            if let Some(less) = answer.checked_sub(Epsilon::from_billionths(1)) {
                assert!(limit.delta(less) > delta(text), "{limit:?} at {text}");
            }
        }
    }
    // With a search inside, the answer still keeps what it says.
    for limit in [
        caps("0", "0.1", "0"),
        caps("1", "0.1", "0.04"),
        caps("0", "0.1", "0.04"),
    ] {
        for text in ["1e-9", "1e-6", "0.01"] {
            assert!(limit.delta(limit.epsilon(delta(text))) <= delta(text));
        }
    }
}

#[test]
fn a_gaussian_budget_is_used_up_to_the_last_unit() {
    for (of, at) in [("0.1", "1e-12"), ("1", "1e-6"), ("8", "1e-9"), ("0.001", "1e-5")] {
        let most = MuSquared::for_budget(epsilon(of), delta(at))
            .expect("a budget")
            .units();
        let spends = |units| Caps::from(Price::Gaussian(MuSquared::from_units(units))).delta(epsilon(of));
        assert!(spends(most) <= delta(at), "{of} at {at}");
        assert!(spends(most + 1) > delta(at), "{of} at {at}");
    }
}

#[test]
fn a_mixed_sentence_is_no_worse_than_paying_all_in_one_currency() {
    let mixed = caps("0.5", "0.02", "0.04");
    let rho = Rho::from_pure(mixed.pure)
        .checked_add(Rho::from_gaussian(mixed.mu_squared))
        .and_then(|rho| rho.checked_add(mixed.rho))
        .expect("small");
    let all = Caps { rho, ..Caps::ZERO };
    for text in ["1e-9", "1e-6", "0.001"] {
        assert!(mixed.epsilon(delta(text)) <= all.epsilon(delta(text)));
        // And it is above each of its parts alone.
        for part in [caps("0.5", "0", "0.04"), caps("0", "0.02", "0")] {
            assert!(mixed.epsilon(delta(text)) >= part.epsilon(delta(text)));
        }
    }
}

#[test]
fn a_concentrated_budget_is_used_up() {
    for (at, text) in [("1", "1e-6"), ("0.1", "1e-9"), ("10", "0.001"), ("1000", "1e-6")] {
        let rho = Rho::for_budget(epsilon(at), delta(text)).expect("a budget");
        let of = |rho| Caps { rho, ..Caps::ZERO }.delta(epsilon(at));
        assert!(of(rho) <= delta(text));
        assert!(of(Rho::from_units(rho.units() + rho.units() / 1_000_000)) > delta(text));
    }
    assert!(Rho::for_budget(Epsilon::MAX, Delta::ZERO).is_err());
    assert!(Rho::for_budget(Epsilon::MAX, Delta::MAX).is_ok());
}

#[test]
fn conversions_to_rho_round_up() {
    assert_eq!(Rho::from_pure(Epsilon::from_billionths(1)), Rho::from_units(1));
    assert_eq!(Rho::from_pure(epsilon("1")), "0.5".parse().expect("a rho"));
    assert_eq!(
        Rho::from_bounded_range(Epsilon::from_billionths(3)),
        Rho::from_units(2)
    );
    assert_eq!(
        Rho::from_bounded_range(epsilon("1")),
        "0.125".parse().expect("a rho")
    );
    assert_eq!(Rho::from_gaussian(MuSquared::from_units(3)), Rho::from_units(2));
    assert!(Rho::from_pure(Epsilon::MAX) > Rho::from_bounded_range(Epsilon::MAX));
}

/// Randomised response has the δ curve of its ε; every conversion must lie above it.
#[test]
fn what_a_price_converts_to_dominates_it() {
    for text in ["0.01", "0.5", "1", "3", "20"] {
        let pure = Caps::from(Price::Pure(epsilon(text)));
        let gaussian = Caps::from(Price::Gaussian(MuSquared::from_pure(epsilon(text))));
        let concentrated = Caps::from(Price::Concentrated(Rho::from_pure(epsilon(text))));
        let through = Caps::from(Price::Concentrated(Rho::from_gaussian(gaussian.mu_squared)));
        for at in ["0", "0.001", "0.1", "0.4", "0.9", "2.5", "19"] {
            let at = epsilon(at);
            assert!(pure.delta(at) <= gaussian.delta(at), "{text}");
            assert!(pure.delta(at) <= concentrated.delta(at), "{text}");
            assert!(gaussian.delta(at) <= through.delta(at), "{text}");
        }
    }
}

#[test]
fn both_ends_of_the_scale_have_an_answer() {
    let tiny = ["0", "0.000000001", "50", "1000", "18446744073.709551615"];
    let small = [
        "0",
        "0.000000000000000001",
        "0.000001",
        "2500",
        "340282366920938463463",
    ];
    for pure in tiny {
        for squared in small {
            for rho in ["0", "0.000000000000000001", "1000"] {
                let limit = caps(pure, rho, squared);
                let deltas = tiny.map(|at| limit.delta(epsilon(at)));
                assert!(deltas.is_sorted_by(|a, b| a >= b), "{limit:?}: {deltas:?}");
            }
        }
    }
    for limit in [
        caps("1000", "1000", "2500"),
        caps("1000", "0", "2500"),
        caps("0.1", "0.01", "0.01"),
    ] {
        assert!(limit.epsilon(delta("1e-6")) < Epsilon::MAX);
    }
}
