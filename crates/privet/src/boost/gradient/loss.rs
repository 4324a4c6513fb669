//! Losses and their gradients.
//!
//! Derivatives are computed in single precision by plain arithmetic, without the platform's exponential: the same bits
//! everywhere.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::data::schema::{Label, Schema};
use crate::data::{Cells, Target};
use crate::error::Subject;
use crate::learner::tree::{Grid, Lane, Packed, Pair};

/// The loss that a model is fitted to minimise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Loss {
    /// Two classes; the score is the log of the odds of the second.
    Logistic,
    /// This many classes, with a score each.
    Softmax(u16),
    /// A number; the score is the number.
    Squared,
}

impl Loss {
    /// The loss for a schema's label.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it has no label.
    pub fn of(schema: &Schema) -> Result<Self, Error> {
        match schema.label() {
            None => Err(Error::parameter(
                Subject::Schema,
                "the schema declares no label to learn",
            )),
            Some((_, Label::Number { .. })) => Ok(Self::Squared),
            Some((_, Label::Classes(declared))) => match declared.values().len() {
                0..=2 => Ok(Self::Logistic),
                classes => Ok(Self::Softmax(classes as u16)),
            },
        }
    }

    /// How many scores a row has.
    pub fn outputs(self) -> usize {
        match self {
            Self::Logistic | Self::Squared => 1,
            Self::Softmax(classes) => usize::from(classes.max(1)),
        }
    }

    /// The labels of a table as numbers: a class's number, or the number itself.
    pub(super) fn labels(self, cells: &Cells) -> Result<Vec<f32>, Error> {
        match (self, cells.target()) {
            (Self::Squared, Some(Target::Numbers(numbers))) => Ok(numbers.clone()),
            (Self::Logistic | Self::Softmax(_), Some(Target::Classes(classes))) => {
                Ok(classes.iter().map(|&class| f32::from(class)).collect())
            }
            _ => Err(Error::misuse("the rows have no labels of the schema's kind")),
        }
    }

    /// The best constant scores.
    pub(super) fn base(self, labels: &[f32], weights: Option<&[f32]>) -> Vec<f32> {
        let weight = |row: usize| weights.map_or(1.0, |weights| f64::from(weights[row]));
        let mut totals = vec![0.0; self.outputs().max(2)];
        for (row, &label) in labels.iter().enumerate() {
            match self {
                Self::Squared => {
                    totals[0] += weight(row);
                    totals[1] += weight(row) * f64::from(label);
                }
                _ => totals[label as usize] += weight(row),
            }
        }
        let all: f64 = totals.iter().sum();
        let share = |class: usize| {
            if all > 0.0 {
                (totals[class] / all).clamp(1e-6, 1.0 - 1e-6)
            } else {
                0.5
            }
        };
        match self {
            Self::Squared if totals[0] > 0.0 => vec![(totals[1] / totals[0]) as f32],
            Self::Squared => vec![0.0],
            Self::Logistic => vec![(share(1) / (1.0 - share(1))).ln() as f32],
            Self::Softmax(_) => (0..self.outputs())
                .map(|class| share(class).ln() as f32)
                .collect(),
        }
    }

    /// The mean loss of scores, which lie output by output.
    pub(super) fn mean(self, scores: &[Vec<f32>], labels: &[f32], weights: Option<&[f32]>) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for (row, &label) in labels.iter().enumerate() {
            let weight = weights.map_or(1.0, |weights| f64::from(weights[row]));
            let score = f64::from(scores[0][row]);
            let loss = match self {
                Self::Squared => (score - f64::from(label)).powi(2),
                Self::Logistic => {
                    let signed = if label > 0.0 { -score } else { score };
                    signed.max(0.0) + (-signed.abs()).exp().ln_1p()
                }
                Self::Softmax(_) => {
                    let most = scores
                        .iter()
                        .map(|scores| scores[row])
                        .fold(f32::NEG_INFINITY, f32::max);
                    let exps = scores.iter().map(|scores| f64::from(scores[row] - most).exp());
                    exps.sum::<f64>().ln() - f64::from(scores[label as usize][row] - most)
                }
            };
            sum += weight * loss;
            total += weight;
        }
        if total > 0.0 { sum / total } else { 0.0 }
    }
}

/// The exponential of a single, to within two units in the last place; what lies beyond its range counts as its edge.
#[inline]
fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    let x = if x > 88.0 { 88.0 } else { x };
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    let rest = x - whole * 0.693_359_4 - whole * -2.121_944_4e-4;
    let series = 1.987_569_1e-4;
    let series = series * rest + 1.398_2e-3;
    let series = series * rest + 8.333_452e-3;
    let series = series * rest + 4.166_579_6e-2;
    let series = series * rest + 1.666_666_5e-1;
    let series = series * rest + 0.5;
    let value = series * rest * rest + rest + 1.0;
    // The whole part sits in the low bits of the shifted number: add it to the exponent.
    f32::from_bits(value.to_bits().wrapping_add(shifted.to_bits() << 23))
}

