//! A table laid out for growing trees.

use rayon::prelude::*;

use crate::Error;
use crate::data::schema::Kind;
use crate::data::{Bins, Cells, Schema};
use crate::privacy::getters;

/// How many bytes a row has in a panel.
pub(super) const BYTES: usize = 16;

/// The most bytes that are summed together: fourteen histograms of 256 cells of 8 bytes fit into a cache of 32 KiB.
const WIDTH: usize = 14;

/// How many panels share a strip, at most: a row of four is one line of a cache.
pub(super) const PANELS: usize = 4;

/// What the engine needs to know about a feature, from the schema.
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
            Kind::Id | Kind::Skip | Kind::Label(_) | Kind::Weight(_) => (0, true),
        };
        schema
            .features()
            .map(|feature| {
                let (ordinary, ordered) = column(&feature.kind);
                Self {
                    slots: feature.kind.slots(),
                    ordinary,
                    ordered,
                }
            })
            .collect()
    }
}

/// A feature in a byte.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub(super) feature: usize,
    pub(super) slots: usize,
    /// Where its sums begin, from where the strip's begin.
    pub(super) offset: usize,
    /// What its slot is multiplied by.
    pub(super) stride: usize,
}

impl Share {
    /// Where the sums of its slot are in a byte of this code, from where the strip's begin.
    #[inline]
    pub(super) fn place(&self, code: usize) -> usize {
        self.offset + code / self.stride % self.slots
    }
}

/// One byte of a row. It holds the slot of one feature, or of several small ones as the digits of a number: then one
/// addition counts for all of them, and their own sums are taken from the sums of the numbers afterwards.
#[derive(Debug, Clone, Default)]
pub(super) struct Byte {
    pub(super) shares: Vec<Share>,
    /// How many numbers there are.
    pub(super) codes: usize,
}

/// Bytes that are summed together.
pub(super) type Panel = Vec<Byte>;

/// Features of this many slots or fewer share bytes.
const SMALL: usize = 16;

/// Puts features into bytes. Only their numbers of slots decide, and these are in the schema.
fn pack(narrow: &[usize], columns: &[Column]) -> Vec<Byte> {
    let mut bytes: Vec<Byte> = Vec::new();
    let mut open: Option<usize> = None;
    for &feature in narrow {
        let slots = columns[feature].slots;
        let share = |stride: usize| Share {
            feature,
            slots,
            offset: 0,
            stride,
        };
        match open {
            Some(place) if slots <= SMALL && bytes[place].codes * slots <= 256 => {
                let byte = &mut bytes[place];
                byte.shares.push(share(byte.codes));
                byte.codes *= slots;
            }
            _ => {
                if slots <= SMALL {
                    open = Some(bytes.len());
                }
                bytes.push(Byte {
                    shares: vec![share(1)],
                    codes: slots,
                });
            }
        }
    }
    bytes
}

/// Some panels of all rows, row by row: a row is at most one line of a cache.
#[derive(Debug)]
pub(super) struct Strip {
    pub(super) panels: Vec<Panel>,
    /// How many slots all of them have.
    pub(super) slots: usize,
    /// For each row, the bytes of each panel; before them, what it takes to begin at a line of a cache.
    bytes: Vec<[u8; BYTES]>,
    begin: usize,
}

impl Strip {
    /// For each row, the bytes of each panel.
    pub(super) fn rows(&self) -> &[[u8; BYTES]] {
        &self.bytes[self.begin..]
    }
}

/// The features of a table, laid out for growing.
#[derive(Debug)]
pub struct Matrix<'a> {
    rows: usize,
    columns: Vec<Column>,
    pub(super) bins: Vec<&'a Bins>,
    pub(super) strips: Vec<Strip>,
    /// Features with more than 256 slots.
    pub(super) wide: Vec<usize>,
    /// Where the sums of each feature begin in a node's histogram: strips first, then wide features.
    pub(super) offsets: Vec<usize>,
    pub(super) slots: usize,
}

impl<'a> Matrix<'a> {
    /// Lays out the features of a table.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the schema is of another table.
    pub fn new(cells: &'a Cells, schema: &Schema) -> Result<Self, Error> {
        let columns = Column::of(schema);
        if columns.len() != cells.features().len() {
            return Err(Error::misuse("the table and the schema belong together"));
        }
        let bins: Vec<&Bins> = cells.features().iter().map(|feature| &feature.bins).collect();
        let is_narrow = |&feature: &usize| matches!(bins[feature], Bins::Narrow(_));
        let (narrow, wide): (Vec<usize>, Vec<usize>) = (0..columns.len()).partition(is_narrow);
        let mut packed = pack(&narrow, &columns);
        let count = packed.len().div_ceil(WIDTH);
        let mut panels: Vec<Panel> = Vec::with_capacity(count);
        for left in (1..=count).rev() {
            let rest = packed.split_off(packed.len().div_ceil(left));
            panels.push(std::mem::replace(&mut packed, rest));
        }
        let mut strips = Vec::new();
        let mut offsets = vec![0; columns.len()];
        let mut slots = 0;
        for panels in panels.chunks_mut(PANELS) {
            let first = slots;
            for share in panels.iter_mut().flatten().flat_map(|byte| &mut byte.shares) {
                offsets[share.feature] = slots;
                share.offset = slots - first;
                slots += share.slots;
            }
            let (bytes, begin) = transpose(&bins, panels, cells.rows());
            strips.push(Strip {
                panels: panels.to_vec(),
                slots: slots - first,
                bytes,
                begin,
            });
        }
        for &feature in &wide {
            offsets[feature] = slots;
            slots += columns[feature].slots;
        }
        Ok(Self {
            rows: cells.rows(),
            columns,
            bins,
            strips,
            wide,
            offsets,
            slots,
        })
    }

    getters! {
        /// How many rows there are.
        pub rows(rows) -> usize;
        /// What is known about each feature.
        pub columns(&columns) -> &[Column];
    }
}

fn transpose(bins: &[&Bins], panels: &[Panel], rows: usize) -> (Vec<[u8; BYTES]>, usize) {
    const BLOCK: usize = 1024;
    const LINE: usize = 64;
    let mut bytes = vec![[0u8; BYTES]; rows * panels.len() + LINE / BYTES];
    let begin = match bytes.as_ptr().align_offset(LINE) {
        begin if begin <= LINE / BYTES => begin,
        _ => 0,
    };
    bytes.truncate(begin + rows * panels.len());
    let out = &mut bytes[begin..];
    out.par_chunks_mut(BLOCK * panels.len())
        .enumerate()
        .for_each(|(block, out)| {
            for (panel, packed) in panels.iter().enumerate() {
                let shares = packed
                    .iter()
                    .enumerate()
                    .flat_map(|(place, byte)| byte.shares.iter().map(move |share| (place, share)));
                for (place, share) in shares {
                    if let Bins::Narrow(column) = bins[share.feature] {
                        let rows = out.iter_mut().skip(panel).step_by(panels.len());
                        let stride = share.stride as u8;
                        for (row, &slot) in rows.zip(&column[block * BLOCK..]) {
                            // A code is below 256: nothing is lost.
                            row[place] = row[place].wrapping_add(slot.wrapping_mul(stride));
                        }
                    }
                }
            }
        });
    (bytes, begin)
}
