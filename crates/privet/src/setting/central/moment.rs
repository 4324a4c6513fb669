//! A noisy direction, then one choice among planes around it.
//!
//! Not in the paper: measured to beat it from moderate ε on (`docs/papers.md`). Half of ε buys the sum of residuals times features,
//! the direction in which the public classifier is most wrong; the other half chooses among its rescalings and intercepts.

use super::rows::{Candidate, CuratorRows};
use super::select::{Base, choose, normal};
use super::{Algorithm, Balance, Facts, Resolved, Run, TrainOnRows, noise};
use crate::Error;
use crate::boost::Ensemble;
use crate::parameters::parameters;
use crate::privacy::mechanism::{Grid, Laplace, Mechanism};
use crate::privacy::{Anchor, Ledger, Norm, Query, Sensitivity};

/// Binary digits of a contribution.
const DIGITS: u32 = 12;
/// How far single coefficients are rescaled: standard deviation of their logarithms.
const SPREAD: f64 = 0.7;

parameters! {
    /// Parameters of a noisy direction and a choice around it.
    pub struct MomentSelect("moment-select") {
        /// How many planes are drawn around the direction.
        candidates: u32 = 500, in 1..=100_000;
        /// Whether equally many rows of both classes are used; only where labels are public.
        balance: Balance = Balance(false);
    }
}

impl Algorithm for MomentSelect {
    fn resolve(&self, facts: &Facts) -> Result<Resolved, Error> {
        let half = facts.budget.share(2)?;
        let columns = facts.private_features().count() as u64;
        let scale = Laplace::calibrated(half, facts.relation.steps() * columns)?
            .variance()
            .sqrt();
        let noise = vec![
            format!(
                "A direction over {columns} columns is released; noise on each column weighs as much as {} rows at its bound (one standard error).",
                noise::whole(scale)
            ),
            noise::choice(self.candidates, half, facts),
        ];
        Ok(Resolved::new(self, facts, noise, self.clone()))
    }
}

impl TrainOnRows for MomentSelect {
    /// # Privacy
    /// Pure ε in two halves; `docs/proofs/central.md#moments` and `#hits`.
    fn train(&self, rows: &CuratorRows, run: Run<'_>) -> Result<Ensemble, Error> {
        run.at(0, 2)?;
        let base = Base::new(rows);
        let half = run.facts.budget.share(2)?;
        let direction = direction(rows, &base, run.ledger, half)?;
        run.at(1, 2)?;
        let mut coins = run.ledger.coins()?;
        let mut candidates: Vec<Candidate> = (0..self.candidates)
            .map(|_| {
                let rescaled = direction
                    .iter()
                    .map(|g| g * (SPREAD * normal(&mut coins)).exp())
                    .collect();
                base.candidate(rescaled, &mut coins)
            })
            .collect();
        if let (Some(_), Some(first)) = (&base.linear, candidates.first_mut()) {
            // The public classifier alone may be best.
            first.coefficients.fill(0.0);
            first.intercept = 0.0;
        }
        let what = format!("choice among {} planes around a direction", self.candidates);
        choose(&candidates, &base, rows, (run.ledger, &what, half))
    }
}

/// The sum of residuals times features, with noise on every coordinate.
///
/// # Privacy
/// `docs/proofs/central.md#moments`.
fn direction(
    rows: &CuratorRows,
    base: &Base,
    ledger: &mut Ledger,
    epsilon: crate::privacy::Epsilon,
) -> Result<Vec<f64>, Error> {
    // Residuals are public where labels and log-odds are; else they are a half, one way or the other.
    let residuals: Option<Vec<f64>> = rows.public.as_ref().map(|known| {
        let score = |row: usize| base.scores.get(row).copied().unwrap_or(0.0);
        let labels = known.labels.iter().enumerate();
        labels
            .map(|(row, &label)| f64::from(label.min(1)) - 1.0 / (1.0 + (-score(row)).exp()))
            .collect()
    });
    let bound = match &residuals {
        Some(residuals) => residuals.iter().fold(0.0, |most: f64, r| most.max(r.abs())),
        None => 0.5,
    };
    let grid = Grid::new(DIGITS, bound.max(1e-3))?;
    let relation = ledger.relation().clone();
    let width = rows.coordinates.len();
    let l1 = relation.steps() * grid.bound() * width as u64;
    let claim = Sensitivity::claim(&relation, Norm::L1(l1), Anchor::new("central#moments"))?.also_added();
    let query = Query::new(width, claim, || {
        rows.matrix.as_ref().map(|matrix| {
            let residual = |row: usize| match &residuals {
                Some(residuals) => residuals.get(row).copied().unwrap_or(0.0),
                None if matrix.labels[row] => 0.5,
                None => -0.5,
            };
            let residuals: Vec<f64> = (0..matrix.rows()).map(residual).collect();
            let sum = |column: &Vec<f32>| {
                let each = column.iter().zip(&residuals);
                each.map(|(&x, r)| grid.place(r * f64::from(x))).sum()
            };
            matrix.columns.iter().map(sum).collect()
        })
    });
    let mechanism = Laplace::calibrated(epsilon, l1)?;
    let what = format!("direction over {width} columns");
    let sums = ledger.release(&what, &mechanism, query)?.into_inner();
    Ok(sums.iter().map(|&sum| grid.value(sum)).collect())
}
