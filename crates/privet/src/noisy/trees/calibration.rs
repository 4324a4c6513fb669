//! Probabilities of two classes that are right on average: rows are counted by score and class once, when all trees are grown.
//!
//! Clipped gradients put scores too far from zero, and few steps at a small rate put them too near to it. Which of the two is stronger
//! differs from table to table, so no public rule can correct it; twenty-four noisy counts can.

use crate::boost::Calibration;

/// Scores are counted in this many bins of equal width, up to this far from zero; what lies beyond counts as the last bin.
const BINS: usize = 12;
const FAR: f32 = 6.0;
/// How far an intercept usually is from 0, and a slope from 1: what noisy counts must outweigh.
const USUAL: [f64; 2] = [0.5, 0.3];
/// No intercept is further from zero, and slopes lie between these.
const INTERCEPT: f64 = 5.0;
const SLOPES: [f64; 2] = [0.2, 4.0];
const STEPS: usize = 25;

/// How many counts there are: for each bin, one of each class.
pub(super) const COUNTS: usize = 2 * BINS;

/// The count that a row adds to.
#[inline]
pub(super) fn place(score: f32, positive: bool) -> usize {
    // A negative number becomes zero, and so does what is no number.
    let bin = ((score + FAR) * (BINS as f32 / (2.0 * FAR))) as usize;
    2 * bin.min(BINS - 1) + usize::from(positive)
}

/// Fits a slope and an intercept to released counts with noise of this deviation.
///
/// # Privacy
/// `docs/proofs/trees.md#calibration`.
pub(super) fn of(counts: &[i64], deviation: f64) -> Calibration {
    let [intercept, slope] = fit(counts, deviation);
    Calibration {
        slope,
        intercepts: vec![intercept],
    }
}

type Pair = [f64; 2];
type Square = [Pair; 2];

/// The intercept and the slope that make the gradient of the logistic loss over the counts as small as the noise in it lets one say,
/// drawn towards 0 and 1 where the noise does not decide them. It sees noisy counts and public numbers only.
fn fit(counts: &[i64], deviation: f64) -> Pair {
    let mut at = [0.0, 1.0];
    for _ in 0..STEPS {
        let (gradient, hessian, noise) = moments(counts, deviation, at);
        // Of the weighted squares of the gradient, and of the distance from what is usual.
        let weighted = product(hessian, inverse(noise));
        let mut curvature = product(weighted, hessian);
        let mut pull = apply(weighted, gradient);
        for (i, (usual, start)) in USUAL.into_iter().zip([0.0, 1.0]).enumerate() {
            curvature[i][i] += 1.0 / (usual * usual);
            pull[i] += (at[i] - start) / (usual * usual);
        }
        let step = apply(inverse(curvature), pull);
        let longest = step[0].abs().max(step[1].abs()).max(1.0);
        at[0] = (at[0] - step[0] / longest).clamp(-INTERCEPT, INTERCEPT);
        at[1] = (at[1] - step[1] / longest).clamp(SLOPES[0], SLOPES[1]);
    }
    at
}

/// The gradient of the loss by intercept and slope, its derivative, and the variance that noise and chance give it.
fn moments(counts: &[i64], deviation: f64, [intercept, slope]: Pair) -> (Pair, Square, Square) {
    let least = [[1e-9, 0.0], [0.0, 1e-9]];
    let (mut gradient, mut hessian, mut noise) = ([0.0; 2], least, least);
    for (bin, pair) in counts.chunks_exact(2).enumerate() {
        let score = f64::from(FAR) * ((2 * bin + 1) as f64 / BINS as f64 - 1.0);
        let p = 1.0 / (1.0 + (-(intercept + slope * score)).exp());
        let [negative, positive] = [pair[0], pair[1]].map(|count| count as f64);
        let pull = negative * p - positive * (1.0 - p);
        let weight = (negative + positive).max(0.0) * p * (1.0 - p);
        let variance = deviation * deviation * (p * p + (1.0 - p) * (1.0 - p)) + weight;
        let by = [1.0, score];
        for i in 0..2 {
            gradient[i] += pull * by[i];
            for j in 0..2 {
                hessian[i][j] += weight * by[i] * by[j];
                noise[i][j] += variance * by[i] * by[j];
            }
        }
    }
    (gradient, hessian, noise)
}

fn product(a: Square, b: Square) -> Square {
    [0, 1].map(|i| [0, 1].map(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j]))
}

fn apply(a: Square, x: Pair) -> Pair {
    a.map(|row| row[0] * x[0] + row[1] * x[1])
}

fn inverse([[a, b], [c, d]]: Square) -> Square {
    let determinant = a * d - b * c;
    [
        [d / determinant, -b / determinant],
        [-c / determinant, a / determinant],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts of rows whose log-odds are this much of their score, as many in each bin.
    fn counts(rows: f64, [intercept, slope]: Pair) -> Vec<i64> {
        let bins = (0..BINS).flat_map(|bin| {
            let score = f64::from(FAR) * ((2 * bin + 1) as f64 / BINS as f64 - 1.0);
            let p = 1.0 / (1.0 + (-(intercept + slope * score)).exp());
            [rows * (1.0 - p), rows * p]
        });
        bins.map(|count| count.round() as i64).collect()
    }

    #[test]
    fn many_rows_are_believed_and_noise_is_not() {
        for truth in [[0.0, 1.0], [0.4, 0.7], [-1.0, 1.6], [0.2, 0.3]] {
            let [intercept, slope] = fit(&counts(1e6, truth), 10.0);
            assert!((intercept - truth[0]).abs() < 0.01 && (slope - truth[1]).abs() < 0.01);
            let [intercept, slope] = fit(&counts(1e3, truth), 1e6);
            assert!(intercept.abs() < 0.01 && (slope - 1.0).abs() < 0.01);
        }
    }

    /// Whatever noise says, probabilities keep their order and stay numbers.
    #[test]
    fn any_counts_give_a_slope_above_zero() {
        for counts in [[0; COUNTS], [i64::MIN / 2; COUNTS], [i64::MAX / 2; COUNTS]] {
            for deviation in [0.0, 1.0, 1e9] {
                let [intercept, slope] = fit(&counts, deviation);
                assert!(intercept.abs() <= INTERCEPT && (SLOPES[0]..=SLOPES[1]).contains(&slope));
            }
        }
        // Scores that say the opposite of what is true.
        let mut opposite = counts(1e6, [0.0, 1.0]);
        opposite.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
        assert_eq!(fit(&opposite, 1.0)[1], SLOPES[0]);
    }

    #[test]
    fn every_score_has_a_place() {
        for score in [f32::NAN, f32::NEG_INFINITY, f32::MIN, -7.0, -6.0] {
            assert_eq!(place(score, false), 0);
        }
        for score in [f32::INFINITY, f32::MAX, 6.0, 5.5] {
            assert_eq!(place(score, true), COUNTS - 1);
        }
        assert_eq!((place(-0.01, true), place(0.0, false)), (11, 12));
    }
}
