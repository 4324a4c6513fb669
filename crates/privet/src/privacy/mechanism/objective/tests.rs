mod points;

use super::*;
use crate::privacy::{AddRemove, Replace};
use points::Few;

fn loss(ball: Ball, dimension: usize) -> RowLoss {
    RowLoss {
        ball,
        dimension,
        slope: 1.5,
        curvature: 0.5,
        anchor: Anchor::new("objective#perturbed-objectives"),
    }
}

fn objective(ball: Ball, dimension: usize) -> Objective<Replace> {
    let epsilon = Epsilon::from_billionths(2_000_000_000);
    Objective::calibrated(epsilon, &Replace::row(), loss(ball, dimension)).expect("an objective")
}

/// The mean and the variance of ‖V‖/scale, the mean of the first coordinate over the scale, and that of its square in units of
/// what is planned with, from so many draws.
fn moments(objective: &Objective<Replace>, draws: usize) -> [f64; 4] {
    let mut random = Randomness::from_os().expect("randomness");
    let planned = objective
        .loss
        .deviation(objective.epsilon, &objective.relation.relation())
        .expect("a deviation");
    let (mut sum, mut squares, mut first, mut second) = (0.0, 0.0, 0.0, 0.0);
    for _ in 0..draws {
        let drawn = objective.noise.draw(&mut random);
        let noise: Vec<f64> = drawn.values.iter().map(|x| float(x, drawn.digits)).collect();
        let norm = objective.loss.ball.norm(&noise) / objective.scale();
        sum += norm;
        squares += norm * norm;
        first += noise[0] / objective.scale();
        second += (noise[0] / planned).powi(2);
    }
    let n = draws as f64;
    let mean = sum / n;
    [mean, squares / n - mean * mean, first / n, second / n]
}

/// The norm of noise of density exp(−‖v‖/scale) has the Gamma law of shape m, whatever the ball: mean m and variance m. A
/// wrong shape of the radius (m instead of m + 1, say) makes the mean m²/(m + 1).
#[test]
fn the_norm_of_the_noise_has_the_gamma_law_of_its_dimension() {
    for ball in [Ball::Cube, Ball::Cross] {
        for dimension in [1, 2, 5, 17] {
            let draws = 40_000;
            let m = dimension as f64;
            let [mean, variance, first, second] = moments(&objective(ball, dimension), draws);
            // Seven standard errors: a false alarm once in 10^11 comparisons. The variance of a square of Gamma noise is at most
            // (2m² + 6m), that of the first coordinate at most 2m(m + 1).
            let error = |variance: f64| 7.0 * (variance / draws as f64).sqrt();
            assert!((mean - m).abs() < error(m), "{ball:?} {dimension}: {mean}");
            assert!(
                (variance - m).abs() < error(2.0 * m * m + 6.0 * m),
                "{ball:?} {dimension}: {variance}"
            );
            assert!(
                first.abs() < error(2.0 * m * (m + 1.0)),
                "{ball:?} {dimension}: {first}"
            );
            // Its fourth moment is at most six times the square of the second, for Laplace's law: twenty to be safe.
            assert!(
                (second - 1.0).abs() < error(20.0),
                "{ball:?} {dimension}: {second}"
            );
            // The test would see the wrong shape.
            assert!((m * m / (m + 1.0) - m).abs() > error(m));
        }
    }
}

/// No coordinate of the noise is further from its real one than a quarter of ridge·2^−32; one digit less would be too few.
#[test]
fn the_grid_of_the_noise_is_fine_enough() {
    let quarter = |ridge: u64| part(ridge, 1 << RIDGE_DIGITS) / RBig::from(1u64 << (NEAR + 2));
    for ridge in [1u64 << 10, 1500, 1 << 11, 77 << 10, (1 << 50) + 1] {
        for dimension in [1usize, 2, 3, 49, 1023] {
            for ball in [Ball::Cube, Ball::Cross] {
                let law = Law::new(ball, dimension, &RBig::from(3), &IBig::from(ridge)).expect("a law");
                let mut random = Randomness::from_os().expect("randomness");
                let drawn = law.draw(&mut random);
                assert_eq!(drawn.values.len(), dimension);
                let (steps, digits) = match ball {
                    Ball::Cross => (1, drawn.digits),
                    // m + 1 floors, and a cell of the uniform coordinate, which is below one step.
                    Ball::Cube => (dimension as u64 + 2, drawn.digits - 128),
                };
                let off = |digits: usize| RBig::from(steps) / RBig::from(IBig::ONE << digits);
                assert!(off(digits) <= quarter(ridge), "{ball:?} {dimension} {ridge}");
                // Where the grid is not whole numbers already.
                if ball == Ball::Cross && digits > 0 {
                    assert!(off(digits - 1) > quarter(ridge), "{dimension} {ridge}");
                }
            }
        }
    }
}

