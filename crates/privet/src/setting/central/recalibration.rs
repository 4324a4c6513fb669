//! Log-odds of naive Bayes that are right on average: rows are counted by score and class once, when the sums are known.
//!
//! Columns that say the same are added up as if each said something new, and where classes are uneven the level that is taken off each column moves
//! all scores. So the order of scores is better than the log-odds are: of a table with 6 % of positives, most rows may come out positive.

use super::rows::{CuratorRows, Matrix};
use crate::Error;
use crate::boost::Calibration;
use crate::learner::Linear;
use crate::noisy::calibration::{Recalibration, body};
use crate::privacy::mechanism::{Laplace, Mechanism};
use crate::privacy::{Anchor, Epsilon, Ledger, Norm, Query, Sensitivity};

/// Scores are counted in this many bins around the prior log-odds, up to this far from it; in finer ones near it.
const BINS: usize = 24;
const FAR: f64 = 40.0;
/// How far an intercept usually is from 0, and a slope from 1.
const USUAL: [f64; 2] = [2.0, 0.7];
/// Slopes lie between these.
const SLOPES: [f64; 2] = [0.02, 4.0];
/// Counts below so many scales of their noise count as nothing: far from the prior, noise alone would decide the slope.
const NOTHING: f64 = 2.0;
/// Each bin between those that rows lie in costs so many deviations of a count.
const BETWEEN: f64 = 1.5;
/// Scores are believed if they lower the log loss of the counts by so many deviations of its noise; else all rows get about the prior.
const BELIEVED: f64 = 3.0;

/// The bin of a score, counted from the prior.
fn bin(score: f64) -> usize {
    let place = (score.asinh() / FAR.asinh() + 1.0) / 2.0;
    // A negative number becomes zero, and so does what is no number.
    ((place * BINS as f64) as usize).min(BINS - 1)
}

/// The score in the middle of each bin.
fn scores() -> [f64; BINS] {
    std::array::from_fn(|bin| (FAR.asinh() * ((2 * bin + 1) as f64 / BINS as f64 - 1.0)).sinh())
}

/// Rows by bin of their score and by class. A row adds one to one count, which its own cells and label choose.
fn count(matrix: &Matrix, linear: &Linear, prior: f64) -> Vec<i64> {
    let mut counts = vec![0; 2 * BINS];
    for (row, &label) in matrix.labels.iter().enumerate() {
        let score = linear.sum(matrix.cells.features(), row);
        counts[2 * bin(score - prior) + usize::from(label)] += 1;
    }
    counts
}

/// Pays for the counts of rows by score and class, and fits a slope and an intercept to them.
///
/// # Privacy
/// `docs/proofs/central.md#scores`.
pub(super) fn of(
    linear: &Linear,
    rows: &CuratorRows,
    (ledger, epsilon): (&mut Ledger, Epsilon),
    prior: f64,
) -> Result<Calibration, Error> {
    let relation = ledger.relation().clone();
    let l1 = relation.steps();
    let claim = Sensitivity::claim(&relation, Norm::L1(l1), Anchor::new("central#scores"))?.also_added();
    let query = Query::new(2 * BINS, claim, || {
        rows.matrix.as_ref().map(|matrix| count(matrix, linear, prior))
    });
    let mechanism = Laplace::calibrated(epsilon, l1)?;
    let counts = ledger.release("rows by score and class", &mechanism, query)?;
    Ok(fitted(
        counts.into_inner(),
        mechanism.scale().to_f64(),
        mechanism.variance().sqrt(),
        prior,
    ))
}

/// From released counts.
fn fitted(mut counts: Vec<i64>, scale: f64, deviation: f64, prior: f64) -> Calibration {
    // A single count of noise far from the prior would outweigh all rows: scores there are large.
    let by_bin: Vec<i64> = counts
        .chunks_exact(2)
        .map(|pair| pair[0].saturating_add(pair[1]))
        .collect();
    let body = body(&by_bin, BETWEEN * deviation);
    counts[..2 * body.start].fill(0);
    counts[2 * body.end..].fill(0);
    let faint = |count: &&mut i64| (**count as f64) < NOTHING * scale;
    counts.iter_mut().filter(faint).for_each(|count| *count = 0);
    let known = Recalibration {
        scores: &scores(),
        offset: prior,
        usual: USUAL,
        slopes: SLOPES,
    };
    let mut found = known.fit(&counts, deviation);
    if known.gain(&counts, deviation, found) < BELIEVED {
        found = [0.0, SLOPES[0]];
    }
    let [intercept, slope] = found;
    Calibration {
        slope,
        intercepts: vec![prior + intercept - slope * prior],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_score_has_a_bin() {
        for score in [f64::NAN, f64::NEG_INFINITY, f64::MIN, -41.0] {
            assert_eq!(bin(score), 0);
        }
        for score in [f64::INFINITY, f64::MAX, 40.0] {
            assert_eq!(bin(score), BINS - 1);
        }
        assert!(
            scores()
                .iter()
                .enumerate()
                .all(|(place, &score)| bin(score) == place)
        );
    }

    /// Thirty thousand rows around the prior, whose log-odds are half of what their scores say, where noise adds 140 rows to each count: bins in which
    /// no row is say nothing against the others.
    #[test]
    fn scores_are_believed_where_rows_are() {
        let prior = (0.24_f64 / 0.76).ln();
        let density = |score: f64| (-score * score / 18.0).exp() * (1.0 + score * score).sqrt();
        let all: f64 = scores().into_iter().map(density).sum();
        let each = scores().into_iter().flat_map(|score| {
            let p = 1.0 / (1.0 + (-(prior + 0.5 * score)).exp());
            [1.0 - p, p].map(|share| (30_000.0 * density(score) / all * share).round() as i64)
        });
        let found = fitted(each.collect(), 100.0, 141.0, prior);
        assert!((0.3..0.9).contains(&found.slope), "{found:?}");
    }

    /// Rows whose log-odds are a quarter of what their scores say, around 6 % of positives.
    #[test]
    fn overconfident_scores_are_pulled_back_and_noise_is_not_believed() {
        let prior = (0.06_f64 / 0.94).ln();
        let counts = |rows: f64| -> Vec<i64> {
            let each = scores().into_iter().flat_map(|score| {
                let p = 1.0 / (1.0 + (-(prior + 0.25 * score)).exp());
                [rows * (1.0 - p), rows * p].map(|count| count.round() as i64)
            });
            each.collect()
        };
        let found = fitted(counts(1e5), 10.0, 14.0, prior);
        assert!((found.slope - 0.25).abs() < 0.02, "{found:?}");
        assert!((found.intercepts[0] - 0.75 * prior).abs() < 0.1, "{found:?}");
        // Counts that noise of a thousand rows explains: everybody gets the prior.
        let found = fitted(counts(100.0), 1000.0, 1414.0, prior);
        let at = |score: f64| found.slope * (prior + score) + found.intercepts[0];
        assert!((at(0.0) - prior).abs() < 1e-9 && (at(10.0) - prior).abs() <= 0.21);
    }
}
