use super::*;
use crate::privacy::{AddRemove, Replace};

fn objective(ball: Ball, dimension: usize) -> Objective<Replace> {
    let loss = RowLoss {
        ball,
        dimension,
        slope: 1.5,
        curvature: 0.5,
        anchor: Anchor::new("objective#perturbed-objectives"),
    };
    Objective::calibrated(Epsilon::from_billionths(2_000_000_000), &Replace::row(), loss)
        .expect("an objective")
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
        let noise = objective.noise(Paid::receipt(), &mut random);
        let norm = objective.loss.ball.norm(&noise) / objective.scale;
        sum += norm;
        squares += norm * norm;
        first += noise[0] / objective.scale;
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
    for ball in [Ball::Cube, Ball::Sphere, Ball::Cross] {
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

#[test]
fn noise_and_ridge_follow_from_the_steps_and_the_rows_of_a_unit() {
    let three = std::num::NonZeroU32::new(3).expect("three");
    let loss = objective(Ball::Cube, 4).loss;
    let one = Epsilon::from_billionths(1_000_000_000);
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
    let row = Objective::calibrated(one, &AddRemove::row(), loss).expect("an objective");
    assert!(near(row.scale(), 1.5 / 0.85) && near(row.ridge(), 0.5 / 0.15f64.exp_m1()));
    let replaced = Objective::calibrated(one, &Replace::row(), loss).expect("an objective");
    assert!(near(replaced.scale(), 3.0 / 0.85) && near(replaced.ridge(), row.ridge()));
    let unit = Objective::calibrated(one, &Replace::unit(three), loss).expect("an objective");
    assert!(near(unit.scale(), 9.0 / 0.85) && near(unit.ridge(), 0.5 / 0.05f64.exp_m1()));
    // Never below one.
    let rich = Objective::calibrated(Epsilon::from_billionths(100_000_000_000), &Replace::row(), loss);
    assert_eq!(rich.expect("an objective").ridge(), 1.0);
}

#[test]
fn what_cannot_be_bounded_is_refused() {
    let loss = objective(Ball::Cube, 4).loss;
    let one = Epsilon::from_billionths(1_000_000_000);
    let refused = |epsilon, loss| {
        let made = Objective::calibrated(epsilon, &Replace::row(), loss);
        matches!(made, Err(Error::Parameter(_)))
    };
    assert!(refused(Epsilon::ZERO, loss));
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

/// Whatever a solver gives, what is released has the public shape and holds numbers.
#[test]
fn a_minimum_has_its_public_shape() {
    let objective = objective(Ball::Cube, 3);
    let mut random = Randomness::from_os().expect("randomness");
    for given in [vec![], vec![1.0; 9], vec![f64::NAN, f64::INFINITY, 2.0]] {
        let found = objective.minimum(|_| Private::new(given.clone()), Paid::receipt(), &mut random);
        assert!(found.len() == 3 && found.iter().all(|x| x.is_finite()));
    }
}
