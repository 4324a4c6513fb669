//! Parameters of what can be learnt from local messages.

use crate::Error;
use crate::parameters::{algorithms, named_values, parameters};

use super::course::Algorithm;

parameters! {
    /// One collection, and then as many rounds of boosting as wanted on what was collected: these cost nothing.
    pub struct CollectOnce("collect-once") {
        /// What is collected, and what is made of it.
        learner: OnceLearner = OnceLearner::Direct;
        /// How many principal axes of the own rows the columns are replaced by; 0 for none.
        components: u32 = 10, in 0..=200;
        /// Cuts of each number, at quantiles of the own rows; 0 for the number itself.
        thresholds: u32 = 0, in 0..=64;
        /// Bins of each number for `learner = "bayes"`: at quantiles of the own rows, or of equal width without own rows.
        bins: u32 = 8, in 2..=64;
        /// Where E(φφᵀ) comes from, for `learner = "ridge"` and `"l2boost"`.
        gram: GramSource = GramSource::Own;
        /// Steps of `learner = "l2boost"` at most.
        steps: u32 = 300, in 10..=100_000;
        /// The largest length of a vector; from the own rows if not given.
        radius: Option<f64> = None, in 1e-6..=1e6;
    } where Self::agree
}

parameters! {
    /// Logistic regression by gradient steps: each round asks other owners for a gradient.
    pub struct LdpSgd("ldp-sgd") {
        /// Rounds, each with owners of its own.
        rounds: u32 = 10, in 1..=1000;
        /// How many principal axes of the own rows the columns are replaced by; 0 for none.
        components: u32 = 10, in 0..=200;
        /// The first step; that of round t is smaller by √t.
        step: f64 = 2.0, in 1e-6..=1e6;
        /// The largest length of a gradient; from the own rows if not given.
        radius: Option<f64> = None, in 1e-6..=1e6;
    }
}

parameters! {
    /// SAMME: each round asks other owners for what a weak learner needs, their rows weighted by the learners so far.
    pub struct Samme("samme") {
        /// The weak learner.
        learner: WeakLearner = WeakLearner::Centroid;
        /// Rounds, each with owners of its own.
        rounds: u32 = 10, in 1..=1000;
        /// Where the weight α of a learner in the vote comes from. From owners, each round is followed by one in which other owners say whether its learner errs.
        alpha: AlphaSource = AlphaSource::Own;
        /// How vectors are sent.
        message: VectorMessage = VectorMessage::Vector;
        /// The owners' ridge, for `learner = "logistic"`.
        ridge: f64 = 0.01, in 1e-6..=1e6;
        /// The largest length of a vector or size of a coordinate; from the own rows, or 1 for coordinates and signs, if not given.
        radius: Option<f64> = None, in 1e-6..=1e6;
    }
}

parameters! {
    /// Logistic regression on the own rows, with what owners say as one more column: gradient steps as in `ldp-sgd`, then one regression.
    pub struct Auto("auto") {}
}

named_values! {
    /// What is collected, and what is made of it.
    pub enum OnceLearner {
        /// The mean of s·φ itself, which along principal axes is least squares.
        Direct = "direct",
        /// The same with E(φφᵀ): least squares with a ridge.
        Ridge = "ridge",
        /// The same by stagewise steps: boosted stumps where numbers are cut.
        L2Boost = "l2boost",
        /// Centroids of the classes.
        Centroid = "centroid",
        /// The bin of one column and the label: naive Bayes.
        Bayes = "bayes",
    }

    /// Where E(φφᵀ) comes from.
    pub enum GramSource {
        /// The own rows, without labels.
        Own = "own",
        /// Other owners: half of all.
        Owners = "owners",
    }

    /// A weak learner.
    pub enum WeakLearner {
        /// The nearest centroid (Algorithm 5).
        Centroid = "centroid",
        /// A stump from cross tables (Algorithm 6).
        Stump = "stump",
        /// The mean of the owners' own logistic regressions (Algorithm 7).
        Logistic = "logistic",
    }

    /// Where α comes from.
    pub enum AlphaSource {
        /// The own rows and their labels.
        Own = "own",
        /// Other owners, by randomised response under the whole ε: as many as for the learners.
        Owners = "owners",
    }

    /// How vectors are sent.
    pub enum VectorMessage {
        /// As a codeword near it.
        Vector = "vector",
        /// Some coordinates, with the Piecewise mechanism.
        Coordinates = "coordinates",
        /// Signs of all coordinates.
        Signs = "signs",
    }
}

impl CollectOnce {
    fn agree(&self) -> Result<(), Error> {
        let wrong = |key, why: &str| Err(Error::parameter(key, why));
        let has_gram = matches!(self.learner, OnceLearner::Ridge | OnceLearner::L2Boost);
        if self.learner == OnceLearner::Bayes && self.thresholds > 0 {
            return wrong(
                "thresholds",
                "thresholds are not for learner = \"bayes\", which has bins: remove them",
            );
        }
        if self.thresholds > 0 && !has_gram {
            return wrong(
                "thresholds",
                "thresholds are for learner = \"ridge\" or \"l2boost\": remove them",
            );
        }
        if self.gram == GramSource::Owners && !has_gram {
            return wrong(
                "gram",
                "gram is for learner = \"ridge\" or \"l2boost\": remove it",
            );
        }
        Ok(())
    }
}

algorithms!(CollectOnce, LdpSgd, Samme, Auto);
