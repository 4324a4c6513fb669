//! How good a chain is before and after an owner's turn, counted with noise on units of that owner that train no tree.

use crate::Error;
use crate::boost::Ensemble;
use crate::data::schema::{Label, Schema};
use crate::data::{Cells, Target};
use crate::privacy::account::Price;
use crate::privacy::mechanism::{Gaussian, Laplace, Mechanism};
use crate::privacy::{
    Anchor, Ledger, Norm, PortionAllowance, Private, Query, Relation, Sensitivity, getters,
};

/// A row counts as so much, and an error up to as much.
const ONE: i64 = 256;
/// Errors are clipped to so many times the size that residuals are clipped to.
const CLIP: f64 = 4.0;

/// What is measured in each turn, and with which noise.
#[derive(Debug)]
pub(super) struct Quality {
    task: Task,
    claim: Sensitivity,
    price: Price,
    noise: Noise,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Task {
    /// Rows by whether they were right before and whether they are right after.
    Classes,
    /// Rows, errors before and errors after, of a label between these bounds.
    Numbers([f64; 2]),
}

#[derive(Debug)]
enum Noise {
    Laplace(Laplace),
    Gaussian(Gaussian),
}

/// Scores of the rows that judge, before and after a turn.
pub(super) struct Judged {
    pub(super) cells: Private<Cells>,
    pub(super) before: Private<Vec<f64>>,
    pub(super) after: Private<Vec<f64>>,
    /// The size that residuals are clipped to, if labels are numbers.
    pub(super) unit: Option<f64>,
}

/// What follows from a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Measured {
    /// About how many rows have judged.
    pub(super) rows: f64,
    /// How many were right before; of numbers, rows less their errors in parts of the clip.
    pub(super) before: f64,
    /// How many are right after.
    pub(super) after: f64,
}

impl Quality {
    /// Of one measurement at this price.
    ///
    /// # Privacy
    /// `docs/proofs/horizontal.md#quality`.
    pub(super) fn new(schema: &Schema, relation: &Relation, price: Price) -> Result<Self, Error> {
        let task = match schema.label() {
            Some((_, Label::Number { min, max })) => Task::Numbers([*min, *max]),
            _ => Task::Classes,
        };
        let rows = u64::from(relation.rows().get());
        let one = ONE as u64;
        let (l1, l2) = match task {
            // A row stands in one of four cells.
            Task::Classes => {
                let moved = relation.steps() / rows;
                (relation.steps(), u128::from(moved) * u128::from(rows).pow(2))
            }
            // Each of three sums of a unit lies between zero and as much.
            Task::Numbers(_) => (
                rows.saturating_mul(3 * one),
                3 * (u128::from(rows) * u128::from(one)).pow(2),
            ),
        };
        let (norm, noise) = match price {
            Price::Pure(epsilon) => (Norm::L1(l1), Noise::Laplace(Laplace::calibrated(epsilon, l1)?)),
            Price::Gaussian(mu) => (
                Norm::L2Squared(l2),
                Noise::Gaussian(Gaussian::calibrated(mu, l2)?),
            ),
            Price::Concentrated(_) => return Err(Error::internal("trees are paid for in ε or in μ²")),
        };
        Ok(Self {
            task,
            claim: Sensitivity::claim(relation, norm, Anchor::new("horizontal#quality"))?.also_added(),
            price,
            noise,
        })
    }

    getters! {
        /// What a measurement costs.
        pub(super) price(price) -> Price;
        /// Whether labels are classes.
        pub(super) is_of_classes(task == Task::Classes) -> bool;
    }

    /// How many numbers are released.
    pub(super) fn dimension(&self) -> usize {
        match self.task {
            Task::Classes => 4,
            Task::Numbers(_) => 3,
        }
    }

    /// The standard deviation of the noise in an accuracy of so many rows, about; of numbers, in a mean error in parts of the clip.
    pub(super) fn deviation(&self, rows: f64) -> f64 {
        let variance = match &self.noise {
            Noise::Laplace(noise) => noise.variance(),
            Noise::Gaussian(noise) => noise.variance(),
        };
        let steps = match self.task {
            Task::Classes => (2.0 * variance).sqrt(),
            Task::Numbers(_) => variance.sqrt() / ONE as f64,
        };
        steps / rows.max(1.0)
    }

