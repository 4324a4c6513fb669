//! The exact laws against the exact claims. Rows and losses are computed by different formulas, so a slip in either shows.

use super::channel::{Channel, masses};
use super::loss::between;
use super::row_sampler::RowSampler;
use super::*;
use crate::privacy::Ratio;
use crate::privacy::enclosure::Enclosure;
use privet_testkit::chi_square::fits;
use privet_testkit::skipped::full;

fn eps(value: f64) -> Epsilon {
    Epsilon::new(value).expect("an ε")
}

fn bounded(value: f64) -> Loss {
    Loss::Bounded(eps(value))
}

fn alpha(tenths: u64) -> Ratio {
    Ratio::new(tenths, 10).expect("positive")
}

fn adjusted(epsilon: f64, slots: usize, width: usize, tenths: u64, alignment: Alignment) -> AdjustedMap {
    let adjustment = Adjustment {
        width,
        alpha: alpha(tenths),
        alignment,
    };
    AdjustedMap::new(eps(epsilon), slots, adjustment, Route::default()).expect("a map")
}

fn global(epsilon: f64, slots: usize) -> GlobalMap {
    GlobalMap::new(eps(epsilon), slots, Route::default()).expect("a map")
}

fn clamped(epsilon: f64, slots: usize) -> ClampedGeometric {
    ClampedGeometric::new(eps(epsilon), slots).expect("a mechanism")
}

fn close(ours: &[f64], theirs: &[f64], error: f64) -> bool {
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| (a - b).abs() <= error)
}

/// The largest log-ratio of two rows, from their masses in floats.
fn measured(one: &[f64], other: &[f64]) -> f64 {
    let ratio = |(a, b): (&f64, &f64)| match (*a == 0.0, *b == 0.0) {
        (true, true) => 0.0,
        (false, false) => (a / b).ln().abs(),
        _ => f64::INFINITY,
    };
    one.iter().zip(other).map(ratio).fold(0.0, f64::max)
}

/// Rows sum to one, and losses and audit are what the rows show: up to a billionth above, never below.
fn audit_is_what_the_rows_show(channel: &impl Channel) {
    let name = Channel::describe(channel);
    let rows: Vec<Vec<f64>> = (0..channel.inputs()).map(|x| masses(channel, x)).collect();
    let (mut within, mut across, mut whole) = (0.0f64, None, 0.0f64);
    let tight = |claimed: Loss, shown: f64, what: &str| {
        let claimed = claimed.to_f64();
        let fits = claimed == shown || (claimed > shown - 1e-11 && claimed < shown + 2e-9);
        assert!(fits, "{name}: {what} claims {claimed}, the rows show {shown}");
    };
    for (x, row) in rows.iter().enumerate() {
        assert_eq!(row.len(), Channel::outputs(channel).count, "{name}");
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{name}, row {x}");
        for (other, row_of_other) in rows.iter().enumerate().take(x) {
            let shown = measured(row, row_of_other);
            tight(Channel::loss(channel, x, other), shown, "a pair");
            whole = whole.max(shown);
            if other + 1 == x {
                match channel.part(x) == channel.part(other) {
                    true => within = within.max(shown),
                    false => across = Some(across.unwrap_or(0.0f64).max(shown)),
                }
            }
        }
    }
    let audit = Channel::audit(channel);
    tight(audit.within, within, "within a part");
    tight(audit.whole, whole, "the whole domain");
    assert_eq!(audit.across.is_some(), across.is_some(), "{name}");
    tight(
        audit.across.unwrap_or(Loss::NONE),
        across.unwrap_or(0.0),
        "over a border",
    );
}

