//! What a course will ask and show, in numbers and words, before the first owner is asked.

use std::sync::Arc;

use super::campaign::Message;
use super::course::{Algorithm, Learnt, Next, Task};
use super::own::OwnRows;
use super::shuffled::shuffled;
use crate::Error;
use crate::model::{Model, Settings};
use crate::privacy::mechanism::local::Signs;
use crate::privacy::{Certificate, Delta, PartyCertificate, getters};

/// A resolved course: an algorithm, its task, and about how many owners will answer.
#[derive(Debug)]
pub struct Plan {
    algorithm: Arc<dyn Algorithm>,
    task: Task,
    owners: u64,
    /// For each ε.
    messages: Vec<Message>,
}

impl Plan {
    /// Fixes the first round's mechanism, by public facts alone.
    ///
    /// # Errors
    /// [`Error::Parameter`] with what does not fit.
    pub fn new(algorithm: Arc<dyn Algorithm>, task: Task, owners: u64) -> Result<Self, Error> {
        #[cfg(feature = "audit")]
        crate::parameters::count_plan();
        let rounds = algorithm.rounds();
        let several = task.epsilons().len() as u64;
        if owners < u64::from(rounds) * several {
            let why = match several {
                1 => format!("{owners} owners cannot answer {rounds} rounds: each answers one"),
                _ => format!(
                    "{owners} owners cannot answer {rounds} rounds of {several} campaigns: each answers one"
                ),
            };
            return Err(Error::parameter("owners", why));
        }
        let each = task.epsilons().iter();
        let messages = each.map(|epsilon| algorithm.message(&task.under(*epsilon)));
        let messages = messages.collect::<Result<_, _>>()?;
        Ok(Self {
            algorithm,
            task,
            owners,
            messages,
        })
    }

    /// The same with own rows.
    ///
    /// # Errors
    /// As [`Task::with_own`].
    pub fn with_own(mut self, own: OwnRows) -> Result<Self, Error> {
        self.task = self.task.with_own(own)?;
        Ok(self)
    }

    getters! {
        /// What is learnt.
        pub algorithm(algorithm.as_ref()) -> &dyn Algorithm;
        /// Public facts and own rows.
        pub task(&task) -> &Task;
        /// How many owners will answer, about.
        pub owners(owners) -> u64;
        /// The mechanisms of the first round, one for each ε.
        pub messages(&messages) -> &[Message];
    }

    /// The owners of one round.
    pub fn owners_each(&self) -> u64 {
        self.owners / u64::from(self.algorithm.rounds())
    }

    /// How long the noise in what a round of so many owners collects is, in units of the longest vector that one may send; of cells, the
    /// deviation of a frequency. If owners choose among several ε, as many choose each.
    pub fn noise(&self, owners: u64) -> f64 {
        let each = owners.max(1) as f64 / self.messages.len() as f64;
        let precision: f64 = self
            .messages
            .iter()
            .map(|message| Self::noise_of(message, each).powi(-2))
            .sum();
        precision.powf(-0.5)
    }

    fn noise_of(message: &Message, owners: f64) -> f64 {
        match message {
            Message::Vector(closest) => (closest.variance(0.0) / owners).sqrt(),
            // The longest vector of a box is as long as its diagonal.
            Message::Coordinates(piecewise) => (piecewise.variance(0) / owners).sqrt(),
            Message::Signs(signs) => (signs.variance(0) / owners).sqrt(),
            Message::Category(oracle) => (oracle.variance() / oracle.categories() as f64 / owners).sqrt(),
            Message::Cells(cells) => {
                let each = owners / cells.columns() as f64;
                (cells.variance() / cells.oracle().categories() as f64 / each).sqrt()
            }
        }
    }

    /// In how many rounds owners say how often a learner errs, and the deviation of the noise in an error that they tell; none if α does not come
    /// from owners.
    ///
    /// # Errors
    /// As [`Signs::new`].
    pub fn told_errors(&self) -> Result<Option<(u32, f64)>, Error> {
        let rounds = self.algorithm.error_rounds();
        if rounds == 0 {
            return Ok(None);
        }
        let each = self.owners_each().max(1) as f64 / self.messages.len() as f64;
        let mut precision = 0.0;
        for epsilon in self.task.epsilons() {
            // From −1 to 1 errors are twice as wide as from 0 to 1.
            precision += 4.0 * each / Signs::new(*epsilon, 1)?.variance(0);
        }
        Ok(Some((rounds, precision.powf(-0.5))))
    }

