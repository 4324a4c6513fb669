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
use super::rows::{CuratorRows, numbers};
use super::{Algorithm, Balance, Facts, Resolved, Run, TrainOnRows, noise};
use crate::Error;
use crate::boost::{Ensemble, Link};
use crate::learner::Linear;
use crate::parameters::parameters;
use crate::privacy::mechanism::{Floating, LogisticRows, ROUNDING_TELLS};
use crate::privacy::{Epsilon, Relation};

parameters! {
    /// Logistic regression in floating point, as its authors have it: every column private, noise in a sphere.
    pub struct DpLogistic("dp-logistic") {
        /// Whether equally many rows of both classes are used; only where labels are public.
        balance: Balance = Balance(false);
    }
}

impl Algorithm for DpLogistic {
    fn resolve(&self, facts: &Facts) -> Result<Resolved, Error> {
        let columns = facts.schema.features().count();
        let off = objective(columns, facts.budget.epsilon, &facts.relation)?.deviation() / row(columns);
        let noise = vec![noise::coefficients(columns + 1, off)];
        Ok(Resolved {
            void: Some(ROUNDING_TELLS),
            ..Resolved::new(self, facts, noise, self.clone())
        })
    }
}

impl TrainOnRows for DpLogistic {
    /// # Privacy
    /// None: the run is void (`docs/proofs/objective.md#the-sphere`). Public columns and labels are treated as if they were private.
    fn train(&self, rows: &CuratorRows, run: Run<'_>) -> Result<Ensemble, Error> {
        run.at(0, 1)?;
        let objective = objective(
            rows.all.len(),
            run.facts.budget.epsilon,
            &run.ledger.relation().clone(),
        )?;
        // Coefficients of rows that are made shorter, times that scale: the same minimum with another ridge and noise.
        let scale = row(rows.all.len());
        let ridge = objective.ridge() / (scale * scale);
        let what = format!("coefficients of all {} columns", rows.all.len());
        let found = run.ledger.minimise_void(&what, &objective, |noise| {
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
        Ok(Ensemble::of_sum(
            Link::Logistic,
            Linear::of(&rows.shapes, &rows.all, &found[1..], found[0]),
        ))
    }
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
        let why = format!(
            "name: {} coefficients are too many, at most {LARGEST} can be fitted; declare fewer columns",
            columns + 1
        );
        return Err(Error::parameter("name", why));
    }
    Floating::calibrated(epsilon, relation, columns + 1)
}
