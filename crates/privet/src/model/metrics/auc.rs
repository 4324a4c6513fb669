//! The area under the curve by ranks, and DeLong's variance of it.

use super::interval::{mean, wilson};
use super::{Estimate, Metric};

/// An area, and for each row its *placement*: for a positive row the share of negative ones that it beats, for a negative
/// one the share of positive ones that beat it, ties counting half.
pub(super) struct Area {
    pub(super) value: f64,
    placements: Vec<f64>,
    positive: Vec<bool>,
    positives: f64,
}

impl Area {
    /// Of scores that should be higher where `positive`; nothing if all rows are of one class.
    pub(super) fn of(scores: &[f32], positive: Vec<bool>) -> Option<Self> {
        let rows = scores.len();
        let positives = positive.iter().filter(|is| **is).count() as f64;
        let negatives = rows as f64 - positives;
        if positives == 0.0 || negatives == 0.0 {
            return None;
        }
        // What is not a number counts as the lowest probability.
        let score = |row: usize| Some(scores[row]).filter(|s| !s.is_nan()).unwrap_or(0.0);
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_unstable_by(|a, b| score(*a).total_cmp(&score(*b)));
        let mut placements = vec![0.0; rows];
        let (mut below, mut at) = ([0.0, 0.0], 0);
        while at < rows {
            let tied = order[at..]
                .iter()
                .take_while(|row| score(**row) == score(order[at]))
                .count();
            let tied = &order[at..at + tied];
            let here = tied.iter().filter(|row| positive[**row]).count() as f64;
            let here = [tied.len() as f64 - here, here];
            for &row in tied {
                placements[row] = if positive[row] {
                    (below[0] + here[0] / 2.0) / negatives
                } else {
                    (positives - below[1] - here[1] / 2.0) / positives
                };
            }
            below = [below[0] + here[0], below[1] + here[1]];
            at += tied.len();
        }
        let won: f64 = (0..rows)
            .filter(|row| positive[*row])
            .map(|row| placements[row])
            .sum();
        Some(Self {
            value: won / positives,
            placements,
            positive,
            positives,
        })
    }

    /// How much each row pulls at the area; the squares add up to its variance.
    pub(super) fn influences(&self) -> impl Iterator<Item = f64> + '_ {
        let negatives = self.placements.len() as f64 - self.positives;
        self.placements
            .iter()
            .zip(&self.positive)
            .map(move |(place, positive)| {
                (place - self.value) / if *positive { self.positives } else { negatives }
            })
    }

    /// DeLong's interval.
    pub(super) fn estimate(&self) -> Option<Estimate> {
        let negatives = self.placements.len() as f64 - self.positives;
        let fewer = self.positives.min(negatives);
        if self.value == 0.0 || self.value == 1.0 {
            // No pair disagrees, so no variance is seen. As many rows as the smaller class has were all right or all wrong.
            return Estimate::within(Metric::Auc, self.value, wilson(self.value, fewer, 0.0));
        }
        if fewer < 2.0 {
            // One row has no variance to be seen: all is possible.
            return Estimate::within(Metric::Auc, self.value, (0.0, 1.0));
        }
        let of = |class: bool| {
            let places = self.placements.iter().zip(&self.positive);
            mean(
                places
                    .filter(move |(_, is)| **is == class)
                    .map(|(place, _)| *place),
            )
        };
        let ((_, one), (_, other)) = (of(true)?, of(false)?);
        Estimate::normal(Metric::Auc, self.value, one.hypot(other))
    }
}
