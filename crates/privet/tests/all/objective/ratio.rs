//! The density ratio of objective perturbation on tiny neighbours, by search.
//!
//! For an output θ the noise that led to it is V = −(Σ slopes + ridge·θ), and the density of θ is that of V times the determinant
//! of the second derivatives. Here both are written out once more, for the worst rows there are, and compared with the shares of ε
//! that the proof gives them (`docs/proofs/objective.md`). What the noise's law is, is tested beside the sampler.

use privet::privacy::mechanism::{Ball, Objective, RowLoss};
use privet::privacy::{AddRemove, Anchor, Coins, Epsilon, Neighbours, Replace};
use privet_testkit::skipped::full;

/// Rounding of sums and determinants of a few numbers.
const SLACK: f64 = 1e-9;

/// A row with its intercept and its label, so many times.
type Row = (Vec<f64>, f64, f64);

/// What a search found, each in its share of ε.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    noise: f64,
    ridge: f64,
    /// Both together, in ε.
    total: f64,
}

impl Found {
    fn is_private(&self) -> bool {
        [self.noise, self.ridge, self.total]
            .iter()
            .all(|x| *x <= 1.0 + SLACK)
    }

    fn most(self, other: Self) -> Self {
        Self {
            noise: self.noise.max(other.noise),
            ridge: self.ridge.max(other.ridge),
            total: self.total.max(other.total),
        }
    }
}

/// A mechanism as it claims to be, and as it was made.
struct Audit<N> {
    made: Objective<N>,
    /// The parts of ε that noise and ridge may use.
    shares: [f64; 2],
    /// The ridge of the intercept.
    at_intercept: f64,
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("an epsilon")
}

fn loss(ball: Ball, dimension: usize, slope: f64, curvature: f64) -> RowLoss {
    RowLoss {
        ball,
        dimension,
        slope,
        curvature,
        anchor: Anchor::new("objective#logistic-losses"),
    }
}

/// One number for each column.
fn codes(d: usize) -> RowLoss {
    loss(Ball::Cube, d + 1, 1.0, (d + 1) as f64 / 4.0)
}

impl<N: Neighbours> Audit<N> {
    fn honest(of: f64, relation: &N, loss: RowLoss) -> Self {
        let made = Objective::calibrated(epsilon(of), relation, loss).expect("an objective");
        let [noise, ridge, _] = made.shares();
        Self {
            shares: [noise, ridge],
            at_intercept: made.ridge(),
            made,
        }
    }

    /// The logarithms of both parts of the density ratio at θ.
    fn at(&self, tables: [&[Row]; 2], theta: &[f64]) -> Found {
        let [here, there] = tables.map(|rows| self.density(rows, theta));
        let parts = [here[0] - there[0], here[1] - there[1]];
        Found {
            noise: parts[0].abs() / self.shares[0],
            ridge: parts[1].abs() / self.shares[1],
            total: (parts[0] + parts[1]).abs() / (self.shares[0] + self.shares[1]),
        }
    }

    fn density(&self, rows: &[Row], theta: &[f64]) -> [f64; 2] {
        let m = theta.len();
        let ridge = |i: usize| {
            if i == 0 {
                self.at_intercept
            } else {
                self.made.ridge()
            }
        };
        let mut noise: Vec<f64> = (0..m).map(|i| -ridge(i) * theta[i]).collect();
        let mut second = vec![vec![0.0; m]; m];
        (0..m).for_each(|i| second[i][i] = ridge(i));
        for (z, y, times) in rows {
            let score: f64 = z.iter().zip(theta).map(|(z, t)| z * t).sum();
            let e = (-score.abs()).exp();
            let p = if score >= 0.0 { 1.0 } else { e } / (1.0 + e);
            let bend = e / ((1.0 + e) * (1.0 + e));
            for i in 0..m {
                noise[i] -= times * (p - y) * z[i];
                (0..m).for_each(|j| second[i][j] += times * bend * z[i] * z[j]);
            }
        }
        [self.made.log_density(&noise), log_determinant(second)]
    }

    /// The worst that corners, saturating directions and steps at random from there show.
    fn search(&self, pairs: &[[Vec<Row>; 2]], coins: &mut Coins) -> Found {
        let mut worst = Found::default();
        for [a, b] in pairs {
            let tables = [a.as_slice(), b.as_slice()];
            let mut best = (0.0, vec![0.0; self.made.dimension()]);
            for theta in starts(tables) {
                let found = self.at(tables, &theta);
                worst = worst.most(found);
                if found.total > best.0 {
                    best = (found.total, theta);
                }
            }
            for step in 0..60 {
                let size = 4.0 * 0.9f64.powi(step);
                let mut theta = best.1.clone();
                theta
                    .iter_mut()
                    .for_each(|t| *t += size * (2.0 * coins.unit() - 1.0));
                let found = self.at(tables, &theta);
                worst = worst.most(found);
                if found.total > best.0 {
                    best = (found.total, theta);
                }
            }
        }
        worst
    }
}