    /// Measures once, in this round: a draw about the portion that judges.
    ///
    /// # Privacy
    /// `docs/proofs/horizontal.md#quality`.
    pub(super) fn measure(
        &self,
        judged: &Judged,
        ledger: &mut Ledger,
        paid: &PortionAllowance,
        round: u32,
    ) -> Result<Vec<i64>, Error> {
        let portion = paid.portions().judging();
        let portion =
            portion.ok_or_else(|| Error::internal("some units judge where something is measured"))?;
        let (task, unit) = (self.task, judged.unit);
        let query = Query::new(self.dimension(), self.claim.clone(), || {
            let rows = judged
                .cells
                .as_ref()
                .zip(judged.before.as_ref(), |cells, before| (cells, before));
            rows.zip(judged.after.as_ref(), |(cells, before), after| {
                task.counts(cells, before, after, unit)
            })
        });
        let label = format!("round {}: quality", round + 1);
        let which = (portion, label.as_str());
        let counts = match &self.noise {
            Noise::Laplace(noise) => ledger.draw_of_portion(paid, which, noise, query)?,
            Noise::Gaussian(noise) => ledger.draw_of_portion(paid, which, noise, query)?,
        };
        Ok(counts.into_inner())
    }

    /// What follows from released numbers; nothing if there are not as many as were asked for.
    pub(super) fn read(&self, counts: &[i64]) -> Option<Measured> {
        let one = ONE as f64;
        let at = |place: usize| counts[place] as f64;
        (counts.len() == self.dimension()).then(|| match self.task {
            Task::Classes => Measured {
                rows: at(0) + at(1) + at(2) + at(3),
                before: at(2) + at(3),
                after: at(1) + at(3),
            },
            Task::Numbers(_) => Measured {
                rows: at(0) / one,
                before: (at(0) - at(1)) / one,
                after: (at(0) - at(2)) / one,
            },
        })
    }
}

impl Measured {
    /// The share of rows that are right; of numbers, one less the mean error in parts of the clip. Nothing where noise hides the rows.
    pub(super) fn figure(self) -> Option<f64> {
        (self.rows >= 1.0).then(|| self.after / self.rows)
    }

    /// By how much the figure has risen in the turn, as a share of the rows; nothing where noise hides the rows.
    pub(super) fn gain(self) -> Option<f64> {
        (self.rows >= 1.0).then(|| (self.after - self.before) / self.rows)
    }
}

impl Task {
    /// What rows add up to: of each row, its own label and scores are all that goes in.
    fn counts(self, cells: &Cells, before: &[f64], after: &[f64], unit: Option<f64>) -> Vec<i64> {
        let outputs = before.len() / cells.rows().max(1);
        let rows = before
            .chunks_exact(outputs.max(1))
            .zip(after.chunks_exact(outputs.max(1)));
        match (self, cells.target()) {
            (Self::Classes, Some(Target::Classes(labels))) => {
                let mut counts = vec![0; 4];
                for ((before, after), &label) in rows.zip(labels) {
                    let right = |scores: &[f64]| usize::from(predicted(scores) == usize::from(label));
                    counts[2 * right(before) + right(after)] += 1;
                }
                counts
            }
            (Self::Numbers(bounds), Some(Target::Numbers(labels))) => {
                let clip = CLIP * unit.unwrap_or(1.0);
                let mut counts = vec![0i64; 3];
                for ((before, after), &label) in rows.zip(labels) {
                    counts[0] += ONE;
                    counts[1] += error(before[0], f64::from(label), bounds, clip);
                    counts[2] += error(after[0], f64::from(label), bounds, clip);
                }
                counts
            }
            _ => Vec::new(),
        }
    }
}

/// The class with the highest score; of two classes, the second if its log-odds are above zero.
fn predicted(scores: &[f64]) -> usize {
    match scores {
        [odds] => usize::from(*odds > 0.0),
        _ => {
            let mut best = 0;
            for (class, score) in scores.iter().enumerate() {
                if *score > scores[best] {
                    best = class;
                }
            }
            best
        }
    }
}

/// An absolute error in parts of the clip, between zero and [`ONE`] whatever the numbers are.
fn error(score: f64, label: f64, [min, max]: [f64; 2], clip: f64) -> i64 {
    let off = (score.clamp(min, max) - label).abs() / clip;
    // What is no number counts as the largest error.
    if off < 1.0 {
        (off * ONE as f64).round() as i64
    } else {
        ONE
    }
}

/// What trees of an ensemble say of each row, by row, then by output: as double, from zero on.
pub(super) fn said(members: &Ensemble, schema: &Schema, cells: &Cells) -> Vec<f64> {
    let bare = Ensemble::new(
        members.link,
        vec![0.0; members.base.len()],
        members.members.clone(),
    );
    let scores = bare.scores(schema, cells);
    scores.unwrap_or_else(|_| vec![0.0; cells.rows() * members.base.len()])
}
