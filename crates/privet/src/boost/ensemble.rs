//! Weighted members, and the scores they give to rows.

use std::borrow::Cow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::additive::Additive;
use super::reading::{Calibration, Scale};
use super::signal::CountedTerm;
use super::spikes::Spikes;
use crate::Error;
use crate::data::schema::{Label, Schema};
use crate::data::{Bins, Cells, Keep};
use crate::learner::tree::{Tree, Walker};
use crate::learner::{Learner, Linear, Shape};

/// Rows that one thread takes at a time.
const BLOCK: usize = 4096;

/// The link function: what scores mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Link {
    /// One score: the number itself.
    Identity,
    /// One score: the log-odds of the second of two classes.
    Logistic,
    /// One score, the margin of a vote: half the log-odds of the second of two classes, as Friedman, Hastie and Tibshirani
    /// (2000) read AdaBoost.
    Vote,
    /// A score for each class: its probability is proportional to the exponential.
    Softmax,
}

impl Link {
    /// Its name in a model's file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Logistic => "logistic",
            Self::Vote => "vote",
            Self::Softmax => "softmax",
        }
    }
}

/// One learner with its coefficient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// What its vote is multiplied by.
    pub weight: f64,
    /// The score it is added to.
    pub output: usize,
    /// The learner.
    pub learner: Learner,
}

impl Member {
    /// A learner whose vote, times `weight`, is added to one score.
    pub fn new(weight: f64, output: usize, learner: Learner) -> Self {
        Self {
            weight,
            output,
            learner,
        }
    }
}

/// Weighted learners: a row's sums are the base plus the weighted votes, and its scores are the sums, recalibrated where that is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ensemble {
    /// The link function.
    pub link: Link,
    /// Where each score begins: as many as there are scores.
    pub base: Vec<f64>,
    /// The members, in the order in which they were learnt.
    pub members: Vec<Member>,
    /// How sums become scores; if it is not there they are the same. For classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// The scale of scores; if it is not there it is the label's own. For numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// Values of columns that many rows share, as far as noise let it be seen, and that have bins of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spikes: Vec<Spikes>,
    /// Of naive Bayes from noisy counts: how much of each feature's term noise would explain; nothing for a feature that was not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<Option<CountedTerm>>,
}

impl Ensemble {
    /// An ensemble whose scores are its sums.
    pub fn new(link: Link, base: Vec<f64>, members: Vec<Member>) -> Self {
        Self {
            link,
            base,
            members,
            calibration: None,
            scale: None,
            spikes: Vec::new(),
            counted: Vec::new(),
        }
    }

    /// A single sum, which is the score.
    pub fn of_sum(link: Link, linear: Linear) -> Self {
        let member = Member::new(1.0, 0, Learner::Linear(linear));
        Self::new(link, vec![0.0], vec![member])
    }

    /// How many scores a row has.
    pub fn outputs(&self) -> usize {
        self.base.len()
    }

    /// What must be kept of a table's numbers for these members.
    pub fn keep(&self) -> Keep {
        if self.members.iter().any(|member| member.learner.needs_values()) {
            Keep::Values
        } else {
            Keep::Bins
        }
    }

    /// Checks that it fits a schema: every learner its features, and the scores the label.
    ///
    /// # Errors
    /// [`Error::Data`] with what does not fit.
    pub fn check(&self, schema: &Schema) -> Result<(), Error> {
        let bad = |why: String| Err(Error::data(why));
        let (outputs, fits) = match schema.label() {
            None => return bad("the model's schema has no label".into()),
            Some((_, Label::Number { .. })) => (1, self.link == Link::Identity),
            Some((_, Label::Classes(declared))) => match (declared.values().len(), self.link) {
                (2, Link::Logistic | Link::Vote) => (1, true),
                (classes, link) => (classes, link == Link::Softmax),
            },
        };
        if !fits {
            return bad(format!(
                "the model's scores are of the kind '{}', which does not fit its label",
                self.link.name()
            ));
        }
        if self.base.len() != outputs {
            return bad(format!(
                "the model has {} scores for a row where its label needs {outputs}",
                self.base.len()
            ));
        }
        if let Some(x) = self.base.iter().find(|x| !x.is_finite()) {
            return bad(format!("the model's base: {x} is not a finite number"));
        }
        self.check_reading()?;
        for spikes in &self.spikes {
            if let Err(why) = spikes.check(schema) {
                return bad(format!("the model's spikes do not fit: {why}"));
            }
        }
        let shapes = Shape::of(schema);
        let counted = &self.counted;
        if !counted.is_empty() && counted.len() != shapes.len()
            || !counted.iter().flatten().all(CountedTerm::is_valid)
        {
            return bad("what the model says of the noise in its terms does not fit its features".into());
        }
        for (number, member) in self.members.iter().enumerate() {
            let check = if member.output >= outputs {
                Err(format!("it adds to score {} of {outputs}", member.output))
            } else if !member.weight.is_finite() {
                Err(format!("{} is not a finite number", member.weight))
            } else {
                member.learner.check(&shapes)
            };
            if let Err(why) = check {
                return bad(format!("the model's member {number} does not fit: {why}"));
            }
        }
        Ok(())
    }

