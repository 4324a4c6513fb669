//! Differentially private boosted trees on one table.
//!
//! **Papers.** The tree part of InPrivate, corrected; and what was measured to be better (`docs/papers.md`).
//!
//! **What happens.** Trees are cut by public coins, from the schema alone. For each tree, the sums of its leaves' gradients and
//! hessians are released with noise, all leaves at once; values follow from what was released. Where questions are chosen for
//! their gain, or rows are counted, that is released with noise too. Nothing else is computed from rows, and no rule stops early.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `plan` | parameters, and the public rule that fills them in |
//! | `shares` | how the budget is divided among releases |
//! | `coding` | what a row adds to its leaf, as integers, and the bounds of that |
//! | `cut` | how a tree cuts rows into leaves |
//! | `greedy` | questions chosen for their gain, noisily |
//! | `histograms` | rows by slot, released once where they are needed |
//! | `laws` | every claim and mechanism of a run, made before anything is paid |
//! | `grow` | grows the trees one after another |
//! | `rows` | the private table, with each row's scores so far |
//! | `leaves` | values from noisy sums |
//! | `calibration` | a correction that makes probabilities of two classes right on average |

mod calibration;
mod coding;
mod cut;
mod greedy;
mod grow;
mod histograms;
mod laws;
mod leaves;
mod plan;
mod rows;
mod shares;

pub(crate) use coding::Unchanged;
pub(crate) use plan::{Facts, Plan};
pub use plan::{Places, Splits, Trees};

use crate::Error;
use crate::boost::{Ensemble, Link, Member};
use crate::data::{Cells, Schema};
use crate::learner::tree::Tree;
use crate::learner::{Learner, Progress};
use crate::parameters::at;
use crate::privacy::{Ledger, Private};
use coding::Coding;
use cut::Features;
use grow::Grower;
use histograms::{Histograms, LabelRange};
use laws::Laws;
use rows::{GrownTree, ScoredRows};

/// A table to learn from.
pub(crate) struct Training<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) cells: Private<Cells>,
    /// The features that trees ask about.
    pub(crate) features: Vec<usize>,
    /// Which part of a replaced row is the same in both neighbours.
    pub(crate) unchanged: Unchanged,
    /// What is known about each row's score without looking at anything private.
    pub(crate) start: Option<Start>,
}

/// A model of public columns, and what it says about each row.
pub(crate) struct Start {
    pub(crate) scores: Vec<f32>,
    pub(crate) base: Vec<f64>,
    pub(crate) members: Vec<Member>,
}

impl Plan {
    /// Trees, paid for by one reservation.
    ///
    /// # Privacy
    /// The price of the plan, under the ledger's relation; `docs/proofs/trees.md`.
    pub(crate) fn train(
        &self,
        training: Training<'_>,
        ledger: &mut Ledger,
        progress: Progress<'_>,
    ) -> Result<Ensemble, Error> {
        let relation = ledger.relation().clone();
        let mut features = Features::of(training.schema);
        // Whatever can be refused is refused before it is paid for.
        let laws = Laws::new(self, &relation, &training, &features)?;
        let mut coins = ledger.coins()?;
        let what = format!("{} noisy trees", self.trees);
        let mut paid = ledger.reserve_also_added(&what, self.shares.all, self.draws())?;
        let (columns, coding) = (features.columns.clone(), &self.coding);
        let (asked, start) = (training.features, training.start);
        let known = start.as_ref().map(|start| start.scores.as_slice());
        let mut rows = training
            .cells
            .map(|cells| ScoredRows::new(cells, columns.clone(), coding, known));
        let labels = match &laws.labels {
            Some(law) => {
                let found = LabelRange::release(law, &rows, &mut paid)?;
                rows.update(Private::new(()), |rows, ()| rows.measure(found.start, found.unit));
                Some(found)
            }
            None => None,
        };
        let histograms = match &laws.histograms {
            Some(law) => Some(Histograms::release(law, &asked, &features, &rows, &mut paid)?),
            None => None,
        };
        if let (Places::PrivateQuantiles, Some(histograms)) = (self.places, &histograms) {
            histograms.choose(&asked, &mut features);
        }
        let mut grower = Grower {
            plan: self,
            laws,
            features,
            asked,
            rows,
            histograms: histograms.filter(|_| self.histograms),
            order: Vec::new(),
        };
        let mut trees: Vec<GrownTree> = Vec::with_capacity(self.trees as usize);
        for number in 0..self.trees {
            at(progress, number.into(), self.trees.into())?;
            let tree = grower.tree(number, trees.last(), &mut coins, &mut paid)?;
            trees.push(tree);
        }
        let mut rows = grower.rows;
        let calibration = match (&grower.laws.calibration, trees.last()) {
            (Some(law), Some(last)) => {
                rows.update(Private::new(()), |rows, ()| rows.add(last));
                Some(calibration::release(law, &rows, &mut paid)?)
            }
            _ => None,
        };
        let ensemble = self.ensemble(trees, labels, start);
        Ok(Ensemble {
            calibration,
            ..ensemble
        })
    }

    fn draws(&self) -> u64 {
        let counted = [
            self.shares.labels,
            self.shares.histograms,
            self.shares.calibration,
        ];
        let nodes = self.shares.level.map_or(0, |_| (1u64 << self.depth) - 1);
        u64::from(self.trees) * (1 + nodes) + counted.iter().flatten().count() as u64
    }

    fn ensemble(&self, trees: Vec<GrownTree>, labels: Option<LabelRange>, start: Option<Start>) -> Ensemble {
        let outputs = self.coding.outputs();
        let (base, unit) = labels.map_or((0.0, 1.0), |range| (range.start, range.unit));
        let link = match self.coding {
            Coding::Odds(_) => Link::Logistic,
            Coding::Classes(_) => Link::Softmax,
            Coding::Residual(_) => Link::Identity,
        };
        let of_output = |all: &[f32], output: usize| {
            let own = all[output..].iter().step_by(outputs);
            own.map(|&x| (f64::from(x) * unit).clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32)
                .collect::<Vec<f32>>()
        };
        let member = |grown: &GrownTree, output: usize| Member {
            weight: 1.0,
            output,
            learner: Learner::Tree(Tree {
                nodes: grown.cut.tree.nodes.clone(),
                leaves: of_output(&grown.values, output),
                noise: few_digits(of_output(&grown.noise, output)),
            }),
        };
        let mut ensemble = Ensemble::new(link, vec![base; outputs], Vec::new());
        if let Some(start) = start {
            ensemble
                .base
                .iter_mut()
                .zip(start.base)
                .for_each(|(base, own)| *base += own);
            ensemble.members = start.members;
        }
        for grown in &trees {
            ensemble
                .members
                .extend((0..outputs).map(|output| member(grown, output)));
        }
        ensemble
    }
}

/// Rounds the noise of leaves up to three digits, and keeps one number if all are equal.
fn few_digits(mut noise: Vec<f32>) -> Vec<f32> {
    for x in noise.iter_mut().filter(|x| **x > 0.0) {
        let exact = f64::from(*x);
        let step = 10f64.powf(exact.log10().floor() - 2.0);
        *x = ((exact / step).ceil() * step).min(f64::from(f32::MAX)) as f32;
    }
    if noise.windows(2).all(|pair| pair[0] == pair[1]) {
        noise.truncate(1);
    }
    noise
}
