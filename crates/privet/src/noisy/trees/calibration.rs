//! Probabilities of two classes that are right on average: rows are counted by score and class once, when all trees are grown.
//!
//! Clipped gradients put scores too far from zero, and few steps at a small rate put them too near to it. Which of the two is stronger
//! differs from table to table, so no public rule can correct it; twenty-four noisy counts can.

use crate::boost::Calibration;
use crate::noisy::calibration::Recalibration;

/// Scores are counted in this many bins of equal width, up to this far from zero; what lies beyond counts as the last bin.
const BINS: usize = 12;
const FAR: f32 = 6.0;
/// How far an intercept usually is from 0, and a slope from 1: what noisy counts must outweigh.
const USUAL: [f64; 2] = [0.5, 0.3];
/// Slopes lie between these.
const SLOPES: [f64; 2] = [0.2, 4.0];

/// How many counts there are: for each bin, one of each class.
pub(super) const COUNTS: usize = 2 * BINS;

/// The count that a row adds to.
#[inline]
pub(super) fn place(score: f32, positive: bool) -> usize {
    // A negative number becomes zero, and so does what is no number.
    let bin = ((score + FAR) * (BINS as f32 / (2.0 * FAR))) as usize;
    2 * bin.min(BINS - 1) + usize::from(positive)
}

/// Fits a slope and an intercept to released counts with noise of this deviation in rows, where one row counts `unit` and rows of either class
/// weigh so much.
///
/// # Privacy
/// `docs/proofs/trees.md#calibration`.
pub(super) fn of(counts: &[i64], (deviation, unit): (f64, f64), weights: [f64; 2]) -> Calibration {
    let weighed = counts.iter().zip(weights.into_iter().cycle());
    let weighed = weighed.map(|(&count, weight)| (count as f64 / unit * weight).round() as i64);
    let [intercept, slope] = fit(&weighed.collect::<Vec<_>>(), deviation);
    Calibration {
        slope,
        intercepts: vec![intercept],
    }
}

/// The score in the middle of each bin.
fn scores() -> [f64; BINS] {
    std::array::from_fn(|bin| f64::from(FAR) * ((2 * bin + 1) as f64 / BINS as f64 - 1.0))
}

/// The intercept and the slope.
fn fit(counts: &[i64], deviation: f64) -> [f64; 2] {
    let known = Recalibration {
        scores: &scores(),
        offset: 0.0,
        usual: USUAL,
        slopes: SLOPES,
    };
    known.fit(counts, deviation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noisy::calibration::INTERCEPT;

    /// Counts of rows whose log-odds are this much of their score, as many in each bin.
    fn counts(rows: f64, [intercept, slope]: [f64; 2]) -> Vec<i64> {
        let bins = scores().into_iter().flat_map(|score| {
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
