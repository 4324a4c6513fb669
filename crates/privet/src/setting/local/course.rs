//! A course of campaigns: what is asked next follows from what was answered, until there is a model.
//!
//! Everything here is a function of the answers, of public facts and of the own rows. It is the same in a simulation and in a real run, where
//! days may lie between two rounds.

use std::fmt;
use std::sync::Arc;

use super::answer::Answer;
use super::campaign::{CampaignDraft, Message, Round};
use super::encoding::{Encoding, Features, Statistic, contrasts};
use super::own::{OwnRows, with_constant};
use super::params::VectorMessage;
use super::whitening::principal_axes;
use crate::Error;
use crate::boost::{Ensemble, Link};
use crate::data::schema::{Column, Kind, Label, Schema};
use crate::parameters::{Name, Parameters};
use crate::privacy::mechanism::local::{KClosest, SampledPiecewise, Signs};
use crate::privacy::{Epsilon, getters};

/// Codewords of a codebook: a campaign's default.
const CODEWORDS: u64 = 256;
/// Campaigns of one round, for owners of different ε, at most.
const MOST_EPSILONS: usize = 16;

/// What is learnt from local messages: one of the algorithms that a job can name.
pub trait Algorithm: fmt::Debug + Send + Sync + Name {
    /// How many campaigns there are: each owner answers one of them.
    fn rounds(&self) -> u32;

    /// Whether it needs own rows.
    fn needs_own_rows(&self) -> bool;

    /// Names and values as a job says them.
    fn parameters(&self) -> Vec<(String, String)>;

    /// The mechanism of the first round, by public facts alone.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it cannot be.
    fn message(&self, task: &Task) -> Result<Message, Error>;

    /// In how many of the campaigns owners say how often a learner errs, and nothing else.
    fn error_rounds(&self) -> u32 {
        0
    }

    /// What is published of own rows, besides how long vectors may be.
    fn shown(&self) -> Vec<&'static str>;

    /// What follows from the answers to the first rounds.
    ///
    /// # Errors
    /// [`Error::Parameter`] with what does not fit; [`Error::Data`] if an answer is of another length.
    fn next(&self, task: &Task, answers: &[Answer]) -> Result<Next, Error>;
}

/// Names and values of an algorithm's parameters.
pub(super) fn named<P: Parameters>(parameters: &P) -> Vec<(String, String)> {
    parameters.settings()
}

/// What follows from the answers so far.
#[derive(Debug)]
pub enum Next {
    /// The next campaign.
    Ask(Box<CampaignDraft>),
    /// A model.
    Done(Box<Learnt>),
}

/// What was learnt.
#[derive(Debug, Clone)]
pub struct Learnt {
    /// The schema that the ensemble is for: that of the owners' rows.
    pub schema: Schema,
    /// The ensemble.
    pub ensemble: Ensemble,
    /// α and the weighted error of each learner of SAMME, on own rows or as owners told it; else empty.
    pub rounds: Vec<(f64, f64)>,
}

/// The public facts of a course, and the own rows.
#[derive(Debug, Clone)]
pub struct Task {
    schema: Arc<Schema>,
    classes: usize,
    epsilon: Epsilon,
    /// All ε from which owners choose, from the smallest to the largest, which is `epsilon`.
    epsilons: Vec<Epsilon>,
    each: u32,
    own: Option<OwnRows>,
    series: String,
}

impl Task {
    /// To learn from owners of about `each` rows of this schema, under an ε for each; `series` names the course.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the label has no classes or owners have no rows.
    pub fn new(schema: &Schema, epsilon: Epsilon, each: u32, series: &str) -> Result<Self, Error> {
        schema.has_features()?;
        let Some((_, Label::Classes(declared))) = schema.label() else {
            return Err(Error::parameter(
                "schema",
                "setting = \"local\" learns classes: declare a label such as outcome = { type = \"label\", values = [\"no\", \"yes\"] }",
            ));
        };
        if each == 0 {
            return Err(Error::parameter("rows_each", "an owner has at least one row"));
        }
        Ok(Self {
            classes: declared.values().len(),
            schema: Arc::new(schema.clone()),
            epsilon,
            epsilons: vec![epsilon],
            each,
            own: None,
            series: series.to_owned(),
        })
    }

