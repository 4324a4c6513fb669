//! The norms by brute force.

use super::*;
use std::num::NonZeroU32;

fn largest(odds: &Odds, of: impl Fn((i64, i64), (i64, i64)) -> i64) -> i64 {
    let pair = |size: i64| (size.min(odds.clip), odds.weight.hessian(size));
    // Every 8th and the corners: the whole square takes a minute in debug builds.
    let sizes: Vec<i64> = (0..=ONE).filter(|s| s % 8 == 0 || s % (ONE / 2) == 1).collect();
    let each = sizes.iter().flat_map(|&a| sizes.iter().map(move |&b| (a, b)));
    each.map(|(a, b)| of(pair(a), pair(b))).max().unwrap_or(0)
}

/// The norm is reached, and never exceeded.
#[test]
fn the_hessian_is_free_without_clipping() {
    let odds = Odds::new(ONE, Noise::Gaussian);
    let weighing = |weight: Weight| {
        let odds = Odds {
            weight,
            ..odds.clone()
        };
        odds.norms().l2_squared as i64 - ONE * ONE
    };
    assert_eq!(weighing(odds.weight), 0);
    // Over the reals φ^(5/2) = 3.33019… is the most; hessians are rounded down, which gives room for another ten-thousandth. One step more, and it is
    // not free.
    assert_eq!(weighing(Weight(33_302, 10_000)), 0);
    assert!(weighing(Weight(33_303, 10_000)) > 0);
    assert_eq!(Odds::new(ONE, Noise::Laplace).norms().l1, ONE as u64);
}

#[test]
fn clipped_at_a_half_the_norm_is_the_root_of_five_sixteenths() {
    let odds = Odds::new(ONE / 2, Noise::Gaussian);
    assert_eq!(odds.norms().l2_squared, (5 * ONE * ONE / 16) as u64);
    assert_eq!(odds.norms().l1, (3 * ONE / 4) as u64);
}

/// By brute force over pairs of rows in one leaf and in two, with labels that change and that do not.
#[test]
fn claims_for_replaced_rows_are_reached_and_never_exceeded() {
    let row = NonZeroU32::MIN;
    let replace = Relation::Replace {
        rows: row,
        unit: None,
    };
    let private = Relation::ReplacePrivate {
        rows: row,
        unit: None,
        columns: ["x".to_owned()].into(),
    };
    for clip in [ONE / 5, ONE / 2, 3 * ONE / 4, ONE] {
        let odds = Odds::new(clip, Noise::Gaussian);
        let norms = odds.norms();
        let apart = largest(&odds, |a, b| a.0 * a.0 + a.1 * a.1 + b.0 * b.0 + b.1 * b.1);
        let opposite = largest(&odds, |a, b| (a.0 + b.0).pow(2) + (a.1 - b.1).pow(2));
        let same = largest(&odds, |a, b| (a.0 - b.0).pow(2) + (a.1 - b.1).pow(2));
        let claim = norms.l2_squared_under(&replace, Unchanged::Nothing) as i64;
        let found = apart.max(opposite);
        assert!(found <= claim, "{clip}: {found} > {claim}");
        assert!(
            found as f64 >= 0.985 * claim as f64,
            "{clip}: {found} far from {claim}"
        );
        let claim = norms.l2_squared_under(&private, Unchanged::Label) as i64;
        let found = apart.max(same);
        assert!(found <= claim && found as f64 >= 0.99 * claim as f64);
    }
}

