//! The innermost loops: rows of bytes into histograms.
//!
//! A byte indexes 256 cells, so no bound is checked; the number of features is known to the compiler, so the loop over
//! them is unrolled. Rows of a node are scattered: sixteen of them are fetched at a time, so that their cache misses
//! overlap.

use super::lane::Lane;
use super::matrix::{BYTES, Panel};

/// The cells of one feature.
pub(super) type Cells<L> = [<L as Lane>::Cell; 256];

/// Which rows are summed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rows<'a> {
    /// These many from this one on.
    Run(usize, usize),
    /// These.
    List(&'a [u32]),
}

impl<'a> Rows<'a> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Run(_, count) => *count,
            Self::List(rows) => rows.len(),
        }
    }

    /// Pieces of at most `size` rows.
    pub(super) fn chunks(self, size: usize) -> Vec<Self> {
        match self {
            Self::Run(begin, count) => (0..count.div_ceil(size))
                .map(|i| Self::Run(begin + i * size, size.min(count - i * size)))
                .collect(),
            Self::List(rows) => rows.chunks(size).map(Self::List).collect(),
        }
    }

    /// Calls `f` for each row.
    pub(super) fn each(self, mut f: impl FnMut(usize)) {
        match self {
            Self::Run(begin, count) => (begin..begin + count).for_each(f),
            Self::List(rows) => rows.iter().for_each(|&row| f(row as usize)),
        }
    }
}

const BATCH: usize = 16;

fn add<L: Lane, const W: usize>(cells: &mut [Cells<L>], panel: &[[u8; BYTES]], lanes: &[L], rows: Rows<'_>) {
    let Some(cells) = cells.first_chunk_mut::<W>() else { return };
    let mut one = |row: &[u8; BYTES], lane: L| {
        let part = lane.part();
        for feature in 0..W {
            L::add(&mut cells[feature][usize::from(row[feature])], part);
        }
    };
    match rows {
        Rows::Run(begin, count) => {
            let rows = panel[begin..begin + count].iter();
            rows.zip(&lanes[begin..begin + count]).for_each(|(row, &lane)| one(row, lane));
        }
        Rows::List(rows) => {
            let (batches, rest) = rows.as_chunks::<BATCH>();
            for batch in batches {
                let bytes = batch.map(|row| panel[row as usize]);
                let parts = batch.map(|row| lanes[row as usize]);
                for (row, lane) in bytes.iter().zip(parts) {
                    one(row, lane);
                }
            }
            for &row in rest {
                one(&panel[row as usize], lanes[row as usize]);
            }
        }
    }
}

/// The partial histograms of a panel's features over some rows: at most as many as a cell takes.
pub(super) fn partial<L: Lane>(panel: &Panel, lanes: &[L], rows: Rows<'_>) -> Vec<Cells<L>> {
    let width = panel.features.len();
    let mut cells = vec![[L::Cell::default(); 256]; width];
    macro_rules! dispatch {
        ($($w:literal)*) => {
            match width {
                $($w => add::<L, $w>(&mut cells, &panel.rows, lanes, rows),)*
                _ => {}
            }
        };
    }
    dispatch!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    cells
}
