//! Points are near the exact minimum, whatever rows, noise and hints are.

use super::super::noise::Vector;
use super::super::slopes::{FAST, Sum, slopes};
use super::*;

/// Rows, and a hint that may lie.
#[derive(Clone, Default)]
pub(super) struct Few {
    rows: Vec<(LogisticRow, Vec<(usize, i32)>)>,
    hint: Option<Vec<f64>>,
}

impl LogisticRows for Few {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, row: usize, entries: &mut Vec<(usize, i32)>) -> LogisticRow {
        let (own, all) = &self.rows[row];
        entries.extend_from_slice(all);
        *own
    }

    fn guess(&self, ridge: f64, noise: &[f64]) -> Vec<f64> {
        let honest = || noise.iter().map(|v| -v / ridge).collect();
        self.hint.clone().unwrap_or_else(honest)
    }

    /// Newton's step, by elimination.
    fn step(&self, ridge: f64, at: &[f64], gradient: &[f64]) -> Vec<f64> {
        let m = at.len();
        let unit = (0.5f64).powi(ENTRY_DIGITS as i32);
        let mut lines: Vec<Vec<f64>> = (0..m)
            .map(|i| {
                (0..=m)
                    .map(|j| {
                        if j == m {
                            gradient[i]
                        } else if i == j {
                            ridge
                        } else {
                            0.0
                        }
                    })
                    .collect()
            })
            .collect();
        for (row, all) in &self.rows {
            let inside = || {
                all.iter()
                    .filter(|(place, _)| *place < m)
                    .map(|&(i, x)| (i, f64::from(x) * unit))
            };
            let sum = inside().map(|(i, x)| at[i] * x).sum::<f64>() + row.offset as f64 * unit;
            let e = (-sum.abs()).exp();
            let bend = row.weight.clamp(0, 1 << 30) as f64 / 4096.0 * e / (1.0 + e).powi(2);
            for (i, x) in inside() {
                inside().for_each(|(j, y)| lines[i][j] += bend * x * y);
            }
        }
        for i in 0..m {
            let pivot: Vec<f64> = lines[i].iter().map(|x| x / lines[i][i]).collect();
            for (_, line) in lines.iter_mut().enumerate().filter(|(other, _)| *other != i) {
                let factor = line[i];
                line.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
            }
            lines[i] = pivot;
        }
        lines.iter().map(|line| line[m]).collect()
    }
}

/// Tables of every kind: nobody, few, opposite ones, offsets and weights at their ends, entries beyond one and places beyond all.
fn tables(dimension: usize) -> Vec<Few> {
    let mut state = 7u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as i64
    };
    let mut row = |offset: i64, weight: i64| {
        let entries = (0..dimension).map(|place| (place, (random() % (1 << 21)) as i32 - (1 << 20)));
        let entries: Vec<(usize, i32)> = entries.collect();
        let own = LogisticRow {
            label: random() % 3 == 0,
            offset,
            weight,
        };
        (own, entries)
    };
    let wild = LogisticRow {
        label: true,
        offset: i64::MIN,
        weight: -5,
    };
    let all = [
        vec![],
        vec![row(0, 4096)],
        (0..50).map(|i| row(i << 16, 4096)).collect(),
        (0..300).map(|_| row(0, 409_600)).collect(),
        vec![
            (wild, vec![(0, i32::MAX), (dimension + 5, 1)]),
            row(i64::MAX, 1 << 40),
            row(i64::MIN, 0),
        ],
    ];
    all.map(|rows| Few { rows, hint: None }).to_vec()
}

fn vector(values: &[f64]) -> Vector {
    Vector {
        values: values.iter().map(|&x| descent::fixed(x, 200)).collect(),
        digits: 200,
    }
}