    /// The same for owners who accept different ε: each round has a campaign for every one of these, and an owner answers one campaign of all.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there are none, too many, or two equal ones.
    pub fn with_epsilons(mut self, epsilons: &[Epsilon]) -> Result<Self, Error> {
        let mut sorted = epsilons.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let Some(largest) = sorted.last().copied() else {
            return Err(Error::parameter("epsilon", "at least one ε is needed"));
        };
        if sorted.len() < epsilons.len() || sorted.len() > MOST_EPSILONS {
            let why = format!("write at most {MOST_EPSILONS} ε, each once");
            return Err(Error::parameter("epsilon", why));
        }
        (self.epsilon, self.epsilons) = (largest, sorted);
        Ok(self)
    }

    /// The same for owners of one of the ε.
    pub(super) fn under(&self, epsilon: Epsilon) -> Self {
        Self {
            epsilon,
            epsilons: vec![epsilon],
            ..self.clone()
        }
    }

    /// The campaigns of a round: one for each ε, alike in everything else.
    pub fn campaigns(&self, draft: &CampaignDraft) -> Vec<CampaignDraft> {
        let under = |epsilon: &Epsilon| CampaignDraft {
            name: match self.epsilons.len() {
                1 => draft.name.clone(),
                _ => format!("{}, ε = {epsilon}", draft.name),
            },
            epsilon: *epsilon,
            ..draft.clone()
        };
        self.epsilons.iter().map(under).collect()
    }

    /// The same with own rows.
    ///
    /// # Errors
    /// [`Error::Misuse`] if these have another schema; [`Error::Data`] if there are fewer than two.
    pub fn with_own(mut self, own: OwnRows) -> Result<Self, Error> {
        if let Some(why) = self.schema.differs(own.schema()) {
            return Err(Error::misuse(format!(
                "the own rows were read with another schema: {why}"
            )));
        }
        if own.rows() < 2 {
            return Err(Error::data(
                "at least two own rows are needed: without any, leave them out",
            ));
        }
        self.own = Some(own);
        Ok(self)
    }

    getters! {
        /// The schema of the owners' rows.
        pub schema(&schema) -> &Arc<Schema>;
        /// How many classes the label has.
        pub classes(classes) -> usize;
        /// The ε of a message; if owners choose among several, the largest.
        pub epsilon(epsilon) -> Epsilon;
        /// All ε from which owners choose, from the smallest to the largest.
        pub epsilons(&epsilons) -> &[Epsilon];
        /// How many rows an owner has, about.
        pub each(each) -> u32;
        /// The name of the course.
        pub series(&series) -> &str;
        /// The own rows, if there are any.
        pub own(own.as_ref()) -> Option<&OwnRows>;
    }

    /// The own rows, for a parameter that needs them.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there are none.
    pub(super) fn own_for(&self, key: &'static str, instead: &str) -> Result<&OwnRows, Error> {
        self.own.as_ref().ok_or_else(|| {
            Error::parameter(
                key,
                format!("{key} comes from the own rows, and there are none: {instead}"),
            )
        })
    }

    /// The columns, or principal axes of the own rows instead of them, and a constant of one.
    pub(super) fn along(&self, features: Features, components: u32) -> Result<Features, Error> {
        let features = match components {
            0 => features,
            most => {
                let own = self.own_for("components", "write components = 0")?;
                let base = features.dimension();
                let axes = principal_axes(base, &own.values(&features), most as usize)?;
                let map = features.map().clone().with_axes(axes)?;
                features.mapped(map)?
            }
        };
        with_constant(features)
    }

    /// How many coordinates φ has: of the columns, cut or not, or at most so many axes of them; and a constant.
    pub(super) fn dimension(&self, thresholds: u32, components: u32) -> usize {
        let features = Features::of(&self.schema);
        let columns = self.schema.features().zip(features.places());
        let width = |(column, (_, width)): (&Column, (usize, usize))| match (&column.kind, thresholds) {
            (Kind::Number(_), cuts @ 1..) => cuts as usize,
            _ => width,
        };
        let columns: usize = columns.map(width).sum();
        let axes = match components {
            0 => columns,
            most => columns.min(most as usize),
        };
        axes + 1
    }