/// All scores of a grid, for each label: the joint norm of a round of trees.
#[test]
fn classes_stay_within_their_norms_and_reach_them() {
    for (count, steps) in [(3usize, 60usize), (4, 24), (5, 12)] {
        for noise in [Noise::Gaussian, Noise::Laplace] {
            let classes = Classes::new(count, noise);
            let norms = classes.norms();
            let (mut l1, mut l2) = (0, 0);
            let mut scores = vec![0.0f32; count];
            for code in 0..steps.pow(count as u32 - 1) {
                let mut rest = code;
                for score in &mut scores[1..] {
                    *score = (rest % steps) as f32 * 24.0 / steps as f32 - 12.0;
                    rest /= steps;
                }
                for label in 0..count {
                    let (mut g, mut h) = (vec![0; count], vec![0; count]);
                    classes.at(&scores, label, &mut g, &mut h);
                    l1 = l1.max(g.iter().chain(&h).map(|x| x.abs()).sum());
                    l2 = l2.max(g.iter().chain(&h).map(|x| x * x).sum());
                    assert!(h.iter().all(|&h| h >= 0) && g.iter().sum::<i64>() == 0);
                }
            }
            let (l1, l2) = (l1 as u64, l2 as u64);
            assert!(l1 <= norms.l1 || noise == Noise::Gaussian);
            assert!(l2 <= norms.l2_squared || noise == Noise::Laplace);
            match noise {
                Noise::Gaussian => assert!(l2 as f64 > 0.99 * norms.l2_squared as f64),
                Noise::Laplace => assert!(l1 as f64 > 0.99 * norms.l1 as f64, "{l1} {norms:?}"),
            }
        }
    }
    // A hessian that weighs 3.33 is not free here.
    let greedy = Classes {
        count: 3,
        weight: Weight(3330, 1000),
    };
    let (mut g, mut h) = (vec![0; 3], vec![0; 3]);
    greedy.at(&[9.0, 9.0, -9.0], 2, &mut g, &mut h);
    assert!(g.iter().chain(&h).map(|x| x * x).sum::<i64>() > 2 * ONE * ONE);
}

/// Two rows that are sure of each other's class, in one leaf.
#[test]
fn replaced_rows_of_many_classes_move_twice_as_far() {
    let classes = Classes::new(3, Noise::Gaussian);
    let row = |scores: &[f32], label: usize| {
        let (mut g, mut h) = (vec![0; 3], vec![0; 3]);
        classes.at(scores, label, &mut g, &mut h);
        [g, h].concat()
    };
    let (one, other) = (row(&[-30.0, 30.0, -30.0], 0), row(&[30.0, -30.0, -30.0], 1));
    let found: i64 = one.iter().zip(&other).map(|(a, b)| (a - b).pow(2)).sum();
    let replace = Relation::Replace {
        rows: NonZeroU32::MIN,
        unit: None,
    };
    let claim = classes.norms().l2_squared_under(&replace, Unchanged::Nothing) as i64;
    assert!(
        found <= claim && found as f64 > 0.99 * claim as f64,
        "{found} of {claim}"
    );
}

fn relabelling(rows: u32) -> Relation {
    Relation::ReplacePrivate {
        rows: NonZeroU32::new(rows).expect("above zero"),
        unit: None,
        columns: ["y".to_owned()].into(),
    }
}

/// Every score, and the other label.
#[test]
fn another_label_moves_sums_by_its_claim_and_no_more() {
    for noise in [Noise::Gaussian, Noise::Laplace] {
        for clip in [1, ONE / 5, ONE / 2, 3 * ONE / 4, ONE] {
            let odds = Odds::new(clip, noise);
            let moved = (-11 * 256..=11 * 256).map(|step| {
                let score = step as f32 / 256.0;
                let [one, other] = [true, false].map(|side| odds.at(score, side));
                (one.0.abs_diff(other.0), one.1.abs_diff(other.1))
            });
            let moved: Vec<(u64, u64)> = moved.map(|(g, h)| (g.into(), h.into())).collect();
            let l1 = moved.iter().map(|(g, h)| g + h).max();
            let l2 = moved.iter().map(|(g, h)| u128::from(g * g + h * h)).max();
            let norms = odds.norms();
            assert_eq!(l1, Some(norms.l1_under(&relabelling(1), Unchanged::Features)));
            assert_eq!(
                l2,
                Some(norms.l2_squared_under(&relabelling(1), Unchanged::Features))
            );
            // Rows of a unit all move the same way.
            assert_eq!(
                l1.map(|l1| 3 * l1),
                Some(norms.l1_under(&relabelling(3), Unchanged::Features))
            );
            let nine = norms.l2_squared_under(&relabelling(3), Unchanged::Features);
            assert_eq!(l2.map(|l2| 9 * l2), Some(nine));
            // Half a probability either way, and no hessian.
            assert!(clip != ONE / 2 || l1 == Some(ONE as u64));
        }
    }
    let norms = Residual::new(ONE / 2).norms();
    assert_eq!(
        norms.l1_under(&relabelling(1), Unchanged::Features),
        2 * ONE as u64
    );
    assert_eq!(
        norms.l2_squared_under(&relabelling(1), Unchanged::Features),
        4 * (ONE * ONE) as u128
    );
}

