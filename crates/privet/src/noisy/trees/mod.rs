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
//! | `params` | parameters |
//! | `plan` | the public rule that fills them in |
//! | `shares` | how the budget is divided among releases |
//! | `coding` | what a row adds to its leaf, as integers, and the bounds of that |
//! | `cut` | how a tree cuts rows into leaves |
//! | `pairs` | which two features a tree is about, by what such trees have released |
//! | `greedy` | questions chosen for their gain, noisily |
//! | `histograms` | rows by slot, released once where they are needed |
//! | `forest` | random trees whose leaves count rows by class, in one release |
//! | `grid` | the usual bins of columns that are read in finer ones |
//! | `rough`, `spikes` | columns whose effect jumps from value to value, and bins of their own for values that many rows share |
//! | `laws` | every claim and mechanism of a run, made before anything is paid |
//! | `growth` | a run as questions and answers: what is asked next, and what follows from a noisy answer |
//! | `rows` | the private table, with each row's scores so far |
//! | `leaves` | values from noisy sums |
//! | `paid` | what pays for the draws of a run that may be interrupted |
//! | `calibration` | a correction that makes probabilities of two classes right on average |
//! | `slope` | how far scores of three classes or more are believed, against how frequent classes are |

mod calibration;
mod coding;
mod cut;
mod forest;
mod greedy;
mod grid;
mod growth;
mod histograms;
mod laws;
mod leaves;
mod outlook;
mod paid;
mod pairs;
mod params;
mod plan;
mod rough;
mod rows;
mod shares;
mod slope;
mod spikes;

pub(crate) use coding::Unchanged;
pub(crate) use forest::Forest;
pub(crate) use growth::{Growth, Question, Step};
pub(crate) use laws::{About, Law};
pub(crate) use paid::PaidTrees;
pub use params::{LabelTransform, Places, Splits, Trees};
pub(crate) use plan::{Facts, Plan};

use crate::Error;
use crate::boost::{Ensemble, Link, Member, Scale};
use crate::data::schema::Transform;
use crate::data::{Cells, Schema};
use crate::learner::tree::{Column, Tree};
use crate::learner::{Learner, Progress};
use crate::parameters::at;
use crate::privacy::{Allowance, Coins, Ledger, PortionAllowance, Private, Query};
use coding::Coding;
use histograms::LabelRange;
use laws::Added;
use rows::GrownTree;

/// How many numbers rows are counted in, over all features.
pub(crate) fn slots(schema: &Schema) -> usize {
    Column::of(schema).iter().map(|column| column.slots).sum()
}

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
    /// Trees that were trained before, on which these go on.
    pub(crate) before: Option<Before>,
}

