//! `samme`: boosting over rounds, each with owners of its own.
//!
//! # Paper
//! LocalBoost, Algorithm 4, with 5 (nearest centroids), 6 (stumps from cross tables) and 7 (logistic regression).
//!
//! # Deviations
//! One vector of an owner holds what the label and the weights say, and is sent under the whole ε; weights of an owner add up to one. A learner that is
//! wrong more often than right is turned if there are two classes, and else counts nothing: owners who answered are not asked again, and the
//! data user's labels do not choose among draws of noise. All learn any number of classes: centroids as published, logistic regression and stumps by one class against all
//! others. Each side of a stump calls the class that is strongest there, by cross tables of each class against all others. The data user's own weights are updated (lines 18 to 20 forget them).
//!
//! With `alpha = "owners"`, which the paper names and argues against (section III-D), the error of a learner is the mean over other owners of each one's weighted error, sent by
//! randomised response. Weights add up to one within an owner, so that an owner counts as much as any other, as it does for the learner.

use super::answer::Answer;
use super::campaign::{CampaignDraft, Message};
use super::course::{Algorithm, Learnt, Next, Task, means_of, named};
use super::encoding::{Encoding, Features, Learner, Statistic};
use super::once::nearest;
use super::own::{OwnRows, with_constant};
use super::params::{AlphaSource, Samme, VectorMessage, WeakLearner};
use crate::Error;
use crate::boost::{Link, Member};

/// An error on the own rows is at least this: few rows may all be right.
const LEAST: f64 = 0.02;
/// The share of owners' vectors that are not shortened.
const SHARE: f64 = 0.9;

impl Algorithm for Samme {
    fn rounds(&self) -> u32 {
        match self.alpha {
            AlphaSource::Own => self.rounds,
            AlphaSource::Owners => 2 * self.rounds,
        }
    }

    fn needs_own_rows(&self) -> bool {
        let has_radius = self.radius.is_some() || !matches!(self.message, VectorMessage::Vector);
        self.alpha == AlphaSource::Own || self.learner == WeakLearner::Stump || !has_radius
    }

    fn parameters(&self) -> Vec<(String, String)> {
        named(self)
    }

    fn message(&self, task: &Task) -> Result<Message, Error> {
        let thresholds = u32::from(self.learner == WeakLearner::Stump);
        task.vector(&self.statistic(), task.dimension(thresholds, 0), self.message)
    }

    fn error_rounds(&self) -> u32 {
        match self.alpha {
            AlphaSource::Own => 0,
            AlphaSource::Owners => self.rounds,
        }
    }

    fn shown(&self) -> Vec<&'static str> {
        let mut shown = Vec::new();
        if self.alpha == AlphaSource::Own {
            shown.push("α of each round, by the own rows and their labels");
        }
        if self.learner == WeakLearner::Stump {
            shown.push("quantiles of the own rows, at which numbers are cut");
        }
        shown
    }

    fn next(&self, task: &Task, answers: &[Answer]) -> Result<Next, Error> {
        let features = self.features(task)?;
        let encoding = task.encoding(features, self.statistic())?;
        let features = encoding.features().clone();
        let d = features.dimension();
        let mut judge = match self.alpha {
            AlphaSource::Own => {
                let instead = "α is measured on them; write alpha = \"owners\", or choose another algorithm";
                Some(OwnJudge::new(task.own_for("alpha", instead)?, &features))
            }
            AlphaSource::Owners => None,
        };
        let mut learners: Vec<Learner> = Vec::new();
        let mut rounds = Vec::new();
        // From owners, each learner has two answers: what it is made from, and how often it errs.
        for round in answers.chunks(if judge.is_some() { 1 } else { 2 }) {
            let means = means_of(&round[0], encoding.width())?;
            let mut learner = Learner {
                alpha: 0.0,
                scores: self.scores(means, &features, task.classes()),
            };
            let (error, least) = match (&judge, round) {
                (Some(judge), _) => (judge.error(&learner), LEAST),
                (None, [_, told]) => told_error(told)?,
                (None, _) => {
                    let draft = self.error_draft(task, features, (learners, learner), answers.len() + 1)?;
                    return Ok(Next::Ask(Box::new(draft)));
                }
            };
            let mut error = error.clamp(least, 1.0 - least);
            if task.classes() == 2 && error > 0.5 {
                learner.scores.iter_mut().for_each(|score| *score = -*score);
                error = 1.0 - error;
            }
            // Line 14; nothing is drawn again where it is not above zero.
            let others = task.classes() as f64 - 1.0;
            learner.alpha = (((1.0 - error) / error).ln() + others.ln()).max(0.0);
            if let Some(judge) = &mut judge {
                judge.weigh(&learner);
            }
            rounds.push((learner.alpha, error));
            learners.push(learner);
        }
        if learners.len() < self.rounds as usize {
            let draft = self.draft(task, encoding, learners, answers.len() + 1)?;
            return Ok(Next::Ask(Box::new(draft)));
        }
        let mut members = Vec::new();
        for learner in &learners {
            if task.classes() > 2 {
                for class in 0..task.classes() {
                    let called = features.largest(task.schema(), &learner.scores, class)?;
                    members.push(Member::new(learner.alpha, class, called));
                }
                continue;
            }
            let (first, second) = learner.scores.split_at(d);
            let weights: Vec<f64> = second[..d].iter().zip(first).map(|(b, a)| b - a).collect();
            let vote = features.vote(task.schema(), &weights)?;
            // Half of α: the votes of two classes are −1 and 1.
            members.push(Member::new(learner.alpha / 2.0, 0, vote));
        }
        Ok(Next::Done(Box::new(Learnt {
            schema: (**task.schema()).clone(),
            ensemble: task.ensemble(Link::Vote, members),
            rounds,
        })))
    }
}

