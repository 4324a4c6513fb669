//! A window for tests: what a run asks, without noise, and what it would answer. Only with the feature `audit`, which
//! no release has; a run that is looked at is void, and its ledger says so.

use std::any::Any;

use super::account::Price;
use super::mechanism::ordered::{Column, Desensitised, Distance};
use super::mechanism::{Mechanism, Objective, Paid};
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

/// One minimum of a perturbed loss as an auditor sees it. There is no answer without noise to compare: what one row can do to
/// the loss is audited by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The mechanism and its parameters.
    pub mechanism: String,
    /// How many coefficients it has.
    pub dimension: usize,
    /// What was charged.
    pub price: Price,
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
    fn minimum(&mut self, _minimum: Minimum) -> Option<Vec<f64>> {
        None
    }

    /// Columns are about to leave. `Some` is released instead.
    fn columns(&mut self, _columns: Columns) -> Option<Vec<Desensitised>> {
        None
    }

    /// A draw was released.
    fn released(&mut self, output: Box<dyn Any + Send>);

    /// Public randomness was asked for; what is returned is used.
    fn coins(&mut self, seed: [u8; 32]) -> [u8; 32];

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
            .map_err(|_| Error::Misuse("the record holds an output of another type here".into()))?,
        None => mechanism.draw(Private::wrap(answer), Paid::receipt(), random),
    };
    auditor.released(Box::new(output.clone()));
    Ok(output)
}

pub(super) fn observe_minimum<N: Neighbours>(
    auditor: &mut dyn Auditor,
    objective: &Objective<N>,
    solve: impl FnOnce(Private<Vec<f64>>) -> Private<Vec<f64>>,
    random: &mut Randomness,
) -> Result<Vec<f64>, Error> {
    let asked = Minimum {
        mechanism: objective.describe(),
        dimension: objective.dimension(),
        price: objective.price(),
    };
    let output = match auditor.minimum(asked) {
        Some(output) if output.len() == objective.dimension() => output,
        Some(_) => {
            return Err(Error::Misuse(
                "the record holds another number of coefficients here".into(),
            ));
        }
        None => objective.minimum(solve, Paid::receipt(), random),
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
