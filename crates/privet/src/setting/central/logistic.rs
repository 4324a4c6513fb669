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

use super::objective::codes_loss;
use super::regression::{Design, Regression};
use super::rows::{Rows, numbers};
use super::{Budget, Progress};
use crate::Error;
use crate::boost::{Ensemble, Link};
use crate::learner::Linear;
use crate::privacy::mechanism::{Ball, Objective, RowLoss};
use crate::privacy::{Ledger, Neighbours};

/// # Privacy
/// None: the run is void (`docs/proofs/objective.md#perturbed-objectives`, assumptions). Public columns and
/// labels are treated as if they were private.
pub(super) fn train<N: Neighbours>(
    rows: &Rows,
    ledger: &mut Ledger<N>,
    budget: &Budget,
    progress: Progress<'_>,
) -> Result<Ensemble, Error> {
    progress(0, 1);
    let loss = loss(rows.all.len())?;
    let scale = 1.0 / (loss.dimension as f64).sqrt();
    let objective = Objective::calibrated(budget.epsilon, ledger.relation(), loss)?;
    let ridge = objective.ridge();
    let what = format!("coefficients of all {} columns", rows.all.len());
    let found = ledger.minimise(&what, &objective, |noise| {
        rows.matrix.as_ref().zip(noise, |matrix, noise| {
            let regression = Regression {
                design: Design::Numbers {
                    columns: &numbers(&matrix.cells, &rows.all),
                    scale,
                },
                labels: &matrix.labels,
                offsets: &[],
                weights: None,
                ridge,
                noise: &noise,
            };
            regression.minimum()
        })
    })?;
    let found: Vec<f64> = found.into_inner().iter().map(|x| scale * x).collect();
    progress(1, 1);
    Ok(Ensemble::of_sum(
        Link::Logistic,
        Linear::of(&rows.shapes, &rows.all, &found[1..], found[0]),
    ))
}

/// What a row adds: it is no longer than one.
///
/// # Errors
/// As [`codes_loss`].
pub(super) fn loss(columns: usize) -> Result<RowLoss, Error> {
    Ok(RowLoss {
        ball: Ball::Sphere,
        slope: 1.0,
        curvature: 0.25,
        ..codes_loss(columns)?
    })
}
