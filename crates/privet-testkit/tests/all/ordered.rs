//! What leaves a desensitiser against its exact law and its claimed loss, and wrong ones that must be caught.
//!
//! Values are drawn through a ledger, as in a run. Each test refuses a right sampler with probability at most 1e-6 and draws
//! fresh randomness; each bound on a loss is wrong with probability at most 1e-9. `PRIVET_FULL=1` draws ten times as many.

use std::fs;
use std::path::Path;

use privet::privacy::account::Caps;
use privet::privacy::mechanism::ordered::{
    AdjustedMap, Adjustment, Alignment, ClampedGeometric, Column, Desensitised, GlobalMap, LocalMap, Loss,
    Ordered, PathGeometric, Piecewise, RandomisedResponse, Route, Unary, UnboundedLaplace,
};
use privet::privacy::sampler::{DiscreteLaplace, Noise};
use privet::privacy::{Delta, Epsilon, Ledger, Private, Randomness, Ratio, Replace};
use privet_testkit::Verdict;
use privet_testkit::chi_square::{agree, fits};
use privet_testkit::epsilon::lower_bound;
use privet_testkit::skipped::full;

const FALSE_ALARM: f64 = 1e-6;
const MISS: f64 = 1e-9;

fn samples() -> usize {
    if full() { 2_000_000 } else { 200_000 }
}

fn eps(value: f64) -> Epsilon {
    Epsilon::new(value).expect("an ε")
}

fn random() -> Randomness {
    Randomness::from_os().expect("randomness")
}

fn leave(column: Column<'_>) -> Desensitised {
    let mut ledger = Ledger::volatile(Replace::row(), Caps::ZERO, Delta::ZERO, random()).expect("opens");
    let left = ledger.desensitise("samples", vec![column]).expect("leaves");
    left.into_inner().pop().expect("one column")
}

fn draw(mechanism: &dyn Ordered, x: u16, n: usize) -> Vec<i64> {
    match leave(Column::slots("x", mechanism, Private::new(vec![x; n]))) {
        Desensitised::Slots(slots) => slots.into_iter().map(i64::from).collect(),
        other => panic!("{other:?}"),
    }
}

fn against(row: &[f64], sample: Vec<i64>) -> Verdict {
    let mass = |y: i64| {
        usize::try_from(y)
            .ok()
            .and_then(|y| row.get(y))
            .copied()
            .unwrap_or(0.0)
    };
    fits(sample, mass, FALSE_ALARM)
}

/// A mechanism of every kind at one ε, with the pair of slots that shows most of its loss.
struct Registered {
    name: &'static str,
    at: fn(f64) -> Box<dyn Ordered>,
    pair: (u16, u16),
}

fn adjusted(epsilon: f64, alignment: Alignment, route: Route) -> Box<dyn Ordered> {
    let adjustment = Adjustment {
        width: 4,
        alpha: Ratio::new(1, 2).expect("positive"),
        alignment,
    };
    Box::new(AdjustedMap::new(eps(epsilon), 10, adjustment, route).expect("a map"))
}

fn global(epsilon: f64, slots: usize, route: Route) -> Box<dyn Ordered> {
    Box::new(GlobalMap::new(eps(epsilon), slots, route).expect("a map"))
}

fn local(epsilon: f64, alignment: Alignment, route: Route) -> Box<dyn Ordered> {
    Box::new(LocalMap::new(eps(epsilon), 10, 4, alignment, route).expect("a map"))
}

/// Every channel on slots; `the_list_is_complete` compares it with the source.
const REGISTERED: [Registered; 7] = [
    Registered {
        name: "ClampedGeometric",
        at: |e| Box::new(ClampedGeometric::new(eps(e), 10).expect("a mechanism")),
        pair: (0, 1),
    },
    Registered {
        name: "PathGeometric",
        at: |e| {
            let [within, across] = [e, 2.0 * e].map(|e| Loss::Bounded(eps(e)));
            Box::new(PathGeometric::parts(10, 4, within, across).expect("a path"))
        },
        pair: (3, 4),
    },
    Registered {
        name: "GlobalMap",
        at: |e| global(e, 10, Route::BoundedLaplace),
        pair: (0, 2),
    },
    Registered {
        name: "AdjustedMap",
        at: |e| adjusted(e, Alignment::FirstSlot, Route::BoundedLaplace),
        pair: (3, 4),
    },
    Registered {
        name: "LocalMap",
        at: |e| local(e, Alignment::FirstSlot, Route::BoundedLaplace),
        pair: (4, 7),
    },
    Registered {
        name: "Piecewise",
        at: |e| Box::new(Piecewise::clipped(eps(e), 10).expect("a mechanism")),
        pair: (0, 9),
    },
    Registered {
        name: "RandomisedResponse",
        at: |e| Box::new(RandomisedResponse::new(eps(e), 4).expect("a response")),
        pair: (1, 2),
    },
];