impl Samme {
    fn statistic(&self) -> Statistic {
        match self.learner {
            WeakLearner::Centroid => Statistic::ClassMeans,
            WeakLearner::Stump => Statistic::CrossTable,
            WeakLearner::Logistic => Statistic::Classifier { ridge: self.ridge },
        }
    }

    fn features(&self, task: &Task) -> Result<Features, Error> {
        let columns = match self.learner {
            WeakLearner::Stump => task.own_for("learner", "choose another one")?.at_best()?,
            WeakLearner::Centroid | WeakLearner::Logistic => Features::of(task.schema()),
        };
        with_constant(columns)
    }

    fn draft(
        &self,
        task: &Task,
        encoding: Encoding,
        learners: Vec<Learner>,
        number: usize,
    ) -> Result<CampaignDraft, Error> {
        let radius = match (self.message, self.radius) {
            (_, Some(radius)) => radius,
            // Coordinates lie in [−1, 1], weights of an owner add up to one, and classifiers are clipped to it.
            (VectorMessage::Coordinates | VectorMessage::Signs, None) => 1.0,
            (VectorMessage::Vector, None) => task.radius(None, &encoding, SHARE)?,
        };
        let encoding = encoding.after(learners)?;
        Ok(task.draft((number, self.rounds()), self.message, radius, encoding))
    }

    /// The campaign that asks other owners how often a learner errs, their rows weighted by those before it.
    fn error_draft(
        &self,
        task: &Task,
        features: Features,
        (before, learner): (Vec<Learner>, Learner),
        number: usize,
    ) -> Result<CampaignDraft, Error> {
        let errors = Statistic::Errors {
            scores: learner.scores,
        };
        let encoding = task.encoding(features, errors)?.after(before)?;
        // Signs of one coordinate: randomised response.
        Ok(task.draft((number, self.rounds()), VectorMessage::Signs, 1.0, encoding))
    }