fn noises(dimension: usize) -> Vec<Vector> {
    let all = |x: f64| vector(&vec![x; dimension]);
    let alternating: Vec<f64> = (0..dimension)
        .map(|i| if i % 2 == 0 { 1e3 } else { -1e3 })
        .collect();
    let huge = Vector {
        values: vec![IBig::ONE << 140; dimension],
        digits: 10,
    };
    vec![all(0.0), all(0.37), vector(&alternating), all(1e12), huge]
}

/// The distance of two points in units of 2^−32·√m.
fn apart(one: &Vector, other: &Vector) -> f64 {
    let digits = one.digits.max(other.digits);
    let finer = |x: &IBig, v: &Vector| x << (digits - v.digits);
    let both = one.values.iter().zip(&other.values);
    let squares = both.map(|(a, b)| float(&(finer(a, one) - finer(b, other)), digits).powi(2));
    (squares.sum::<f64>() / one.values.len() as f64).sqrt() * (1u64 << NEAR) as f64
}

/// Whatever rows, noise and hints are, where it stops is at most ¾ of the distance that is paid for from the minimum of the loss with
/// that noise, and a hint that lies as far as it can gets there. The minimum itself is found with three times as many digits.
#[test]
fn every_point_is_near_the_exact_minimum() {
    let mut worst = 0f64;
    for dimension in [1, 2, 5] {
        for table in tables(dimension) {
            for noise in noises(dimension) {
                for ridge in [1u64 << 10, 77_001] {
                    let ridge = IBig::from(ridge);
                    let found = |rows: &Few, near: usize| {
                        let perturbed = Perturbed {
                            rows,
                            ridge: &ridge,
                            noise: &noise,
                            near,
                        };
                        perturbed.near_minimum()
                    };
                    let exact = found(&table, 100);
                    let honest = found(&table, NEAR);
                    assert!(apart(&honest, &exact) <= 0.75, "{dimension}");
                    let at = |by: f64| {
                        let off = by * (0.5f64).powi(NEAR as i32);
                        exact
                            .values
                            .iter()
                            .map(|x| float(x, exact.digits) + off)
                            .collect()
                    };
                    for by in [0.7499, 1.49, -1e6, f64::NAN] {
                        let lying = Few {
                            hint: Some(at(by)),
                            ..table.clone()
                        };
                        let off = apart(&found(&lying, NEAR), &exact);
                        assert!(off <= 0.75, "{dimension}: {off}");
                        worst = worst.max(off);
                        // Whoever stops where the slope is twice as long, and pays as before, is seen.
                        if by == 1.49 && table.rows.is_empty() && float(&noise.values[0], noise.digits) == 0.0
                        {
                            assert!(apart(&found(&lying, NEAR - 1), &exact) > 1.0);
                        }
                    }
                }
            }
        }
    }
    assert!(worst > 0.7, "the lies were too small: {worst}");
}

/// From the furthest real noise and the furthest lie, rounded points differ by what is paid for, nearly, and by no more.
#[test]
fn rounded_points_move_by_what_is_paid_for() {
    for dimension in [1usize, 4, 100] {
        let ridge = IBig::ONE << RIDGE_DIGITS;
        let near = (0.5f64).powi(NEAR as i32);
        let lying = Few {
            rows: Vec::new(),
            hint: Some(vec![0.75 * near; dimension]),
        };
        let noise = vector(&vec![0.0; dimension]);
        let perturbed = Perturbed {
            rows: &lying,
            ridge: &ridge,
            noise: &noise,
            near: NEAR,
        };
        let found = perturbed.near_minimum();
        // Nobody is there, so the minimum is −V/ridge; real noise may be a quarter of ridge·2^−32 off.
        let real = vector(&vec![-0.25 * near; dimension]);
        let on_grid =
            |v: &Vector| -> Vec<i64> { v.values.iter().map(|x| rounded(x, v.digits, GRID)).collect() };
        let both = on_grid(&found).into_iter().zip(on_grid(&real));
        let moved: u64 = both.map(|(a, b)| a.abs_diff(b)).sum();
        assert!(moved <= moves(dimension));
        assert!(
            moved * 10 > moves(dimension) * 9,
            "nine tenths would pass: {moved}"
        );
    }
}

