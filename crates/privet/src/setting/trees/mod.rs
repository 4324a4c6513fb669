//! Differentially private boosted trees on one table.
//!
//! **Papers.** The tree part of InPrivate, corrected; and what was measured to be better (`docs/papers.md`).
//!
//! **What happens.** Trees are cut by public coins, from the schema alone. For each tree, the sums of its leaves' gradients and
//! hessians are released with noise, all leaves at once; values follow from what was released. Nothing else is computed from
//! rows: no gain, no count, no stopping rule.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `plan` | parameters, and the public rule that fills them in |
//! | `coding` | what a row adds to its leaf, as integers, and how far that goes |
//! | `cut` | how a tree cuts rows into leaves |
//! | `greedy` | questions chosen for their gain, noisily |
//! | `histograms` | rows by slot, released once where they are needed |
//! | `rows` | the table behind the wall, with its scores |
//! | `leaves` | values from noisy sums |

mod coding;
mod cut;
mod greedy;
mod histograms;
mod leaves;
mod plan;
mod rows;

pub(crate) use plan::{Facts, Plan};
pub use plan::{Places, Splits, Trees};

use crate::Error;
use crate::boost::{Ensemble, Link, Member};
use crate::data::{Cells, Schema};
use crate::learner::Learner;
use crate::learner::tree::Tree;
use crate::privacy::account::Price;
use crate::privacy::mechanism::{Gaussian, Laplace, Mechanism};
use crate::privacy::{Anchor, Coins, Ledger, Neighbours, Norm, Private, Query, Reservation, Sensitivity};
use coding::Coding;
use cut::{Cut, Features};
use greedy::{Candidates, Choice};
use histograms::{Histograms, Range};
use rows::{Grown, Rows, Step};

