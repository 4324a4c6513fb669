//! Parameters of the setting.

use crate::Error;
use crate::parameters::{named_values, parameters, readable};

/// The most parties of a run.
pub const MOST_PARTIES: u16 = 1_000;

parameters! {
    /// Stumps or shallow trees boosted by parties with different rows of the same columns.
    pub struct Secure("maboost") {
        /// Rounds at most; of more than two classes, for each class.
        rounds: u32 = 200, in 1..=10_000;
        /// What each round adds.
        classifier: Classifier = Classifier::Merged;
        /// How the attribute of a round is chosen.
        attribute: AttributeChoice = AttributeChoice::Seed;
        /// How many neighbouring attributes of the schema are chosen together: a stump or tree may ask about any of them.
        group: u16 = 1, in 1..=4_096;
        /// How deep each party's trees go. 1 is a stump.
        depth: u16 = 1, in 1..=4;
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
        /// The run ends where the model is wrong about at most this share of all rows. A joint computation shows whether it is, after each round. Of more than two classes, the rounds of a
        /// class end where they tell it from all others so well.
        stop_at: Option<f64> = None, in 0.0..=0.5;
        /// By how much the share of a majority must be above one half, of three parties or more; without such a majority a round's classifier abstains.
        majority: f64 = 0.0, in 0.0..=0.49;
        /// How many parties may put together what they see, of three parties or more.
        colluding: u16 = 1, in 1..=MOST_PARTIES - 2;
    } where Self::agree
}

readable! {
    Secure {
        rounds: u32, classifier: Classifier, attribute: AttributeChoice, group: u16, depth: u16, thresholds: CutPlaces, bins: u16,
        coefficient: CoefficientRule, constant: f64, smoothing: f64, retry: bool, start: StartWeights, stop_at: Option<f64>,
        majority: f64, colluding: u16,
    }
}

named_values! {
    /// What each round adds.
    pub enum Classifier {
        /// Each party's best stump or tree; two abstain where they differ, more without a majority.
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
        if self.depth > 1 {
            self.agree_on_trees()?;
        }
        Ok(())
    }

    /// Trees are grown greedily and need not be the best there are, so that their merged classifier may be wrong about more weight than it is
    /// right about: the sign of its coefficient must be known.
    ///
    /// # Paper
    /// MABoost, remark 2.
    fn agree_on_trees(&self) -> Result<(), Error> {
        let wrong = |key, why: &str| Err(Error::parameter(key, why));
        if self.classifier == Classifier::Joint {
            return wrong(
                "depth",
                "a depth above 1 is for classifier = \"merged\": a joint computation chooses among stumps",
            );
        }
        if self.thresholds == CutPlaces::Data {
            return wrong(
                "thresholds",
                "trees are cut on the public grid: with a depth above 1 write thresholds = \"grid\"",
            );
        }
        if self.coefficient != CoefficientRule::Exact {
            return wrong(
                "coefficient",
                "with a depth above 1 write coefficient = \"exact\": coefficients of trees may be negative, and the others are not",
            );
        }
        if !matches!(self.attribute, AttributeChoice::Seed | AttributeChoice::All) {
            return wrong(
                "attribute",
                "a rendezvous is for stumps, which are the best of their kind: with a depth above 1 write attribute = \"seed\" or \"all\"",
            );
        }
        Ok(())
    }

    /// What a run of this many parties can do.
    pub(super) fn agree_for(&self, parties: u16) -> Result<(), Error> {
        let wrong = |key, why: String| Err(Error::parameter(key, why));
        if !(2..=MOST_PARTIES).contains(&parties) {
            return wrong(
                "parties",
                format!("{parties} parties: there must be 2 to {MOST_PARTIES}"),
            );
        }
        if parties == 2 {
            let (majority, colluding) = (self.majority != 0.0, self.colluding != 1);
            return match (majority, colluding) {
                (true, _) => wrong(
                    "majority",
                    "majority is for three parties or more: two abstain where they differ. Remove it".into(),
                ),
                (_, true) => wrong(
                    "colluding",
                    "colluding is for three parties or more. Remove it".into(),
                ),
                _ => Ok(()),
            };
        }
        if self.colluding > parties - 2 {
            let why = format!(
                "colluding = {}: of {parties} parties at most {} can put together what they see and learn no single party's weights",
                self.colluding,
                parties - 2
            );
            return wrong("colluding", why);
        }
        let only_two = [
            (
                "classifier",
                self.classifier != Classifier::Merged,
                "classifier = \"merged\"",
            ),
            (
                "attribute",
                self.attribute != AttributeChoice::Seed,
                "attribute = \"seed\"",
            ),
            (
                "thresholds",
                self.thresholds != CutPlaces::Grid,
                "thresholds = \"grid\"",
            ),
            (
                "coefficient",
                self.coefficient != CoefficientRule::Exact,
                "coefficient = \"exact\"",
            ),
            ("start", self.start != StartWeights::Halves, "start = \"halves\""),
            ("group", self.group != 1, "group = 1"),
            ("depth", self.depth != 1, "depth = 1"),
            ("retry", self.retry, "retry = false"),
        ];
        if let Some((key, _, instead)) = only_two.iter().find(|(_, is_other, _)| *is_other) {
            return wrong(
                key,
                format!("three parties or more cannot do this: write {instead}, or let two parties train"),
            );
        }
        if self.stop_at.is_some() {
            return wrong("stop_at", "stop_at is for two parties: remove it".into());
        }
        Ok(())
    }

    /// Whether weights of both parties are compared.
    pub(super) fn is_on_one_scale(&self) -> bool {
        self.coefficient != CoefficientRule::Constant || self.classifier == Classifier::Joint
    }
}