/// By elimination: the matrix is positive definite, if only just.
fn log_determinant(mut matrix: Vec<Vec<f64>>) -> f64 {
    let mut sum = 0.0;
    for i in 0..matrix.len() {
        let pivot = matrix[i].clone();
        sum += pivot[i].max(1e-300).ln();
        for line in matrix.iter_mut().skip(i + 1) {
            let factor = line[i] / pivot[i];
            line.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
    sum
}

/// Outputs where one changed row bends most and the other least, or both pull as hard as they can.
fn starts(tables: [&[Row]; 2]) -> Vec<Vec<f64>> {
    let rows: Vec<&Vec<f64>> = tables
        .iter()
        .flat_map(|rows| rows.iter().take(2).map(|(z, ..)| z))
        .collect();
    let m = rows.first().map_or(1, |z| z.len());
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut directions: Vec<Vec<f64>> = (0..m)
        .map(|i| (0..m).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    for a in &rows {
        directions.push((*a).clone());
        for b in &rows {
            // Across a, and as far along b as that allows.
            let along = dot(a, b) / dot(a, a);
            directions.push(b.iter().zip(*a).map(|(b, a)| b - along * a).collect());
            directions.push(b.iter().zip(*a).map(|(b, a)| b + a).collect());
            directions.push(b.iter().zip(*a).map(|(b, a)| b - a).collect());
        }
    }
    let mut all = vec![vec![0.0; m]];
    for direction in directions {
        for far in [0.7, 3.0, 12.0, 40.0] {
            for sign in [-1.0, 1.0] {
                all.push(direction.iter().map(|x| sign * far * x).collect());
            }
        }
    }
    all
}

/// All corners of the cube, with an intercept.
fn corners(d: usize) -> Vec<Vec<f64>> {
    let corner = |bits: usize| (0..d).map(move |j| if bits >> j & 1 == 1 { 1.0 } else { -1.0 });
    (0..1 << d)
        .map(|bits| std::iter::once(1.0).chain(corner(bits)).collect())
        .collect()
}

/// Replaced rows at corners among others: nobody, or many that shift the slope along the intercept.
fn replaced(d: usize) -> Vec<[Vec<Row>; 2]> {
    let middle: Vec<f64> = (0..=d).map(|i| f64::from(u8::from(i == 0))).collect();
    let crowd = |y: f64| vec![(middle.clone(), y, 300.0)];
    let others = [vec![], crowd(0.0), crowd(1.0)];
    let mut pairs = Vec::new();
    let corners = corners(d);
    for a in &corners {
        // By symmetry the other row need only be the same, the opposite, or differ in some coordinates.
        for b in corners.iter().take(4).chain(corners.last()) {
            for labels in [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]] {
                for rest in &others {
                    let with = |z: &Vec<f64>, y| [vec![(z.clone(), y, 1.0)], rest.clone()].concat();
                    pairs.push([with(a, labels[0]), with(b, labels[1])]);
                }
            }
        }
    }
    pairs
}

fn coins() -> Coins {
    Coins::from_seed([5; 32])
}

#[test]
fn no_output_tells_more_than_the_claim() {
    for d in [1, 2, 4] {
        for of in [0.1, 1.0, 4.0] {
            let audit = Audit::honest(of, &Replace::row(), codes(d));
            let found = audit.search(&replaced(d), &mut coins());
            assert!(found.is_private(), "{d} {of}: {found:?}");
            assert!(found.noise > 0.99, "{d} {of}: too weak a search: {found:?}");
            // Where the ridge is held at one, the determinant cannot use up its share.
            if audit.made.ridge() > 1.0 {
                assert!(found.ridge > 0.99, "{d} {of}: too weak a search: {found:?}");
            }
        }
    }
}

/// Two rows that come or go together, at right angles: the determinant's bound is a product, and is reached.
#[test]
fn units_of_several_rows_use_the_power_of_the_bound() {
    let two = std::num::NonZeroU32::new(2).expect("two");
    let rows: Vec<Row> = corners(1).into_iter().map(|z| (z, 0.0, 1.0)).collect();
    let unit = Audit::honest(0.5, &AddRemove::unit(two), codes(1));
    let found = unit.search(&[[rows.clone(), vec![]], [vec![], rows.clone()]], &mut coins());
    assert!(found.is_private() && found.ridge > 0.999, "{found:?}");
    let mut exchanged: Vec<[Vec<Row>; 2]> = Vec::new();
    for labels in [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]] {
        let twice = |z: &Vec<f64>, y| vec![(z.clone(), y, 2.0)];
        let corners = corners(2);
        for a in &corners {
            for b in &corners {
                exchanged.push([twice(a, labels[0]), twice(b, labels[1])]);
            }
        }
    }
    let found = Audit::honest(0.5, &Replace::unit(two), codes(2)).search(&exchanged, &mut coins());
    assert!(found.is_private(), "{found:?}");
    // A budget for single rows does not cover two.
    let single = Audit::honest(0.5, &AddRemove::row(), codes(1));
    let found = single.search(&[[rows, vec![]]], &mut coins());
    assert!(!found.is_private(), "{found:?}");
}

/// Two features of two values each as zeros and ones, three ones in a row: replaced rows among nobody, or among so many of every row that
/// all coordinates of the slope keep their sign.
fn indicated() -> Vec<[Vec<Row>; 2]> {
    let rows: Vec<Vec<f64>> = (0..4)
        .map(|bits| {
            let pair = |bit: usize| [1.0 - bit as f64, bit as f64];
            [vec![1.0], pair(bits & 1).to_vec(), pair(bits >> 1).to_vec()].concat()
        })
        .collect();
    let crowd = |y: f64| rows.iter().map(|z| (z.clone(), y, 300.0)).collect();
    let others: [Vec<Row>; 3] = [vec![], crowd(0.0), crowd(1.0)];
    let mut pairs = Vec::new();
    for a in &rows {
        for b in &rows {
            for labels in [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] {
                for rest in &others {
                    let with = |z: &Vec<f64>, y| [vec![(z.clone(), y, 1.0)], rest.clone()].concat();
                    pairs.push([with(a, labels[0]), with(b, labels[1])]);
                }
            }
        }
    }
    pairs
}

#[test]
fn the_cross_polytope_keeps_its_claim_too() {
    let pairs = indicated();
    let honest = || Audit::honest(1.0, &Replace::row(), loss(Ball::Cross, 5, 3.0, 0.75));
    let found = honest().search(&pairs, &mut coins());
    assert!(found.is_private(), "{found:?}");
    assert!(
        found.noise > 0.99 && found.ridge > 0.99,
        "too weak a search: {found:?}"
    );
    for (what, slope, curvature) in [
        ("nine tenths of the slope", 2.7, 0.75),
        ("nine tenths of the curvature", 3.0, 0.675),
    ] {
        let less = loss(Ball::Cross, 5, slope, curvature);
        let made = Objective::calibrated(epsilon(1.0), &Replace::row(), less).expect("an objective");
        let audit = Audit {
            at_intercept: made.ridge(),
            made,
            ..honest()
        };
        let found = audit.search(&pairs, &mut coins());
        assert!(!found.is_private(), "{what} went unnoticed: {found:?}");
    }
}

/// The search must be able to fail: each of these is a mistake that one could make.
#[test]
fn mutants_are_caught_by_the_same_search() {
    let of = 1.0;
    for d in [1, 2, 4].into_iter().take(if full() { 3 } else { 2 }) {
        let honest = || Audit::honest(of, &Replace::row(), codes(d));
        let pairs = replaced(d);
        let half = || {
            let made =
                Objective::calibrated(epsilon(2.0 * of), &Replace::row(), codes(d)).expect("an objective");
            Audit {
                at_intercept: made.ridge(),
                made,
                ..honest()
            }
        };
        let claimed = |slope: f64, curvature: f64| {
            let honest = honest();
            let loss = loss(Ball::Cube, d + 1, slope, curvature * codes(d).curvature);
            let made = Objective::calibrated(epsilon(of), &Replace::row(), loss).expect("an objective");
            Audit {
                at_intercept: made.ridge(),
                made,
                ..honest
            }
        };
        let bare = Audit {
            at_intercept: 0.0,
            ..honest()
        };
        for (what, audit) in [
            ("half the noise", half()),
            ("nine tenths of the slope", claimed(0.9, 1.0)),
            ("nine tenths of the curvature", claimed(1.0, 0.9)),
            ("a budget for one step of two", {
                let made =
                    Objective::calibrated(epsilon(of), &AddRemove::row(), codes(d)).expect("an objective");
                let loss = loss(Ball::Cube, d + 1, 0.5, codes(d).curvature);
                let same = Objective::calibrated(epsilon(of), &Replace::row(), loss).expect("an objective");
                assert!((made.scale() / same.scale() - 1.0).abs() < 1e-12);
                Audit {
                    made: same,
                    ..honest()
                }
            }),
        ] {
            let found = audit.search(&pairs, &mut coins());
            assert!(!found.is_private(), "{d}: {what} went unnoticed: {found:?}");
        }
        let found = bare.search(&pairs, &mut coins());
        assert!(found.total > 2.0, "{d}: no ridge on the intercept: {found:?}");
    }
}
