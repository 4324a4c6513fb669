//! Private rows: their scores so far, and what they add to the leaves of the next tree.

use rayon::prelude::*;

use super::calibration;
use super::coding::{Coding, share, weighed};
use super::cut::Cut;
use super::greedy::GradientRow;
use super::slope::{self, Frequencies};
use crate::data::schema::Transform;
use crate::data::{Cells, Target};
use crate::learner::tree::Column;

/// Rows that one thread takes at a time.
const CHUNK: usize = 1 << 14;
/// Rows of which leaves are looked up together.
const BLOCK: usize = 1 << 10;

/// A table, with each row's scores.
#[derive(Clone)]
pub(super) struct ScoredRows {
    cells: Cells,
    columns: Vec<Column>,
    labels: RowLabels,
    /// What each row counts, on the grid, if rows have weights.
    weights: Option<Vec<u16>>,
    scores: Vec<f32>,
    /// What the last pass summed: for each leaf, for each output, a gradient and a hessian.
    pub(super) sums: Vec<i64>,
}

#[derive(Clone)]
enum RowLabels {
    Sides(Vec<bool>),
    Classes(Vec<u16>),
    /// From the start of all scores, in units of the clip.
    Numbers(Vec<f32>),
}

/// A tree that is finished: its cut, and the values of its leaves for each output, with the deviations of their noise.
#[derive(Debug, Clone)]
pub(super) struct GrownTree {
    pub(super) cut: Cut,
    pub(super) values: Vec<f32>,
    pub(super) noise: Vec<f32>,
}

/// One pass over the rows, between two releases. What a row adds follows from the row and from what was released.
pub(super) struct Pass<'a> {
    pub(super) coding: &'a Coding,
    /// Trees that are added to the scores first.
    pub(super) done: Option<&'a GrownTree>,
    /// The cut whose leaves are summed then.
    pub(super) next: &'a Cut,
}

impl ScoredRows {
    /// Scores begin at `known`, or at zero; `known` is subtracted from numeric labels, which are transformed first. A missing label counts as zero,
    /// or as the first class. `largest` is the largest weight of a row, if rows have weights.
    pub(super) fn new(
        cells: Cells,
        columns: Vec<Column>,
        coding: &Coding,
        (transform, largest): (Transform, Option<f64>),
        known: Option<&[f32]>,
    ) -> Self {
        let rows = cells.rows();
        let weights = largest.zip(cells.weights());
        let weights = weights.map(|(largest, of)| of.iter().map(|&weight| share(weight, largest)).collect());
        let mut labels = match (coding, cells.target()) {
            (Coding::Odds(_), Some(Target::Classes(of))) => {
                RowLabels::Sides(of.iter().map(|&class| class > 0).collect())
            }
            (Coding::Classes(_), Some(Target::Classes(of))) => RowLabels::Classes(of.clone()),
            (Coding::Residual(_), Some(Target::Numbers(of))) => {
                let number = |&number: &f32| transform.apply(number.into()) as f32;
                RowLabels::Numbers(of.iter().map(number).collect())
            }
            (Coding::Odds(_), _) => RowLabels::Sides(vec![false; rows]),
            (Coding::Classes(_), _) => RowLabels::Classes(vec![0; rows]),
            (Coding::Residual(_), _) => RowLabels::Numbers(vec![0.0; rows]),
        };
        let mut scores = vec![0.0; rows * coding.outputs()];
        match (&mut labels, known) {
            (RowLabels::Numbers(numbers), Some(known)) => {
                numbers
                    .iter_mut()
                    .zip(known)
                    .for_each(|(number, known)| *number -= known);
            }
            (_, Some(known)) => scores
                .iter_mut()
                .zip(known)
                .for_each(|(score, known)| *score = *known),
            (_, None) => {}
        }
        Self {
            cells,
            columns,
            labels,
            weights,
            scores,
            sums: Vec::new(),
        }
    }

    /// Adds a finished tree to the scores.
    pub(super) fn add(&mut self, done: &GrownTree) {
        let outputs = self.scores.len() / self.cells.rows().max(1);
        let (cells, columns) = (&self.cells, &self.columns);
        let chunks = self.scores.par_chunks_mut(BLOCK * outputs.max(1)).enumerate();
        chunks.for_each(|(block, scores)| {
            let mut leaves = [0; BLOCK];
            let leaves = &mut leaves[..scores.len() / outputs];
            done.cut.fill(cells, columns, block * BLOCK, leaves);
            add(&done.values, leaves, scores, outputs);
        });
    }