#[test]
fn every_claim_is_what_its_rows_show() {
    let epsilons: &[f64] = if full() {
        &[0.08, 0.64, 1.28, 2.56]
    } else {
        &[0.08, 2.56]
    };
    let domains: &[usize] = if full() { &[2, 3, 10, 40] } else { &[2, 3, 10] };
    for &epsilon in epsilons {
        for &slots in domains {
            audit_is_what_the_rows_show(&clamped(epsilon, slots));
            audit_is_what_the_rows_show(&global(epsilon, slots));
            audit_is_what_the_rows_show(&RandomisedResponse::new(eps(epsilon), slots).expect("a response"));
            audit_is_what_the_rows_show(&Piecewise::clipped(eps(epsilon), slots).expect("a mechanism"));
            if let Ok(piecewise) = Piecewise::unclipped(eps(epsilon), slots) {
                audit_is_what_the_rows_show(&piecewise);
            }
            for width in [2, 4, 5, 10].into_iter().filter(|width| *width < slots) {
                for alignment in [Alignment::FirstSlot, Alignment::Zero { first: 1 }] {
                    let local = LocalMap::new(eps(epsilon), slots, width, alignment, Route::default());
                    audit_is_what_the_rows_show(&local.expect("a map"));
                    for tenths in [5, 10, 20, 100] {
                        audit_is_what_the_rows_show(&adjusted(epsilon, slots, width, tenths, alignment));
                    }
                }
                for border in [bounded(4.0), Loss::NONE, Loss::Unbounded] {
                    let path = PathGeometric::parts(slots, width, bounded(epsilon), border);
                    audit_is_what_the_rows_show(&path.expect("a path"));
                }
            }
        }
    }
}

/// Budgets of all kinds, zero and infinite ones among them: the loss of every pair is the sum between them, exactly.
#[test]
fn paths_spend_exactly_what_lies_between() {
    let mut random = Randomness::seeded(41);
    for _ in 0..if full() { 3000 } else { 60 } {
        let slots = 2 + (random.word() % 9) as usize;
        let edges: Vec<Loss> = (1..slots)
            .map(|_| match random.word() % 5 {
                0 => Loss::NONE,
                1 => Loss::Unbounded,
                _ => Loss::Bounded(Epsilon::from_billionths(random.word() % 3_000_000_000)),
            })
            .collect();
        let path = PathGeometric::new(edges.clone()).expect("a path");
        for x in 0..slots {
            for other in 0..x {
                let between = edges[other..x]
                    .iter()
                    .fold(Loss::NONE, |sum, edge| sum.plus(*edge));
                assert_eq!(Channel::loss(&path, x, other), between, "{edges:?}");
            }
        }
        audit_is_what_the_rows_show(&path);
    }
}

#[test]
fn clamped_noise_is_tight_for_every_pair() {
    for epsilon in [0.08, 0.64, 1.28, 2.56] {
        for slots in [2, 3, 10, 100, 1024] {
            let mechanism = clamped(epsilon, slots);
            // The closed form against the rows' own odds, at the ends and between some neighbours.
            for (x, other) in [(0, slots - 1), (0, 1), (slots / 2, slots - 1)] {
                let by_rows = between(&mechanism.odds(x), &mechanism.odds(other));
                assert_eq!(Channel::loss(&mechanism, x, other), by_rows);
                assert_eq!(by_rows, bounded(epsilon).times(x.abs_diff(other) as u64));
            }
            let audit = Channel::audit(&mechanism);
            assert_eq!(audit.per_unit(), bounded(epsilon));
            assert_eq!(audit.whole, bounded(epsilon).times(slots as u64 - 1));
        }
    }
    assert_eq!(Channel::audit(&clamped(1.0, 65_535)).whole, bounded(65_534.0));
}

/// What the paper's map really gives between neighbours, as a multiple of ε.
#[test]
fn the_global_map_spends_between_half_and_all() {
    for (slots, epsilon, tight) in [
        (10, 0.08, 0.8852),
        (10, 1.28, 0.6732),
        (10, 2.56, 0.5715),
        (10, 5.12, 0.5135),
        (100, 0.08, 0.962),
        (100, 0.64, 0.783),
    ] {
        let audit = Channel::audit(&global(epsilon, slots));
        let error = if tight * 1e4 % 10.0 == 0.0 { 5e-4 } else { 1e-4 };
        let shown = audit.per_unit().to_f64() / epsilon;
        assert!((shown - tight).abs() < error, "{slots}, {epsilon}: {shown}");
        // The ends of the domain: exactly half of what is declared.
        let half = epsilon * (slots - 1) as f64 / 2.0;
        assert!((audit.whole.to_f64() - half).abs() < 2e-9, "{slots}, {epsilon}");
    }
}

