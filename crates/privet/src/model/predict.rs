//! Scores, probabilities, classes and values of rows.

use std::sync::Arc;

use rayon::prelude::*;

use super::Model;
use crate::Error;
use crate::boost::{Ensemble, Link};
use crate::data::schema::{Label, Schema};
use crate::data::{Cells, Intake, RawRows};
use crate::privacy::getters;

/// Rows that one thread takes at a time.
const BLOCK: usize = 4096;

/// The predictions of a model for rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    link: Link,
    outputs: usize,
    scores: Vec<f64>,
}

impl Model {
    /// Predicts rows that the caller holds without protection: a [`Frame`](crate::data::Frame), or a file.
    ///
    /// ```
    /// use privet::data::{Frame, Schema};
    /// use privet::model::Model;
    ///
    /// fn first(model: &Model) -> Result<f64, privet::Error> {
    ///     let people = Frame::new().column("age", [31, 47]).column("job", ["nurse", "clerk"]);
    ///     Ok(model.predict(&people)?.scores()[0])
    /// }
    /// ```
    ///
    /// Columns are found by name; neither label nor id need be there, and other columns are not looked at.
    ///
    /// # Privacy
    /// No ledger and no permission are needed. A prediction is a function of the model, which is released, and of rows that the
    /// caller already holds, so it shows nothing about anybody else. The private cells of a [`Table`](crate::data::Table) cannot be
    /// passed: [`RawRows`] are made of unprotected cells only, by an [`Intake`]'s builders, and neither a table nor its
    /// [`Private`](crate::privacy::Private) cells can be converted to them. Inside a closure on private cells,
    /// [`predict_cells`](Self::predict_cells) computes the same. Predictions are as private as their rows: publishing them shows
    /// something about these rows.
    ///
    /// # Errors
    /// [`Error::Data`] for rows without the model's columns.
    pub fn predict(&self, rows: &(impl RawRows + ?Sized)) -> Result<Predictions, Error> {
        let intake = Intake::features_only(Arc::new(self.schema().clone()), self.keep());
        self.predict_cells(&Cells::in_the_clear(rows.pieces(&intake)?))
    }

    /// Scores rows that were read by the model's schema, with what [`keep`](Self::keep) asks for.
    ///
    /// # Errors
    /// [`Error::Misuse`] for cells of another schema.
    pub fn predict_cells(&self, cells: &Cells) -> Result<Predictions, Error> {
        Predictions::of(self.ensemble(), self.schema(), cells)
    }
}

impl Predictions {
    /// What an ensemble says of rows of its schema.
    pub(crate) fn of(ensemble: &Ensemble, schema: &Schema, cells: &Cells) -> Result<Self, Error> {
        let mut scores = ensemble.scores(schema, cells)?;
        if let Some((_, Label::Number { min, max })) = schema.label() {
            let label = |score: f64| ensemble.scale.map_or(score, |scale| scale.label(score));
            // A label is never outside its bounds, so nor is a prediction.
            scores
                .par_iter_mut()
                .for_each(|score| *score = label(*score).max(*min).min(*max));
        }
        Ok(Self {
            link: ensemble.link,
            outputs: ensemble.outputs(),
            scores,
        })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.scores.len() / self.outputs.max(1)
    }

    /// The predictions of these rows, in this order.
    pub(crate) fn take(&self, rows: &[usize]) -> Self {
        Self {
            scores: rows.iter().flat_map(|&row| self.row(row)).copied().collect(),
            ..*self
        }
    }

    getters! {
        /// How many scores a row has.
        pub outputs(outputs) -> usize;
        /// All scores, row after row.
        pub scores(&scores) -> &[f64];
    }

    /// How many classes there are; none for numbers.
    pub fn class_count(&self) -> Option<usize> {
        match self.link {
            Link::Identity => None,
            Link::Logistic | Link::Vote => Some(2),
            Link::Softmax => Some(self.outputs),
        }
    }

    /// The scores of one row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.scores[row * self.outputs..][..self.outputs]
    }

    /// The number of each row; none for classes.
    pub fn values(&self) -> Option<&[f64]> {
        (self.link == Link::Identity).then_some(&self.scores)
    }

    /// The number of each row's likeliest class, of equals the first; none for numbers.
    pub fn classes(&self) -> Option<Vec<u16>> {
        match self.link {
            Link::Identity => None,
            Link::Logistic | Link::Vote => {
                let class = |&score: &f64| u16::from(score > 0.0);
                Some(self.scores.par_iter().with_min_len(BLOCK).map(class).collect())
            }
            Link::Softmax => Some(
                self.scores
                    .par_chunks(self.outputs.max(1))
                    .with_min_len(BLOCK)
                    .map(first_largest)
                    .collect(),
            ),
        }
    }

    /// The probability of each class, row after row; none for numbers. For votes it is the logistic function of twice the margin.
    pub fn probabilities(&self) -> Option<Vec<f64>> {
        let classes = self.class_count()?;
        let mut all = vec![0.0; self.rows() * classes];
        let lines = all.par_chunks_mut(classes.max(1)).with_min_len(BLOCK);
        lines
            .zip(self.scores.par_chunks(self.outputs.max(1)))
            .for_each(|(into, scores)| fill(self.link, scores, into));
        Some(all)
    }
}

/// The place of the largest number, of equals the first.
fn first_largest(scores: &[f64]) -> u16 {
    let mut best = 0;
    for (class, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = class;
        }
    }
    best as u16
}

fn fill(link: Link, scores: &[f64], into: &mut [f64]) {
    match (link, scores, &mut *into) {
        (Link::Logistic, [score], [first, second]) => [*first, *second] = logistic(*score),
        (Link::Vote, [margin], [first, second]) => [*first, *second] = logistic(2.0 * margin),
        _ => {
            let most = scores.iter().fold(f64::MIN, |most, score| most.max(*score));
            let mut total = 0.0;
            for (share, score) in into.iter_mut().zip(scores) {
                *share = (score - most).exp();
                total += *share;
            }
            into.iter_mut().for_each(|share| *share /= total);
        }
    }
}

/// The probabilities of the two classes at a log-odds; neither is a difference from one, so neither is rounded away.
fn logistic(score: f64) -> [f64; 2] {
    let e = (-score.abs()).exp();
    let (small, large) = (e / (1.0 + e), 1.0 / (1.0 + e));
    if score >= 0.0 {
        [small, large]
    } else {
        [large, small]
    }
}
