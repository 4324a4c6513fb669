//! Differentially private logistic regression that takes every column for private: what the paper compares with.
//!
//! # Paper
//! BRC, section 5.2 ("DP logistic regression"); Chaudhuri, Monteleoni and Sarwate (2011), algorithm 2: noise of density
//! exp(−‖V‖/scale) in the round ball is added to the slope of the loss, and the minimum is released.
//!
//! # Deviations
//! Rows are scaled by a public constant, 1/√(d + 1), so that none is longer than one; the paper's implementation takes that constant
//! from its caller. The ridge covers the determinant with (1 + λ/γ) for one row, where the authors allow its square, and ε is cut
//! once and for all, 85 to 15, where they cut by the ridge that they are given. Both give less noise at the same ε.

use super::objective::LARGEST;
use super::regression::{Design, Regression};
use super::rows::{Rows, numbers};
use super::{Budget, Progress};
use crate::Error;
use crate::boost::{Ensemble, Link};
use crate::error::Subject;
use crate::learner::Linear;
use crate::privacy::mechanism::{Floating, LogisticRows};
use crate::privacy::{Epsilon, Ledger, Neighbours, Relation};

/// # Privacy
/// None: the run is void (`docs/proofs/objective.md#the-sphere`). Public columns and labels are treated as if they were private.
pub(super) fn train<N: Neighbours>(
    rows: &Rows,
    ledger: &mut Ledger<N>,
    budget: &Budget,
    progress: Progress<'_>,
) -> Result<Ensemble, Error> {
    progress(0, 1);
    let objective = objective(rows.all.len(), budget.epsilon, &ledger.relation().relation())?;
    // Coefficients of rows that are made shorter, times that scale: the same minimum with another ridge and noise.
    let scale = row(rows.all.len());
    let ridge = objective.ridge() / (scale * scale);
    let what = format!("coefficients of all {} columns", rows.all.len());
    let found = ledger.minimise_void(&what, &objective, |noise| {
        rows.matrix.as_ref().zip(noise, |matrix, noise| {
            let regression = Regression {
                design: Design::Numbers(&numbers(&matrix.cells, &rows.all)),
                labels: &matrix.labels,
                offsets: &[],
                weights: None,
            };
            let noise: Vec<f64> = noise.iter().map(|v| v / scale).collect();
            regression.guess(ridge, &noise)
        })
    })?;
    let found = found.into_inner();
    progress(1, 1);
    Ok(Ensemble::of_sum(
        Link::Logistic,
        Linear::of(&rows.shapes, &rows.all, &found[1..], found[0]),
    ))
}

/// What rows are multiplied by, so that none is longer than one.
pub(super) fn row(columns: usize) -> f64 {
    1.0 / ((columns + 1) as f64).sqrt()
}

/// Noise and ridge.
///
/// # Errors
/// [`Error::Parameter`] if a matrix of so many products cannot be written.
pub(super) fn objective(columns: usize, epsilon: Epsilon, relation: &Relation) -> Result<Floating, Error> {
    if columns >= LARGEST {
        return Err(Error::parameter(
            Subject::Algorithm,
            format!(
                "name: {} coefficients are too many, at most {LARGEST} can be fitted; declare fewer columns",
                columns + 1
            ),
        ));
    }
    Floating::calibrated(epsilon, relation, columns + 1)
}