#[test]
fn the_adjusted_map_exceeds_its_declared_epsilon() {
    let zero = Alignment::Zero { first: 1 };
    for (slots, width, tenths, epsilon, alignment, within, across) in [
        (10, 2, 20, 0.08, Alignment::FirstSlot, 0.23, 1.42),
        (10, 4, 5, 0.08, Alignment::FirstSlot, 0.82, 1.46),
        (10, 4, 20, 0.08, Alignment::FirstSlot, 0.31, 2.17),
        (10, 4, 100, 0.08, Alignment::FirstSlot, 0.07, 2.50),
        (10, 4, 20, 0.08, zero, 0.30, 2.09),
        (10, 5, 20, 2.56, Alignment::FirstSlot, 0.27, 2.00),
        (10, 5, 100, 0.08, zero, 0.07, 2.94),
        (100, 4, 10, 0.64, Alignment::FirstSlot, 0.67, 2.22),
        (100, 10, 20, 0.08, Alignment::FirstSlot, 0.43, 7.15),
        (100, 10, 100, 0.08, Alignment::FirstSlot, 0.09, 7.38),
        (1024, 10, 10, 0.08, Alignment::FirstSlot, 0.88, 7.44),
    ] {
        let map = adjusted(epsilon, slots, width, tenths, alignment);
        let audit = Channel::audit(&map);
        let shown = [audit.within, audit.across.expect("borders")].map(|loss| loss.to_f64() / epsilon);
        let name = Channel::describe(&map);
        assert!(close(&shown, &[within, across], 6e-3), "{name}: {shown:?}");
        assert_eq!(audit.per_unit(), audit.across.expect("borders"), "{name}");
    }
    let exact = |slots, width| {
        let audit = Channel::audit(&adjusted(0.08, slots, width, 20, Alignment::FirstSlot));
        [audit.across.expect("borders").to_f64(), audit.within.to_f64()]
    };
    assert!(close(&exact(10, 4), &[0.1739, 0.0249], 1e-4));
    assert!(close(&exact(100, 10)[..1], &[0.5723], 1e-4));
}

/// What a global map at `epsilon` shows of the first two of `slots`, in floats: the worst pair of neighbours.
fn border(epsilon: f64, slots: usize) -> f64 {
    let q = (-epsilon / 2.0).exp();
    let sum = |n: usize| (0..n).map(|j| q.powi(j as i32)).sum::<f64>();
    epsilon / 2.0 + ((q + sum(slots - 1)) / sum(slots)).ln()
}

#[test]
fn large_domains_follow_closed_forms() {
    let near = |ours: Loss, theirs: f64| (ours.to_f64() - theirs).abs() < 1e-8;
    for epsilon in [0.08, 0.64, 1.28, 2.56] {
        for slots in [100, 1024] {
            let audit = Channel::audit(&global(epsilon, slots));
            assert!(near(audit.within, border(epsilon, slots)), "{epsilon}, {slots}");
            assert!(
                near(audit.whole, epsilon * (slots - 1) as f64 / 2.0),
                "{epsilon}, {slots}"
            );
            for width in [2, 4, 5, 10] {
                for tenths in if full() { vec![5, 10, 20, 100] } else { vec![20] } {
                    let alpha = tenths as f64 / 10.0;
                    let ner = epsilon / (alpha + width as f64 / slots as f64);
                    let prt = alpha * width as f64 * ner;
                    let map = adjusted(epsilon, slots, width, tenths, Alignment::FirstSlot);
                    let audit = Channel::audit(&map);
                    let name = Channel::describe(&map);
                    assert!(near(audit.within, border(ner, width)), "{name}: {audit:?}");
                    let across = audit.across.expect("borders");
                    assert!(
                        near(across, border(prt, slots.div_ceil(width))),
                        "{name}: {audit:?}"
                    );
                }
            }
        }
    }
}

/// Definition 4.4, with ⌈t/θ⌉, holds; with ⌊t/θ⌋, as the reference implementation counts, it does not.
#[test]
fn the_partition_policy_holds_rounded_up_only() {
    let domains: &[usize] = if full() { &[10, 100, 1024] } else { &[10, 100] };
    let (mut cells, mut beyond, mut violated) = (0, 0, 0);
    for &slots in domains {
        for width in [2, 4, 5, 10].into_iter().filter(|width| *width < slots) {
            for tenths in [5, 10, 20, 100] {
                for epsilon in [0.08, 0.64, 2.56] {
                    let map = adjusted(epsilon, slots, width, tenths, Alignment::FirstSlot);
                    let odds: Vec<_> = (0..slots.min(60)).map(|x| map.odds(x)).collect();
                    let (mut holds, mut floor) = (true, true);
                    for x in 0..odds.len() {
                        for other in 0..x {
                            let loss = between(&odds[x], &odds[other]).to_f64();
                            holds &= loss <= map.definition(x - other) + 2e-9;
                            floor &= loss <= map.definition_as_published(x - other) + 2e-9;
                        }
                    }
                    assert!(holds, "{}", Channel::describe(&map));
                    cells += 1;
                    violated += usize::from(!floor);
                    beyond += usize::from(Channel::audit(&map).per_unit().to_f64() > epsilon + 2e-9);
                }
            }
        }
    }
    assert!(
        violated > 0 && beyond * 5 > cells * 4,
        "{violated} and {beyond} of {cells}"
    );
}

