//! How far scores of three classes or more are believed, against how frequent classes are.
//!
//! Where a label hardly depends on the columns, scores that call a row by another class than the most frequent one are noise and chance for the most part. Which
//! tables are such is not public. Rows are counted once more when all trees are grown: by how far scores must be shrunk towards the frequencies of
//! classes before a row is called by the most frequent class, and by which of the two answers is right.

use crate::boost::Calibration;

/// Scores are multiplied by one of these, and by the least if none of the others is known to make more rows right.
const LEAST: f64 = 0.25;
const LEVELS: [f64; 3] = [0.5, 0.75, 1.0];
/// So many standard errors must a level's gain be above zero.
const SURE: f64 = 2.0;

/// How many counts there are: for each level, rows that scores are right about, and rows that the most frequent class is right about.
pub(super) const COUNTS: usize = 2 * LEVELS.len();

/// What scores up to a level say of rows that the most frequent class would be said of otherwise.
#[derive(Debug, Clone, Copy, Default)]
struct Gain {
    /// How many more of them are right.
    more: f64,
    /// How many are right by either.
    rows: f64,
    /// The variance of the noise in each of the two.
    noise: f64,
}

impl Gain {
    /// Without the rows of a lower level.
    fn beyond(self, lower: Self) -> Self {
        Self {
            more: self.more - lower.more,
            rows: self.rows - lower.rows,
            noise: self.noise - lower.noise,
        }
    }

    /// Trees were fitted to the same rows, so that chance counts twice.
    fn error(self) -> f64 {
        SURE * (self.noise + 2.0 * self.rows.max(0.0)).max(0.0).sqrt()
    }

    fn least(self) -> f64 {
        self.more - self.error()
    }

    fn most(self) -> f64 {
        self.more + self.error()
    }
}

/// How frequent each class is.
#[derive(Debug, Clone)]
pub(super) struct Frequencies {
    /// Their natural logarithms.
    logs: Vec<f64>,
    /// The most frequent class, the first of them.
    most: usize,
}

impl Frequencies {
    /// Of shares that are above zero and sum to one.
    pub(super) fn of(shares: &[f64]) -> Self {
        let mut most = 0;
        for (class, share) in shares.iter().enumerate() {
            if *share > shares[most] {
                most = class;
            }
        }
        let logs = shares.iter().map(|share| share.ln()).collect();
        Self { logs, most }
    }

    /// Of released counts with noise of this deviation in rows, where one row counts `unit`.
    ///
    /// # Privacy
    /// `docs/proofs/trees.md#calibration`.
    pub(super) fn counted(counts: &[i64], (deviation, unit): (f64, f64)) -> Self {
        // A class without rows is as frequent as noise may hide.
        let rows = |&count: &i64| (count as f64 / unit).max(0.0) + deviation + 1.0;
        let all: f64 = counts.iter().map(rows).sum();
        let shares: Vec<f64> = counts.iter().map(|count| rows(count) / all).collect();
        Self::of(&shares)
    }

    /// The count that a row adds to, if it adds to one.
    #[inline]
    pub(super) fn place<S: Into<f64> + Copy>(&self, scores: &[S], class: usize) -> Option<usize> {
        let mut top = 0;
        for (class, &score) in scores.iter().enumerate() {
            if score.into() > scores[top].into() {
                top = class;
            }
        }
        let right = match class {
            _ if top == self.most => return None,
            class if class == top => 0,
            class if class == self.most => 1,
            _ => return None,
        };
        // Scores that are multiplied by more than this call the row by the top class; what is no number is as far as the last level.
        let behind = self.logs[self.most] - self.logs[top];
        let ahead = scores[top].into() - scores[self.most].into();
        let needed = behind / (behind + ahead);
        let level = LEVELS.iter().position(|&level| needed <= level);
        Some(2 * level.unwrap_or(LEVELS.len() - 1) + right)
    }