/// Scores at random, and every pair of labels. What is rounded toward zero is lost: a sum of sizes that stays below one moves less in gradients and a
/// little more in hessians, and never more in all.
#[test]
fn another_class_moves_sums_by_its_claim_and_no_more() {
    let mut coins = crate::privacy::Coins::from_seed([7; 32]);
    for count in [3usize, 4, 7] {
        for noise in [Noise::Gaussian, Noise::Laplace] {
            let classes = Classes::new(count, noise);
            let (mut l1, mut l2) = (0, 0);
            for round in 0..20_000 {
                let wide = [0.01, 1.0, 12.0][round % 3];
                let scores: Vec<f32> = (0..count).map(|_| (wide * (coins.unit() - 0.5)) as f32).collect();
                let [one, other] = [0, 1 + round % (count - 1)].map(|label| {
                    let (mut g, mut h) = (vec![0; count], vec![0; count]);
                    classes.at(&scores, label, &mut g, &mut h);
                    [g, h].concat()
                });
                let moved = || one.iter().zip(&other).map(|(a, b)| a.abs_diff(*b));
                l1 = l1.max(moved().sum::<u64>());
                l2 = l2.max(moved().map(|x| u128::from(x * x)).sum::<u128>());
            }
            let norms = classes.norms();
            match noise {
                Noise::Laplace => {
                    let claim = norms.l1_under(&relabelling(1), Unchanged::Features);
                    assert!(l1 <= claim && l1 as f64 > 0.99 * claim as f64, "{l1} of {claim}");
                }
                Noise::Gaussian => {
                    let claim = norms.l2_squared_under(&relabelling(1), Unchanged::Features);
                    assert!(l2 <= claim && l2 as f64 > 0.99 * claim as f64, "{l2} of {claim}");
                }
            }
        }
    }
}

/// One class's share of the bound on another class: sizes that sum to `all`, of which the class has `own`.
#[test]
fn no_sum_of_sizes_moves_one_class_by_more_than_one() {
    for noise in [Noise::Gaussian, Noise::Laplace] {
        let weight = Classes::new(3, noise).weight;
        // The last steps before one and every 16th: the whole square takes a minute in debug builds.
        let alls = (0..=ONE).filter(|all| all % 16 == 0 || ONE - all < 40);
        for all in alls {
            for own in 0..=all {
                let hessian = (weight.hessian(own) - weight.hessian(all - own)).abs();
                match noise {
                    Noise::Laplace => assert!(all + hessian <= ONE, "{own} of {all}"),
                    Noise::Gaussian => {
                        assert!(all * all + hessian * hessian <= ONE * ONE, "{own} of {all}");
                    }
                }
            }
        }
    }
}

/// Where the label stays, no gradient changes its sign: two rows in one leaf move sums no further than two in two.
#[test]
fn classes_that_keep_their_label_do_not_turn_round() {
    let classes = Classes::new(3, Noise::Gaussian);
    let row = |scores: &[f32]| {
        let (mut g, mut h) = (vec![0; 3], vec![0; 3]);
        classes.at(scores, 0, &mut g, &mut h);
        [g, h].concat()
    };
    let grid = [-30.0, -1.0, 0.0, 1.0, 30.0];
    let scores = || grid.iter().flat_map(|&a| grid.map(|b| [0.0, a, b]));
    let private = Relation::ReplacePrivate {
        rows: NonZeroU32::MIN,
        unit: None,
        columns: ["x".to_owned()].into(),
    };
    let claim = classes.norms().l2_squared_under(&private, Unchanged::Label) as i64;
    let (mut together, mut apart) = (0, 0);
    for (one, other) in scores().flat_map(|one| scores().map(move |other| (one, other))) {
        let (one, other) = (row(&one), row(&other));
        together = together.max(one.iter().zip(&other).map(|(a, b)| (a - b).pow(2)).sum());
        apart = apart.max(one.iter().chain(&other).map(|a| a * a).sum());
    }
    assert!(together <= claim, "{together} of {claim}");
    // Sizes are rounded toward zero: all but the claim.
    assert!(
        apart <= claim && apart as f64 > 0.99 * claim as f64,
        "{apart} of {claim}"
    );
}

#[test]
fn numbers_that_are_none_have_a_gradient() {
    let odds = Odds::new(ONE / 2, Noise::Gaussian);
    assert_eq!(odds.at(f32::NAN, true), odds.at(0.0, true));
    assert_eq!(odds.at(f32::INFINITY, true).0, 0);
    let residual = Residual::new(0);
    assert_eq!(residual.at(f32::INFINITY, 0.0), (ONE as i32, 0));
    assert_eq!(residual.at(f32::NAN, 0.0), (0, 0));
}
