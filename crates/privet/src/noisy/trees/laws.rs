//! Every claim and mechanism of a run. Whatever can be refused about them is refused here, before anything is paid.

use super::Training;
use super::coding::Noise;
use super::cut::Features;
use super::greedy::{Candidates, Choice};
use super::plan::Plan;
use crate::Error;
use crate::data::place;
use crate::data::schema::{Column, Transform};
use crate::privacy::account::Price;
use crate::privacy::mechanism::{Gaussian, Laplace, Mechanism};
use crate::privacy::{Anchor, Norm, Private, Query, Relation, Reservation, Sensitivity};

/// Labels are counted in about twice as many bins.
const BINS: usize = 32;

/// The queries of a run, each with its mechanism.
pub(super) struct Laws {
    /// The sums of each tree's leaves.
    pub(super) sums: Law,
    /// Where labels that are numbers lie.
    pub(super) labels: Option<Labels>,
    /// Rows by the slots of each feature.
    pub(super) histograms: Option<Law>,
    /// Rows by score and class.
    pub(super) calibration: Option<Law>,
    /// The questions of trees.
    pub(super) choice: Option<Choice>,
}

/// How labels that are numbers are counted.
pub(super) struct Labels {
    pub(super) law: Law,
    /// Between these points.
    pub(super) points: Vec<f64>,
    pub(super) most: f64,
    /// What residuals are clipped to, if that was given.
    pub(super) unit: Option<f64>,
    /// And at least to this.
    pub(super) least: f64,
}

impl Laws {
    pub(super) fn new(
        plan: &Plan,
        relation: &Relation,
        training: &Training<'_>,
        features: &Features,
    ) -> Result<Self, Error> {
        let norms = plan.coding.norms();
        let norm = match plan.noise {
            Noise::Laplace => Norm::L1(norms.l1_under(relation, training.unchanged)),
            Noise::Gaussian => Norm::L2Squared(norms.l2_squared_under(relation, training.unchanged)),
        };
        let counts = |price: Price, features: usize, anchor: Anchor| {
            let norm = counted(plan.noise, relation, features as u64);
            Law::new(relation, norm, price, anchor)
        };
        let counting = |price, features| counts(price, features, Anchor::new("trees#histograms"));
        let labels = match (plan.bounds, plan.shares.labels) {
            (Some([min, max]), Some(price)) => {
                // Residuals of the public columns lie on either side of zero.
                let [low, high] = match training.start {
                    Some(_) => [min - max, max - min],
                    None => [min, max],
                };
                Some(Labels {
                    law: counting(price, 1)?,
                    points: points(low, high),
                    most: high,
                    unit: plan.clip.map(|clip| clip * (max - min) / 2.0),
                    least: (max - min) / 1000.0,
                })
            }
            _ => None,
        };
        let histograms = plan.shares.histograms;
        // Columns that are public under the relation are counted, and never change.
        let changes = |(place, column): &(usize, &Column)| {
            training.features.contains(place) && !column.is_public(relation)
        };
        let changing = training
            .schema
            .features()
            .enumerate()
            .filter(changes)
            .count()
            .max(1);
        let choice = plan.shares.level.map(|level| {
            let candidates = Candidates::of(features, &training.features, plan.coding.bound())?;
            Choice::new(candidates, level, relation.steps())
        });
        Ok(Self {
            sums: Law::new(relation, norm, plan.shares.leaves, Anchor::new("trees#sums"))?,
            labels,
            histograms: histograms.map(|price| counting(price, changing)).transpose()?,
            calibration: plan
                .shares
                .calibration
                .map(|price| counts(price, 1, Anchor::new("trees#calibration")))
                .transpose()?,
            choice: choice.transpose()?,
        })
    }
}

/// Half of them evenly, half finer towards zero.
fn points(low: f64, high: f64) -> Vec<f64> {
    let share = |bin: usize| bin as f64 / BINS as f64;
    let each = (1..BINS)
        .flat_map(|bin| [false, true].map(|scale| place(low, high, Transform::None, share(bin), scale)));
    let mut points: Vec<f64> = each.collect();
    points.sort_unstable_by(f64::total_cmp);
    points
}

/// How far one change moves the counts of this many features: a row has one slot of each.
fn counted(noise: Noise, relation: &Relation, features: u64) -> Norm {
    let rows = u128::from(relation.rows().get());
    let moved = match relation {
        Relation::AddRemove { .. } => 1,
        Relation::Replace { .. } | Relation::ReplacePrivate { .. } => 2,
    };
    match noise {
        Noise::Laplace => Norm::L1(relation.steps().saturating_mul(features)),
        Noise::Gaussian => Norm::L2Squared(moved * rows * rows * u128::from(features)),
    }
}

/// A claim, and the mechanism that was calibrated for it.
pub(super) struct Law {
    claim: Sensitivity,
    mechanism: Added,
}

enum Added {
    Laplace(Laplace),
    Gaussian(Gaussian),
}

impl Law {
    fn new(relation: &Relation, norm: Norm, price: Price, anchor: Anchor) -> Result<Self, Error> {
        let mechanism = match (price, norm) {
            (Price::Pure(epsilon), Norm::L1(l1)) => Added::Laplace(Laplace::calibrated(epsilon, l1)?),
            (Price::Gaussian(mu_squared), Norm::L2Squared(l2)) => {
                Added::Gaussian(Gaussian::calibrated(mu_squared, l2)?)
            }
            _ => return Err(Error::internal("trees are paid for in ε or in μ²")),
        };
        Ok(Self {
            claim: Sensitivity::claim(relation, norm, anchor)?.also_added(),
            mechanism,
        })
    }

    pub(super) fn release(
        &self,
        paid: &mut Reservation<'_>,
        dimension: usize,
        answer: impl FnOnce() -> Private<Vec<i64>>,
    ) -> Result<Vec<i64>, Error> {
        let query = Query::new(dimension, self.claim.clone(), answer);
        let released = match &self.mechanism {
            Added::Laplace(law) => paid.release(law, query)?,
            Added::Gaussian(law) => paid.release(law, query)?,
        };
        Ok(released.into_inner())
    }

    /// The standard deviation of the noise on each number.
    pub(super) fn deviation(&self) -> f64 {
        match &self.mechanism {
            Added::Laplace(law) => law.variance().sqrt(),
            Added::Gaussian(law) => law.variance().sqrt(),
        }
    }
}
