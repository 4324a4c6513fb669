//! The generator of the paper's toy example: **not private as described**.
//!
//! # Paper
//! BRC, section 4 and figure 1: in every round each label is flipped with a probability close to one half, and the threshold
//! that is best for the flipped labels is the round's private classifier.
//!
//! # Privacy
//! None is proved. Theorem 3 is about classifiers that are drawn without looking at rows; these are fitted to labels and to the
//! order of the private numbers. A flip with probability p bounds by (1 − p)/p what one label says in one round (0.04 at p = 0.49), but
//! that is not counted, and the number beside the label is not flipped at all: a threshold is the number of one row, as it is.
//! `planes = "thresholds"` draws thresholds blindly, and reaches nearly as much.

use super::super::brc::{Brc, Weights, member};
use super::super::rows::{Candidate, Matrix, Rows};
use super::laplace;
use crate::Error;
use crate::boost::{Ensemble, Link};
use crate::data::Table;
use crate::error::Subject;
use crate::model::{Model, Settings};
use crate::privacy::{Coins, Epsilon, Relation, Unprotected};

/// Why it protects nobody.
const BECAUSE: &str = "the toy's generator is not private as described: its thresholds are private numbers of single rows, chosen by \
                       labels, and no noise covers the choice";

/// Parameters of the toy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flips {
    /// Rounds; the paper has 50.
    pub rounds: u32,
    /// How probably a label is flipped; the paper has about 0.49.
    pub probability: f64,
    /// Weights stay between one over this and this; the paper has 2.
    pub clip: f64,
    /// What all errors together would cost, were the claim true.
    pub epsilon: Epsilon,
}

impl Flips {
    /// Why whatever comes of it is void: what a leave for it should say.
    pub fn because() -> &'static str {
        BECAUSE
    }

    /// Boosts thresholds on the one private column of a table.
    ///
    /// # Paper
    /// Algorithm 2 without a public classifier, the generator of section 4 in line 5.
    ///
    /// # Deviations
    /// Noise comes from public coins: it hides nothing anyway.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there is not one private column, or a number makes no sense; [`Error::Misuse`] if the relation
    /// protects less than the schema.
    pub fn fit(
        &self,
        table: Table,
        relation: &Relation,
        leave: &Unprotected,
        coins: &mut Coins,
    ) -> Result<Model, Error> {
        let sensible = self.epsilon > Epsilon::ZERO
            && (1.0..=100.0).contains(&self.clip)
            && (0.0..=1.0).contains(&self.probability);
        if !sensible {
            return Err(Error::parameter(
                Subject::Algorithm,
                format!("{self:?} makes no sense"),
            ));
        }
        let schema = table.schema().clone();
        let rows = Rows::new(table, relation)?;
        if rows.coordinates.len() != 1 {
            return Err(Error::parameter(
                Subject::Schema,
                format!("the toy has one private column, not {}", rows.coordinates.len()),
            ));
        }
        let brc = Brc {
            lower: self.clip,
            upper: self.clip,
            ..Brc::default()
        };
        let line = Line::of(leave.reveal(rows.matrix.as_ref()));
        let spread = self.clip * self.clip * f64::from(self.rounds);
        let scale = spread / self.epsilon.to_f64() / line.numbers.len().max(1) as f64;
        let mut weights = Weights::new(&brc, &rows);
        let mut members = Vec::new();
        for _ in 0..self.rounds {
            let plane = line.threshold(self.probability, coins);
            weights.judge(&rows, &plane);
            let error = leave.reveal(weights.state.as_ref().map(|state| state.error()));
            let coefficient = 0.5 - error - laplace(scale, coins);
            members.push(member(coefficient, plane.linear(&rows)));
            weights.take(&rows, coefficient);
        }
        let ensemble = Ensemble::new(Link::Vote, vec![0.0], members);
        Model::new(schema, ensemble, leave.certificate(), Settings::new(Vec::new()))
    }
}

/// The rows in the order of their numbers.
struct Line {
    numbers: Vec<f32>,
    labels: Vec<bool>,
}

impl Line {
    fn of(matrix: &Matrix) -> Self {
        let numbers = &matrix.columns[0];
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
        Self {
            numbers: order.iter().map(|&row| numbers[row]).collect(),
            labels: order.iter().map(|&row| matrix.labels[row]).collect(),
        }
    }

    /// Flips labels, and takes the threshold that puts most of them right: from the number of one row on, or beyond all.
    fn threshold(&self, probability: f64, coins: &mut Coins) -> Candidate {
        let flipped = self
            .labels
            .iter()
            .map(|label| *label != (coins.unit() < probability));
        let (mut score, mut best, mut from) = (0_i64, 0, 0);
        for (row, label) in flipped.enumerate() {
            score += if label { -1 } else { 1 };
            // Rows of one number lie on one side.
            let next = self.numbers.get(row + 1);
            if score > best && next != Some(&self.numbers[row]) {
                (best, from) = (score, row + 1);
            }
        }
        const BEYOND: f32 = 2.0;
        Candidate {
            coefficients: vec![1.0],
            intercept: -self.numbers.get(from).copied().unwrap_or(BEYOND),
        }
    }
}
