//! Rows as a sparse matrix: an intercept, and exactly one entry for each feature of a row.
//!
//! A number has two columns, its scaled value and "it is missing", of which one is not zero; anything else has a column for
//! each slot. The matrix is never written out.

use std::ops::Range;

use rayon::prelude::*;

use super::{Linear, Sample, Shape, Term};
use crate::data::Bins;
use crate::privacy::getters;

/// Rows of one block at least, so that a block is worth a thread.
const LEAST: usize = 4096;
/// Blocks at most, so that one matrix for each fits into memory.
const BLOCKS: usize = 32;

/// Blocks of rows. They depend on the number of rows alone: sums in their order do not depend on threads.
pub(crate) fn blocks(rows: usize) -> Vec<Range<usize>> {
    let size = rows.div_ceil(BLOCKS).max(LEAST);
    (0..rows.div_ceil(size))
        .map(|block| block * size..((block + 1) * size).min(rows))
        .collect()
}

/// The columns of one feature.
struct Column<'a> {
    at: usize,
    bins: &'a Bins,
    scaled: Option<&'a [f32]>,
    missing: u16,
}

impl Column<'_> {
    #[inline]
    fn entry(&self, row: usize) -> (usize, f64) {
        let slot = self.bins.get(row);
        match self.scaled {
            None => (self.at + usize::from(slot), 1.0),
            Some(_) if slot == self.missing => (self.at + 1, 1.0),
            Some(scaled) => (self.at, scaled.get(row).map_or(0.0, |&x| f64::from(x))),
        }
    }
}

/// The matrix of a sample.
pub(super) struct Design<'a> {
    columns: Vec<Column<'a>>,
    shapes: &'a [Shape],
    pub(super) weights: &'a [f64],
    pub(super) width: usize,
}

impl<'a> Design<'a> {
    pub(super) fn new(sample: &Sample<'a>) -> Self {
        let mut width = 1;
        let offsets: Vec<usize> = sample
            .shapes
            .iter()
            .map(|shape| {
                let at = width;
                width += if shape.number { 2 } else { shape.slots };
                at
            })
            .collect();
        let columns = sample
            .features
            .iter()
            .zip(sample.shapes)
            .zip(offsets)
            .map(|((feature, shape), at)| Column {
                at,
                bins: &feature.bins,
                // Numbers that were not kept count as the middle.
                scaled: shape
                    .number
                    .then(|| feature.scaled.as_deref().unwrap_or_default()),
                missing: shape.missing,
            })
            .collect();
        Self {
            columns,
            shapes: sample.shapes,
            weights: sample.weights,
            width,
        }
    }

    getters! {
        pub(super) rows(weights.len()) -> usize;
        pub(super) features(shapes.len()) -> usize;
    }

    /// What `each` gives for every block, in order.
    pub(super) fn over_blocks<T: Send>(&self, each: impl Fn(Range<usize>) -> T + Send + Sync) -> Vec<T> {
        blocks(self.rows()).into_par_iter().map(each).collect()
    }

    /// The product of some rows with a vector.
    pub(super) fn margins(&self, by: &[f64], rows: Range<usize>) -> Vec<f64> {
        let mut margins = vec![by[0]; rows.len()];
        for column in &self.columns {
            for (margin, row) in margins.iter_mut().zip(rows.clone()) {
                let (at, value) = column.entry(row);
                *margin += by[at] * value;
            }
        }
        margins
    }

    /// Adds the sum of some rows, each times its factor.
    pub(super) fn gather(&self, factors: &[f64], rows: Range<usize>, into: &mut [f64]) {
        into[0] += factors.iter().sum::<f64>();
        for column in &self.columns {
            for (factor, row) in factors.iter().zip(rows.clone()) {
                let (at, value) = column.entry(row);
                into[at] += factor * value;
            }
        }
    }

    /// Adds the squares of some rows' entries, each times its row's factor.
    pub(super) fn gather_squares(&self, factors: &[f64], rows: Range<usize>, into: &mut [f64]) {
        into[0] += factors.iter().sum::<f64>();
        for column in &self.columns {
            for (factor, row) in factors.iter().zip(rows.clone()) {
                let (at, value) = column.entry(row);
                into[at] += factor * value * value;
            }
        }
    }

    /// Adds the products of some rows with themselves, each times its factor, to the lower half of a square matrix.
    pub(super) fn gather_products(&self, factors: &[f64], rows: Range<usize>, into: &mut [f64]) {
        let mut entries = vec![(0, 1.0); self.columns.len() + 1];
        for (factor, row) in factors.iter().zip(rows) {
            for (entry, column) in entries[1..].iter_mut().zip(&self.columns) {
                *entry = column.entry(row);
            }
            // Columns come in order, so an earlier entry never lies right of a later one.
            for (i, &(at, value)) in entries.iter().enumerate() {
                let scaled = factor * value;
                let line = &mut into[at * self.width..][..=at];
                for &(left, other) in &entries[..=i] {
                    line[left] += scaled * other;
                }
            }
        }
    }

    /// The weights of the columns as a learner.
    pub(super) fn linear(&self, by: &[f64]) -> Linear {
        let mut rest = &by[1..];
        let terms = self
            .shapes
            .iter()
            .map(|shape| {
                let (own, others) = rest.split_at(if shape.number { 2 } else { shape.slots });
                rest = others;
                if shape.number {
                    Term::Number {
                        slope: own[0],
                        at_missing: own[1],
                        missing: shape.missing,
                    }
                } else {
                    Term::Slots(own.to_vec())
                }
            })
            .collect();
        Linear {
            intercept: by[0],
            terms,
        }
    }
}