    fn check_reading(&self) -> Result<(), Error> {
        let bad = |why: String| Err(Error::data(why));
        let is_number = self.link == Link::Identity;
        match &self.calibration {
            Some(_) if is_number => {
                return bad(
                    "the model has a calibration, which is for classes, and its label is a number".into(),
                );
            }
            Some(calibration) => {
                if let Err(why) = calibration.check(self.outputs()) {
                    return bad(format!("the model's calibration is invalid: {why}"));
                }
            }
            None => {}
        }
        if self.scale.is_some() && !is_number {
            return bad("the model has a scale for a number, and its label has classes".into());
        }
        Ok(())
    }

    /// The scores of all rows, row after row; of numbers on the ensemble's scale.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the cells were read for another schema, or without what [`keep`](Self::keep) asks for.
    pub fn scores(&self, schema: &Schema, cells: &Cells) -> Result<Vec<f64>, Error> {
        let mut scores = self.sums(schema, cells)?;
        if let Some(calibration) = &self.calibration {
            let outputs = self.outputs().max(1);
            scores
                .par_chunks_mut(outputs)
                .with_min_len(BLOCK)
                .for_each(|row| {
                    for (output, score) in row.iter_mut().enumerate() {
                        *score = calibration.apply(output, *score);
                    }
                });
        }
        Ok(scores)
    }

    fn sums(&self, schema: &Schema, cells: &Cells) -> Result<Vec<f64>, Error> {
        // A table of which no row was read may have no columns either.
        if cells.rows() == 0 {
            return Ok(Vec::new());
        }
        let shapes = Shape::of(schema);
        let mut trees = Vec::new();
        for member in &self.members {
            if let Learner::Tree(tree) = &member.learner {
                trees.push((member.output, scaled(tree, member.weight)));
            }
        }
        if trees.is_empty() {
            return Ok(Additive::new(self, &shapes, cells)?.scores(&shapes, cells));
        }
        let fits = cells.features().len() == shapes.len()
            && shapes.iter().zip(cells.features()).all(|(shape, feature)| {
                matches!(feature.bins, Bins::Narrow(_)) == (shape.slots <= Bins::NARROW)
            });
        if !fits {
            return Err(Error::misuse("the cells were not read for this model's schema"));
        }
        // Trees add up in single precision, from the base on, as they do where they are grown and where they are exported to.
        let (mut scores, base) = if trees.len() == self.members.len() {
            let base = self.base.iter().map(|&x| single(x)).collect();
            (vec![0.0; cells.rows() * self.outputs()], base)
        } else {
            let additive = Additive::new(self, &shapes, cells)?;
            (additive.scores(&shapes, cells), vec![0.0; self.outputs()])
        };
        Walker::with_outputs(Shape::columns(&shapes), &base, &trees)?.add_to(cells, &mut scores);
        Ok(scores)
    }
}

/// The nearest finite single.
fn single(x: f64) -> f32 {
    x.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32
}

/// A tree whose leaves are multiplied by a weight.
fn scaled(tree: &Tree, weight: f64) -> Cow<'_, Tree> {
    if weight == 1.0 {
        return Cow::Borrowed(tree);
    }
    let leaves = tree.leaves.iter().map(|&leaf| single(weight * f64::from(leaf)));
    Cow::Owned(Tree::new(tree.nodes.clone(), leaves.collect()))
}