/// Six digits of rows, by an independent implementation.
#[test]
fn rows_are_the_published_vectors() {
    let check = |channel: &dyn Channel, rows: &[(usize, &[f64])]| {
        for (x, expected) in rows {
            let rows = channel.rows(200)(*x);
            let mut below = 0.0;
            let cumulative = rows.iter().map(Enclosure::to_f64).chain([1.0]);
            let ours: Vec<f64> = cumulative.map(|t| t - std::mem::replace(&mut below, t)).collect();
            assert!(close(&ours, expected, 6e-7), "{}: {ours:?}", channel.describe());
        }
    };
    check(
        &global(1.0, 4),
        &[
            (0, &[0.455054, 0.276004, 0.167405, 0.101536]),
            (1, &[0.235004, 0.387456, 0.235004, 0.142537]),
        ],
    );
    check(
        &clamped(1.0, 4),
        &[
            (0, &[0.731059, 0.170003, 0.062541, 0.036397]),
            (1, &[0.268941, 0.462117, 0.170003, 0.098938]),
        ],
    );
    let path = PathGeometric::new([0.5, 1.0, 2.0].map(bounded).to_vec()).expect("a path");
    check(
        &path,
        &[
            (0, &[0.622459, 0.214419, 0.136523, 0.026598]),
            (1, &[0.377541, 0.353518, 0.225089, 0.043852]),
            (2, &[0.138889, 0.130052, 0.611856, 0.119203]),
            (3, &[0.018797, 0.017601, 0.082806, 0.880797]),
        ],
    );
    check(
        &adjusted(1.0, 4, 2, 20, Alignment::FirstSlot),
        &[
            (0, &[0.379371, 0.310603, 0.170463, 0.139563]),
            (1, &[0.310603, 0.379371, 0.170463, 0.139563]),
        ],
    );
    let reference = adjusted(1.0, 10, 4, 20, Alignment::Zero { first: 1 });
    assert_eq!(
        Channel::outputs(&reference),
        Outputs {
            lowest: -1,
            count: 12
        }
    );
    check(
        &reference,
        &[(
            0,
            &[
                0.199183, 0.243283, 0.199183, 0.163077, 0.053482, 0.043787, 0.035850, 0.029352, 0.010798,
                0.008841, 0.007238, 0.005926,
            ],
        )],
    );
}

/// Corollary 4.12: discrete Laplace noise of scale 2/ε, conditioned on the domain, has the law of the exponential mechanism.
#[test]
fn bounded_laplace_noise_has_the_exponential_law() {
    let bits = 256;
    let one = Enclosure::integer(1, bits);
    for (epsilon, slots) in [(0.08, 10), (1.28, 10), (2.56, 33)] {
        let q = Enclosure::ratio(&(-eps(epsilon).to_ratio() / RBig::from(2)), bits).exp();
        let power = |n: usize| (0..n).fold(one.clone(), |power, _| power.mul(&q));
        let zero = one.sub(&q).div(&one.add(&q));
        let rows = global(epsilon, slots);
        let rows = Channel::rows(&rows, bits);
        for x in 0..slots {
            // P(X < −x) + P(X > slots − 1 − x), each q^n/(1 + q).
            let outside = power(x + 1).add(&power(slots - x)).div(&one.add(&q));
            let inside = one.sub(&outside);
            let mut below = Enclosure::integer(0, bits);
            for (y, t) in rows(x).iter().chain([&one]).enumerate() {
                let mass = t.sub(&below);
                let theirs = zero.mul(&power(x.abs_diff(y))).div(&inside);
                let agree = mass.low() <= theirs.high() && theirs.low() <= mass.high();
                let narrow = (theirs.high() - theirs.low()) >> 64usize == 0.into();
                assert!(agree && narrow, "ε = {epsilon}, {x} to {y}");
                below = t.clone();
            }
        }
    }
}