#[test]
fn the_list_is_complete() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../privet/src/privacy/mechanism/ordered");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the mechanisms") {
        let source = fs::read_to_string(entry.expect("an entry").path()).expect("a source file");
        let names = source
            .lines()
            .filter_map(|line| line.strip_prefix("impl Channel for "));
        found.extend(names.map(|rest| rest.trim_end_matches(" {").to_owned()));
    }
    found.sort();
    // A flag is audited with the code that it is part of.
    let mut listed: Vec<String> = REGISTERED
        .iter()
        .map(|r| r.name.to_owned())
        .chain(["Flag".into()])
        .collect();
    listed.sort();
    assert_eq!(found, listed, "every mechanism is audited");
}

#[test]
fn losses_seen_in_samples_stay_within_the_claim() {
    for Registered { name, at, pair } in REGISTERED {
        let shown = |drawn: f64| {
            let mechanism = at(drawn);
            let [here, there] = [pair.0, pair.1].map(|x| draw(mechanism.as_ref(), x, samples()));
            lower_bound(&here, &there, MISS).bound / at(1.0).loss(pair.0, pair.1).to_f64()
        };
        let honest = shown(1.0);
        assert!(honest <= 1.0, "{name} shows {honest} of its claim");
        // Also what catches a claim of nine tenths.
        assert!(honest > 0.91, "{name} shows {honest} only: too weak an audit");
        let loud = shown(2.0);
        assert!(loud > 1.0, "{name} at twice its ε passes with {loud}");
    }
}

#[test]
fn every_slot_has_its_row() {
    let zero = Alignment::Zero { first: 1 };
    let mut all: Vec<Box<dyn Ordered>> = vec![
        adjusted(1.28, zero, Route::BoundedLaplace),
        local(0.64, zero, Route::BoundedLaplace),
        Box::new(Piecewise::unclipped(eps(0.64), 10).expect("a mechanism")),
        Box::new(ClampedGeometric::new(eps(0.004), 100).expect("a mechanism")),
        global(0.08, 300, Route::BoundedLaplace),
    ];
    for epsilon in [0.08, 1.28] {
        all.extend(REGISTERED.iter().map(|registered| (registered.at)(epsilon)));
    }
    for mechanism in all {
        let last = mechanism.inputs() as u16 - 1;
        for x in [0, last / 3, last] {
            let verdict = against(&mechanism.row(x), draw(mechanism.as_ref(), x, samples()));
            assert!(
                !verdict.is_refused(),
                "{} at {x}: {verdict:?}",
                mechanism.describe()
            );
        }
        // What is no slot counts as the last: private values decide no error.
        let verdict = against(
            &mechanism.row(last),
            draw(mechanism.as_ref(), u16::MAX, samples()),
        );
        assert!(!verdict.is_refused(), "{} beyond its end", mechanism.describe());
    }
}

#[test]
fn wrong_samplers_are_refused() {
    for Registered { name, at, pair } in REGISTERED {
        let row = at(1.28).row(pair.0);
        for wrong in [0.64, 1.408] {
            let verdict = against(&row, draw(at(wrong).as_ref(), pair.0, samples()));
            assert!(verdict.is_refused(), "{name} drawn at ε = {wrong} went through");
        }
    }
    // Clamped one slot short of the end, and wrapped round instead of clamped.
    let mechanism = ClampedGeometric::new(eps(0.64), 10).expect("a mechanism");
    let sample = || draw(&mechanism, 7, samples());
    against(&mechanism.row(7), sample()).expect_fit();
    against(
        &mechanism.row(7),
        sample().into_iter().map(|y| y.min(8)).collect(),
    )
    .expect_refusal();
    let noise = DiscreteLaplace::new(Ratio::new(100, 64).expect("positive")).expect("a law");
    let mut wrapped = vec![7i64; samples()];
    noise.add_to(&mut wrapped, &mut random());
    against(
        &mechanism.row(7),
        wrapped.into_iter().map(|y| y.rem_euclid(10)).collect(),
    )
    .expect_refusal();
}

