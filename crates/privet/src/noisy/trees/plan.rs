//! The plan that a public rule makes of parameters. No rows are looked at.

use super::coding::{Classes, Coding, Noise, ONE, Odds, Residual, Unchanged};
use super::laws::{label_bins, label_share};
use super::leaves::Leaves;
use super::pairs::PairRule;
use super::params::{LabelTransform, Places, Splits, Trees};
use super::shares::Shares;
use super::spikes::SpikePlan;
use crate::Error;
use crate::data::schema::{Label, Schema, Transform, Units};
use crate::privacy::Relation;
use crate::privacy::account::Price;

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
    /// Whether it is released first where labels that are numbers lie; if not, that is known. Rows are counted by class wherever scores are recalibrated.
    pub(crate) counts_labels: bool,
    /// Whether one curator holds the table, and every feature of it is private: then it can be read in bins that are fine enough to find spikes in, and sums
    /// of many leaves cost no messages.
    pub(crate) one_curator: bool,
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
    /// How trees about two features are made, if there are any.
    pub(super) pairs: PairRule,
    /// Between which numbers labels lie on the scale on which they are learnt, if they are numbers.
    pub(super) bounds: Option<[f64; 2]>,
    /// The scale on which labels are learnt.
    pub(crate) transform: Transform,
    /// The largest weight of a row, if rows have weights.
    pub(super) largest_weight: Option<f64>,
    /// In about how many bins labels that are numbers are counted, twice.
    pub(super) label_bins: usize,
    /// The size that residuals are clipped to, in halves of the label's range; from noisy quartiles of the labels if not given.
    pub(super) clip: Option<f64>,
    /// The part of the distance between these quartiles that it is then.
    pub(super) quartiles: f64,
    /// How many plain trees on public columns come first.
    pub(crate) public_trees: u32,
    /// How spikes of rough columns are looked for, if they are.
    pub(super) spikes: Option<SpikePlan>,
}