    /// The scores of the classes that follow from a round's means.
    fn scores(&self, means: &[f64], features: &Features, classes: usize) -> Vec<f64> {
        let d = features.dimension();
        match self.learner {
            WeakLearner::Centroid => nearest(means, d, classes).concat(),
            // One class against all others: a classifier for each.
            WeakLearner::Logistic if classes > 2 => means.to_vec(),
            WeakLearner::Logistic => {
                let first = means.iter().map(|theta| -theta);
                first.chain(means.iter().copied()).collect()
            }
            WeakLearner::Stump if classes > 2 => stump_of_classes(means, features, classes),
            WeakLearner::Stump => {
                // Line 13: |Σ| above plus |Σ| below; the constant's own table is no stump.
                let purity = |pair: &[f64]| pair[0].abs() + pair[1].abs();
                let pairs: Vec<&[f64]> = means.chunks_exact(2).take(d - 1).collect();
                let best = (0..pairs.len()).max_by(|a, b| purity(pairs[*a]).total_cmp(&purity(pairs[*b])));
                let best = best.unwrap_or(0);
                let (above, below) = match pairs.get(best) {
                    Some(pair) => (pair[0], pair[1]),
                    None => (1.0, 1.0),
                };
                let mut second = vec![0.0; d];
                // Cut signs are −1 and 1, flags 0 and 1: half-way between, neither side is called.
                match (above > 0.0, below > 0.0) {
                    (true, true) => second[d - 1] = 1.0,
                    (false, false) => second[d - 1] = -1.0,
                    (is_above, _) => {
                        let sign = if is_above { 1.0 } else { -1.0 };
                        second[best] = sign;
                        second[d - 1] = -sign * features.middle(best);
                    }
                }
                let first = second.iter().map(|x| -x);
                first.chain(second.iter().copied()).collect()
            }
        }
    }
}

/// The data user's own rows and their weights, by which learners are judged.
struct OwnJudge<'a> {
    own: &'a OwnRows,
    values: Vec<f64>,
    dimension: usize,
    weights: Vec<f64>,
}

impl<'a> OwnJudge<'a> {
    fn new(own: &'a OwnRows, features: &Features) -> Self {
        Self {
            values: own.values(features),
            dimension: features.dimension(),
            weights: vec![1.0 / own.rows() as f64; own.rows()],
            own,
        }
    }

    /// Lines 11 to 13.
    fn error(&self, learner: &Learner) -> f64 {
        let missed = self.own.missed(learner, &self.values, self.dimension);
        let weighed = self.weights.iter().zip(missed);
        weighed.filter(|(_, missed)| *missed).map(|(w, _)| w).sum()
    }

    fn weigh(&mut self, learner: &Learner) {
        let missed = self.own.missed(learner, &self.values, self.dimension);
        for (weight, _) in self.weights.iter_mut().zip(missed).filter(|(_, missed)| *missed) {
            *weight *= learner.alpha.exp();
        }
        let total: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|weight| *weight /= total);
    }
}

/// The error that owners told, without the mechanism's bias, and the least that is believed: noise alone can make one that small.
fn told_error(told: &Answer) -> Result<(f64, f64), Error> {
    let error = f64::midpoint(means_of(told, 1)?[0], 1.0);
    let noise = told.deviations.first().map_or(0.0, |deviation| deviation / 2.0);
    Ok((error, noise.clamp(LEAST, 0.5)))
}

/// The stump that errs least by cross tables of each class against all others: with the weight p of a side and p_k of class k on it, a table holds
/// D_k = 2·p_k − p. The side calls the class of the largest D_k, and errs on p − p_k = (p − D_k)/2 there; both p add up to one, so that the column with the largest sum of
/// both sides' D_k errs least.
fn stump_of_classes(means: &[f64], features: &Features, classes: usize) -> Vec<f64> {
    let d = features.dimension();
    let side = |coordinate: usize, side: usize| {
        let better = |best: (usize, f64), this: (usize, f64)| if this.1 > best.1 { this } else { best };
        let each = means
            .chunks_exact(2 * d)
            .map(|table| table[2 * coordinate + side]);
        each.enumerate().fold((0, f64::NEG_INFINITY), better)
    };
    let purity = |coordinate: &usize| side(*coordinate, 0).1 + side(*coordinate, 1).1;
    // The constant's own table is no stump.
    let best = (0..d - 1)
        .max_by(|a, b| purity(a).total_cmp(&purity(b)))
        .unwrap_or(0);
    let (above, below) = (side(best, 0).0, side(best, 1).0);
    let mut scores = vec![0.0; classes * d];
    for (class, scores) in scores.chunks_exact_mut(d).enumerate() {
        // A class that neither side calls is below both everywhere.
        let sign = match (class == above, class == below) {
            (true, true) => {
                scores[d - 1] = 1.0;
                continue;
            }
            (true, false) => 1.0,
            (false, true) => -1.0,
            (false, false) => {
                scores[d - 1] = -2.0;
                continue;
            }
        };
        scores[best] = sign;
        scores[d - 1] = -sign * features.middle(best);
    }
    scores
}