/// The fast and the precise sums bound the same number, and the fast ones are not off by more than they say.
#[test]
fn both_sums_enclose_the_slope() {
    for dimension in [1, 3] {
        for table in tables(dimension) {
            for at in [0.0, 0.3, -4.0, 300.0] {
                let fixed: Vec<IBig> = (0..dimension)
                    .map(|i| descent::fixed(at * (i + 1) as f64, FAST))
                    .collect();
                let fast = slopes(&table, &fixed, FAST);
                let finer: Vec<IBig> = fixed.iter().map(|x| x << 128).collect();
                let precise = slopes(&table, &finer, FAST + 128);
                let digits = precise.digits;
                for (a, b) in fast.values.iter().zip(&precise.values) {
                    let apart = (a << (digits - fast.digits)) - b;
                    let apart = if apart < IBig::ZERO { -apart } else { apart };
                    assert!(apart <= (&fast.error << (digits - fast.digits)) + &precise.error);
                }
                assert!(&precise.error << 100 <= &fast.error << (digits - fast.digits));
            }
        }
    }
}

/// A place that a row names twice counts once, as the error of a sum does, however often and in whatever order it is named.
#[test]
fn a_place_that_is_named_twice_counts_once() {
    let one = 1 << ENTRY_DIGITS;
    let own = LogisticRow {
        label: false,
        offset: 0,
        weight: 1 << 30,
    };
    let table = |entries: Vec<(usize, i32)>| Few {
        rows: vec![(own, entries)],
        hint: None,
    };
    let once = [(0, one), (2, -5)];
    // So many would not fit into machine words, had they been added up.
    let many = [vec![(0, one); 5000], vec![(2, -5)]].concat();
    let elsewhere = vec![
        (2, -5),
        (0, one),
        (7, 1),
        (2, 9),
        (0, -one),
        (0, i32::MIN),
        (7, 1),
    ];
    let widest = IBig::from(u128::MAX >> (128 - 95));
    for at in [descent::fixed(0.3, FAST), widest] {
        for finer in [0, 64] {
            let at = vec![&at << finer; 3];
            let sum = |entries: &[(usize, i32)]| slopes(&table(entries.to_vec()), &at, FAST + finer);
            let wanted = sum(&once);
            for repeated in [&many, &elsewhere] {
                let found = sum(repeated);
                assert_eq!(
                    (found.values, found.error),
                    (wanted.values.clone(), wanted.error.clone())
                );
            }
        }
    }
}

/// The error of a sum is part of what must be small: where the sums themselves are nothing, it alone decides.
#[test]
fn an_error_above_what_is_allowed_is_not_small() {
    let rows = Few::default();
    let ridge = IBig::from(77_001);
    for dimension in [1usize, 2, 5] {
        let noise = vector(&vec![0.0; dimension]);
        let perturbed = Perturbed {
            rows: &rows,
            ridge: &ridge,
            noise: &noise,
            near: NEAR,
        };
        // So many digits that ridge·2^−32 is four times the ridge of units, and ¾ of it three times.
        let digits = RIDGE_DIGITS + NEAR + 2;
        let allowed = &ridge * IBig::from(3);
        let is_small = |value: &IBig, error: IBig| {
            let values = vec![value.clone(); dimension];
            perturbed.is_small(&Sum {
                values,
                error,
                digits,
            })
        };
        assert!(is_small(&IBig::ZERO, allowed.clone()));
        assert!(!is_small(&IBig::ZERO, &allowed + IBig::ONE));
        // Values of either sign leave less room for it.
        for value in [IBig::from(10), IBig::from(-10)] {
            assert!(is_small(&value, &allowed - IBig::from(10)));
            assert!(!is_small(&value, &allowed - IBig::from(9)));
        }
    }
}
