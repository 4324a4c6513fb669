//! What the rows weigh, private and public ones.

use super::super::rows::{Candidate, CuratorRows, Matrix, PublicRows};
use super::{Brc, Clip, ONE};
use crate::learner::Linear;
use crate::privacy::Private;

/// The public classifier of algorithm 2 with its own weights: all of it public.
pub(super) struct Branch<'r> {
    known: &'r PublicRows,
    weights: Vec<f64>,
    pub(super) linear: Linear,
    right: Vec<bool>,
    pub(super) edge: f64,
}

impl<'r> Branch<'r> {
    pub(super) fn new(rows: &'r CuratorRows) -> Option<Self> {
        let known = rows.public.as_ref().filter(|known| known.has_features())?;
        let mut branch = Self {
            known,
            weights: vec![1.0; known.rows()],
            linear: rows.linear(&[], 0.0),
            right: Vec::new(),
            edge: 0.0,
        };
        branch.fit(rows);
        Some(branch)
    }

    /// lines 4 and 6
    fn fit(&mut self, rows: &CuratorRows) {
        self.linear = self.known.classifier(&self.weights, &rows.shapes);
        let scores = self.known.scores(&self.linear);
        let labels = self.known.labels.iter().map(|&label| label > 0);
        self.right = scores
            .iter()
            .zip(labels)
            .map(|(score, label)| (*score >= 0.0) == label)
            .collect();
        let total: f64 = self.weights.iter().sum();
        let wrong = self.weights.iter().zip(&self.right).filter(|(_, right)| !**right);
        let error = wrong.map(|(weight, _)| weight).sum::<f64>() / total;
        self.edge = if total > 0.0 { 0.5 - error } else { 0.0 };
    }

    /// line 9, and the classifier of the next round
    pub(super) fn take(&mut self, rows: &CuratorRows, coefficient: f64) {
        let factor = coefficient.exp();
        for (weight, right) in self.weights.iter_mut().zip(&self.right) {
            if !right {
                *weight *= factor;
            }
        }
        self.fit(rows);
    }
}

/// The private weights, behind the wall, and what is public about them.
pub(in crate::setting::central) struct Weights {
    pub(in crate::setting::central) by_row: Private<RowWeights>,
    clip: Clip,
    /// In 4096ths.
    pub(super) clips: (i64, i64),
    /// No row's weight has a logarithm above this: it follows from what was released.
    peak: f64,
}

/// For each row behind the wall: what it weighs, and whether it is put right.
pub(in crate::setting::central) struct RowWeights {
    /// In 4096ths.
    pub(in crate::setting::central) weights: Vec<i64>,
    logarithms: Vec<f64>,
    /// Whether the plane of this round puts each row right.
    pub(super) right: Vec<bool>,
}

impl Weights {
    pub(super) fn new(brc: &Brc, rows: &CuratorRows) -> Self {
        Self {
            by_row: rows.matrix.as_ref().map(|matrix| RowWeights {
                weights: vec![ONE; matrix.rows()],
                logarithms: vec![0.0; matrix.rows()],
                right: Vec::new(),
            }),
            clip: brc.clip,
            clips: brc.clips(),
            peak: 0.0,
        }
    }

    /// The largest weight that any row can have by now, in steps of an eighth so that rounds share their noise. Rounding up
    /// covers two exponentials of neighbouring numbers that come in the wrong order.
    pub(in crate::setting::central) fn most(&self) -> u64 {
        let step = ONE / 8;
        let most = if self.peak > 0.0 {
            (whole(self.peak).min(self.clips.1) + 1).div_euclid(step) * step + step
        } else {
            ONE
        };
        most.min(self.clips.1) as u64
    }

    pub(super) fn judge(&mut self, rows: &CuratorRows, plane: &Candidate) {
        self.by_row.update(rows.matrix.as_ref(), |own, matrix: &Matrix| {
            own.right = matrix.right(&plane.coefficients, plane.intercept);
        });
    }

    /// lines 13 to 19: rows that were wrong count `exp(coefficient)` times as much, within the clips.
    pub(super) fn take(&mut self, rows: &CuratorRows, coefficient: f64) {
        let ((low, high), clip) = (self.clips, self.clip);
        self.peak += coefficient.max(0.0);
        self.by_row.update(rows.matrix.as_ref(), |own, _: &Matrix| {
            let each = own.weights.iter_mut().zip(&mut own.logarithms);
            for ((weight, logarithm), right) in each.zip(&own.right) {
                if *right {
                    continue;
                }
                let next = whole(*logarithm + coefficient);
                if (low..=high).contains(&next) {
                    (*weight, *logarithm) = (next, *logarithm + coefficient);
                } else if clip == Clip::Project {
                    *weight = next.clamp(low, high);
                    *logarithm = (*weight as f64 / ONE as f64).ln();
                }
            }
        });
    }
}

/// The weight of a logarithm, in 4096ths.
fn whole(logarithm: f64) -> i64 {
    // `as` saturates.
    (ONE as f64 * logarithm.exp()).round() as i64
}
