//! What a row's score is made of.

use std::sync::Arc;

use super::Explanation;
use crate::Error;
use crate::data::{Cells, Intake, Keep, RawRows};
use crate::privacy::getters;

/// What each term adds to the scores of some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Contributions {
    rows: usize,
    terms: usize,
    values: Vec<f64>,
}

impl Contributions {
    getters! {
        /// How many rows there are.
        pub rows(rows) -> usize;
        /// How many terms there are, in the order of [`Explanation::terms`].
        pub terms(terms) -> usize;
        /// All of them, row after row. A term adds to its own score only.
        pub values(&values) -> &[f64];
    }

    /// The terms of one row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.terms..][..self.terms]
    }
}

impl Explanation {
    /// What each term adds to the scores of rows that the caller holds without protection. With the base they add up to the row's score;
    /// of numbers, before these are cut at the label's bounds and put on its own scale.
    ///
    /// # Privacy
    /// As [`Model::predict`](crate::model::Model::predict): a function of the model and of rows that the caller holds.
    ///
    /// # Errors
    /// [`Error::Data`] for rows without the model's columns.
    pub fn contributions(&self, rows: &(impl RawRows + ?Sized)) -> Result<Contributions, Error> {
        let intake = Intake::features_only(Arc::new(self.schema.clone()), Keep::Bins);
        let cells = Cells::in_the_clear(rows.pieces(&intake)?);
        let mut values = Vec::with_capacity(cells.rows() * self.terms().len());
        for row in 0..cells.rows() {
            for term in self.terms() {
                let place =
                    |column: &super::TermColumn| column.place(cells.features()[column.feature].bins.get(row));
                let cell = term
                    .columns
                    .iter()
                    .fold(0, |cell, column| cell * column.segments.len() + place(column));
                values.push(term.values[cell]);
            }
        }
        Ok(Contributions {
            rows: cells.rows(),
            terms: self.terms().len(),
            values,
        })
    }

    /// The scores that a row's terms and the base add up to.
    pub fn scores(&self, terms: &[f64]) -> Vec<f64> {
        let mut scores = self.base().to_vec();
        for (term, value) in self.terms().iter().zip(terms) {
            scores[term.output] += value;
        }
        scores
    }
}
