//! Access for tests to the queries of a run and their answers without noise. Only with the feature `audit`, which no release
//! has; an audited run is void, and its ledger says so.

use std::any::Any;

use super::account::Price;
use super::joint::{residue, signed};
use super::mechanism::ordered::{Column, Desensitised, Distance};
use super::mechanism::{
    Ball, ENTRY_DIGITS, LogisticRows, Mechanism, Objective, Paid, SharedMechanism, WEIGHT_DIGITS,
};
use super::query::Norm;
use super::{Neighbours, Private, Randomness};
use crate::Error;

/// One query as an auditor sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// The mechanism and its parameters.
    pub mechanism: String,
    /// The answer without noise.
    pub answer: Vec<i64>,
    /// The claimed sensitivity.
    pub norm: Norm,
    /// What was charged.
    pub price: Price,
}

/// One minimum of a perturbed loss as an auditor sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The mechanism and its parameters.
    pub mechanism: String,
    /// The norm of slopes.
    pub ball: Ball,
    /// How many coefficients it has.
    pub dimension: usize,
    /// How far one change may move the slope anywhere.
    pub moves: f64,
    /// By how much one change may move the logarithm of the determinant of all second derivatives anywhere.
    pub bends: f64,
    /// The ridge.
    pub ridge: f64,
    /// How long the slope may be where the mechanism stops.
    pub slack: f64,
    /// What was charged.
    pub price: Price,
}

/// The loss that is minimised, as an auditor can evaluate it.
pub trait Minimised {
    /// The slopes of all rows together at `at`, as the mechanism computes them.
    fn slope(&self, at: &[f64]) -> Vec<f64>;

    /// The matrix of all second derivatives at `at` with the ridge, line by line.
    fn curvature(&self, at: &[f64]) -> Vec<Vec<f64>>;

    /// The point that the mechanism stops at for this noise, before it is rounded and hidden.
    fn point(&self, noise: &[f64]) -> Vec<f64>;
}

struct MinimisedRows<'a, N, R> {
    objective: &'a Objective<N>,
    rows: &'a R,
}

impl<N: Neighbours, R: LogisticRows> Minimised for MinimisedRows<'_, N, R> {
    fn slope(&self, at: &[f64]) -> Vec<f64> {
        self.objective.slope_at(self.rows, at)
    }

    fn curvature(&self, at: &[f64]) -> Vec<Vec<f64>> {
        let m = at.len();
        let mut matrix = vec![vec![0.0; m]; m];
        (0..m).for_each(|i| matrix[i][i] = self.objective.ridge());
        let mut entries = Vec::new();
        for row in 0..self.rows.rows() {
            entries.clear();
            let own = self.rows.row(row, &mut entries);
            let unit = 0.5f64.powi(ENTRY_DIGITS as i32);
            let entry = |&(place, x): &(usize, i32)| (place, f64::from(x) * unit);
            let entries: Vec<(usize, f64)> = entries.iter().map(entry).collect();
            let sum = entries.iter().map(|(place, x)| at[*place] * x).sum::<f64>() + own.offset as f64 * unit;
            let e = (-sum.abs()).exp();
            let bend = own.weight as f64 * 0.5f64.powi(WEIGHT_DIGITS as i32) * e / ((1.0 + e) * (1.0 + e));
            for &(i, x) in &entries {
                entries.iter().for_each(|&(j, y)| matrix[i][j] += bend * x * y);
            }
        }
        matrix
    }

    fn point(&self, noise: &[f64]) -> Vec<f64> {
        self.objective.point_for(self.rows, noise)
    }
}

/// Columns as an auditor sees them before their values are changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// What is claimed.
    pub distances: Vec<Distance>,
    /// The values of each column.
    pub values: Vec<Vec<i64>>,
    /// How many rows one change may touch.
    pub rows: u64,
}

/// Sees every query of a run, and may answer in the mechanism's place.
pub trait Auditor: Send {
    /// A query was paid for. `Some` is released instead of a draw (and must have the mechanism's output type).
    fn query(&mut self, query: Observed) -> Option<Box<dyn Any + Send>>;

    /// The minimum of a perturbed loss was paid for. `Some` is released instead.
    fn minimum(&mut self, _minimum: Minimum, _loss: &dyn Minimised) -> Option<Vec<f64>> {
        None
    }

    /// Columns are about to be released. `Some` is released instead.
    fn columns(&mut self, _columns: Columns) -> Option<Vec<Desensitised>> {
        None
    }

