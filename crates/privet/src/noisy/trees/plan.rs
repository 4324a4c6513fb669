//! Parameters, and the plan that a public rule makes of them. No rows are looked at.

use super::coding::{Classes, Coding, Noise, ONE, Odds, Residual, Unchanged};
use super::leaves::Leaves;
use super::shares::Shares;
use crate::Error;
use crate::data::Section;
use crate::data::schema::{Label, Schema};
use crate::parameters::{Balance, Takes, name_of, named_values, parameters, plain_values};
use crate::privacy::Relation;
use crate::privacy::account::Price;

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
        /// How trees choose the features that they split on; one feature per tree if not given, and two where there is little noise.
        splits: Option<Splits> = None;
        /// Where numbers can be cut.
        bins: Places = Places::Public;
        /// How many trees (rounds, with three classes or more); by a public rule if not given.
        trees: Option<u32> = None, in 1..=100_000;
        /// How many leaves a tree has, at most; by a public rule if not given.
        leaves: Option<u32> = None, in 2..=256;
        /// The depth of random and noisy-greedy trees; 4 if not given.
        depth: Option<u32> = None, in 1..=10;
        /// The learning rate, by which leaf values are multiplied; by a public rule if not given.
        learning_rate: Option<f64> = None, in 1e-6..=10.0;
        /// The size that gradients are clipped to, where a probability or half a label's range is one; ½ of a probability and a tenth of
        /// half a range if not given.
        gradient_clip: Option<f64> = None, in 0.001..=1.0;
        /// What is added to a leaf's hessian, in standard deviations of its noise; one if not given.
        ridge: Option<f64> = None, in 0.0..=1000.0;
        /// The share of the variance due to noise by which a tree's values are shrunk; half if not given.
        shrinkage: Option<f64> = None, in 0.0..=10.0;
        /// Whether probabilities of two classes are recalibrated, for a twentieth of the budget; they are if not given.
        calibrate: Option<bool> = None;
        /// How many plain trees on public columns come first, where the label is public too; 60 if not given.
        public_trees: Option<u32> = None, in 1..=10_000;
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
        /// Each question about a random feature, cut at random.
        Random = "random",
        /// Each question chosen for its gain, noisily.
        NoisyGreedy = "noisy-greedy",
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

/// The price of all trees, and public facts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub(crate) price: Price,
    /// About how many rows there are.
    pub(crate) rows: u64,
    /// How many features trees ask about.
    pub(crate) features: usize,
    pub(crate) relation: &'a Relation,
    /// Which part of a replaced row is the same in both neighbours.
    pub(crate) unchanged: Unchanged,
    /// Whether it is released first where labels that are numbers lie; if not, that is known.
    pub(crate) counts_labels: bool,
}

/// Everything that is fixed before the first row is looked at.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(super) coding: Coding,
    pub(super) noise: Noise,
    pub(super) splits: Splits,
    pub(super) places: Places,
    pub(crate) trees: u32,
    pub(crate) leaves: usize,
    pub(super) depth: u32,
    pub(crate) learning_rate: f64,
    pub(super) ridge: f64,
    pub(super) shrinkage: f64,
    /// How strong the signal can be against the noise, by public facts.
    pub(crate) strength: f64,
    pub(super) shares: Shares,
    /// Whether row counts per leaf come from histograms, because they are not released with each tree.
    pub(super) histograms: bool,
    /// Between which numbers labels lie, if they are numbers.
    pub(super) bounds: Option<[f64; 2]>,
    /// The size that residuals are clipped to, in halves of the label's range; from noisy quartiles of the labels if not given.
    pub(super) clip: Option<f64>,
    /// How many plain trees on public columns come first.
    pub(crate) public_trees: u32,
}