    /// Adds the finished tree to the scores, then sums gradients and hessians in the leaves of the next.
    pub(super) fn run(&mut self, pass: &Pass<'_>) {
        let outputs = pass.coding.outputs();
        let length = 2 * outputs * pass.next.leaves();
        let (cells, columns, labels) = (&self.cells, &self.columns, &self.labels);
        let weights = self.weights.as_deref();
        let one_chunk = |(chunk, scores): (usize, &mut [f32])| {
            let mut sums = vec![0i64; length];
            let mut leaves = [0; BLOCK];
            for (block, scores) in scores.chunks_mut(BLOCK * outputs).enumerate() {
                let first = chunk * CHUNK + block * BLOCK;
                let leaves = &mut leaves[..scores.len() / outputs];
                if let Some(done) = pass.done {
                    done.cut.fill(cells, columns, first, leaves);
                    add(&done.values, leaves, scores, outputs);
                }
                pass.next.fill(cells, columns, first, leaves);
                let added = Added {
                    leaves,
                    scores,
                    weights: weights.map(|weights| &weights[first..][..leaves.len()]),
                };
                labels.sum(pass.coding, first, added, &mut sums);
            }
            sums
        };
        if self.cells.rows() <= CHUNK {
            // Another thread would cost more than it saves.
            self.sums = one_chunk((0, &mut self.scores));
            return;
        }
        self.sums = self
            .scores
            .par_chunks_mut(CHUNK * outputs)
            .enumerate()
            .map(one_chunk)
            .reduce(
                || vec![0; length],
                |mut a, b| {
                    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                    a
                },
            );
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.cells.rows()
    }

    /// One row's slots, and its gradient: its own score and label are all that goes in.
    pub(super) fn gradient_row(&self, row: usize, coding: &Coding, output: usize) -> GradientRow {
        let outputs = coding.outputs();
        let scores = &self.scores[row * outputs..][..outputs];
        let gradient = match (&self.labels, coding) {
            (RowLabels::Sides(sides), Coding::Odds(odds)) => odds.at(scores[0], sides[row]).0.into(),
            (RowLabels::Numbers(numbers), Coding::Residual(residual)) => {
                residual.at(scores[0], numbers[row]).0.into()
            }
            (RowLabels::Classes(of), Coding::Classes(classes)) => {
                let (mut gradients, mut hessians) = (vec![0; outputs], vec![0; outputs]);
                classes.at(scores, usize::from(of[row]), &mut gradients, &mut hessians);
                gradients[output]
            }
            _ => 0,
        };
        let slots = self.cells.features().iter().map(|feature| feature.bins.get(row));
        GradientRow {
            slots: slots.collect(),
            gradient: match &self.weights {
                Some(weights) => weighed(gradient, weights[row]),
                None => gradient,
            },
        }
    }

    /// Replaces each numeric label by (label − `start`) / `unit`, both of which are public.
    pub(super) fn measure(&mut self, start: f64, unit: f64) {
        if let RowLabels::Numbers(numbers) = &mut self.labels {
            for number in numbers {
                *number = ((f64::from(*number) - start) / unit) as f32;
            }
        }
    }

    /// Rows by where their labels lie between these points.
    pub(super) fn labels(&self, points: &[f64]) -> Vec<i64> {
        let mut counts = vec![0; points.len() + 1];
        if let RowLabels::Numbers(numbers) = &self.labels {
            for &number in numbers {
                counts[points.partition_point(|&point| point <= f64::from(number))] += 1;
            }
        }
        counts
    }

    /// Rows of two classes by score and class; of rows with weights what they count, on the grid.
    pub(super) fn by_score(&self) -> Vec<i64> {
        let mut counts = vec![0; calibration::COUNTS];
        if let RowLabels::Sides(sides) = &self.labels {
            let places = self.scores.iter().zip(sides);
            let places = places.map(|(&score, &side)| Some(calibration::place(score, side)));
            self.add_up(places, &mut counts);
        }
        counts
    }

    /// Rows by class, of three or more; of rows with weights what they count, on the grid.
    pub(super) fn by_class(&self, classes: usize) -> Vec<i64> {
        let mut counts = vec![0; classes];
        if let RowLabels::Classes(of) = &self.labels {
            let places = of.iter().map(|&class| Some(usize::from(class)));
            self.add_up(places, &mut counts);
        }
        counts
    }