    /// How many owners a round needs for noise that is at most this long, in the same units.
    ///
    /// # Paper
    /// LocalBoost, figure 3: with how many owners the error of centroids is below their distance.
    pub fn owners_needed(&self, noise: f64) -> u64 {
        let ratio = self.noise(1) / noise.max(f64::MIN_POSITIVE);
        // `as` saturates.
        (ratio * ratio).ceil() as u64
    }

    /// The ε in the central sense of all messages of a round together, if an honest shuffler passes them on without tokens and in random
    /// order, and counts none twice. None if the bound says nothing.
    ///
    /// # Privacy
    /// `docs/proofs/local-learning.md#shuffled-messages`: conditional, and part of no certificate.
    pub fn shuffled(&self, delta: Delta) -> Option<f64> {
        // Messages of different ε are told apart, so that each hides among its own; the worst counts.
        let each = self.owners_each() / self.messages.len() as u64;
        let all = self.task.epsilons().iter();
        let worst = all.map(|epsilon| shuffled(*epsilon, each, delta));
        worst.reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b)))?
    }

    /// What is published because of own rows, if there are any: nothing protects them.
    pub fn shown(&self) -> Vec<&'static str> {
        let mut shown = self.algorithm.shown();
        match &self.messages[..] {
            [Message::Cells(_), ..] => shown.push("quantiles of the own rows, at which bins meet"),
            _ => shown.push("the length that vectors are shortened to, by the own rows"),
        }
        shown
    }

    /// The conditions under which boosting converges, as far as own rows tell: for simulations, since nothing protects these.
    ///
    /// # Paper
    /// LocalBoost, section IV: the error of centroids is of the order of ℓ_b, and that of purities of the order of Δ_im.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there are no own rows.
    pub fn facts(&self) -> Result<Vec<(&'static str, f64)>, Error> {
        let [between, purities] = self.task.own_for("data", "name them")?.contrasts()?;
        Ok(vec![
            ("ℓ_b, the distance of the centroids of two classes", between),
            ("Δ_im, the mean difference of two columns' purities", purities),
            (
                "noise in what a round collects, in units of the longest vector",
                self.noise(self.owners_each()),
            ),
        ])
    }

    /// Names and values as a job says them, defaults included.
    pub fn settings(&self) -> Vec<(String, String)> {
        let named = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut all = vec![
            named("setting", "local"),
            named("algorithm", self.algorithm.name()),
        ];
        all.extend(self.algorithm.parameters());
        let epsilons: Vec<String> = self.task.epsilons().iter().map(ToString::to_string).collect();
        all.push(named("epsilon", &epsilons.join(", ")));
        all
    }

    /// What follows from the answers to the first rounds.
    ///
    /// # Errors
    /// As the algorithm.
    pub fn next(&self, answers: &[super::Answer]) -> Result<Next, Error> {
        self.algorithm.next(&self.task, answers)
    }

    /// The model of what was learnt, with its certificate: the owners are protected by their own messages, the own rows are not. If owners choose
    /// among several ε, the largest is claimed for all.
    ///
    /// # Errors
    /// [`Error::Data`] if the ensemble does not fit its schema.
    pub fn model(&self, learnt: Learnt) -> Result<Model, Error> {
        let owners = Certificate::of_messages(self.task.series(), self.task.epsilon());
        let certificate = match self.task.own() {
            Some(own) => Certificate {
                parties: vec![PartyCertificate {
                    party: "owners".into(),
                    certificate: owners,
                }],
                ..own.certificate().clone()
            },
            None => owners,
        };
        let settings = Settings::new(self.settings());
        Model::new(learnt.schema, learnt.ensemble, certificate, settings)
    }
}

/// How good a simulated course must be to count: by how much its error is below that of the own rows alone, over several runs.
///
/// True if the mean difference is below zero by more than two standard errors.
pub fn owners_help(with: &[f64], alone: &[f64]) -> bool {
    let differences: Vec<f64> = with.iter().zip(alone).map(|(with, alone)| with - alone).collect();
    let (mean, deviation) = crate::model::metrics::mean_and_deviation(&differences);
    let error = deviation / (differences.len().max(1) as f64).sqrt();
    mean < 0.0 && mean + 2.0 * error < 0.0
}
