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

fn replacing() -> Relation {
    Relation::Replace {
        rows: NonZeroU32::MIN,
        unit: None,
    }
}

/// Another private column, of so many rows of a unit.
fn changing(column: &str, rows: u32) -> Relation {
    Relation::ReplacePrivate {
        rows: NonZeroU32::new(rows).expect("above zero"),
        unit: None,
        columns: [column.to_owned()].into(),
    }
}

/// That what was found stays within its claim, and reaches this share of it.
fn reaches(share: f64, found: impl Into<i128>, claim: impl TryInto<i128, Error: std::fmt::Debug>) {
    let (found, claim) = (found.into(), claim.try_into().expect("a small number"));
    assert!(
        found <= claim && found as f64 >= share * claim as f64,
        "{found} of {claim}"
    );
}

/// What a row adds to sums of gradients and of hessians.
fn added(classes: &Classes, scores: &[f32], label: usize) -> Vec<i64> {
    let (mut g, mut h) = (vec![0; scores.len()], vec![0; scores.len()]);
    classes.at(scores, label, &mut g, &mut h);
    [g, h].concat()
}

fn squares(sums: &[i64]) -> i64 {
    sums.iter().map(|x| x * x).sum()
}

/// How far two rows are apart.
fn apart(one: &[i64], other: &[i64]) -> Vec<i64> {
    one.iter().zip(other).map(|(a, b)| a - b).collect()
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

/// Rows of a class that counts less move sums less; those of the other reach the claims, whatever changes.
#[test]
fn weighted_classes_stay_within_their_norms_and_reach_them() {
    for clip in [ONE / 2, ONE] {
        for positive in [0.001, 0.2, 1.0, 3.0, 1000.0] {
            let plain = Odds::new(clip, Noise::Gaussian);
            let odds = plain.clone().weighing(positive);
            let norms = odds.norms();
            assert_eq!(
                norms.l2_squared,
                plain.norms().l2_squared,
                "the heavier class counts one"
            );
            let steps = (-FAR..=FAR).map(|step| step as f32 / STEPS);
            let rows = |score: f32| [odds.at(score, false), odds.at(score, true)];
            let square = |(g, h): (i32, i32)| i64::from(g).pow(2) + i64::from(h).pow(2);
            let most = |of: &dyn Fn(f32) -> i64| steps.clone().map(of).max().unwrap_or(0);
            reaches(
                0.99,
                most(&|score| rows(score).map(square).into_iter().max().unwrap_or(0)),
                norms.l2_squared,
            );
            // Another label at the same score.
            let turned = most(&|score| {
                let [no, yes] = rows(score);
                square((no.0 - yes.0, no.1 - yes.1))
            });
            reaches(1.0, turned, changed(&norms, Unchanged::Features));
            // Another row of the same class, in the same leaf.
            let same = most(&|score| {
                let ends = [rows(-score), rows(10.0)];
                let apart = |class: usize| {
                    square((
                        ends[0][class].0 - ends[1][class].0,
                        ends[0][class].1 - ends[1][class].1,
                    ))
                };
                apart(0).max(apart(1))
            });
            assert!(u128::try_from(same).expect("positive") <= changed(&norms, Unchanged::Label));
        }
    }
}

/// The squared claim for a changed label column.
fn changed(norms: &Norms, unchanged: Unchanged) -> u128 {
    norms.l2_squared_under(&changing("y", 1), unchanged)
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
    for clip in [ONE / 5, ONE / 2, 3 * ONE / 4, ONE] {
        let odds = Odds::new(clip, Noise::Gaussian);
        let norms = odds.norms();
        let apart = largest(&odds, |a, b| a.0 * a.0 + a.1 * a.1 + b.0 * b.0 + b.1 * b.1);
        let opposite = largest(&odds, |a, b| (a.0 + b.0).pow(2) + (a.1 - b.1).pow(2));
        let same = largest(&odds, |a, b| (a.0 - b.0).pow(2) + (a.1 - b.1).pow(2));
        let claim = norms.l2_squared_under(&replacing(), Unchanged::Nothing);
        reaches(0.985, apart.max(opposite), claim);
        let claim = norms.l2_squared_under(&changing("x", 1), Unchanged::Label);
        reaches(0.99, apart.max(same), claim);
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
                    let sums = added(&classes, &scores, label);
                    l1 = l1.max(sums.iter().map(|x| x.abs()).sum());
                    l2 = l2.max(squares(&sums));
                    let (g, h) = sums.split_at(count);
                    assert!(h.iter().all(|&h| h >= 0) && g.iter().sum::<i64>() == 0);
                }
            }
            match noise {
                Noise::Gaussian => reaches(0.99, l2, norms.l2_squared),
                Noise::Laplace => reaches(0.99, l1, norms.l1),
            }
        }
    }
    // A hessian that weighs 3.33 is not free here.
    let greedy = Classes {
        count: 3,
        weight: Weight(3330, 1000),
    };
    assert!(squares(&added(&greedy, &[9.0, 9.0, -9.0], 2)) > 2 * ONE * ONE);
}