    /// Rows by what a slope must be to change their class, and by which class is right; of rows with weights what they count, on the grid.
    pub(super) fn by_slope(&self, known: &Frequencies) -> Vec<i64> {
        let mut counts = vec![0; slope::COUNTS];
        if let RowLabels::Classes(of) = &self.labels {
            let outputs = self.scores.len() / of.len().max(1);
            let places = self.scores.chunks_exact(outputs.max(1)).zip(of);
            let places = places.map(|(scores, &class)| known.place(scores, class.into()));
            self.add_up(places, &mut counts);
        }
        counts
    }

    /// Each row adds to one count at most: one, or its weight.
    fn add_up(&self, places: impl Iterator<Item = Option<usize>>, counts: &mut [i64]) {
        for (row, place) in places.enumerate() {
            if let Some(count) = place.and_then(|place| counts.get_mut(place)) {
                *count += self.weights.as_ref().map_or(1, |weights| weights[row].into());
            }
        }
    }

    /// Rows by the slots of each of these features, one feature after another.
    pub(super) fn counts(&self, features: &[usize]) -> Vec<i64> {
        let count = |&feature: &usize| {
            let mut counts = vec![0; self.columns[feature].slots];
            // A table of which no row was read may have no columns either.
            if let Some(column) = self.cells.features().get(feature) {
                column.bins.iter().for_each(|slot| counts[usize::from(slot)] += 1);
            }
            counts
        };
        features.par_iter().map(count).collect::<Vec<_>>().concat()
    }
}

fn add(values: &[f32], leaves: &[u16], scores: &mut [f32], outputs: usize) {
    if outputs == 1 {
        for (score, &leaf) in scores.iter_mut().zip(leaves) {
            *score += values[usize::from(leaf)];
        }
        return;
    }
    for (line, &leaf) in scores.chunks_exact_mut(outputs).zip(leaves) {
        let own = &values[usize::from(leaf) * outputs..][..outputs];
        line.iter_mut().zip(own).for_each(|(score, x)| *score += x);
    }
}

/// Some rows that are added to the leaves they are in.
struct Added<'a> {
    leaves: &'a [u16],
    scores: &'a [f32],
    weights: Option<&'a [u16]>,
}

impl RowLabels {
    fn sum(&self, coding: &Coding, first: usize, added: Added<'_>, sums: &mut [i64]) {
        let Added {
            leaves,
            scores,
            weights,
        } = added;
        match (self, coding) {
            (Self::Sides(sides), Coding::Odds(odds)) => {
                let each = leaves.iter().zip(scores).zip(&sides[first..]);
                let each = each.map(|((&leaf, &score), &side)| (leaf, odds.at(score, side)));
                pairs(sums, each, weights);
            }
            (Self::Numbers(numbers), Coding::Residual(residual)) => {
                let each = leaves.iter().zip(scores).zip(&numbers[first..]);
                let each = each.map(|((&leaf, &score), &y)| (leaf, residual.at(score, y)));
                pairs(sums, each, weights);
            }
            (Self::Classes(of), Coding::Classes(classes)) => {
                let outputs = coding.outputs();
                let (mut gradients, mut hessians) = (vec![0; outputs], vec![0; outputs]);
                let each = leaves.iter().zip(scores.chunks_exact(outputs)).zip(&of[first..]);
                for (row, ((&leaf, scores), &label)) in each.enumerate() {
                    classes.at(scores, usize::from(label), &mut gradients, &mut hessians);
                    if let Some(weights) = weights {
                        let all = gradients.iter_mut().chain(&mut hessians);
                        all.for_each(|x| *x = weighed(*x, weights[row]));
                    }
                    let own = &mut sums[2 * outputs * usize::from(leaf)..][..2 * outputs];
                    for (pair, (g, h)) in own.chunks_exact_mut(2).zip(gradients.iter().zip(&hessians)) {
                        pair[0] += g;
                        pair[1] += h;
                    }
                }
            }
            // Labels were read for the coding.
            _ => {}
        }
    }
}

/// Adds the gradient and the hessian of each row to those of its leaf.
#[inline]
fn pairs(sums: &mut [i64], each: impl Iterator<Item = (u16, (i32, i32))>, weights: Option<&[u16]>) {
    let mut add = |leaf: u16, (gradient, hessian): (i64, i64)| {
        let own = &mut sums[2 * usize::from(leaf)..][..2];
        own[0] += gradient;
        own[1] += hessian;
    };
    match weights {
        None => each.for_each(|(leaf, (g, h))| add(leaf, (g.into(), h.into()))),
        Some(weights) => each.zip(weights).for_each(|((leaf, (g, h)), &share)| {
            add(leaf, (weighed(g.into(), share), weighed(h.into(), share)));
        }),
    }
}