    /// A vector of a statistic of so many coordinates.
    pub(super) fn vector(
        &self,
        statistic: &Statistic,
        dimension: usize,
        message: VectorMessage,
    ) -> Result<Message, Error> {
        let width = statistic.width(dimension, self.classes);
        Ok(match message {
            VectorMessage::Vector => Message::Vector(KClosest::new(self.epsilon, width, CODEWORDS)?),
            VectorMessage::Coordinates => Message::Coordinates(SampledPiecewise::new(self.epsilon, width)?),
            VectorMessage::Signs => Message::Signs(Signs::new(self.epsilon, width)?),
        })
    }

    /// An encoding of this schema's rows.
    pub(super) fn encoding(&self, features: Features, statistic: Statistic) -> Result<Encoding, Error> {
        Encoding::new((*self.schema).clone(), features, statistic)
    }

    /// The given radius, or the length below which a share of such owners' vectors lies.
    pub(super) fn radius(&self, given: Option<f64>, encoding: &Encoding, share: f64) -> Result<f64, Error> {
        match given {
            Some(radius) => Ok(radius),
            None => {
                let own = self.own_for("radius", "write one, such as radius = 2.0")?;
                Ok(own.length(encoding, self.each as usize, share).max(1e-6))
            }
        }
    }

    /// The campaign of a round.
    pub(super) fn draft(
        &self,
        (number, of): (usize, u32),
        message: VectorMessage,
        radius: f64,
        encoding: Encoding,
    ) -> CampaignDraft {
        let message = match (encoding.statistic(), message) {
            (Statistic::Cell, _) => "cell",
            (_, VectorMessage::Vector) => "vector",
            (_, VectorMessage::Coordinates) => "coordinates",
            (_, VectorMessage::Signs) => "signs",
        };
        // A series keeps an owner to one campaign: also where one round has several.
        let is_series = of > 1 || self.epsilons.len() > 1;
        let round = is_series.then(|| Round {
            series: self.series.clone(),
            number: number as u64,
            of: of.into(),
        });
        CampaignDraft {
            name: match &round {
                Some(Round { number, of, .. }) => format!("{}, round {number} of {of}", self.series),
                None => self.series.clone(),
            },
            epsilon: self.epsilon,
            kind: message.into(),
            radius,
            codewords: None,
            encoding,
            round,
        }
    }

    /// An ensemble with one score for two classes, else one for each.
    pub(super) fn ensemble(&self, link: Link, members: Vec<crate::boost::Member>) -> Ensemble {
        let outputs = contrasts(self.classes).len();
        let link = if outputs == 1 { link } else { Link::Softmax };
        Ensemble::new(link, vec![0.0; outputs], members)
    }

    /// The ensemble whose scores are linear in φ: weights for each contrast.
    pub(super) fn linear(&self, features: &Features, weights: &[Vec<f64>]) -> Result<Ensemble, Error> {
        let mut members = Vec::new();
        for (output, weights) in weights.iter().enumerate() {
            members.extend(features.members(&self.schema, weights, output)?);
        }
        Ok(self.ensemble(Link::Logistic, members))
    }

    /// What was learnt on this schema.
    pub(super) fn learnt(&self, ensemble: Ensemble) -> Next {
        Next::Done(Box::new(Learnt {
            schema: (*self.schema).clone(),
            ensemble,
            rounds: Vec::new(),
        }))
    }

    /// Of several ensembles the one that errs least on the own rows, the first of equal ones; the last without own rows.
    pub(super) fn best(&self, all: Vec<Ensemble>) -> Result<Ensemble, Error> {
        let none = || Error::internal("there is something to choose from");
        let Some(own) = &self.own else {
            return all.into_iter().next_back().ok_or_else(none);
        };
        let mut best: Option<(f64, Ensemble)> = None;
        for ensemble in all {
            let error = own.error(&ensemble)?;
            if best.as_ref().is_none_or(|(least, _)| error < *least) {
                best = Some((error, ensemble));
            }
        }
        best.map(|(_, ensemble)| ensemble).ok_or_else(none)
    }
}

/// The means of an answer, if there are as many as expected.
///
/// # Errors
/// [`Error::Data`] if there are not.
pub(super) fn means_of(answer: &Answer, expected: usize) -> Result<&[f64], Error> {
    if answer.means.len() == expected {
        return Ok(&answer.means);
    }
    Err(Error::data(format!(
        "an answer has {} numbers where {expected} were asked for: it is another campaign's",
        answer.means.len()
    )))
}

#[cfg(test)]
mod tests;