/// The paper's two samplers and ours: one law. Drawing again until a value fits is done here only; how often tells the value.
#[test]
fn exponential_and_bounded_laplace_sampling_agree() {
    let n = samples() / 4;
    for (x, epsilon) in [(0, 0.64), (6, 1.28)] {
        let rows = [Route::BoundedLaplace, Route::Exponential].map(|route| {
            [
                global(epsilon, 10, route),
                adjusted(epsilon, Alignment::Zero { first: 1 }, route),
                local(epsilon, Alignment::FirstSlot, route),
            ]
        });
        for (ours, theirs) in rows[0].iter().zip(&rows[1]) {
            let verdict = against(&ours.row(x), draw(theirs.as_ref(), x, n));
            assert!(!verdict.is_refused(), "{}: {verdict:?}", theirs.describe());
        }
        let scale = Ratio::new(2_000, (epsilon * 1000.0) as u64).expect("positive");
        let noise = DiscreteLaplace::new(scale).expect("a law");
        let mut random = random();
        let mut again = || loop {
            let y = i128::from(x) + noise.draw(&mut random);
            if (0..10).contains(&y) {
                return y as i64;
            }
        };
        let resampled: Vec<i64> = (0..n).map(|_| again()).collect();
        let ours = draw(rows[0][0].as_ref(), x, n);
        assert!(
            !agree(resampled, ours, FALSE_ALARM).is_refused(),
            "{x} at {epsilon}"
        );
    }
}

#[test]
fn a_one_hot_row_shows_what_two_flags_cost() {
    let patterns = |unary: &Unary, category: u16| -> Vec<i64> {
        match leave(Column::flags("x", unary, Private::new(vec![category; samples()]))) {
            Desensitised::Flags(flags) => flags
                .chunks(3)
                .map(|row| row.iter().fold(0, |sum, flag| 2 * sum + i64::from(*flag)))
                .collect(),
            other => panic!("{other:?}"),
        }
    };
    let one = eps(1.0);
    for (unary, cost) in [
        (Unary::symmetric(one, 3), 1.0),
        (Unary::optimised(one, 3), 1.0),
        (Unary::flag_by_flag(one, 3), 2.0),
    ] {
        let unary = unary.expect("a code");
        assert_eq!(unary.audit().whole, Loss::Bounded(eps(cost)));
        let [here, there] = [0, 2].map(|category| patterns(&unary, category));
        let [p, q] = unary.shown();
        let mass = |pattern: i64| {
            let flag = |bit: i64, set: f64| if pattern >> bit & 1 == 1 { set } else { 1.0 - set };
            if (0..8).contains(&pattern) {
                flag(2, p) * flag(1, q) * flag(0, q)
            } else {
                0.0
            }
        };
        fits(here.clone(), mass, FALSE_ALARM).expect_fit();
        let bound = lower_bound(&here, &there, MISS).bound;
        // Charging one flag only, half of the cost, would be caught.
        assert!(
            bound <= cost && bound > 0.9 * cost,
            "{}: {bound}",
            unary.describe()
        );
    }
}

#[test]
fn integers_without_a_domain_saturate() {
    let mechanism = UnboundedLaplace::new(eps(0.25)).expect("a mechanism");
    let drawn = |x: i64| match leave(Column::integers(
        "x",
        &mechanism,
        Private::new(vec![x; samples()]),
    )) {
        Desensitised::Integers(values) => values,
        other => panic!("{other:?}"),
    };
    let mass = |k: i64| 0.125f64.tanh() * (-0.25 * (k.abs() as f64)).exp();
    fits(drawn(1000).into_iter().map(|x| x - 1000), mass, FALSE_ALARM).expect_fit();
    fits(drawn(1000).into_iter().map(|x| x - 1001), mass, FALSE_ALARM).expect_refusal();
    assert!(drawn(i64::MAX).contains(&i64::MAX) && drawn(i64::MIN).contains(&i64::MIN));
    assert_eq!(mechanism.loss(-3, 5), Loss::Bounded(eps(2.0)));
    assert_eq!(
        mechanism.loss(i64::MIN, i64::MAX),
        Loss::Bounded(eps(0.25)).times(u64::MAX)
    );
}