/// A clip of half a probability: the noise on gradients falls by 44 %, and the ranking is the same.
const CLIP: f64 = 0.5;
impl Trees {
    /// The plan that the public rule makes of these parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a parameter does not fit the schema.
    pub(crate) fn plan(&self, schema: &Schema, facts: &Facts<'_>) -> Result<Plan, Error> {
        if let (Some(clip), Some((_, Label::Classes(declared)))) = (self.gradient_clip, schema.label())
            && declared.values().len() > 2
        {
            let why = format!("gradient_clip = {clip} is for two classes, or a number: remove it");
            return Err(Error::parameter("gradient_clip", why));
        }
        let calibrated = self.is_calibrated(schema)?;
        let noise = match facts.price {
            Price::Pure(_) => Noise::Laplace,
            Price::Gaussian(_) | Price::Concentrated(_) => Noise::Gaussian,
        };
        let bounds = match schema.label() {
            Some((_, Label::Number { min, max })) => Some([*min, *max]),
            _ => None,
        };
        let is_number = bounds.is_some();
        let features = facts.features.max(1) as f64;
        let pure = noise == Noise::Laplace;
        // Few trees where each costs a share of ε, many where only their squares add up.
        let visits = |strength: f64| match (pure, strength) {
            (true, s) => (3.0 * (s / 100.0).sqrt()).clamp(3.0, 20.0).round(),
            (false, s) if s > 2500.0 => 30.0,
            (false, _) => 20.0,
        };
        let one_release = self.coding(schema, noise, false);
        let unit = deviation(&one_release, facts, facts.price)?;
        // Under Laplace noise the strength falls with the number of trees: the rule's number is a fixed point of a few steps.
        let mut strength = facts.rows as f64 * ONE as f64 * 0.559 / (features.sqrt() * unit);
        let whole = strength;
        if pure {
            let mut count = 5.0 * features;
            for _ in 0..8 {
                strength = whole * features.sqrt() / count.sqrt() / features.sqrt();
                count = f64::from(self.trees.unwrap_or((visits(strength) * features) as u32));
            }
        }
        let splits = self.splits.unwrap_or(match strength {
            s if s > if is_number { 400.0 } else { 2500.0 } && facts.features > 1 => Splits::Mixed,
            _ => Splits::OneFeature,
        });
        let visits = visits(strength);
        let by_features = (visits * features) as u32;
        let trees = self.trees.unwrap_or(match splits {
            Splits::NoisyGreedy if pure => 20,
            Splits::NoisyGreedy => 50,
            _ => by_features.clamp(1, 20_000),
        });
        let visits = f64::from(trees) / features;
        let leaves = self.leaves.unwrap_or(if strength < 400.0 { 8 } else { 12 }) as usize;
        let rate = match splits {
            Splits::NoisyGreedy => 0.3,
            _ if is_number => (4.0 * (strength / 200.0).powf(0.35) / visits).min(0.5),
            _ => (2.0 * (strength / 200.0).powf(0.35) / visits).min(0.5),
        };
        let histograms = is_number && splits == Splits::OneFeature;
        let coding = self.coding(schema, noise, !histograms);
        let shares = Shares::of(
            facts.price,
            splits,
            trees,
            self.depth(),
            [is_number && facts.counts_labels, histograms, calibrated],
            self.bins,
        )?;
        Ok(Plan {
            coding,
            noise,
            splits,
            places: self.bins,
            trees,
            leaves,
            depth: self.depth(),
            // Few digits, for people.
            learning_rate: self.learning_rate.unwrap_or((rate * 1e4).round().max(1.0) / 1e4),
            ridge: self.ridge.unwrap_or(1.0),
            shrinkage: self.shrinkage.unwrap_or(0.5),
            strength,
            shares,
            histograms,
            bounds,
            clip: self.gradient_clip,
            public_trees: self.public_trees.unwrap_or(60),
        })
    }

    /// The same with what the rule decided.
    pub(crate) fn filled(&self, plan: &Plan) -> Self {
        let by_depth = matches!(plan.splits, Splits::Random | Splits::NoisyGreedy);
        Self {
            splits: Some(plan.splits),
            trees: Some(plan.trees),
            leaves: self.leaves.or((!by_depth).then_some(plan.leaves as u32)),
            depth: self.depth.or(by_depth.then_some(plan.depth)),
            learning_rate: Some(plan.learning_rate),
            calibrate: plan.shares.calibration.map(|_| true).or(self.calibrate),
            ..self.clone()
        }
    }

    /// Two classes are, unless that is declined.
    fn is_calibrated(&self, schema: &Schema) -> Result<bool, Error> {
        let two =
            matches!(schema.label(), Some((_, Label::Classes(declared))) if declared.values().len() == 2);
        match self.calibrate {
            Some(true) if !two => Err(Error::parameter(
                "calibrate",
                "calibrate = true is for a label of two classes: remove it",
            )),
            given => Ok(two && given.unwrap_or(true)),
        }
    }

    fn depth(&self) -> u32 {
        self.depth.unwrap_or(4)
    }