    /// The slope that released counts speak for: of those that make surely more rows right than the most frequent class does, the surest; or a larger
    /// one of which that is as true, if it is not surely worse than the surest. Where classes are even, all slopes call rows alike, and the largest is taken.
    ///
    /// # Privacy
    /// `docs/proofs/trees.md#calibration`.
    pub(super) fn fit(&self, counts: &[i64], (deviation, unit): (f64, f64)) -> Calibration {
        let mut gains = [Gain::default(); LEVELS.len()];
        let mut sum = Gain::default();
        for (gain, pair) in gains.iter_mut().zip(counts.chunks_exact(2)) {
            let [right, wrong] = [0, 1].map(|at| pair[at] as f64 / unit);
            sum.more += right - wrong;
            sum.rows += right + wrong;
            sum.noise += 2.0 * deviation * deviation;
            *gain = sum;
        }
        let mut slope = LEAST;
        let mut best: Option<Gain> = None;
        for gain in gains.into_iter().filter(|gain| gain.least() > 0.0) {
            if best.is_none_or(|best| gain.least() > best.least()) {
                best = Some(gain);
            }
        }
        if let Some(best) = best {
            for (gain, level) in gains.into_iter().zip(LEVELS) {
                if gain.least() > 0.0 && gain.beyond(best).most() >= 0.0 {
                    slope = level;
                }
            }
        }
        let intercepts = self.logs.iter().map(|log| (1.0 - slope) * log + 0.0);
        Calibration {
            slope,
            intercepts: intercepts.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frequencies() -> Frequencies {
        Frequencies::of(&[0.2, 0.5, 0.3])
    }

    /// A row changes its class where its scores are multiplied by what its level says, and not by the level below.
    #[test]
    fn a_level_is_where_a_row_changes_its_class() {
        let known = frequencies();
        let mut seen = [0; COUNTS];
        for step in 0..400 {
            let ahead = f64::from(step) / 100.0;
            for top in [0, 2] {
                let mut scores = [0.0; 3];
                (scores[known.most], scores[top]) = (0.7, 0.7 + ahead + 1e-9);
                scores[2 - top] = -9.0;
                let called = |slope: f64| {
                    let all = scores.iter().zip(&known.logs);
                    let all: Vec<f64> = all
                        .map(|(score, log)| slope * score + (1.0 - slope) * log)
                        .collect();
                    all[top] > all[known.most]
                };
                let place = known.place(&scores, top).expect("another class");
                assert_eq!(known.place(&scores, known.most), Some(place + 1));
                assert_eq!(known.place(&scores, 2 - top), None);
                seen[place] += 1;
                let level = place / 2;
                assert!(called(LEVELS[level] + 1e-6), "{ahead} {top}");
                assert!(level == 0 || !called(LEVELS[level - 1] - 1e-6), "{ahead} {top}");
            }
        }
        assert!(seen.iter().step_by(2).all(|&rows| rows > 10), "{seen:?}");
        assert_eq!(known.place(&[0.1, 0.2, 0.1], 1), None, "the most frequent class");
    }

    #[test]
    fn scores_are_believed_as_far_as_counts_say() {
        let known = frequencies();
        let slope = |counts: [i64; COUNTS], deviation| known.fit(&counts, (deviation, 1.0)).slope;
        let (all, some, none) = (1.0, 0.5, LEAST);
        assert_eq!(slope([500, 100, 500, 100, 500, 100], 1.0), all);
        assert_eq!(slope([500, 100, 500, 100, 100, 500], 1.0), 0.75);
        assert_eq!(slope([500, 100, 100, 500, 100, 500], 1.0), some);
        assert_eq!(slope([100, 500, 100, 500, 100, 500], 1.0), none);
        // Beyond the first level nothing is lost.
        assert_eq!(slope([500, 100, 0, 0, 0, 0], 5.0), all);
        // Nothing is known of a level that noise or chance hides.
        assert_eq!(slope([500, 100, 500, 100, 500, 100], 1e4), none);
        assert_eq!(slope([510, 490, 0, 0, 0, 0], 1.0), none);
        assert_eq!(slope([0; COUNTS], 0.0), none);
        // Rows of a weight of one count 4096.
        let weighed = [500, 100, 500, 100, 500, 100].map(|count| 4096 * count);
        assert_eq!(known.fit(&weighed, (1.0, 4096.0)).slope, all);
        for counts in [[i64::MIN; COUNTS], [i64::MAX; COUNTS]] {
            for deviation in [0.0, 1e9, 1e300] {
                let fit = known.fit(&counts, (deviation, 1.0));
                assert!((LEAST..=1.0).contains(&fit.slope) && fit.intercepts.iter().all(|x| x.is_finite()));
            }
        }
    }

    /// A slope of one leaves scores as they are.
    #[test]
    fn the_largest_slope_adds_nothing() {
        let all = frequencies().fit(&[500, 0, 500, 0, 500, 0], (1.0, 1.0));
        assert_eq!((all.slope, all.intercepts), (1.0, vec![0.0; 3]));
    }

    #[test]
    fn frequencies_are_above_zero_whatever_noise_says() {
        let known = Frequencies::counted(&[-90, 500, i64::MIN], (20.0, 1.0));
        assert_eq!(known.most, 1);
        let shares: Vec<f64> = known.logs.iter().map(|log| log.exp()).collect();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12 && shares[0] == shares[2]);
        assert!((shares[0] - 21.0 / 563.0).abs() < 1e-12, "{shares:?}");
    }

    #[test]
    fn every_row_has_a_place_or_none() {
        let known = frequencies();
        let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 0.0];
        for a in odd {
            for b in odd {
                for c in odd {
                    for class in 0..4 {
                        assert!(known.place(&[a, b, c], class).is_none_or(|place| place < COUNTS));
                    }
                }
            }
        }
    }
}
