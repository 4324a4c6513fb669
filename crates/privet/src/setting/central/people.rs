//! Boosting of classifiers that are private themselves.
//!
//! # Paper
//! BRC, section 1.2 (any differentially private classifier may stand in for the random one) and figure 4a, which compares with
//! "Boosting for People" of Dwork, Rothblum and Vadhan (2010).
//!
//! # Deviations
//! It is not their algorithm: they draw a fresh sample of rows from a smoothed distribution in every round and give it to a base
//! learner, which pays through a bound on how much any row can weigh. The paper states neither sample sizes nor smoothing, so its
//! figure cannot be repeated to the letter, and sampling rows by private weights asks for noise of its own. Here every round fits
//! a weighted logistic regression with a perturbed loss to all rows, weights within BRC's clips: the best that the same idea gives
//! under pure ε with BRC's rounds, branch and weights.

use std::f64::consts::SQRT_2;

use super::brc::{Asking, Brc, Classifiers, Clip, Coefficient, Normaliser, ONE, Weights};
use super::objective::codes_loss;
use super::regression::{Design, Regression};
use super::rows::{Candidate, CuratorRows};
use super::{Algorithm, Balance, Budget, Facts, Resolved, Run, TrainOnRows, noise};
use crate::Error;
use crate::boost::Ensemble;
use crate::parameters::parameters;
use crate::privacy::account::Price;
use crate::privacy::mechanism::{Objective, RowLoss, WEIGHT_DIGITS};
use crate::privacy::{Anchor, Epsilon, Relation};

parameters! {
    /// Parameters of boosting with private classifiers: those of [`Brc`], without its planes.
    pub struct People("people") {
        /// Rounds; if not given, what half of ε and the number of rows allow, at most 25.
        rounds: Option<u32> = None, in 1..=10_000;
        /// A weight is never below one over this (the paper's c₁).
        lower: f64 = SQRT_2, in 1.0..=100.0;
        /// A weight is never above this (the paper's c₂).
        upper: f64 = SQRT_2, in 1.0..=100.0;
        /// How a weight outside the clips is brought back.
        clip: Clip = Clip::Freeze;
        /// What the error is measured against.
        normaliser: Normaliser = Normaliser::Rows;
        /// How an error becomes a coefficient.
        coefficient: Coefficient = Coefficient::Linear;
        /// Whether equally many rows of both classes are used; only where labels are public.
        balance: Balance = Balance(false);
    }
}

impl Algorithm for People {
    fn resolve(&self, facts: &Facts) -> Result<Resolved, Error> {
        let budget = &facts.budget;
        let rounds = self.rounds(budget);
        let own = Self {
            rounds: Some(rounds),
            ..self.clone()
        };
        let share = budget.share(own.draws(budget))?;
        let loss = own.heaviest(facts.private_features().count())?;
        let noise = vec![
            noise::coefficients(loss.dimension, loss.deviation(share, &facts.relation)?),
            format!(
                "That is done {rounds} times. How often each classifier is wrong is released too, with an error of {} from noise (one standard error).",
                noise::points(own.deviation(budget, &facts.relation)?)
            ),
        ];
        Ok(Resolved::new(&own, facts, noise, own.clone()))
    }
}

impl People {
    /// Rounds by BRC's rule, for the half of ε that errors are paid from.
    pub(super) fn rounds(&self, budget: &Budget) -> u32 {
        let half = Budget {
            epsilon: Epsilon::from_billionths(budget.epsilon.billionths() / 2),
            ..*budget
        };
        self.boosting(self.rounds).rounds(&half)
    }

    /// How many draws all rounds take: a classifier and an error each.
    pub(super) fn draws(&self, budget: &Budget) -> u64 {
        2 * u64::from(self.rounds(budget))
    }

    /// The same rounds over other classifiers.
    fn boosting(&self, rounds: Option<u32>) -> Brc {
        Brc {
            rounds,
            lower: self.lower,
            upper: self.upper,
            clip: self.clip,
            normaliser: self.normaliser,
            coefficient: self.coefficient,
            ..Brc::default()
        }
    }

    /// What rows of the largest weight there can be add to a round's loss.
    pub(super) fn heaviest(&self, columns: usize) -> Result<RowLoss, Error> {
        loss(columns, self.upper)
    }

    /// The standard error that noise adds to a released edge in the last round, as a share of all rows.
    pub(super) fn deviation(&self, budget: &Budget, relation: &Relation) -> Result<f64, Error> {
        // Each of its errors has as much of ε as BRC's would have with twice the rounds.
        let twice = self.boosting(Some(2 * self.rounds(budget)));
        twice.deviation(budget, relation)
    }
}

impl TrainOnRows for People {
    /// # Paper
    /// Algorithm 2 with a private classifier in line 5.
    ///
    /// # Privacy
    /// Pure ε, half of it for T classifiers and half for their T errors; `docs/proofs/objective.md#weighted-rounds`.
    fn train(&self, rows: &CuratorRows, run: Run<'_>) -> Result<Ensemble, Error> {
        let relation = run.ledger.relation().clone();
        let (rounds, draws) = (self.rounds(&run.facts.budget), self.draws(&run.facts.budget));
        let share = run.facts.budget.share(draws)?;
        // What may be refused is refused before it is paid for: no round asks for more noise than this.
        Objective::calibrated(share, &relation, self.heaviest(rows.coordinates.len())?)?;
        let what = format!("{rounds} private classifiers and their errors");
        let price = Price::Pure(run.facts.budget.epsilon);
        let paid = run.ledger.reserve_also_added(&what, price, draws)?;
        let asking = Asking::new(relation, paid, (share, run.facts.budget.rows));
        self.boosting(self.rounds)
            .boost(rows, (rounds, asking), &mut Fitted, run.progress)
    }
}

// Weights of boosting are those of the loss.
const _: () = assert!(ONE == 1 << WEIGHT_DIGITS);

/// Weighted logistic regression with a perturbed loss.
struct Fitted;

impl Classifiers for Fitted {
    /// line 5: a classifier of the weighted rows, for one share of ε.
    ///
    /// # Privacy
    /// `docs/proofs/objective.md#weighted-rounds`.
    fn next(
        &mut self,
        asking: &mut Asking<'_>,
        weights: &Weights,
        rows: &CuratorRows,
    ) -> Result<Candidate, Error> {
        let loss = loss(rows.coordinates.len(), weights.most() as f64 / ONE as f64)?;
        let objective = Objective::calibrated(asking.share, &asking.relation, loss)?;
        let found = asking.paid.minimise(&objective, || {
            let own = weights.by_row.as_ref();
            rows.matrix.as_ref().zip(own, |matrix, own| Regression {
                design: Design::Numbers(&matrix.columns),
                labels: &matrix.labels,
                offsets: &[],
                weights: Some(&own.weights),
            })
        })?;
        let found = found.into_inner();
        Ok(Candidate {
            coefficients: found[1..].iter().map(|&x| x as f32).collect(),
            intercept: found[0] as f32,
        })
    }
}

/// What a row of at most this weight adds.
fn loss(columns: usize, most: f64) -> Result<RowLoss, Error> {
    let one = codes_loss(columns)?;
    Ok(RowLoss {
        slope: most * one.slope,
        curvature: most * one.curvature,
        anchor: Anchor::new("objective#weighted-rounds"),
        ..one
    })
}
