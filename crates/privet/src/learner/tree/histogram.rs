//! Sums by slot for the nodes of a level.

use rayon::prelude::*;

use super::kernel::{Rows, partial};
use super::lane::{CHUNK, Lane};
use super::matrix::{Matrix, Strip};
use crate::data::Bins;

/// Pairs of sums: one for each slot of each feature.
pub(super) type Sums = Vec<[f64; 2]>;

/// A node whose histogram is wanted, and where it goes.
pub(super) struct Wanted<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) into: &'a mut Sums,
}

enum Part<'a> {
    Strip(&'a Strip),
    Wide(&'a Bins),
}

struct Task<'a> {
    part: Part<'a>,
    rows: Rows<'a>,
    out: &'a mut [[f64; 2]],
}

/// Sums the lanes of each node's rows by the slots of the features that are used.
pub(super) fn build<L: Lane>(matrix: &Matrix<'_>, lanes: &[L], used: &[bool], wanted: Vec<Wanted<'_>>) {
    let mut tasks = Vec::new();
    for node in wanted {
        let mut out = node.into.as_mut_slice();
        for strip in &matrix.strips {
            let (mine, rest) = out.split_at_mut(strip.slots);
            out = rest;
            if strip
                .panels
                .iter()
                .flat_map(|panel| &panel.features)
                .any(|&feature| used[feature])
            {
                tasks.push(Task {
                    part: Part::Strip(strip),
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
                    part: Part::Wide(matrix.bins[feature]),
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
            Part::Strip(strip) => fill(strip, lanes, task, cut),
            Part::Wide(bins) => {
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
                for (&offset, &slot) in panel.offsets.iter().zip(bytes) {
                    let sums = &mut out[offset + usize::from(slot)];
                    *sums = [sums[0] + g, sums[1] + h];
                }
            }
        });
        return;
    }
    if rows.len() <= CHUNK {
        let cells = partial(strip, lanes, rows);
        flush::<L>(strip, &cells, out, |sums, more| *sums = more);
        return;
    }
    out.fill([0.0; 2]);
    let add = |out: &mut [[f64; 2]], cells: &[_]| {
        flush::<L>(strip, cells, out, |sums, more| {
            *sums = [sums[0] + more[0], sums[1] + more[1]]
        });
    };
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

fn flush<L: Lane>(
    strip: &Strip,
    cells: &[[L::Cell; 256]],
    out: &mut [[f64; 2]],
    put: impl Fn(&mut [f64; 2], [f64; 2]),
) {
    let mut cells = cells.iter();
    for panel in &strip.panels {
        let ends = panel.offsets[1..].iter().copied().chain([panel.end]);
        for ((&begin, end), cells) in panel.offsets.iter().zip(ends).zip(&mut cells) {
            for (sums, &cell) in out[begin..end].iter_mut().zip(cells) {
                put(sums, L::sums(cell));
            }
        }
    }
}

/// What remains of a parent's sums without one of its children.
pub(super) fn subtract(parent: &mut [[f64; 2]], child: &[[f64; 2]]) {
    for (sums, less) in parent.iter_mut().zip(child) {
        *sums = [sums[0] - less[0], sums[1] - less[1]];
    }
}
