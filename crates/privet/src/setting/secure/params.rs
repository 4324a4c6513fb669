//! Parameters of the setting.

use crate::Error;
use crate::parameters::{named_values, parameters, readable};

parameters! {
    /// Stumps boosted by two parties with different rows of the same columns.
    pub struct Secure("maboost") {
        /// Rounds at most.
        rounds: u32 = 200, in 1..=10_000;
        /// What each round adds.
        classifier: Classifier = Classifier::Merged;
        /// How the attribute of a round is chosen.
        attribute: AttributeChoice = AttributeChoice::Seed;
        /// Where numbers may be cut.
        thresholds: CutPlaces = CutPlaces::Grid;
        /// How many bins the public grid has at most: neighbouring bins of the schema are merged.
        bins: u16 = 16, in 2..=256;
        /// How the coefficient of a round is found.
        coefficient: CoefficientRule = CoefficientRule::Exact;
        /// Every coefficient, for `coefficient = "constant"`.
        constant: f64 = 0.1, in 0.001..=1.0;
        /// δ, which is added to the weights of right and wrong rows, whose sum is at most 1, before their ratio is taken.
        smoothing: f64 = 0.002, in 0.000_001..=0.1;
        /// Whether another attribute is tried where the two stumps are opposite and would abstain everywhere.
        retry: bool = false;
        /// What the rows weigh at the beginning.
        start: StartWeights = StartWeights::Halves;
    } where Self::agree
}

readable! {
    Secure {
        rounds: u32, classifier: Classifier, attribute: AttributeChoice, thresholds: CutPlaces, bins: u16, coefficient: CoefficientRule,
        constant: f64, smoothing: f64, retry: bool, start: StartWeights,
    }
}

named_values! {
    /// What each round adds.
    pub enum Classifier {
        /// Each party's best stump; the two abstain where they differ.
        Merged = "merged",
        /// The one stump of the public grid that errs least on the rows of both. It is found in a joint computation that shows nothing else.
        Joint = "joint",
    }

    /// How the attribute of a round is chosen.
    pub enum AttributeChoice {
        /// By public coins that follow from the agreement.
        Seed = "seed",
        /// At random among those for which both parties have a stump that errs on less than half of their weight. One joint computation shows
        /// its number and nothing else.
        Rendezvous = "rendezvous",
        /// The same by halving, as published: each half that was asked about shows one bit.
        RendezvousByHalves = "rendezvous-by-halves",
        /// None is chosen: stumps may ask about any attribute.
        All = "all",
    }

    /// Where numbers may be cut.
    pub enum CutPlaces {
        /// Where merged bins of the schema meet: no threshold is data.
        Grid = "grid",
        /// Halfway between two neighbouring numbers of a party's own rows, as published: a threshold is data.
        Data = "data",
    }

    /// How the coefficient of a round is found.
    pub enum CoefficientRule {
        /// From the weights of right, wrong and silent rows, which the parties tell each other.
        Exact = "exact",
        /// Rounded to eighths inside a joint computation, which shows nothing else of the weights.
        Rounded = "rounded",
        /// The same in every round: no weights are compared.
        Constant = "constant",
    }

    /// What the rows weigh at the beginning.
    pub enum StartWeights {
        /// The rows of each party together weigh one half.
        Halves = "halves",
        /// All rows weigh the same: the parties tell each other how many they have.
        Rows = "rows",
    }
}

impl Secure {
    fn agree(&self) -> Result<(), Error> {
        let wrong = |key, why: &str| Err(Error::parameter(key, why));
        let is_joint = self.classifier == Classifier::Joint;
        if is_joint && self.thresholds == CutPlaces::Data {
            return wrong(
                "thresholds",
                "thresholds = \"data\" is for classifier = \"merged\": a joint computation compares stumps that both parties can name. Write \
                 thresholds = \"grid\"",
            );
        }
        if is_joint && !matches!(self.attribute, AttributeChoice::Seed | AttributeChoice::All) {
            return wrong(
                "attribute",
                "a rendezvous is for classifier = \"merged\": with \"joint\", write attribute = \"seed\" or \"all\"",
            );
        }
        if self.retry && (is_joint || self.attribute == AttributeChoice::All) {
            return wrong(
                "retry",
                "retry = true is for classifier = \"merged\" where an attribute is chosen: remove it",
            );
        }
        if self.start == StartWeights::Rows && !self.is_on_one_scale() {
            return wrong(
                "start",
                "start = \"rows\" would show how many rows each party has for nothing: with a constant coefficient and merged stumps, the \
                 weights of the two are never compared. Remove it",
            );
        }
        Ok(())
    }

    /// Whether weights of both parties are compared.
    pub(super) fn is_on_one_scale(&self) -> bool {
        self.coefficient != CoefficientRule::Constant || self.classifier == Classifier::Joint
    }
}
