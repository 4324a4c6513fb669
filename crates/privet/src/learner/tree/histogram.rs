//! Sums by slot for the nodes of a level.

use rayon::prelude::*;

use super::kernel::{RowSet, partial};
use super::lane::{CHUNK, Lane};
use super::matrix::{Matrix, Strip};
use crate::data::Bins;

/// Pairs of sums: one for each slot of each feature.
pub(super) type SlotSums = Vec<[f64; 2]>;

/// A node's rows, and the buffer for its histogram.
pub(super) struct NodeHistogram<'a> {
    pub(super) rows: RowSet<'a>,
    pub(super) into: &'a mut SlotSums,
}

enum ColumnBlock<'a> {
    Strip(&'a Strip),
    Wide(&'a Bins),
}

struct Task<'a> {
    part: ColumnBlock<'a>,
    rows: RowSet<'a>,
    out: &'a mut [[f64; 2]],
}

/// Sums the lanes of each node's rows by the slots of the features that are used.
pub(super) fn build<L: Lane>(matrix: &Matrix<'_>, lanes: &[L], used: &[bool], nodes: Vec<NodeHistogram<'_>>) {
    let mut tasks = Vec::new();
    for node in nodes {
        let mut out = node.into.as_mut_slice();
        for strip in &matrix.strips {
            let (mine, rest) = out.split_at_mut(strip.slots);
            out = rest;
            let mut shares = strip.panels.iter().flatten().flat_map(|byte| &byte.shares);
            if shares.any(|share| used[share.feature]) {
                tasks.push(Task {
                    part: ColumnBlock::Strip(strip),
                    rows: node.rows,
                    out: mine,
                });
            }
        }
        for &feature in &matrix.wide {
            let (mine, rest) = out.split_at_mut(matrix.columns()[feature].slots);
            out = rest;
            if used[feature] {
                tasks.push(Task {
                    part: ColumnBlock::Wide(matrix.bins[feature]),
                    rows: node.rows,
                    out: mine,
                });
            }
        }
    }
    // Many tasks keep all threads busy; few large ones are cut into chunks. The chunks are the same either way.
    let cut = tasks.len() < 4 * rayon::current_num_threads();
    tasks
        .into_par_iter()
        .with_max_len(1)
        .for_each(|task| match task.part {
            ColumnBlock::Strip(strip) => fill(strip, lanes, task, cut),
            ColumnBlock::Wide(bins) => {
                task.out.fill([0.0; 2]);
                task.rows.each(|row| {
                    let sums = &mut task.out[usize::from(bins.get(row))];
                    let [g, h] = lanes[row].pair();
                    *sums = [sums[0] + g, sums[1] + h];
                });
            }
        });
}

fn fill<L: Lane>(strip: &Strip, lanes: &[L], task: Task<'_>, cut: bool) {
    let Task { rows, out, .. } = task;
    if rows.len() * 32 < out.len() {
        // So few rows that cells of their own would cost more than the rows.
        out.fill([0.0; 2]);
        rows.each(|row| {
            let [g, h] = lanes[row].pair();
            let line = &strip.rows()[row * strip.panels.len()..];
            for (panel, bytes) in strip.panels.iter().zip(line) {
                for (byte, &code) in panel.iter().zip(bytes) {
                    for share in &byte.shares {
                        let sums = &mut out[share.place(code.into())];
                        *sums = [sums[0] + g, sums[1] + h];
                    }
                }
            }
        });
        return;
    }
    out.fill([0.0; 2]);
    let add = |out: &mut [[f64; 2]], cells: &[_]| flush::<L>(strip, cells, out);
    let chunks = rows.chunks(CHUNK);
    if cut {
        let parts: Vec<_> = chunks
            .into_par_iter()
            .with_max_len(1)
            .map(|rows| partial(strip, lanes, rows))
            .collect();
        // In their order: sums of floats depend on it.
        parts.iter().for_each(|cells| add(out, cells));
    } else {
        chunks
            .into_iter()
            .for_each(|rows| add(out, &partial(strip, lanes, rows)));
    }
}

/// Adds cells to the sums of the features that share them.
fn flush<L: Lane>(strip: &Strip, cells: &[[L::Cell; 256]], out: &mut [[f64; 2]]) {
    let add = |sums: &mut [f64; 2], cell: [f64; 2]| *sums = [sums[0] + cell[0], sums[1] + cell[1]];
    for (byte, cells) in strip.panels.iter().flatten().zip(cells) {
        if let [share] = byte.shares[..] {
            let out = &mut out[share.offset..share.offset + share.slots];
            out.iter_mut()
                .zip(cells)
                .for_each(|(sums, &cell)| add(sums, L::sums(cell)));
            continue;
        }
        for (code, &cell) in cells[..byte.codes].iter().enumerate() {
            let cell = L::sums(cell);
            if cell != [0.0; 2] {
                for share in &byte.shares {
                    add(&mut out[share.place(code)], cell);
                }
            }
        }
    }
}

/// Subtracts a child's sums from its parent's.
pub(super) fn subtract(parent: &mut [[f64; 2]], child: &[[f64; 2]]) {
    for (sums, less) in parent.iter_mut().zip(child) {
        *sums = [sums[0] - less[0], sums[1] - less[1]];
    }
}
