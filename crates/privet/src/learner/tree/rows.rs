//! Which rows are in which node: one list, each node's rows together and in their order.

use rayon::prelude::*;

use super::matrix::Matrix;
use super::shape::Rule;
use crate::data::Bins;

/// Rows are cut into pieces of this many, so that several threads can part one node.
const PIECE: usize = 1 << 15;

/// For each slot of a feature, whether it goes left.
pub(super) struct Sieve<'a> {
    bins: &'a Bins,
    narrow: [bool; 256],
    wide: Vec<bool>,
}

impl<'a> Sieve<'a> {
    pub(super) fn new(matrix: &Matrix<'a>, feature: usize, rule: &Rule) -> Self {
        let column = &matrix.columns()[feature];
        let wide: Vec<bool> = (0..column.slots)
            .map(|slot| rule.goes_left(slot as u16, column))
            .collect();
        let mut narrow = [false; 256];
        for (to, &from) in narrow.iter_mut().zip(&wide) {
            *to = from;
        }
        Self {
            bins: matrix.bins[feature],
            narrow,
            wide,
        }
    }

    /// Calls `f` with each row, and whether it goes left.
    #[inline]
    pub(super) fn each(&self, rows: &[u32], mut f: impl FnMut(u32, bool)) {
        match self.bins {
            Bins::Narrow(column) => {
                for &row in rows {
                    f(row, self.narrow[usize::from(column[row as usize])]);
                }
            }
            Bins::Wide(column) => {
                for &row in rows {
                    f(row, self.wide[usize::from(column[row as usize])]);
                }
            }
        }
    }

    /// Whether the slots of a node's sums go left, for the sum over them.
    pub(super) fn left_sums(&self, histogram: &[[f64; 2]]) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for (slot, left) in histogram.iter().zip(&self.wide) {
            if *left {
                sums = [sums[0] + slot[0], sums[1] + slot[1]];
            }
        }
        sums
    }
}

/// Puts those that go left first, keeps the order on each side, and says how many go left.
pub(super) fn part(rows: &mut [u32], spare: &mut [u32], sieve: &Sieve<'_>) -> usize {
    let count = rows.len();
    if count <= PIECE {
        return part_piece(rows, spare, sieve);
    }
    let lefts: Vec<usize> = rows
        .par_chunks_mut(PIECE)
        .zip(spare.par_chunks_mut(PIECE))
        .map(|(rows, spare)| part_piece(rows, spare, sieve))
        .collect();
    let total: usize = lefts.iter().sum();
    // All left pieces, then all right pieces, each to its own place in the spare list.
    let (mut left_rest, mut right_rest) = spare[..count].split_at_mut(total);
    let mut places = Vec::with_capacity(lefts.len());
    for (piece, &left) in rows.chunks(PIECE).zip(&lefts) {
        let (to_left, rest) = left_rest.split_at_mut(left);
        left_rest = rest;
        let (to_right, rest) = right_rest.split_at_mut(piece.len() - left);
        right_rest = rest;
        places.push((piece, to_left, to_right));
    }
    places.into_par_iter().for_each(|(piece, left, right)| {
        let (from_left, from_right) = piece.split_at(left.len());
        left.copy_from_slice(from_left);
        right.copy_from_slice(from_right);
    });
    rows.par_chunks_mut(PIECE)
        .zip(spare.par_chunks(PIECE))
        .for_each(|(rows, spare)| rows.copy_from_slice(&spare[..rows.len()]));
    total
}

fn part_piece(rows: &mut [u32], spare: &mut [u32], sieve: &Sieve<'_>) -> usize {
    match sieve.bins {
        Bins::Narrow(column) => part_by(rows, spare, |row| sieve.narrow[usize::from(column[row])]),
        Bins::Wide(column) => part_by(rows, spare, |row| sieve.wide[usize::from(column[row])]),
    }
}

#[inline]
fn part_by(rows: &mut [u32], spare: &mut [u32], goes_left: impl Fn(usize) -> bool) -> usize {
    let count = rows.len();
    let spare = &mut spare[..count];
    let mut left = 0;
    for place in 0..count {
        let row = rows[place];
        // Written to both sides; only one of them moves on. There is no branch to guess.
        rows[left] = row;
        spare[place - left] = row;
        left += usize::from(goes_left(row as usize));
    }
    rows[left..].copy_from_slice(&spare[..count - left]);
    left
}