/// A lane that gradients can be put on.
pub(super) trait Put: Lane {
    /// The grid for gradients and hessians up to these bounds.
    fn grid(gradient: f64, hessian: f64) -> Grid;

    /// A gradient and a hessian, multiplied by the inverse of a step of the grid.
    fn put(gradient: f32, hessian: f32) -> Self;
}

impl Put for Packed {
    fn grid(gradient: f64, hessian: f64) -> Grid {
        Grid::packed(gradient, hessian)
    }

    #[inline]
    fn put(gradient: f32, hessian: f32) -> Self {
        // To the nearest whole number, halves to the even one: adding this leaves no room for a fraction.
        const ROUND: f32 = 12_582_912.0;
        let whole = |x: f32| ((x + ROUND).to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
        let within = |x: f32, low: f32, high: f32| {
            let x = if x > high { high } else { x };
            if x < low { low } else { x }
        };
        let most = Self::GRADIENT as f32;
        Self::rounded(
            whole(within(gradient, -most, most)),
            whole(within(hessian, 0.0, Self::HESSIAN as f32)),
        )
    }
}

impl Put for Pair {
    fn grid(_: f64, _: f64) -> Grid {
        Grid::UNIT
    }

    #[inline]
    fn put(gradient: f32, hessian: f32) -> Self {
        Self([gradient, hessian])
    }
}

/// The rows of a round as the losses see them.
pub(super) struct Sight<'a> {
    pub(super) loss: Loss,
    pub(super) labels: &'a [f32],
    pub(super) weights: Option<&'a [f32]>,
    /// The largest weight.
    pub(super) heaviest: f32,
}

const PIECE: usize = 4096;

