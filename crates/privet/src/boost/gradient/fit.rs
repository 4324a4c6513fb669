//! The rounds.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::loss::{Put, Sight};
use super::{Base, Boosted, Gradient, LabelledRows, Loss, RoundEnd, Sums, Training, sample};
use crate::Error;
use crate::data::{Cells, Schema};
use crate::learner::tree::{Column, Engine, Greedy, Grid, Matrix, Order, Packed, Pair, Plan, Tree};

pub(super) fn fit(
    gradient: &Gradient,
    training: &Training<'_>,
    greedy: &Greedy,
    progress: &mut dyn FnMut(RoundEnd) -> ControlFlow<()>,
) -> Result<Boosted, Error> {
    match gradient.sums {
        Sums::Integers => fit_as::<Packed>(gradient, training, greedy, progress),
        Sums::Floats => fit_as::<Pair>(gradient, training, greedy, progress),
    }
}

/// Rows with their scores so far, output by output.
struct Scored<'a> {
    cells: &'a Cells,
    labels: Vec<f32>,
    weights: Option<&'a [f32]>,
    scores: Vec<Vec<f32>>,
}

impl<'a> Scored<'a> {
    fn new(rows: &LabelledRows<'a>, loss: Loss) -> Result<Self, Error> {
        let labels = loss.labels(rows.cells)?;
        if rows.weights.is_some_and(|weights| weights.len() != labels.len()) {
            return Err(Error::misuse("give a weight for every row, or no weights"));
        }
        Ok(Self {
            cells: rows.cells,
            labels,
            weights: rows.weights,
            scores: Vec::new(),
        })
    }

    fn start(&mut self, model: &Boosted, schema: &Schema) -> Result<(), Error> {
        let (outputs, rows) = (model.loss.outputs(), self.labels.len());
        self.scores = model.base.iter().map(|&base| vec![base; rows]).collect();
        if !model.trees.is_empty() {
            let scores = model.scores(schema, self.cells)?;
            for (output, column) in self.scores.iter_mut().enumerate() {
                for (score, row) in column.iter_mut().zip(scores.chunks_exact(outputs)) {
                    *score = row[output];
                }
            }
        }
        Ok(())
    }

    /// Adds a tree's values by walking it.
    fn add(&mut self, tree: &Tree, columns: &[Column], output: usize) {
        let features = self.cells.features();
        self.scores[output]
            .par_iter_mut()
            .enumerate()
            .with_min_len(1024)
            .for_each(|(row, score)| {
                *score += tree.leaves[tree.leaf(columns, |feature| features[feature].bins.get(row))];
            });
    }

    fn loss(&self, loss: Loss) -> f64 {
        loss.mean(&self.scores, &self.labels, self.weights)
    }
}

fn fit_as<L: Put>(
    gradient: &Gradient,
    training: &Training<'_>,
    greedy: &Greedy,
    progress: &mut dyn FnMut(RoundEnd) -> ControlFlow<()>,
) -> Result<Boosted, Error> {
    let schema = training.schema;
    let loss = Loss::of(schema)?;
    let mut rows = Scored::new(&training.rows, loss)?;
    let mut model = match training.start {
        Some(start) if start.loss != loss => {
            return Err(Error::parameter(
                "model",
                "the model to go on from was fitted to another kind of label",
            ));
        }
        Some(start) => start.clone(),
        None => Boosted {
            loss,
            base: base(gradient, loss, &rows),
            trees: Vec::new(),
        },
    };
    let matrix = Matrix::new(training.rows.cells, schema)?;
    rows.start(&model, schema)?;
    let mut validation = match &training.validation {
        None => None,
        Some(validation) => {
            let mut scored = Scored::new(validation, loss)?;
            scored.start(&model, schema)?;
            Some(scored)
        }
    };
    let mut rounds = Rounds::<L>::new((gradient, greedy), loss, &matrix, rows);
    let first = model.rounds();
    let mut best = (validation.as_ref().map(|rows| rows.loss(loss)), first);
    for round in 0..gradient.rounds {
        rounds.derive();
        for output in 0..loss.outputs() {
            let tree = rounds.tree(first + round, output);
            if let Some(validation) = &mut validation {
                validation.add(&tree, matrix.columns(), output);
            }
            model.trees.push(tree);
        }
        let now = validation.as_ref().map(|rows| rows.loss(loss));
        if best.0.is_none_or(|best| now.is_some_and(|now| now < best)) {
            best = (now, first + round + 1);
        }
        let done = RoundEnd {
            done: round + 1,
            rounds: gradient.rounds,
            validation: now,
        };
        let has_waited = gradient
            .patience
            .is_some_and(|patience| first + round + 1 - best.1 >= patience);
        if progress(done).is_break() || (now.is_some() && has_waited) {
            break;
        }
    }
    if gradient.patience.is_some() && validation.is_some() {
        model.trees.truncate(best.1 * loss.outputs());
    }
    Ok(model)
}

fn base(gradient: &Gradient, loss: Loss, rows: &Scored<'_>) -> Vec<f32> {
    match &gradient.base {
        Base::Fitted => loss.base(&rows.labels, rows.weights),
        Base::Given(base) => base.clone(),
    }
}

