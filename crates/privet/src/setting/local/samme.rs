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

use super::answer::Answer;
use super::campaign::{CampaignDraft, Message};
use super::course::{Algorithm, Learnt, Next, Task, means_of, named};
use super::encoding::{Encoding, Features, Learner, Statistic};
use super::once::nearest;
use super::own::with_constant;
use super::params::{Samme, VectorMessage, WeakLearner};
use crate::Error;
use crate::boost::{Link, Member};

/// An error on the own rows is at least this: few rows may all be right.
const LEAST: f64 = 0.02;
/// The share of owners' vectors that are not shortened.
const SHARE: f64 = 0.9;

impl Algorithm for Samme {
    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn needs_own_rows(&self) -> bool {
        true
    }

    fn parameters(&self) -> Vec<(String, String)> {
        named(self)
    }

    fn message(&self, task: &Task) -> Result<Message, Error> {
        let thresholds = u32::from(self.learner == WeakLearner::Stump);
        task.vector(&self.statistic(), task.dimension(thresholds, 0), self.message)
    }

    fn shown(&self) -> Vec<&'static str> {
        let mut shown = vec!["α of each round, by the own rows and their labels"];
        if self.learner == WeakLearner::Stump {
            shown.push("quantiles of the own rows, at which numbers are cut");
        }
        shown
    }

    fn next(&self, task: &Task, answers: &[Answer]) -> Result<Next, Error> {
        let own = task.own_for("learner", "α is measured on them; choose another algorithm")?;
        let features = self.features(task)?;
        let encoding = task.encoding(features, self.statistic())?;
        let features = encoding.features().clone();
        let d = features.dimension();
        let values = own.values(&features);
        let mut weights = vec![1.0 / own.rows() as f64; own.rows()];
        let mut learners: Vec<Learner> = Vec::new();
        let mut rounds = Vec::new();
        for answer in answers {
            let means = means_of(answer, encoding.width())?;
            let mut learner = Learner {
                alpha: 0.0,
                scores: self.scores(means, &features, task.classes()),
            };
            let mut missed = own.missed(&learner, &values, d);
            // Lines 11 to 13.
            let wrong: f64 = weights
                .iter()
                .zip(&missed)
                .filter(|(_, m)| **m)
                .map(|(w, _)| w)
                .sum();
            let mut error = wrong.clamp(LEAST, 1.0 - LEAST);
            if task.classes() == 2 && error > 0.5 {
                learner.scores.iter_mut().for_each(|score| *score = -*score);
                missed = own.missed(&learner, &values, d);
                error = 1.0 - error;
            }
            // Line 14; nothing is drawn again where it is not above zero.
            let others = task.classes() as f64 - 1.0;
            learner.alpha = (((1.0 - error) / error).ln() + others.ln()).max(0.0);
            for (weight, _) in weights.iter_mut().zip(&missed).filter(|(_, missed)| **missed) {
                *weight *= learner.alpha.exp();
            }
            let total: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= total);
            rounds.push((learner.alpha, error));
            learners.push(learner);
        }
        if answers.len() < self.rounds as usize {
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
        let own = task.own_for("learner", "choose another algorithm")?;
        let columns = match self.learner {
            WeakLearner::Stump => own.at_best()?,
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
        Ok(task.draft((number, self.rounds), self.message, radius, encoding))
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
