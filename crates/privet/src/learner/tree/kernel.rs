//! The innermost loops: rows of bytes into histograms.
//!
//! A byte indexes 256 cells, so no bound is checked; the number of features is known to the compiler, so the loop over
//! them is unrolled. Rows of a node are scattered: many of them are fetched at a time, so that their cache misses overlap;
//! then the panels are summed one by one, so that the cells of each stay in the nearest cache.

use super::lane::Lane;
use super::matrix::{BYTES, PANELS, Strip};

/// The cells of one byte.
pub(super) type Cells<L> = [<L as Lane>::Cell; 256];

/// Which rows are summed.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowSet<'a> {
    /// The first row, and how many follow it.
    Run(usize, usize),
    /// A list of rows.
    List(&'a [u32]),
}

impl<'a> RowSet<'a> {
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

/// How many bytes of rows are fetched at a time: they stay in the second-nearest cache.
const FETCHED: usize = 1 << 16;

/// Adds rows, one after another, to the cells of W bytes.
fn add<L: Lane, const W: usize>(cells: &mut [Cells<L>], rows: &[[u8; BYTES]], lanes: &[L]) {
    let Some(cells) = cells.first_chunk_mut::<W>() else {
        return;
    };
    for (row, lane) in rows.iter().zip(lanes) {
        let part = lane.part();
        for byte in 0..W {
            L::add(&mut cells[byte][usize::from(row[byte])], part);
        }
    }
}

fn add_panel<L: Lane>(cells: &mut [Cells<L>], rows: &[[u8; BYTES]], lanes: &[L]) {
    macro_rules! dispatch {
        ($($w:literal)*) => {
            match cells.len() {
                $($w => add::<L, $w>(cells, rows, lanes),)*
                _ => {}
            }
        };
    }
    dispatch!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
}

/// Rows that were fetched, panel by panel, and their lanes.
struct Fetched<L> {
    bytes: Vec<[u8; BYTES]>,
    lanes: Vec<L>,
    /// How many rows there is room for.
    room: usize,
}

impl<L: Lane> Fetched<L> {
    fn new(room: usize, panels: usize) -> Self {
        Self {
            bytes: vec![[0; BYTES]; room * panels],
            lanes: vec![L::default(); room],
            room,
        }
    }

    fn panel(&self, panel: usize, count: usize) -> &[[u8; BYTES]] {
        &self.bytes[panel * self.room..][..count]
    }

    /// Fetches scattered rows of P panels. Nothing waits for anything here, so that many cache misses overlap.
    fn list<const P: usize>(&mut self, strip: &Strip, lanes: &[L], rows: &[u32]) {
        let (lines, _) = strip.rows().as_chunks::<P>();
        let mut panels = self.bytes.chunks_exact_mut(self.room);
        let mut panels: [&mut [[u8; BYTES]]; P] = std::array::from_fn(|_| match panels.next() {
            Some(panel) => &mut panel[..rows.len()],
            None => &mut [],
        });
        for (place, &row) in rows.iter().enumerate() {
            let line = &lines[row as usize];
            for (panel, bytes) in panels.iter_mut().zip(line) {
                panel[place] = *bytes;
            }
        }
        for (to, &row) in self.lanes.iter_mut().zip(rows) {
            *to = lanes[row as usize];
        }
    }

    fn run(&mut self, strip: &Strip, begin: usize, count: usize) {
        let width = strip.panels.len();
        let lines = &strip.rows()[begin * width..(begin + count) * width];
        for (place, line) in lines.chunks_exact(width).enumerate() {
            for (panel, bytes) in line.iter().enumerate() {
                self.bytes[panel * self.room + place] = *bytes;
            }
        }
    }
}

/// The partial histograms of a strip's bytes over some rows: at most as many as a cell takes.
pub(super) fn partial<L: Lane>(strip: &Strip, lanes: &[L], rows: RowSet<'_>) -> Vec<Cells<L>> {
    let width = strip.panels.len();
    let bytes = strip.panels.iter().map(Vec::len).sum();
    let mut cells = vec![[L::Cell::default(); 256]; bytes];
    let block = FETCHED / (BYTES * width.max(1));
    let mut fetched = Fetched::new(block.min(rows.len()), width);
    let mut add = |fetched: &Fetched<L>, lanes: &[L]| {
        let mut rest = cells.as_mut_slice();
        for (place, panel) in strip.panels.iter().enumerate() {
            let (mine, others) = rest.split_at_mut(panel.len());
            rest = others;
            add_panel(mine, fetched.panel(place, lanes.len()), lanes);
        }
    };
    for rows in rows.chunks(block) {
        match rows {
            RowSet::Run(begin, count) => {
                fetched.run(strip, begin, count);
                add(&fetched, &lanes[begin..begin + count]);
            }
            RowSet::List(list) => {
                match width {
                    1 => fetched.list::<1>(strip, lanes, list),
                    2 => fetched.list::<2>(strip, lanes, list),
                    3 => fetched.list::<3>(strip, lanes, list),
                    _ => fetched.list::<PANELS>(strip, lanes, list),
                }
                add(&fetched, &fetched.lanes[..list.len()]);
            }
        }
    }
    cells
}