/// What a round needs, kept from one to the next.
struct Rounds<'a, L> {
    gradient: &'a Gradient,
    loss: Loss,
    greedy: &'a Greedy,
    engine: Engine<'a>,
    rows: Scored<'a>,
    heaviest: f32,
    grid: Grid,
    lanes: Vec<Vec<L>>,
    /// To first order: gradients and hessians for the leaves, where `lanes` has gradients and weights for splits.
    newton: Vec<Vec<L>>,
    newton_grid: Grid,
}

impl<'a, L: Put> Rounds<'a, L> {
    fn new(
        (gradient, greedy): (&'a Gradient, &'a Greedy),
        loss: Loss,
        matrix: &'a Matrix<'a>,
        rows: Scored<'a>,
    ) -> Self {
        let outputs = rows.scores.len();
        let lanes = || vec![vec![L::default(); matrix.rows()]; outputs];
        let has_newton = gradient.order == Order::First;
        Self {
            gradient,
            loss,
            greedy,
            engine: Engine::new(matrix),
            heaviest: rows
                .weights
                .map_or(1.0, |weights| weights.iter().copied().fold(0.0, f32::max)),
            rows,
            grid: Grid::UNIT,
            lanes: lanes(),
            newton: if has_newton { lanes() } else { Vec::new() },
            newton_grid: Grid::UNIT,
        }
    }

    /// The gradients of all outputs at the scores so far.
    fn derive(&mut self) {
        let Scored {
            labels,
            weights,
            scores,
            ..
        } = &self.rows;
        let sight = Sight {
            loss: self.loss,
            labels,
            weights: *weights,
            heaviest: self.heaviest,
        };
        let [g, h] = sight.bounds(scores);
        let is_first = self.gradient.order == Order::First;
        self.grid = L::grid(g, if is_first { f64::from(self.heaviest) } else { h });
        sight.lanes(scores, self.grid, is_first, &mut self.lanes);
        if is_first {
            self.newton_grid = L::grid(g, h);
            sight.lanes(scores, self.newton_grid, false, &mut self.newton);
        }
    }

    /// Grows a tree for an output and adds it to the scores.
    fn tree(&mut self, round: usize, output: usize) -> Tree {
        let matrix = self.engine.matrix();
        let mut coins = sample::coins(self.gradient.seed, round);
        let sampled =
            (self.gradient.rows < 1.0).then(|| sample::choose(matrix.rows(), self.gradient.rows, &mut coins));
        let mut used = vec![self.gradient.columns >= 1.0; matrix.columns().len()];
        if self.gradient.columns < 1.0 {
            // Another draw for each output's tree, the same rows for all of them.
            for _ in 0..=output {
                used.fill(false);
                for feature in sample::choose(used.len(), self.gradient.columns, &mut coins) {
                    used[feature as usize] = true;
                }
            }
        }
        let plan = Plan {
            lanes: &self.lanes[output],
            grid: self.grid,
            rows: sampled.as_deref(),
            used: &used,
            growth: self.gradient.growth,
            rate: self.gradient.rate,
        };
        let mut tree = self.engine.grow(&plan, self.greedy);
        if let Some(newton) = self.newton.get(output) {
            self.newton_leaves(&mut tree, newton, sampled.as_deref());
        }
        let leaf_of = self.engine.leaf_of();
        let scores = self.rows.scores[output]
            .par_iter_mut()
            .zip(leaf_of)
            .with_min_len(8192);
        scores.for_each(|(score, leaf)| *score += tree.leaves[usize::from(leaf.load(Ordering::Relaxed))]);
        tree
    }

    /// Newton's step for each leaf.
    fn newton_leaves(&self, tree: &mut Tree, lanes: &[L], rows: Option<&[u32]>) {
        const PIECE: usize = 1 << 16;
        let leaf_of = self.engine.leaf_of();
        let count = rows.map_or(lanes.len(), <[u32]>::len);
        let pieces: Vec<Vec<[f64; 2]>> = (0..count.div_ceil(PIECE))
            .into_par_iter()
            .map(|piece| {
                let mut sums = vec![[0.0; 2]; tree.leaves.len()];
                for place in piece * PIECE..count.min((piece + 1) * PIECE) {
                    let row = rows.map_or(place, |rows| rows[place] as usize);
                    let [g, h] = lanes[row].pair();
                    let sum = &mut sums[usize::from(leaf_of[row].load(Ordering::Relaxed))];
                    *sum = [sum[0] + g, sum[1] + h];
                }
                sums
            })
            .collect();
        for (leaf, value) in tree.leaves.iter_mut().enumerate() {
            let sums = pieces.iter().fold([0.0; 2], |sum, piece| {
                [sum[0] + piece[leaf][0], sum[1] + piece[leaf][1]]
            });
            let step = self
                .greedy
                .leaf(self.newton_grid.real(sums), [f64::NEG_INFINITY, f64::INFINITY]);
            *value = (step * self.gradient.rate) as f32;
        }
    }
}
