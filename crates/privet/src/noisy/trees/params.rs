//! Parameters of private trees.

use crate::data::Section;
use crate::parameters::{Balance, Takes, name_of, named_values, parameters, plain_values};

/// Where numbers can be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Places {
    /// Between the bins of the schema.
    #[default]
    Public,
    /// Between the bins that noisy quantiles choose.
    PrivateQuantiles,
}

impl Places {
    /// All of them, with their names in a job.
    pub const NAMES: [(&str, Self); 2] = [
        ("public", Self::Public),
        ("private-quantiles", Self::PrivateQuantiles),
    ];
}

parameters! {
    /// Parameters of private trees; what is not given follows from a public rule.
    pub struct Trees("trees") {
        /// How trees choose the features that they split on; if not given one feature per tree, two where there is little noise, and random ones
        /// for ten classes or more.
        splits: Option<Splits> = None;
        /// Where numbers can be cut; between the bins of the schema if not given, and between noisy quantiles where the label is a number and `splits = "pairs"`.
        bins: Option<Places> = None;
        /// How many trees (rounds, with three classes or more); by a public rule if not given.
        trees: Option<u32> = None, in 1..=100_000;
        /// How many leaves a tree has, at most; by a public rule if not given.
        leaves: Option<u32> = None, in 2..=256;
        /// The depth of random and noisy-greedy trees; 4 if not given, and 6 for random trees of ten classes or more.
        depth: Option<u32> = None, in 1..=10;
        /// The learning rate, by which leaf values are multiplied; by a public rule if not given.
        learning_rate: Option<f64> = None, in 1e-6..=10.0;
        /// The size that gradients are clipped to, where a probability or half a label's range is one; if not given ½ of a probability, and a part
        /// of the distance between noisy quartiles of the label.
        gradient_clip: Option<f64> = None, in 0.001..=1.0;
        /// What is added to a leaf's hessian, in standard deviations of its noise; one if not given.
        ridge: Option<f64> = None, in 0.0..=1000.0;
        /// The share of the variance due to noise by which a tree's values are shrunk; half if not given.
        shrinkage: Option<f64> = None, in 0.0..=10.0;
        /// Whether scores of classes are recalibrated, for a twentieth of the budget; they are if not given. Probabilities of two classes are then right on
        /// average; scores of more are shrunk towards how frequent classes are, where they call no more rows right than the most frequent class.
        calibrate: Option<bool> = None;
        /// Whether spikes of rough columns, single values that many rows share, get bins of their own, for at most a twelfth of the budget; for two classes, where
        /// there is little noise, if not given.
        spikes: Option<bool> = None;
        /// How much a row of the second of two classes counts, where one of the first counts one: above 1 where it is rare and must not be overlooked.
        /// Probabilities are then those of a population in which classes are so weighed.
        positive_weight: Option<f64> = None, in 0.001..=1000.0;
        /// How many plain trees on public columns come first, where the label is public too; 60 if not given.
        public_trees: Option<u32> = None, in 1..=10_000;
        /// The scale on which a label that is a number is learnt: `log1p` or `asinh` for prices and counts, whose errors grow with their size. The model
        /// then predicts about medians, in the label's own units.
        label_transform: Option<LabelTransform> = None;
        /// The size around which that scale turns from even to logarithmic, in the label's own units; 1 if not given.
        label_scale: Option<f64> = None, in 1e-38..=1e38;
        /// Not supported: trees learn from all rows.
        balance: Balance = Balance(false);
    }
}

named_values! {
    /// How trees ask about features.
    #[derive(Default)]
    pub enum Splits {
        /// Each tree about one feature, in turn, cut at random.
        #[default]
        OneFeature = "one-feature",
        /// The first trees about one feature, then every other about two, cut at random.
        Mixed = "mixed",
        /// The first trees about one feature, then most about two, drawn by what trees about them have released so far.
        Pairs = "pairs",
        /// Each question about a random feature, cut at random.
        Random = "random",
        /// Each question chosen for its gain, noisily.
        NoisyGreedy = "noisy-greedy",
    }
}

named_values! {
    /// The scale on which a label that is a number is learnt.
    pub enum LabelTransform {
        /// The logarithm of one more than the label, in units of `label_scale`; with the label's sign.
        Log1p = "log1p",
        /// The inverse hyperbolic sine of the label, in units of `label_scale`.
        Asinh = "asinh",
    }
}

plain_values! {
    // Elsewhere bins are a number, so the error explains what they are here.
    Places: |section: &Section<'_>, key: &str| match section.is_text(key) || !section.has(key) {
        true => section.choice(key, &Places::NAMES).map(|found| found.value),
        false => {
            section.finding_at(
                key,
                "bins of \"trees\" can be \"public\" or \"private-quantiles\"; how many a number has stands in the schema",
            );
            None
        }
    }, |own: &Places| (*own != Places::Public).then(|| name_of(&Places::NAMES, own))
        => Takes::NamesWith(&[("public", &[]), ("private-quantiles", &[])]);
}
