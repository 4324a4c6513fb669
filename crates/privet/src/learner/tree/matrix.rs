//! A table laid out for growing trees.

use rayon::prelude::*;

use crate::Error;
use crate::data::schema::Kind;
use crate::data::{Bins, Cells, Schema};

/// How many bytes a row has in a panel.
pub(super) const BYTES: usize = 16;

/// How many features share a panel, at most. Fourteen histograms of 256 cells of 8 bytes leave some room in a cache of 32
/// KiB.
const WIDTH: usize = 14;

/// What the engine must know about a feature; all of it is in the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// How many slots it has.
    pub slots: usize,
    /// How many of them come first and in an order: bins or declared values. The rest is for undeclared and missing cells.
    pub ordinary: usize,
    /// Whether the order means anything.
    pub ordered: bool,
}

impl Column {
    /// The feature columns of a schema, in order.
    pub fn of(schema: &Schema) -> Vec<Self> {
        let column = |kind: &Kind| match kind {
            Kind::Number(number) => (number.cuts().bins(), true),
            Kind::Ordinal(declared) | Kind::Flag(declared) => (declared.values().len(), true),
            Kind::Category(declared) => (declared.values().len(), false),
            Kind::Id | Kind::Skip | Kind::Label(_) => (0, true),
        };
        schema
            .features()
            .map(|feature| {
                let (ordinary, ordered) = column(&feature.kind);
                Self { slots: feature.kind.slots(), ordinary, ordered }
            })
            .collect()
    }
}

/// Some features of all rows, row by row.
#[derive(Debug)]
pub(super) struct Panel {
    /// The first of its features among the narrow ones.
    pub(super) features: Vec<usize>,
    /// Where the sums of each feature begin, from where the panel's begin.
    pub(super) offsets: Vec<usize>,
    /// How many slots all of them have.
    pub(super) slots: usize,
    pub(super) rows: Vec<[u8; BYTES]>,
}

/// The features of a table, laid out for growing.
#[derive(Debug)]
pub struct Matrix<'a> {
    rows: usize,
    columns: Vec<Column>,
    pub(super) bins: Vec<&'a Bins>,
    pub(super) panels: Vec<Panel>,
    /// Features with more than 256 slots.
    pub(super) wide: Vec<usize>,
    /// Where the sums of each feature begin in a node's histogram: panels first, then wide features.
    pub(super) offsets: Vec<usize>,
    slots: usize,
}

impl<'a> Matrix<'a> {
    /// Lays out the features of a table.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the schema is of another table.
    pub fn new(cells: &'a Cells, schema: &Schema) -> Result<Self, Error> {
        let columns = Column::of(schema);
        if columns.len() != cells.features().len() {
            return Err(Error::Misuse("a table goes with its own schema".into()));
        }
        let bins: Vec<&Bins> = cells.features().iter().map(|feature| &feature.bins).collect();
        let is_narrow = |&feature: &usize| matches!(bins[feature], Bins::Narrow(_));
        let (narrow, wide): (Vec<usize>, Vec<usize>) = (0..columns.len()).partition(is_narrow);
        let count = narrow.len().div_ceil(WIDTH);
        let mut panels = Vec::with_capacity(count);
        let mut offsets = vec![0; columns.len()];
        let mut slots = 0;
        for i in 0..count {
            let features = &narrow[i * narrow.len() / count..(i + 1) * narrow.len() / count];
            let begin = slots;
            let mut inner = Vec::with_capacity(features.len());
            for &feature in features {
                offsets[feature] = slots;
                inner.push(slots - begin);
                slots += columns[feature].slots;
            }
            panels.push(Panel {
                features: features.to_vec(),
                offsets: inner,
                slots: slots - begin,
                rows: transpose(&bins, features, cells.rows()),
            });
        }
        for &feature in &wide {
            offsets[feature] = slots;
            slots += columns[feature].slots;
        }
        Ok(Self { rows: cells.rows(), columns, bins, panels, wide, offsets, slots })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// What is known about each feature.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// How many pairs of sums a node's histogram has.
    pub(super) fn slots(&self) -> usize {
        self.slots
    }
}

fn transpose(bins: &[&Bins], features: &[usize], rows: usize) -> Vec<[u8; BYTES]> {
    const BLOCK: usize = 4096;
    let mut out = vec![[0; BYTES]; rows];
    out.par_chunks_mut(BLOCK).enumerate().for_each(|(block, out)| {
        for (place, &feature) in features.iter().enumerate() {
            if let Bins::Narrow(column) = bins[feature] {
                let column = &column[block * BLOCK..];
                for (row, &slot) in out.iter_mut().zip(column) {
                    row[place] = slot;
                }
            }
        }
    });
    out
}