    /// A draw was released.
    fn released(&mut self, output: Box<dyn Any + Send>);

    /// Public randomness was requested; the returned seed is used.
    fn coins(&mut self, seed: [u8; 32]) -> [u8; 32];

    /// What follows is about this portion of the units, or about all units if there are no portions.
    fn portion(&mut self, _portion: Option<u32>) {}

    /// `parts` parts follow, of which one change touches at most `steps`.
    fn parts_begin(&mut self, parts: usize, steps: u64);

    /// One part is done.
    fn part_ends(&mut self);

    /// All parts are done.
    fn parts_end(&mut self);
}

pub(super) fn observe<M: Mechanism>(
    auditor: &mut dyn Auditor,
    norm: Norm,
    price: Price,
    mechanism: &M,
    answer: Private<Vec<i64>>,
    random: &mut Randomness,
) -> Result<M::Output, Error> {
    let answer = answer.expose();
    let output = match auditor.query(Observed {
        mechanism: mechanism.describe(),
        answer: answer.clone(),
        norm,
        price,
    }) {
        Some(output) => *output
            .downcast::<M::Output>()
            .map_err(|_| Error::misuse("the record holds an output of another type here"))?,
        None => mechanism.draw(Private::wrap(answer), Paid::receipt(), random),
    };
    auditor.released(Box::new(output.clone()));
    Ok(output)
}

/// As [`observe`], for a share of noise: the auditor sees and gives numbers, and what enters the joint sum are their residues.
pub(super) fn observe_share<M: SharedMechanism>(
    auditor: &mut dyn Auditor,
    (norm, price): (Norm, Price),
    mechanism: &M,
    answer: Private<Vec<i64>>,
    random: &mut Randomness,
) -> Result<Vec<u64>, Error> {
    let answer = answer.expose();
    let asked = Observed {
        mechanism: mechanism.describe(),
        answer: answer.clone(),
        norm,
        price,
    };
    let residues: Vec<u64> = match auditor.query(asked) {
        Some(output) => {
            let numbers = output
                .downcast::<Vec<i64>>()
                .map_err(|_| Error::misuse("the record holds an output of another type here"))?;
            if numbers.len() != answer.len() {
                return Err(Error::misuse("the record holds another number of numbers here"));
            }
            numbers.iter().map(|number| residue((*number).into())).collect()
        }
        None => mechanism.draw(Private::wrap(answer), Paid::receipt(), random),
    };
    let numbers: Vec<i64> = residues.iter().map(|residue| signed(*residue)).collect();
    auditor.released(Box::new(numbers));
    Ok(residues)
}

pub(super) fn observe_minimum<N: Neighbours, R: LogisticRows>(
    auditor: &mut dyn Auditor,
    objective: &Objective<N>,
    rows: Private<R>,
    random: &mut Randomness,
) -> Result<Vec<f64>, Error> {
    let relation = objective.relation().relation();
    let [_, bends, _] = objective.shares();
    let asked = Minimum {
        mechanism: objective.describe(),
        ball: objective.loss().ball,
        dimension: objective.dimension(),
        moves: relation.steps() as f64 * objective.loss().slope,
        bends,
        ridge: objective.ridge(),
        slack: objective.slack(),
        price: objective.price(),
    };
    let rows = rows.expose();
    let seen = MinimisedRows {
        objective,
        rows: &rows,
    };
    let output = match auditor.minimum(asked, &seen) {
        Some(output) if output.len() == objective.dimension() => output,
        Some(_) => {
            return Err(Error::misuse(
                "the record holds another number of coefficients here",
            ));
        }
        None => objective.minimum(Private::wrap(rows), Paid::receipt(), random),
    };
    auditor.released(Box::new(output.clone()));
    Ok(output)
}

pub(super) fn observe_columns(
    auditor: &mut dyn Auditor,
    columns: Vec<Column<'_>>,
    rows: u64,
    random: &mut Randomness,
) -> Vec<Desensitised> {
    let seen = Columns {
        distances: columns.iter().map(Column::distance).collect(),
        values: columns.iter().map(Column::values).collect(),
        rows,
    };
    let output = auditor.columns(seen).unwrap_or_else(|| {
        let draw = |column: Column<'_>| column.draw(Paid::receipt(), random);
        columns.into_iter().map(draw).collect()
    });
    auditor.released(Box::new(output.clone()));
    output
}