/// Tables of five digits, where most draws are decided by more: the law stays the same. False-alarm rate 1e-9 each.
#[test]
fn few_digits_keep_the_law() {
    fn keeps(channel: &impl Channel) {
        let rows = RowSampler::<5>::new(channel);
        for x in [0, channel.inputs() - 1] {
            let mut values = vec![x as u16; 20_000];
            rows.change(
                channel,
                &mut values,
                &mut Randomness::from_os().expect("randomness"),
            );
            let masses = masses(channel, x);
            let mass = |y: i64| {
                usize::try_from(y)
                    .ok()
                    .and_then(|y| masses.get(y))
                    .copied()
                    .unwrap_or(0.0)
            };
            let verdict = fits(values.iter().map(|y| i64::from(*y)), mass, 1e-9);
            assert!(
                !verdict.is_refused(),
                "{}: {verdict:?}",
                Channel::describe(channel)
            );
        }
    }
    keeps(&global(0.64, 12));
    keeps(&adjusted(1.28, 10, 4, 20, Alignment::Zero { first: 1 }));
    keeps(&LocalMap::new(eps(0.3), 9, 4, Alignment::FirstSlot, Route::default()).expect("a map"));
    keeps(&PathGeometric::new(vec![Loss::NONE, Loss::NONE, Loss::Unbounded, bounded(0.5)]).expect("a path"));
    keeps(&Piecewise::clipped(eps(1.0), 7).expect("a mechanism"));
    keeps(&RandomisedResponse::new(eps(1.0), 6).expect("a response"));
}

/// The guide and its few steps against plain counting, at every threshold and beside it.
#[test]
fn the_search_finds_what_counting_finds() {
    fn check(channel: &impl Channel) {
        let rows = RowSampler::<64>::new(channel);
        for x in 0..channel.inputs() {
            let row = rows.row(x);
            let beside = row
                .iter()
                .flat_map(|cut| [cut.saturating_sub(1), *cut, cut.saturating_add(1)]);
            let spread = (0..64).flat_map(|bit| [1u64 << bit, !(1u64 << bit), u64::MAX >> bit]);
            for u in beside.chain(spread).chain([0, u64::MAX]) {
                assert_eq!(
                    rows.find(x, u, rows.steps()),
                    row.partition_point(|cut| *cut < u),
                    "{x}, {u}"
                );
            }
        }
    }
    check(&global(0.08, 10));
    check(&global(2.56, 130));
    check(&PathGeometric::parts(40, 7, bounded(0.01), Loss::Unbounded).expect("a path"));
    check(&RandomisedResponse::new(eps(0.5), 50).expect("a response"));
}

/// An audit of what is drawn at another ε than is claimed, above or below, does not give the claim.
#[test]
fn a_wrong_epsilon_is_caught_by_the_audit() {
    for factor in [0.5, 1.1] {
        for (epsilon, wrong) in [(0.08, 0.08 * factor), (1.28, 1.28 * factor)] {
            let wrong = (wrong * 1e9f64).round() / 1e9;
            assert_ne!(
                Channel::audit(&clamped(wrong, 10)),
                Channel::audit(&clamped(epsilon, 10))
            );
            let [honest, other] = [epsilon, wrong].map(|e| Channel::audit(&global(e, 10)).per_unit());
            assert_eq!(other > honest, factor > 1.0);
        }
    }
}

#[test]
fn domains_and_budgets_that_cannot_be_are_refused() {
    assert!(ClampedGeometric::new(Epsilon::ZERO, 10).is_err());
    for slots in [0, 1, 65_536] {
        assert!(ClampedGeometric::new(eps(1.0), slots).is_err(), "{slots}");
        assert!(
            GlobalMap::new(eps(1.0), slots, Route::default()).is_err(),
            "{slots}"
        );
        assert!(Unary::symmetric(eps(1.0), slots).is_err(), "{slots}");
    }
    assert!(PathGeometric::new(Vec::new()).is_err());
    for width in [0, 10, 11] {
        assert!(LocalMap::new(eps(1.0), 10, width, Alignment::FirstSlot, Route::default()).is_err());
    }
    assert!(
        Piecewise::unclipped(eps(0.000001), 100).is_err(),
        "too many outputs"
    );
    let wide = Piecewise::unclipped(eps(0.08), 10).expect("a mechanism");
    assert_eq!(
        Channel::outputs(&wide),
        Outputs {
            lowest: -221,
            count: 452
        }
    );
}