/// Trees that were trained before, by somebody else or on other rows.
#[derive(Clone)]
pub(crate) struct Before {
    /// The trees, not recalibrated.
    pub(crate) ensemble: Ensemble,
    /// The size that residuals are clipped to, if labels are numbers: the same for all who go on.
    pub(crate) unit: Option<f64>,
    /// What they say of the rows, if that is known already: by row, then by output.
    pub(crate) scores: Option<Private<Vec<f32>>>,
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
        let coins = ledger.coins()?;
        // Whatever can be refused is refused before it is paid for.
        let mut growth = Growth::new(self, &relation, training, coins)?;
        let noise = Mechanisms::of(&growth)?;
        let mut paid = ledger.reserve_also_added(&self.what(), self.shares.all, self.draws())?;
        loop {
            self.report(&growth, progress)?;
            match growth.step() {
                Step::Done => return Ok(growth.finish()),
                Step::Choose => growth.choose(&mut paid)?,
                Step::Ask(question) => {
                    let law = noise.of_question(&question, growth.rough())?;
                    let noisy = law.release(&mut paid, growth.query(&question)?)?;
                    growth.take(&noisy, law.deviation())?;
                }
            }
        }
    }

    /// The same for a role: a run that is interrupted finds what it has paid for and drawn in its ledger.
    ///
    /// # Privacy
    /// As [`train`](Self::train).
    pub(crate) fn train_again(
        &self,
        training: Training<'_>,
        ledger: &mut Ledger,
        coins: Coins,
        progress: Progress<'_>,
    ) -> Result<Growth, Error> {
        let relation = ledger.relation().clone();
        // Whatever can be refused is refused before it is paid for.
        let growth = Growth::new(self, &relation, training, coins)?;
        let noise = Mechanisms::of(&growth)?;
        let paid: Allowance =
            ledger.allow_also_added(&self.what(), self.shares.all, self.draws_by_level())?;
        self.grow_again(growth, &noise, (ledger, &PaidTrees::Whole(&paid)), progress)
    }

    /// The same about one portion of the units, which has been paid for: the table has the units of that portion only.
    ///
    /// # Privacy
    /// What was paid for a portion; `docs/proofs/horizontal.md#portions`.
    pub(crate) fn train_portion(
        &self,
        training: Training<'_>,
        ledger: &mut Ledger,
        (paid, portion): (&PortionAllowance, u32),
        coins: Coins,
        progress: Progress<'_>,
    ) -> Result<Growth, Error> {
        let relation = ledger.relation().clone();
        let growth = Growth::new(self, &relation, training, coins)?;
        let noise = Mechanisms::of(&growth)?;
        self.grow_again(
            growth,
            &noise,
            (ledger, &PaidTrees::Portion(paid, portion)),
            progress,
        )
    }

    fn grow_again(
        &self,
        mut growth: Growth,
        noise: &Mechanisms,
        (ledger, paid): (&mut Ledger, &PaidTrees<'_>),
        progress: Progress<'_>,
    ) -> Result<Growth, Error> {
        loop {
            self.report(&growth, progress)?;
            match growth.step() {
                Step::Done => return Ok(growth),
                Step::Choose => growth.choose_again(ledger, paid)?,
                Step::Ask(question) => {
                    let law = noise.of_question(&question, growth.rough())?;
                    let query = growth.query(&question)?;
                    let noisy = law.draw(ledger, (paid, &question.name()), query)?;
                    growth.take(&noisy, law.deviation())?;
                }
            }
        }
    }

    /// What is paid for.
    pub(crate) fn what(&self) -> String {
        format!("{} noisy trees", self.trees)
    }

    fn report(&self, growth: &Growth, progress: Progress<'_>) -> Result<(), Error> {
        match growth.trees() {
            number if number < self.trees => at(progress, number.into(), self.trees.into()),
            _ => Ok(()),
        }
    }

    pub(crate) fn draws(&self) -> u64 {
        let nodes = self.shares.level.map_or(0, |_| (1u64 << self.depth) - 1);
        self.draws_with(nodes)
    }

    /// The same where the choices of a level are one draw.
    pub(crate) fn draws_by_level(&self) -> u64 {
        self.draws_with(self.shares.level.map_or(0, |_| self.depth.into()))
    }

    /// With so many choices for each tree.
    fn draws_with(&self, choices: u64) -> u64 {
        let counted = [
            self.shares.labels,
            self.shares.histograms,
            self.shares.calibration,
            self.shares.spikes.map(|[price, _]| price),
        ];
        u64::from(self.trees) * (1 + choices) + counted.iter().flatten().count() as u64
    }

    fn ensemble(&self, trees: &[GrownTree], labels: Option<LabelRange>, start: Option<&Start>) -> Ensemble {
        let outputs = self.coding.outputs();
        let (base, unit) = labels.map_or((0.0, 1.0), |range| (range.start, range.unit));
        let scale = (self.transform != Transform::None).then_some(Scale(self.transform));
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
        ensemble.scale = scale;
        if let Some(start) = start {
            ensemble
                .base
                .iter_mut()
                .zip(&start.base)
                .for_each(|(base, own)| *base += own);
            ensemble.members.clone_from(&start.members);
        }
        for grown in trees {
            ensemble
                .members
                .extend((0..outputs).map(|output| member(grown, output)));
        }
        ensemble
    }
}

/// The noise of each kind of question, for whoever adds all of it alone.
struct Mechanisms {
    of: [Option<Added>; 4],
    /// For the rows of one rough column, of two, and so on.
    spikes: Vec<Added>,
    later: Option<Added>,
}

impl Mechanisms {
    fn of(growth: &Growth) -> Result<Self, Error> {
        let mut all = [None, None, None, None];
        for about in About::ALL {
            all[about as usize] = growth.law(about).map(Law::mechanism).transpose()?;
        }
        let spikes = growth.laws_of_spikes().iter().map(Law::mechanism);
        let later = growth.law(About::LaterLeaves).map(Law::mechanism);
        Ok(Self {
            of: all,
            spikes: spikes.collect::<Result<_, _>>()?,
            later: later.transpose()?,
        })
    }

    /// Of a question when so many columns were found to be rough.
    fn of_question(&self, question: &Question, rough: usize) -> Result<&Added, Error> {
        let law = match question.about {
            About::Spikes => rough.checked_sub(1).and_then(|place| self.spikes.get(place)),
            About::LaterLeaves => self.later.as_ref(),
            about => self.of[about as usize].as_ref(),
        };
        law.ok_or_else(|| Error::internal("every question that is asked has its law"))
    }
}

impl Growth {
    /// What is asked now, as a query on the rows.
    fn query(&mut self, question: &Question) -> Result<Query<'_>, Error> {
        let law = self.law(question.about);
        let law = law.ok_or_else(|| Error::internal("every question that is asked has its law"))?;
        let claim = law.claim().clone();
        Ok(Query::new(question.dimension, claim, || self.answer()))
    }
}

/// Rounds the noise of leaves up to three digits, and keeps one number if all are equal.
fn few_digits(mut noise: Vec<f32>) -> Vec<f32> {
    let (mut place, mut step) = (f64::NAN, f64::NAN);
    for x in noise.iter_mut().filter(|x| **x > 0.0) {
        let exact = f64::from(*x);
        let last = exact.log10().floor() - 2.0;
        // Most are of the same size.
        if last != place {
            (place, step) = (last, 10f64.powf(last));
        }
        *x = ((exact / step).ceil() * step).min(f64::from(f32::MAX)) as f32;
    }
    if noise.windows(2).all(|pair| pair[0] == pair[1]) {
        noise.truncate(1);
    }
    noise
}
