//! Everything but trees.

use super::plan::{Algorithm, Goal, Resolved, Task, Train, classes};
use crate::Error;
use crate::boost::{Abstaining, AdaBoost, Ensemble, Learner, Link, Member, Thresholds};
use crate::data::Keep;
use crate::data::schema::Schema;
use crate::learner::{self, Linear, Progress};
use crate::parameters::{named_values, parameters};

parameters! {
    /// Logistic regression; least squares where the label is a number.
    pub struct Logistic("logistic") {
        /// The ridge.
        l2: f64 = 1.0, in 1e-9..=1e9;
        /// Steps of the solver at most.
        iterations: u32 = 100, in 1..=100_000;
    }
}

parameters! {
    /// The nearest centroid, for classes.
    pub struct Centroid("centroid") {}
}

parameters! {
    /// Boosted stumps: AdaBoost for two classes, SAMME for more, least squares for a number.
    pub struct Stumps("stumps") {
        /// Rounds at most.
        rounds: u32 = 100, in 1..=100_000;
        /// Where numbers are cut; at the schema's bins if not given.
        thresholds: Thresholds = Thresholds::Bins;
        /// Whether stumps may abstain on a side; for two classes.
        abstain: bool = false;
        /// Whether each of more than two classes is told from all others by rounds of its own, in place of SAMME.
        one_versus_all: bool = false;
    }
}

named_values! {
    Thresholds: [("bins", Thresholds::Bins), ("exact", Thresholds::Exact)];
}

parameters! {
    /// The most frequent class, or the mean: the baseline of every other algorithm.
    pub struct Constant("constant") {}
}

impl Algorithm for Logistic {
    fn resolve(&self, _: &Schema) -> Result<Resolved, Error> {
        Ok(Resolved::new(self, Keep::Values, self.clone()))
    }
}

impl Train for Logistic {
    fn train(&self, task: &Task<'_>, progress: Progress<'_>) -> Result<Ensemble, Error> {
        let Self { l2, iterations } = *self;
        let own = learner::Logistic { l2, iterations };
        Ok(match task.goal {
            Goal::Classes(classes) => sums(own.classes(&task.sample, classes, progress), classes.count),
            Goal::Numbers { of, .. } => {
                Ensemble::of_sum(Link::Identity, own.numbers(&task.sample, of, progress))
            }
        })
    }
}

impl Algorithm for Centroid {
    fn resolve(&self, schema: &Schema) -> Result<Resolved, Error> {
        if classes(schema) > 0 {
            return Ok(Resolved::new(self, Keep::Values, self.clone()));
        }
        Err(Error::parameter(
            "name",
            "\"centroid\" needs a label with classes, and the schema's is a number: choose another algorithm",
        ))
    }
}

impl Train for Centroid {
    fn train(&self, task: &Task<'_>, _: Progress<'_>) -> Result<Ensemble, Error> {
        Ok(match task.goal {
            Goal::Classes(classes) => sums(learner::Centroid.classes(&task.sample, classes), classes.count),
            // No number is nearest to a centroid: such a schema was refused.
            Goal::Numbers { .. } => task.goal.constant(task.sample.weights()),
        })
    }
}

impl Algorithm for Stumps {
    fn resolve(&self, schema: &Schema) -> Result<Resolved, Error> {
        if self.abstain && classes(schema) != 2 {
            let why = "abstain = true needs a label of two classes: remove it";
            return Err(Error::parameter("abstain", why));
        }
        if self.one_versus_all && classes(schema) < 3 {
            let why = "one_versus_all = true needs a label of more than two classes: remove it";
            return Err(Error::parameter("one_versus_all", why));
        }
        let keep = match self.thresholds {
            Thresholds::Exact => Keep::Values,
            Thresholds::Bins => Keep::Bins,
        };
        Ok(Resolved::new(self, keep, self.clone()))
    }
}

impl Train for Stumps {
    fn train(&self, task: &Task<'_>, progress: Progress<'_>) -> Result<Ensemble, Error> {
        let Self {
            rounds,
            thresholds,
            abstain,
            one_versus_all,
        } = *self;
        let sample = &task.sample;
        Ok(match task.goal {
            Goal::Classes(classes) if abstain => {
                Abstaining { rounds, thresholds }.classes(sample, classes, progress)
            }
            Goal::Classes(classes) if one_versus_all => {
                AdaBoost { rounds, thresholds }.one_versus_all(sample, classes, progress)
            }
            Goal::Classes(classes) => AdaBoost { rounds, thresholds }.classes(sample, classes, progress),
            Goal::Numbers { of, .. } => AdaBoost { rounds, thresholds }.numbers(sample, of, progress),
        })
    }
}

impl Algorithm for Constant {
    fn looks_at_features(&self) -> bool {
        false
    }

    fn resolve(&self, _: &Schema) -> Result<Resolved, Error> {
        Ok(Resolved::new(self, Keep::Bins, self.clone()))
    }
}

impl Train for Constant {
    fn train(&self, task: &Task<'_>, _: Progress<'_>) -> Result<Ensemble, Error> {
        Ok(task.goal.constant(task.sample.weights()))
    }
}

/// One sum that is the log-odds of the second of two classes, or one for each of more.
fn sums(linear: Vec<Linear>, classes: usize) -> Ensemble {
    let (link, outputs) = if classes == 2 {
        (Link::Logistic, 1)
    } else {
        (Link::Softmax, classes)
    };
    let member = |(output, linear)| Member::new(1.0, output, Learner::Linear(linear));
    Ensemble::new(
        link,
        vec![0.0; outputs],
        linear.into_iter().enumerate().map(member).collect(),
    )
}