impl Sight<'_> {
    #[inline]
    fn weight(&self, row: usize) -> f32 {
        match self.weights {
            Some(weights) => weights[row],
            None => 1.0,
        }
    }

    /// Bounds of gradients and hessians.
    pub(super) fn bounds(&self, scores: &[Vec<f32>]) -> [f64; 2] {
        let weight = f64::from(self.heaviest);
        match self.loss {
            Loss::Logistic => [weight, weight / 4.0],
            Loss::Softmax(_) => [weight, weight / 2.0],
            // A maximum does not depend on the order.
            Loss::Squared => {
                let gradient = |row: usize| (self.weight(row) * (scores[0][row] - self.labels[row])).abs();
                let most = (0..self.labels.len())
                    .into_par_iter()
                    .with_min_len(PIECE)
                    .map(gradient);
                [f64::from(most.reduce(|| 0.0, f32::max)), weight]
            }
        }
    }

    /// The lanes of each output. Where `plain` is true, weights stand where hessians would.
    pub(super) fn lanes<L: Put>(&self, scores: &[Vec<f32>], grid: Grid, plain: bool, out: &mut [Vec<L>]) {
        let step = [(1.0 / grid.gradient) as f32, (1.0 / grid.hessian) as f32];
        match (self.loss, out) {
            (Loss::Softmax(_), out) => self.softmax(scores, step, plain, out),
            (loss, out) => {
                let Some(out) = out.first_mut() else { return };
                out.par_chunks_mut(PIECE).enumerate().for_each(|(piece, out)| {
                    let begin = piece * PIECE;
                    let scores = &scores[0][begin..begin + out.len()];
                    let labels = &self.labels[begin..begin + out.len()];
                    let weights = self.weights.map(|weights| &weights[begin..begin + out.len()]);
                    let lanes = out.iter_mut().zip(scores.iter().zip(labels));
                    // Two loops for two losses, so that each is one straight line for the compiler.
                    match (loss, weights) {
                        (Loss::Squared, None) => {
                            lanes.for_each(|(lane, (s, y))| *lane = L::put((s - y) * step[0], step[1]));
                        }
                        (Loss::Squared, Some(weights)) => {
                            lanes.zip(weights).for_each(|((lane, (s, y)), w)| {
                                *lane = L::put(w * (s - y) * step[0], w * step[1]);
                            })
                        }
                        (_, None) => lanes.for_each(|(lane, (s, y))| {
                            let p = 1.0 / (1.0 + exp(-s));
                            let h = if plain { 1.0 } else { p * (1.0 - p) };
                            *lane = L::put((p - y) * step[0], h * step[1]);
                        }),
                        (_, Some(weights)) => lanes.zip(weights).for_each(|((lane, (s, y)), w)| {
                            let p = 1.0 / (1.0 + exp(-s));
                            let h = if plain { 1.0 } else { p * (1.0 - p) };
                            *lane = L::put(w * (p - y) * step[0], w * h * step[1]);
                        }),
                    }
                });
            }
        }
    }

    fn softmax<L: Put>(&self, scores: &[Vec<f32>], step: [f32; 2], plain: bool, out: &mut [Vec<L>]) {
        let mut pieces: Vec<Vec<&mut [L]>> = Vec::new();
        for lanes in out.iter_mut() {
            for (place, piece) in lanes.chunks_mut(PIECE).enumerate() {
                match pieces.get_mut(place) {
                    Some(pieces) => pieces.push(piece),
                    None => pieces.push(vec![piece]),
                }
            }
        }
        pieces.into_par_iter().enumerate().for_each(|(place, mut out)| {
            let begin = place * PIECE;
            let count = out.first().map_or(0, |lanes| lanes.len());
            let rows = begin..begin + count;
            let mut most = vec![f32::NEG_INFINITY; count];
            for scores in scores {
                most.iter_mut()
                    .zip(&scores[rows.clone()])
                    .for_each(|(most, &s)| *most = if s > *most { s } else { *most });
            }
            let mut totals = vec![0.0f32; count];
            let mut exps = vec![0.0f32; count * scores.len()];
            for (exps, scores) in exps.chunks_mut(count.max(1)).zip(scores) {
                for (i, (e, &s)) in exps.iter_mut().zip(&scores[rows.clone()]).enumerate() {
                    *e = exp(s - most[i]);
                    totals[i] += *e;
                }
            }
            for (class, (exps, lanes)) in exps.chunks(count.max(1)).zip(&mut out).enumerate() {
                for (i, (lane, e)) in lanes.iter_mut().zip(exps).enumerate() {
                    let p = e / totals[i];
                    let w = self.weight(begin + i);
                    let y = if self.labels[begin + i] == class as f32 {
                        1.0
                    } else {
                        0.0
                    };
                    let h = if plain { 1.0 } else { 2.0 * p * (1.0 - p) };
                    *lane = L::put(w * (p - y) * step[0], w * h * step[1]);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_as_good_as_single_precision() {
        for i in -870_000..=870_000 {
            let x = i as f32 / 10_000.0;
            let exact = f64::from(x).exp();
            let off = (f64::from(exp(x)) - exact).abs() / exact;
            assert!(off < 2.4e-7, "exp({x}) is off by {off}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(1000.0), exp(88.0));
        assert_eq!(exp(-1000.0), exp(-87.0));
    }

    #[test]
    fn gradients_go_to_the_nearest_step_of_the_grid() {
        let put = |g: f32, h: f32| Packed::put(g, h).pair();
        assert_eq!(put(0.4, 0.6), [0.0, 1.0]);
        assert_eq!(put(-1.6, 2.4), [-2.0, 2.0]);
        assert_eq!(put(-32_767.0, 65_535.0), [-32_767.0, 65_535.0]);
        // Halves go to the even step; what lies beyond the grid goes to its edge.
        assert_eq!([put(0.5, 1.5), put(1.5, 2.5)], [[0.0, 2.0], [2.0, 2.0]]);
        assert_eq!(put(-1e9, -1e9), [-32_767.0, 0.0]);
        assert_eq!(put(1e9, 1e9), [32_767.0, 65_535.0]);
    }

    /// The loss whose gradients are tested.
    fn slope(loss: Loss, scores: &[f64], label: f32, output: usize) -> [f64; 2] {
        const STEP: f64 = 1e-3;
        let at = |move_by: f64| {
            let scores: Vec<Vec<f32>> = scores
                .iter()
                .enumerate()
                .map(|(i, s)| vec![(s + if i == output { move_by } else { 0.0 }) as f32])
                .collect();
            let half = if loss == Loss::Squared { 0.5 } else { 1.0 };
            half * loss.mean(&scores, &[label], None)
        };
        let (less, here, more) = (at(-STEP), at(0.0), at(STEP));
        [
            (more - less) / (2.0 * STEP),
            (more - 2.0 * here + less) / (STEP * STEP),
        ]
    }

    #[test]
    fn gradients_and_hessians_are_those_of_the_loss() {
        let cases = [
            (Loss::Logistic, vec![0.7], 1.0, 1.0),
            (Loss::Logistic, vec![-1.5], 0.0, 1.0),
            (Loss::Squared, vec![0.25], 1.0, 1.0),
            // XGBoost doubles the hessians of softmax: scores that move together change nothing.
            (Loss::Softmax(3), vec![0.5, -0.25, 1.0], 2.0, 2.0),
        ];
        for (loss, scores, label, doubled) in cases {
            let columns: Vec<Vec<f32>> = scores.iter().map(|&s| vec![s as f32]).collect();
            let labels = [label];
            let sight = Sight {
                loss,
                labels: &labels,
                weights: None,
                heaviest: 1.0,
            };
            let mut lanes = vec![vec![Pair::default()]; scores.len()];
            sight.lanes(&columns, Grid::UNIT, false, &mut lanes);
            for (output, lanes) in lanes.iter().enumerate() {
                let [g, h] = slope(loss, &scores, label, output);
                let [gradient, hessian] = lanes[0].pair();
                assert!((gradient - g).abs() < 1e-3, "{loss:?}: {gradient} is not {g}");
                assert!(
                    (hessian - doubled * h).abs() < 0.1,
                    "{loss:?}: {hessian} is not {h}"
                );
            }
        }
    }
}
