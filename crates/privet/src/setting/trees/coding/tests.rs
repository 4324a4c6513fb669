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

/// The table of the issue: the norm is reached, and never exceeded.
#[test]
fn the_hessian_is_free_without_clipping() {
    let odds = Odds::new(ONE, Noise::Gaussian);
    assert_eq!(odds.norms().l2_squared, (ONE * ONE) as u64);
    // One step more, and it is not.
    let dear = Odds {
        weight: Weight(33302, 10_000),
        ..odds.clone()
    };
    assert!(dear.norms().l2_squared >= (ONE * ONE) as u64);
    assert_eq!(Odds::new(ONE, Noise::Laplace).norms().l1, ONE as u64);
    let heavier = Odds {
        weight: Weight(34, 10),
        ..odds
    };
    assert!(heavier.norms().l2_squared > (ONE * ONE) as u64);
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
        let claim = norms.l2_squared_under(&replace, false) as i64;
        let found = apart.max(opposite);
        assert!(found <= claim, "{clip}: {found} > {claim}");
        assert!(
            found as f64 >= 0.985 * claim as f64,
            "{clip}: {found} far from {claim}"
        );
        let claim = norms.l2_squared_under(&private, true) as i64;
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
    let claim = classes.norms().l2_squared_under(&replace, false) as i64;
    assert!(
        found <= claim && found as f64 > 0.99 * claim as f64,
        "{found} of {claim}"
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