/// Two rows that are sure of each other's class, in one leaf.
#[test]
fn replaced_rows_of_many_classes_move_twice_as_far() {
    let classes = Classes::new(3, Noise::Gaussian);
    let one = added(&classes, &[-30.0, 30.0, -30.0], 0);
    let other = added(&classes, &[30.0, -30.0, -30.0], 1);
    let claim = classes.norms().l2_squared_under(&replacing(), Unchanged::Nothing);
    reaches(0.99, squares(&apart(&one, &other)), claim);
}

/// The claims for other labels of so many rows of a unit.
fn relabelled(norms: &Norms, rows: u32) -> (u64, u128) {
    let relation = changing("y", rows);
    (
        norms.l1_under(&relation, Unchanged::Features),
        norms.l2_squared_under(&relation, Unchanged::Features),
    )
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
            // Rows of a unit all move the same way.
            for rows in [1, 3] {
                let claims = relabelled(&odds.norms(), rows);
                assert_eq!(l1.map(|l1| u64::from(rows) * l1), Some(claims.0));
                assert_eq!(l2.map(|l2| u128::from(rows * rows) * l2), Some(claims.1));
            }
            // Half a probability either way, and no hessian.
            assert!(clip != ONE / 2 || l1 == Some(ONE as u64));
        }
    }
    let claims = relabelled(&Residual::new(ONE / 2).norms(), 1);
    assert_eq!(claims, (2 * ONE as u64, 4 * (ONE * ONE) as u128));
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
                let [one, other] = [0, 1 + round % (count - 1)].map(|label| added(&classes, &scores, label));
                let moved = apart(&one, &other);
                l1 = l1.max(moved.iter().map(|x| x.abs()).sum());
                l2 = l2.max(squares(&moved));
            }
            let claims = relabelled(&classes.norms(), 1);
            match noise {
                Noise::Laplace => reaches(0.99, l1, claims.0),
                Noise::Gaussian => reaches(0.99, l2, claims.1),
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
    let grid = [-30.0, -1.0, 0.0, 1.0, 30.0];
    let rows = grid.iter().flat_map(|&a| grid.map(|b| [0.0, a, b]));
    let rows: Vec<_> = rows.map(|scores| added(&classes, &scores, 0)).collect();
    let claim = classes
        .norms()
        .l2_squared_under(&changing("x", 1), Unchanged::Label);
    let (mut together, mut in_two) = (0, 0);
    for (one, other) in rows
        .iter()
        .flat_map(|one| rows.iter().map(move |other| (one, other)))
    {
        together = together.max(squares(&apart(one, other)));
        in_two = in_two.max(squares(one) + squares(other));
    }
    reaches(0.0, together, claim);
    // Sizes are rounded toward zero: all but the claim.
    reaches(0.99, in_two, claim);
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

/// Every step that a margin or a residual can have, its halves and their neighbours, and what is no number.
#[test]
fn the_nearest_whole_number_is_that_of_the_standard_library() {
    let check = |x: f32| {
        let rounded = (x.round() as i32).clamp(-1_000_000, 1_000_000);
        assert_eq!(nearest(x), rounded, "{x:?}");
    };
    for half in -20_000..=20_000_i32 {
        let x = half as f32 / 2.0;
        [x.next_down(), x, x.next_up()].into_iter().for_each(check);
    }
    let odd = [
        f32::NAN,
        f32::INFINITY,
        f32::MAX,
        f32::MIN_POSITIVE,
        0.499_999_97,
        999_999.44,
        1e6,
        4e9,
        -0.0,
    ];
    odd.into_iter().flat_map(|x| [x, -x]).for_each(check);
}

/// What a row with a weight adds.
fn weighing(sums: &[i64], share: u16) -> Vec<i64> {
    sums.iter().map(|&x| weighed(x, share)).collect()
}

/// Rows of every kind, with what they add to gradients and to hessians; their claims, and the noise that these are about.
fn rows_of_all_codings() -> Vec<(Noise, Norms, Vec<Vec<i64>>)> {
    let mut coins = crate::privacy::Coins::from_seed([8; 32]);
    let mut all = Vec::new();
    for noise in [Noise::Gaussian, Noise::Laplace] {
        for clip in [ONE / 2, ONE] {
            let odds = Odds::new(clip, noise);
            let row =
                |score: f32, side| [odds.at(score, side).0.into(), odds.at(score, side).1.into()].to_vec();
            let scores = [-12.0, -1.1, -0.3, 0.0, 0.7, 2.0, 12.0];
            let rows = scores
                .into_iter()
                .flat_map(|score| [row(score, true), row(score, false)]);
            all.push((noise, odds.norms(), rows.collect()));
        }
        let classes = Classes::new(4, noise);
        let rows = (0..14).map(|round| {
            let wide = [0.01, 1.0, 12.0][round % 3];
            let scores: Vec<f32> = (0..4).map(|_| (wide * (coins.unit() - 0.5)) as f32).collect();
            added(&classes, &scores, round % 4)
        });
        all.push((noise, classes.norms(), rows.collect()));
    }
    let residual = Residual::new(ONE / 2);
    let labels = [-9.0, -1.0, -0.4, 0.0, 0.9, 1.0, 9.0];
    let rows =
        labels.map(|label| [residual.at(0.0, label).0.into(), residual.at(0.0, label).1.into()].to_vec());
    all.push((Noise::Gaussian, residual.norms(), rows.clone().into()));
    all.push((Noise::Laplace, residual.norms(), rows.into()));
    all
}

/// Whatever weights two rows have, the one in the place of the other moves sums by no more than is claimed of rows without weights. At the largest
/// weight nothing is lost.
#[test]
fn weights_move_sums_by_no_more_than_rows_without_weights() {
    let shares = [0, 1, 2, 63, 64, 2047, 2048, 2049, 4033, 4094, 4095, 4096];
    for (noise, norms, rows) in rows_of_all_codings() {
        let size = |sums: &[i64]| match noise {
            Noise::Gaussian => squares(sums),
            Noise::Laplace => sums.iter().map(|x| x.abs()).sum(),
        };
        let (coming, claim) = match noise {
            Noise::Gaussian => (
                norms.l2_squared,
                norms.l2_squared_under(&replacing(), Unchanged::Nothing),
            ),
            Noise::Laplace => (norms.l1, norms.l1_under(&replacing(), Unchanged::Nothing).into()),
        };
        let mut most = [0; 2];
        for one in &rows {
            assert_eq!(weighing(one, ONE as u16), *one);
            for share in shares {
                let one = weighing(one, share);
                most[0] = size(&one).max(most[0]);
                for (other, share) in rows.iter().flat_map(|row| shares.map(|share| (row, share))) {
                    most[1] = size(&apart(&one, &weighing(other, share))).max(most[1]);
                }
            }
        }
        reaches(0.9, most[0], coming);
        reaches(0.45, most[1], claim);
    }
}

/// With a weight that stays, every number of a difference is at most what it is without weights: what is claimed of another label holds.
#[test]
fn a_weight_that_stays_makes_every_difference_smaller() {
    for (_, _, rows) in rows_of_all_codings() {
        for (one, other) in rows
            .iter()
            .flat_map(|one| rows.iter().map(move |other| (one, other)))
        {
            let plain = apart(one, other);
            for share in [0, 1, 1000, 2049, 4095, 4096] {
                let moved = apart(&weighing(one, share), &weighing(other, share));
                assert!(
                    moved
                        .iter()
                        .zip(&plain)
                        .all(|(moved, plain)| moved.abs() <= plain.abs())
                );
            }
        }
    }
}

/// Weights are declared as numbers up to a largest one; what is no number, or no weight, is nothing or the largest.
#[test]
fn weights_are_shares_of_the_largest() {
    let found = [0.0, 0.9, 2.5, 5.0, 7.0, -1.0, f32::NAN, f32::INFINITY].map(|weight| share(weight, 5.0));
    assert_eq!(
        [0.7, 0.1, 3.3, 1e-3].map(|largest| share(largest as f32, largest)),
        [4096; 4]
    );
    assert_eq!(found, [0, 737, 2048, 4096, 4096, 0, 0, 4096]);
}