    fn coding(&self, schema: &Schema, noise: Noise, counts: bool) -> Coding {
        let steps = |clip: f64| (clip * ONE as f64).round() as i64;
        match schema.label() {
            Some((_, Label::Number { .. })) => {
                Coding::Residual(Residual::new(if counts { ONE / 2 } else { 0 }))
            }
            Some((_, Label::Classes(declared))) if declared.values().len() > 2 => {
                Coding::Classes(Classes::new(declared.values().len(), noise))
            }
            _ => Coding::Odds(Odds::new(steps(self.gradient_clip.unwrap_or(CLIP)), noise)),
        }
    }
}

/// The standard deviation of the noise on one release of a tree's sums, in steps of the grid: near enough to plan with.
fn deviation(coding: &Coding, facts: &Facts<'_>, price: Price) -> Result<f64, Error> {
    Ok(match price {
        Price::Pure(epsilon) => {
            let l1 = coding.norms().l1_under(facts.relation, facts.unchanged);
            std::f64::consts::SQRT_2 * l1 as f64 / epsilon.to_f64()
        }
        Price::Gaussian(mu_squared) => {
            let l2 = coding.norms().l2_squared_under(facts.relation, facts.unchanged);
            (l2 as f64 / mu_squared.to_f64()).sqrt()
        }
        Price::Concentrated(_) => {
            return Err(Error::internal("trees are paid for in ε or in μ²"));
        }
    })
}

impl Plan {
    /// How much error the noise adds, sentence by sentence.
    ///
    /// # Errors
    /// As [`Trees::plan`].
    pub(crate) fn noise(&self, facts: &Facts<'_>) -> Result<Vec<String>, Error> {
        let off = deviation(&self.coding, facts, self.shares.leaves)?;
        let in_rows = off / self.coding.bound() as f64;
        let leaves = match self.splits {
            Splits::OneFeature | Splits::Mixed => self.leaves,
            Splits::Random | Splits::NoisyGreedy => 1 << self.depth,
        };
        let rounds = match self.coding.outputs() {
            1 => format!("{} trees", self.trees),
            outputs => format!("{} rounds of {outputs} trees", self.trees),
        };
        let mut lines = vec![format!(
            "{rounds} of at most {leaves} leaves are released, one after another (strength {:.0}, by ε, rows and columns). The noise in each leaf \
                 equals about {:.0} rows (one standard error); a leaf has about {:.0} rows.",
            self.strength,
            in_rows.ceil(),
            facts.rows as f64 / leaves as f64
        )];
        // As if rows were spread evenly over leaves, with a probability of one in six to be wrong about each.
        let hessian = match self.coding {
            Coding::Residual(_) => 1.0,
            Coding::Odds(_) | Coding::Classes(_) => 0.14,
        };
        let raised = self.ridge * off * self.coding.hessian_unit();
        let each = off / ONE as f64 / (hessian * facts.rows as f64 / leaves as f64 + raised);
        let score = self.learning_rate * f64::from(self.trees).sqrt() * each;
        lines.push(match self.coding {
            Coding::Residual(_) => format!(
                "Noise adds an error of about {score:.2} to a prediction; 1 is the size that residuals are clipped to."
            ),
            _ => format!("Noise adds an error of about {score:.2} to a row's log-odds, if its values are neither rare nor frequent."),
        });
        if let Some(price) = self.shares.histograms {
            lines.push(format!("{price} of it counts rows by column first."));
        }
        if let Some(price) = self.shares.calibration {
            lines.push(format!(
                "{price} of it counts rows by score and class when all trees are grown, so that probabilities are right on average \
                 (calibrate = false turns this off)."
            ));
        }
        Ok(lines)
    }

    /// How many numbers the sums of one tree have at most.
    pub(crate) fn most_numbers(&self) -> usize {
        let leaves = match self.splits {
            Splits::OneFeature => self.leaves,
            // Four groups of each of two features.
            Splits::Mixed => self.leaves.max(16),
            Splits::Random | Splits::NoisyGreedy => 1 << self.depth,
        };
        2 * self.coding.outputs() * leaves
    }

    pub(super) fn values(&self, deviation: f64, doubled: bool) -> Leaves {
        Leaves {
            deviation,
            hessian_unit: self.coding.hessian_unit(),
            ridge: self.ridge,
            shrinkage: if doubled { 1.0 } else { self.shrinkage },
            rate: if doubled { 2.0 } else { 1.0 } * self.learning_rate,
            bound: 2.0,
        }
    }
}