/// A table to learn from.
pub(crate) struct Training<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) cells: Private<Cells>,
    /// The features that trees ask about.
    pub(crate) features: Vec<usize>,
    /// Whether nobody's label changes under the relation.
    pub(crate) fixed_label: bool,
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
    pub(crate) fn train<N: Neighbours>(
        &self,
        training: Training<'_>,
        ledger: &mut Ledger<N>,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Ensemble, Error> {
        let relation = ledger.relation().clone();
        let mut coins = ledger.coins()?;
        let what = format!("{} noisy trees", self.trees);
        let mut paid = ledger.reserve(&what, self.shares.all, self.draws())?;
        let sums = self.sums(&relation, &training)?;
        let features = Features::of(training.schema);
        let (columns, coding) = (features.columns.clone(), &self.coding);
        let start = training.start;
        let known = start.as_ref().map(|start| start.scores.as_slice());
        let mut rows = training
            .cells
            .map(|cells| Rows::new(cells, columns.clone(), coding, known));
        let labels = match (self.bounds, self.shares.labels) {
            (Some([min, max]), Some(price)) => {
                // What public columns leave over lies on either side of zero.
                let bounds = if start.is_some() {
                    [min - max, max - min]
                } else {
                    [min, max]
                };
                let found = Range::release(self, bounds, price, &relation, &rows, &mut paid)?;
                rows.update(Private::new(()), |rows, ()| rows.measure(found.start, found.unit));
                Some(found)
            }
            _ => None,
        };
        let mut features = features;
        let asked = training.features;
        let histograms = match self.shares.histograms {
            Some(price) => Some(Histograms::release(
                self, price, &relation, &asked, &features, &rows, &mut paid,
            )?),
            None => None,
        };
        if let (Places::PrivateQuantiles, Some(histograms)) = (self.places, &histograms) {
            histograms.choose(&asked, &mut features);
        }
        let choice = match self.shares.level {
            Some(level) => {
                let candidates = Candidates::of(&features, &asked, self.coding.bound());
                Some(Choice::new(candidates, level, relation.steps())?)
            }
            None => None,
        };
        let mut grower = Grower {
            plan: self,
            choice,
            features,
            asked,
            rows,
            sums,
            histograms: histograms.filter(|_| self.histograms),
            order: Vec::new(),
        };
        let mut trees: Vec<Grown> = Vec::with_capacity(self.trees as usize);
        for number in 0..self.trees {
            progress(number.into(), self.trees.into());
            let tree = match self.shares.level {
                None => {
                    let cut = grower.next(number, &mut coins);
                    grower.grow(cut, trees.last(), &mut paid)?
                }
                Some(_) => grower.choose(number, trees.last(), &mut paid)?,
            };
            trees.push(tree);
        }
        progress(self.trees.into(), self.trees.into());
        Ok(self.ensemble(trees, labels, start))
    }

    fn draws(&self) -> u64 {
        let counted = [self.shares.labels, self.shares.histograms];
        let nodes = self.shares.level.map_or(0, |_| (1u64 << self.depth) - 1);
        u64::from(self.trees) * (1 + nodes) + counted.iter().flatten().count() as u64
    }

    /// The claim and the mechanism of each tree's sums.
    fn sums<N: Neighbours>(&self, relation: &N, training: &Training<'_>) -> Result<Sums<N>, Error> {
        let norms = self.coding.norms();
        let anchor = Anchor::new("trees#sums");
        Ok(match self.shares.leaves {
            Price::Pure(epsilon) => {
                let l1 = norms.l1_under(&relation.relation());
                Sums {
                    claim: Sensitivity::claim(relation, Norm::L1(l1), anchor)?,
                    law: Law::Laplace(Laplace::calibrated(epsilon, l1)?),
                }
            }
            Price::Gaussian(mu_squared) => {
                let l2 = norms.l2_squared_under(&relation.relation(), training.fixed_label);
                Sums {
                    claim: Sensitivity::claim(relation, Norm::L2Squared(l2), anchor)?,
                    law: Law::Gaussian(Gaussian::calibrated(mu_squared, l2)?),
                }
            }
            Price::Concentrated(_) => return Err(Error::Misuse("trees are paid for in ε or in μ²".into())),
        })
    }

    fn ensemble(&self, trees: Vec<Grown>, labels: Option<Range>, start: Option<Start>) -> Ensemble {
        let outputs = self.coding.outputs();
        let (base, unit) = labels.map_or((0.0, 1.0), |range| (range.start, range.unit));
        let link = match self.coding {
            Coding::Odds(_) => Link::Logistic,
            Coding::Classes(_) => Link::Softmax,
            Coding::Residual(_) => Link::Identity,
        };
        let member = |grown: &Grown, output: usize| Member {
            weight: 1.0,
            output,
            learner: Learner::Tree(Tree {
                nodes: grown.cut.tree.nodes.clone(),
                leaves: grown.values[output..]
                    .iter()
                    .step_by(outputs)
                    .map(|&value| (f64::from(value) * unit) as f32)
                    .collect(),
            }),
        };
        let mut ensemble = Ensemble {
            link,
            base: vec![base; outputs],
            members: Vec::new(),
        };
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

/// How each tree's sums are released.
struct Sums<N> {
    claim: Sensitivity<N>,
    law: Law,
}

enum Law {
    Laplace(Laplace),
    Gaussian(Gaussian),
}

impl<N: Neighbours> Sums<N> {
    fn release(
        &self,
        paid: &mut Reservation<'_, N>,
        dimension: usize,
        answer: impl FnOnce() -> Private<Vec<i64>>,
    ) -> Result<Vec<i64>, Error> {
        let query = Query::new(dimension, self.claim.clone(), answer);
        let released = match &self.law {
            Law::Laplace(law) => paid.release(law, query)?,
            Law::Gaussian(law) => paid.release(law, query)?,
        };
        Ok(released.into_inner())
    }

    fn deviation(&self) -> f64 {
        match &self.law {
            Law::Laplace(law) => law.variance().sqrt(),
            Law::Gaussian(law) => law.variance().sqrt(),
        }
    }
}

/// Grows tree after tree.
struct Grower<'p, N> {
    plan: &'p Plan,
    choice: Option<Choice>,
    features: Features,
    asked: Vec<usize>,
    rows: Private<Rows>,
    sums: Sums<N>,
    /// What leaves count, where trees do not say it.
    histograms: Option<Histograms>,
    /// The features whose turn is still to come.
    order: Vec<usize>,
}

impl<N: Neighbours> Grower<'_, N> {
    /// The cut of tree `number`: the schema and coins decide.
    fn next(&mut self, number: u32, coins: &mut Coins) -> Cut {
        let plan = self.plan;
        match plan.splits {
            Splits::Random | Splits::NoisyGreedy => {
                Cut::random(&self.features, &self.asked, plan.depth, coins)
            }
            Splits::OneFeature | Splits::Mixed => {
                let feature = self.turn(coins);
                let late = 5 * number >= 2 * plan.trees;
                if plan.splits == Splits::Mixed && late && self.asked.len() > 1 && coins.below(2) == 1 {
                    let others: Vec<usize> = self
                        .asked
                        .iter()
                        .copied()
                        .filter(|&other| other != feature)
                        .collect();
                    let other = others[coins.below(others.len() as u64) as usize];
                    return Cut::two(&self.features, [feature, other], 4, coins);
                }
                Cut::one(&self.features, feature, plan.leaves, coins)
            }
        }
    }

    /// Every feature once, in a random order; then again.
    fn turn(&mut self, coins: &mut Coins) -> usize {
        if self.order.is_empty() {
            self.order = self.asked.clone();
            for i in (1..self.order.len()).rev() {
                self.order.swap(i, coins.below(i as u64 + 1) as usize);
            }
        }
        self.order.pop().unwrap_or(0)
    }

    /// A tree whose questions are chosen for their gain; of three classes or more, for one of them after another.
    fn choose(
        &mut self,
        number: u32,
        last: Option<&Grown>,
        paid: &mut Reservation<'_, N>,
    ) -> Result<Grown, Error> {
        let plan = self.plan;
        if let Some(last) = last {
            self.rows.update(Private::new(()), |rows, ()| rows.add(last));
        }
        let output = number as usize % plan.coding.outputs();
        let pulls = self
            .rows
            .row_by_row(Rows::len, |rows, row| rows.pull(row, &plan.coding, output));
        let Some(choice) = &self.choice else {
            return Err(Error::Misuse(
                "nothing was set aside to choose questions with".into(),
            ));
        };
        let cut = choice.tree(&self.features, &pulls, plan.depth, paid)?;
        self.grow(cut, None, paid)
    }

    fn grow(
        &mut self,
        cut: Cut,
        last: Option<&Grown>,
        paid: &mut Reservation<'_, N>,
    ) -> Result<Grown, Error> {
        let outputs = self.plan.coding.outputs();
        let step = Step {
            coding: &self.plan.coding,
            done: last,
            next: &cut,
        };
        let rows = &mut self.rows;
        let sums = self.sums.release(paid, 2 * outputs * cut.leaves(), || {
            rows.update(Private::new(()), |rows, ()| rows.step(&step));
            rows.as_ref().map(|rows| rows.sums.clone())
        })?;
        let is_pair = self.plan.splits == Splits::Mixed && cut.by_slot().is_none();
        let leaves = self.plan.values(self.sums.deviation(), is_pair);
        let known = self
            .histograms
            .as_ref()
            .and_then(|histograms| histograms.leaves(&cut));
        let values = leaves.values(&sums, outputs, known.as_deref());
        Ok(Grown { cut, values })
    }
}
