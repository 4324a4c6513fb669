//! One choice among many random planes: no composition over rounds.
//!
//! Not in the paper: measured to beat it at every small ε (`docs/papers.md`). The planes are drawn without looking at rows; one
//! permute-and-flip chooses by how many rows each puts right, together with the public classifier where there is one.

use super::rows::{Candidate, CuratorRows};
use super::{Algorithm, Balance, Facts, Resolved, Run, TrainOnRows, noise};
use crate::Error;
use crate::boost::{Ensemble, Link};
use crate::learner::Linear;
use crate::parameters::parameters;
use crate::privacy::mechanism::PermuteAndFlip;
use crate::privacy::{Anchor, Coins, Epsilon, Ledger, Norm, Query, Sensitivity};

/// How far a plane reaches beside the public log-odds.
const SCALES: [f64; 4] = [1.0, 2.0, 4.0, 8.0];

parameters! {
    /// Parameters of a choice among random planes.
    pub struct Select("select") {
        /// How many planes are drawn.
        candidates: u32 = 500, in 1..=100_000;
        /// Whether equally many rows of both classes are used; only where labels are public.
        balance: Balance = Balance(false);
    }
}

impl Algorithm for Select {
    fn resolve(&self, facts: &Facts) -> Result<Resolved, Error> {
        let noise = noise::choice(self.candidates, facts.budget.epsilon, facts);
        Ok(Resolved::new(self, facts, vec![noise], self.clone()))
    }
}

impl TrainOnRows for Select {
    /// # Privacy
    /// Pure ε, in one selection; `docs/proofs/central.md#hits`.
    fn train(&self, rows: &CuratorRows, run: Run<'_>) -> Result<Ensemble, Error> {
        let base = Base::new(rows);
        let mut coins = run.ledger.coins()?;
        let width = rows.coordinates.len();
        let mut candidates: Vec<Candidate> = (0..self.candidates)
            .map(|_| {
                let direction = (0..width).map(|_| normal(&mut coins)).collect();
                base.candidate(direction, &mut coins)
            })
            .collect();
        if base.linear.is_none() {
            // Without a public classifier a plane is as good from behind.
            let behind: Vec<Candidate> = candidates.iter().map(Candidate::reversed).collect();
            candidates.extend(behind);
        }
        run.at(0, 1)?;
        let what = format!("choice among {} random planes", self.candidates);
        choose(
            &candidates,
            &base,
            rows,
            (run.ledger, &what, run.facts.budget.epsilon),
        )
    }
}

/// The public classifier that planes are added to, if there is one.
pub(super) struct Base {
    pub(super) linear: Option<Linear>,
    /// Its log-odds for each row.
    pub(super) scores: Vec<f64>,
}

impl Base {
    pub(super) fn new(rows: &CuratorRows) -> Self {
        let known = rows.public.as_ref().filter(|known| known.has_features());
        let linear = known.map(|known| known.classifier(&vec![1.0; known.rows()], &rows.shapes));
        let scores = match (known, &linear) {
            (Some(known), Some(linear)) => known.scores(linear),
            _ => Vec::new(),
        };
        Self { linear, scores }
    }

    /// A plane of this direction, whatever its length, with an intercept at random.
    pub(super) fn candidate(&self, direction: Vec<f64>, coins: &mut Coins) -> Candidate {
        let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        let reach = match self.linear {
            Some(_) => SCALES[coins.below(SCALES.len() as u64) as usize],
            None => 1.0,
        };
        let scale = if length > 0.0 { reach / length } else { 0.0 };
        Candidate {
            coefficients: direction.iter().map(|x| (scale * x) as f32).collect(),
            intercept: (reach * (2.0 * coins.unit() - 1.0)) as f32,
        }
    }
}

/// Pays for one choice by the number of rows that each candidate, added to the base, puts right.
///
/// # Privacy
/// `docs/proofs/central.md#hits`.
pub(super) fn choose(
    candidates: &[Candidate],
    base: &Base,
    rows: &CuratorRows,
    (ledger, what, epsilon): (&mut Ledger, &str, Epsilon),
) -> Result<Ensemble, Error> {
    let relation = ledger.relation().clone();
    let width = relation.steps();
    let claim = Sensitivity::claim(&relation, Norm::Width(width), Anchor::new("central#hits"))?.also_added();
    let offsets = base.linear.as_ref().map(|_| base.scores.as_slice());
    let query = Query::new(candidates.len(), claim, || {
        rows.matrix
            .as_ref()
            .map(|matrix| matrix.hits(candidates, offsets))
    });
    let mechanism = PermuteAndFlip::calibrated(epsilon, width)?;
    let chosen = ledger.release(what, &mechanism, query)?.into_inner();
    let plane = candidates[chosen].linear(rows);
    let linear = match &base.linear {
        Some(public) => rows.plus(public, &plane),
        None => plane,
    };
    Ok(Ensemble::of_sum(Link::Vote, linear))
}

/// A standard normal number from public coins (Box and Muller 1958): it need not be exact, since it hides nothing.
pub(super) fn normal(coins: &mut Coins) -> f64 {
    let radius = (-2.0 * (1.0 - coins.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * coins.unit()).cos()
}