#[test]
fn noise_and_ridge_follow_from_the_steps_and_the_rows_of_a_unit() {
    let three = std::num::NonZeroU32::new(3).expect("three");
    let loss = loss(Ball::Cube, 4);
    let one = Epsilon::from_billionths(1_000_000_000);
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
    // Ridges are rounded up to 1024ths.
    let ridged = |a: f64, b: f64| (0.0..0.001).contains(&(a - b));
    let row = Objective::calibrated(one, &AddRemove::row(), loss).expect("an objective");
    assert!(near(row.scale(), 1.5 / 0.8415) && ridged(row.ridge(), 0.5 / 0.1485f64.exp_m1()));
    let replaced = Objective::calibrated(one, &Replace::row(), loss).expect("an objective");
    assert!(near(replaced.scale(), 3.0 / 0.8415) && replaced.ridge() == row.ridge());
    let unit = Objective::calibrated(one, &Replace::unit(three), loss).expect("an objective");
    assert!(near(unit.scale(), 9.0 / 0.8415) && ridged(unit.ridge(), 0.5 / 0.0495f64.exp_m1()));
    // Never below one.
    let rich = Objective::calibrated(Epsilon::from_billionths(u64::MAX), &Replace::row(), loss);
    assert_eq!(rich.expect("an objective").ridge(), 1.0);
    // What hides the point is for how far it moves at most: L1 over scale is 0.005, for either table.
    let [noise, ridge, hidden] = row.shares();
    assert!(near(noise + ridge + hidden, 1.0) && near(hidden, 0.01));
    let scale = (row.hiding.variance() / 2.0).sqrt();
    assert!((scale * 0.005 / moves(4) as f64 - 1.0).abs() < 1e-6);
}

#[test]
fn what_cannot_be_bounded_is_refused() {
    let loss = loss(Ball::Cube, 4);
    let one = Epsilon::from_billionths(1_000_000_000);
    let refused = |epsilon, loss| {
        let made = Objective::calibrated(epsilon, &Replace::row(), loss);
        matches!(made, Err(Error::Parameter(_)))
    };
    assert!(refused(Epsilon::ZERO, loss));
    assert!(refused(Epsilon::from_billionths(HIDING - 1), loss));
    assert!(!refused(Epsilon::from_billionths(HIDING), loss));
    assert!(refused(one, RowLoss { dimension: 0, ..loss }));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(one, RowLoss { slope: bad, ..loss }));
        assert!(refused(
            one,
            RowLoss {
                curvature: bad,
                ..loss
            }
        ));
    }
}

/// What `minimum` adds to rounded points, in units of 17m/η: the mean, the mean size and the mean square of 20 000 numbers. Where nobody is,
/// an equally seeded generator replays all that happens before.
fn hidden_by(objective: &Objective<Replace>) -> [f64; 3] {
    let rows = Few::default();
    let scale = 17.0 * objective.dimension() as f64 / 0.01;
    let (mut all, mut sums) = (0.0, [0.0; 3]);
    for seed in 0..20_000 / objective.dimension() as u64 {
        let [mut random, mut again] = [seed, seed].map(Randomness::seeded);
        let noise = objective.noise.draw(&mut again);
        let point = objective.perturbed(&rows, &noise).near_minimum();
        let released = objective.minimum(Private::new(rows.clone()), Paid::receipt(), &mut random);
        for (x, y) in point.values.iter().zip(released) {
            let y = (y * (1u64 << GRID) as f64) as i64;
            let added = (y - rounded(x, point.digits, GRID)) as f64 / scale;
            let own = [added, added.abs(), added * added];
            sums.iter_mut().zip(own).for_each(|(sum, x)| *sum += x);
            all += 1.0;
        }
    }
    sums.map(|sum| sum / all)
}

/// Whether these are Laplace's moments: 0, 1 and 2. Their variances are 2, 1 and 20, and each may be off by seven standard
/// errors: a false alarm once in 10^11 comparisons. (Seeds are fixed, so it is the same answer in every run.)
fn is_laplace(moments: [f64; 3]) -> bool {
    let expected = [(0.0, 2.0), (1.0, 1.0), (2.0, 20.0)];
    let near = |(found, (mean, variance)): (f64, (f64, f64))| {
        (found - mean).abs() < 7.0 * f64::sqrt(variance / 20_000.0)
    };
    moments.into_iter().zip(expected).all(near)
}

/// Released points carry the noise that hides them, and all of it: nine tenths are seen, and so is none.
#[test]
fn released_points_carry_the_noise_that_hides_them() {
    for ball in [Ball::Cross, Ball::Cube] {
        let honest = objective(ball, 500);
        let found = hidden_by(&honest);
        assert!(is_laplace(found), "{ball:?}: {found:?}");
        // ε is two, so η is a hundredth: 17m/η in tenths.
        let scaled = |tenths: u64| part(17 * 500 * 100 * tenths, 10);
        for scale in [scaled(9), part(1, 1000)] {
            let scale = Ratio::from_big(scale).expect("a ratio");
            let less = Objective {
                hiding: DiscreteLaplace::new(scale).expect("a law"),
                ..honest.clone()
            };
            let found = hidden_by(&less);
            assert!(!is_laplace(found), "{ball:?}: {found:?}");
        }
    }
}

#[test]
fn numbers_become_integers_and_back() {
    for x in [0.0, 1.0, -1.5, 1e-9, -3e7, f64::MIN_POSITIVE, 1e300] {
        assert_eq!(float(&descent::fixed(x, 1100), 1100), x);
        assert!((exact(x).to_f64().value() - x).abs() <= x.abs() * 1e-15);
    }
    for x in [f64::NAN, f64::INFINITY] {
        assert_eq!(descent::fixed(x, 10), IBig::ZERO);
    }
    assert_eq!(rounded(&(IBig::ONE << 300), 100, 36), 1 << 60);
    assert_eq!(rounded(&(-(IBig::ONE << 300)), 100, 36), -(1 << 60));
    assert_eq!(rounded(&IBig::from(24), 40, 36), 2);
    assert_eq!(rounded(&IBig::from(-9), 40, 36), -1);
}