/// A clip of half a probability: the noise on gradients falls by 44 %, and the ranking is the same.
const CLIP: f64 = 0.5;
/// From this strength on, leaves of an ordered column are pulled towards their neighbours (decision 0067), and trees have more of them.
const IN_ORDER: f64 = 400.0;
/// From this strength on, trees for numbers are about two features.
const NUMBERS: f64 = 400.0;
/// From this strength on there is little noise: trees for few classes are about two features, too, where there are so many (decision 0070).
const STRONG: f64 = 2500.0;
const PAIRED: usize = 4;
/// How often each feature is visited where trees for numbers are about two, and for classes.
const PAIR_VISITS: [f64; 2] = [90.0, 60.0];
/// What learning rates of numbers add up to over these visits, at most: without noise more would overshoot.
const PAIR_WAY: f64 = 9.0;
/// From so many classes on, trees are random: which column tells two of many classes apart depends on others.
const MANY_CLASSES: usize = 10;

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
        let two =
            matches!(schema.label(), Some((_, Label::Classes(declared))) if declared.values().len() == 2);
        if let (Some(weight), false) = (self.positive_weight, two) {
            let why = format!("positive_weight = {weight} is for a label of two classes: remove it");
            return Err(Error::parameter("positive_weight", why));
        }
        let calibrated = self.is_calibrated(schema)?;
        let noise = match facts.price {
            Price::Pure(_) => Noise::Laplace,
            Price::Gaussian(_) | Price::Concentrated(_) => Noise::Gaussian,
        };
        let transform = self.transform(schema)?;
        let bounds = match schema.label() {
            Some((_, Label::Number { min, max })) => Some([*min, *max].map(|end| transform.apply(end))),
            _ => None,
        };
        let is_number = bounds.is_some();
        let features = facts.features.max(1) as f64;
        let pure = noise == Noise::Laplace;
        // Few trees where each costs a share of ε, many where only their squares add up.
        let visits = |strength: f64| match (pure, strength) {
            (true, s) => (3.0 * (s / 100.0).sqrt()).clamp(3.0, 20.0).round(),
            (false, s) if s > STRONG => 30.0,
            (false, _) => 20.0,
        };
        let one_release = self.coding(schema, noise, 0);
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
        let many = one_release.outputs() >= MANY_CLASSES;
        let splits = self.splits.unwrap_or(match strength {
            _ if facts.features < 2 => Splits::OneFeature,
            _ if many && !pure => Splits::Random,
            s if is_number && s > NUMBERS && !pure => Splits::Pairs,
            s if s > STRONG && !is_number && !pure && facts.one_curator && facts.features >= PAIRED => {
                Splits::Pairs
            }
            s if s > if is_number { NUMBERS } else { STRONG } => Splits::Mixed,
            _ => Splits::OneFeature,
        });
        let pairs = match splits {
            Splits::Pairs if is_number => PairRule::NUMBERS,
            Splits::Pairs => PairRule::CLASSES,
            _ => PairRule::COARSE,
        };
        let fine = splits == Splits::Pairs && is_number;
        let visits = match splits {
            Splits::Pairs if !pure => PAIR_VISITS[usize::from(!is_number)],
            _ => visits(strength),
        };
        let by_features = (visits * features) as u32;
        let trees = self.trees.unwrap_or(match splits {
            Splits::NoisyGreedy if pure => 20,
            Splits::NoisyGreedy => 50,
            _ => by_features.clamp(1, 20_000),
        });
        let visits = f64::from(trees) / features;
        let leaves = self.leaves.unwrap_or(if strength < IN_ORDER { 8 } else { 12 }) as usize;
        let depth = self
            .depth
            .unwrap_or(if splits == Splits::Random && many { 6 } else { 4 });
        let way = (strength / 200.0).powf(0.35);
        let rate = match splits {
            Splits::NoisyGreedy => 0.3,
            _ if fine => ((4.0 * way).min(PAIR_WAY) / visits).min(0.5),
            _ if is_number => (4.0 * way / visits).min(0.5),
            _ => (2.0 * way / visits).min(0.5),
        };
        // Rows with weights are counted with each tree, as what they count.
        let histograms = is_number && splits == Splits::OneFeature && schema.weight().is_none();
        let count = if histograms {
            0
        } else if fine {
            ONE / 4
        } else {
            ONE / 2
        };
        let coding = self.coding(schema, noise, count);
        let places = self.bins.unwrap_or(match fine {
            true => Places::PrivateQuantiles,
            false => Places::Public,
        });
        let counts_labels = match coding {
            Coding::Residual(_) => facts.counts_labels,
            Coding::Classes(_) => calibrated,
            Coding::Odds(_) => false,
        };
        let counted = label_share(facts.price, facts.relation, facts.rows)?;
        let shares = Shares::of(
            facts.price,
            splits,
            trees,
            depth,
            counts_labels.then_some(counted),
            [histograms, calibrated],
            places,
        )?;
        let spikes = self.spike_plan(schema, facts, (splits, trees, strength), &coding)?;
        let shares = match &spikes {
            Some(plan) => {
                let few = "spikes = true: the budget cannot be cut into so many shares";
                let with = shares.with_spikes(trees, plan.after);
                with.ok_or_else(|| Error::parameter("spikes", few))?
            }
            None => shares,
        };
        let label_bins = match shares.labels {
            Some(price) if is_number => label_bins(price, facts.relation, facts.rows)?,
            _ => 0,
        };
        Ok(Plan {
            coding,
            noise,
            splits,
            places,
            trees,
            leaves,
            depth,
            // Few digits, for people.
            learning_rate: self.learning_rate.unwrap_or((rate * 1e4).round().max(1.0) / 1e4),
            ridge: self.ridge.unwrap_or(1.0),
            shrinkage: self.shrinkage.unwrap_or(0.5),
            strength,
            shares,
            histograms,
            pairs,
            bounds,
            transform,
            largest_weight: schema.weight().map(|(_, largest)| largest),
            label_bins,
            clip: self.gradient_clip,
            quartiles: if fine { 0.2 } else { 0.45 },
            public_trees: self.public_trees.unwrap_or(60),
            spikes,
        })
    }

    /// The scale on which the label is learnt.
    fn transform(&self, schema: &Schema) -> Result<Transform, Error> {
        let is_number = matches!(schema.label(), Some((_, Label::Number { .. })));
        let key = match (self.label_transform, self.label_scale) {
            (None, None) => return Ok(Transform::None),
            (None, Some(_)) => {
                return Err(Error::parameter(
                    "label_scale",
                    "label_scale is for label_transform = \"log1p\" or \"asinh\": remove it, or add one of them",
                ));
            }
            (Some(transform), _) => transform,
        };
        if !is_number {
            let why = "label_transform is for a label that is a number: remove it";
            return Err(Error::parameter("label_transform", why));
        }
        let transform = match key {
            LabelTransform::Log1p => Transform::Log1p(None),
            LabelTransform::Asinh => Transform::Asinh(None),
        };
        let units = Units::new(self.label_scale.unwrap_or(1.0));
        let in_units = units.and_then(|units| transform.in_units(units));
        in_units.map_err(|why| Error::parameter("label_scale", why.to_string()))
    }

    /// The same with what the rule decided.
    pub(crate) fn filled(&self, plan: &Plan) -> Self {
        let by_depth = matches!(plan.splits, Splits::Random | Splits::NoisyGreedy);
        Self {
            splits: Some(plan.splits),
            bins: Some(plan.places),
            trees: Some(plan.trees),
            leaves: self.leaves.or((!by_depth).then_some(plan.leaves as u32)),
            depth: self.depth.or(by_depth.then_some(plan.depth)),
            learning_rate: Some(plan.learning_rate),
            calibrate: plan.shares.calibration.map(|_| true).or(self.calibrate),
            spikes: plan.spikes.as_ref().map(|_| true).or(self.spikes),
            ..self.clone()
        }
    }

    /// Scores of classes are, unless that is declined.
    fn is_calibrated(&self, schema: &Schema) -> Result<bool, Error> {
        let classes = matches!(schema.label(), Some((_, Label::Classes(_))));
        match self.calibrate {
            Some(true) if !classes => Err(Error::parameter(
                "calibrate",
                "calibrate = true is for a label of classes, and this one is a number: remove it",
            )),
            given => Ok(classes && given.unwrap_or(true)),
        }
    }

    /// A row of a label that is a number counts `count`.
    fn coding(&self, schema: &Schema, noise: Noise, count: i64) -> Coding {
        let steps = |clip: f64| (clip * ONE as f64).round() as i64;
        match schema.label() {
            Some((_, Label::Number { .. })) => Coding::Residual(Residual::new(count)),
            Some((_, Label::Classes(declared))) if declared.values().len() > 2 => {
                Coding::Classes(Classes::new(declared.values().len(), noise))
            }
            _ => {
                let odds = Odds::new(steps(self.gradient_clip.unwrap_or(CLIP)), noise);
                Coding::Odds(odds.weighing(self.positive_weight.unwrap_or(1.0)))
            }
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
    /// What a row with the largest weight adds to the counts of rows by score.
    pub(super) fn counted_as(&self) -> i64 {
        if self.largest_weight.is_some() { ONE } else { 1 }
    }

    /// Whether the table is to be read in bins that are fine enough to find spikes in.
    pub(crate) fn finds_spikes(&self) -> bool {
        self.spikes.is_some()
    }

    /// How much error the noise adds, sentence by sentence.
    ///
    /// # Errors
    /// As [`Trees::plan`].
    pub(crate) fn noise(&self, facts: &Facts<'_>) -> Result<Vec<String>, Error> {
        let off = deviation(&self.coding, facts, self.shares.leaves)?;
        let in_rows = off / self.coding.bound() as f64;
        let leaves = match self.splits {
            Splits::OneFeature | Splits::Mixed | Splits::Pairs => self.leaves,
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
        lines.extend(self.outlook(facts));
        if let Some(largest) = self.largest_weight {
            lines.push(format!(
                "Rows count as shares of the largest weight, {largest}: what is said here of rows is said of rows that have it, and rows_about is read like that. Where \
                 usual weights are a tenth of it, noise weighs ten times as much. Declare no larger a weight than is needed."
            ));
        }
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
        if self.transform != Transform::None {
            lines.push(format!(
                "The label is learnt on a {} scale: predictions are in its own units, and nearer to medians than to means.",
                self.transform.name()
            ));
        }
        if let (Coding::Residual(_), Some(price)) = (&self.coding, self.shares.labels) {
            lines.push(format!(
                "Of the budget, {price} is spent on where labels lie: in their middle trees begin{}.",
                match self.clip {
                    Some(_) => "",
                    None => ", and how far apart most of them are says what residuals are clipped to",
                }
            ));
        }
        if let Some(price) = self.shares.histograms {
            lines.push(format!("{price} of it counts rows by column first."));
        }
        if let (Some(plan), Some([price, _])) = (&self.spikes, self.shares.spikes) {
            lines.push(format!(
                "If the first {} trees show that the effect of a column jumps from value to value, {price} of it counts the rows of such columns in fine \
                 bins: values that many rows share are then released, and get bins of their own (spikes = false turns this off).",
                plan.after
            ));
        }
        if let Some(price) = self.shares.calibration {
            lines.push(match (&self.coding, self.shares.labels) {
                (Coding::Classes(_), Some(counted)) => format!(
                    "{counted} of it counts rows by class, and {price} rows by score and class when all trees are grown: scores are shrunk towards how frequent \
                     classes are, unless that makes fewer rows right (calibrate = false turns this off)."
                ),
                _ => format!(
                    "{price} of it counts rows by score and class when all trees are grown, so that probabilities are right on average \
                     (calibrate = false turns this off)."
                ),
            });
        }
        Ok(lines)
    }

    /// How many numbers the sums of one tree have at most.
    pub(crate) fn most_numbers(&self) -> usize {
        let leaves = match self.splits {
            Splits::OneFeature => self.leaves,
            Splits::Mixed | Splits::Pairs => self.leaves.max(self.pairs.groups * self.pairs.groups),
            Splits::Random | Splits::NoisyGreedy => 1 << self.depth,
        };
        2 * self.coding.outputs() * leaves
    }

    /// How the sums of a tree about one feature, or about a pair of them, become values; its leaves may lie in the order of a column.
    pub(super) fn values(&self, deviation: f64, is_pair: bool, in_order: bool) -> Leaves {
        let [rate, shrinkage] = match is_pair {
            true => [self.pairs.rate, self.pairs.shrinkage.unwrap_or(self.shrinkage)],
            false => [1.0, self.shrinkage],
        };
        Leaves {
            deviation,
            hessian_unit: self.coding.hessian_unit(),
            ridge: self.ridge,
            // Under more noise too much of it would go into slow changes; of several classes, one that is rarer than noise would move as a whole.
            in_order: in_order && self.strength >= IN_ORDER && self.coding.outputs() == 1,
            shrinkage,
            rate: rate * self.learning_rate,
            bound: 2.0,
        }
    }
}
