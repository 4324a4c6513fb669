//! A run of trees as questions and answers: label range, counts, tree after tree, calibration.
//!
//! [`Growth`] says what is asked next and computes the exact answer from the rows. Whoever drives it has that answer noised, by whatever
//! pays for it, and hands back the noisy numbers and the deviation of the noise in them. Everything else follows from these, from public
//! coins and from the schema: whoever is given the same noisy numbers has the same trees.

use sha2::{Digest, Sha256};

use super::coding::{Coding, ONE};
use super::cut::{Cut, Features};
use super::greedy::{Choice, GradientRow};
use super::histograms::{Histograms, LabelRange};
use super::laws::{About, Law, Laws};
use super::pairs::PairGains;
use super::params::{Places, Splits};
use super::plan::Plan;
use super::rows::{GrownTree, Pass, ScoredRows};
use super::slope::{self, Frequencies};
use super::spikes::{SpikyColumn, VISITS, Watch};
use super::{Before, PaidTrees, Start, Training, calibration};
use crate::Error;
use crate::boost::{Calibration, Ensemble, Spikes};
use crate::privacy::{Coins, Ledger, PerRow, Private, Relation, Reservation};
use crate::wire::Writer;

/// The next step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Numbers are to be released.
    Ask(Question),
    /// The questions of the next tree are to be chosen for their gain.
    Choose,
    /// All trees are grown.
    Done,
}

/// What is asked about the rows: so many numbers, all released at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) about: About,
    /// Which tree it is about, if it is about one; else how many there are.
    pub(crate) tree: u32,
    /// How many numbers the answer has.
    pub(crate) dimension: usize,
}

impl Question {
    /// A name that no other question of the run has.
    pub(crate) fn name(&self) -> String {
        match self.about {
            About::Labels => "labels".into(),
            About::Counts => "counts".into(),
            About::Spikes => "rough columns".into(),
            About::Leaves | About::LaterLeaves => format!("tree {}", self.tree),
            About::Calibration => "calibration".into(),
        }
    }
}

/// A run that grows trees one after another.
pub(crate) struct Growth {
    plan: Plan,
    laws: Laws,
    features: Features,
    /// The features that trees ask about.
    asked: Vec<usize>,
    rows: Private<ScoredRows>,
    coins: Coins,
    /// The features of a round: each once, and those with spikes more often.
    turns: Vec<usize>,
    /// Of these, what no tree has asked about in this round yet.
    order: Vec<usize>,
    start: Option<Start>,
    before: Option<Before>,
    labels: Option<LabelRange>,
    /// Row counts per leaf, when they are not released with each tree.
    histograms: Option<Histograms>,
    /// What trees about two features have gained, by the places of these in `asked`.
    gains: PairGains,
    trees: Vec<GrownTree>,
    /// How many of the trees the rows' scores contain.
    added: usize,
    /// The cut of the tree whose leaves are asked about.
    cut: Option<Cut>,
    /// How frequent classes are, if rows were counted by class.
    frequencies: Option<Frequencies>,
    calibration: Option<Calibration>,
    /// What is known about the shapes of columns in which spikes are looked for.
    watch: Option<Watch>,
    /// The columns that were found to be rough: their rows are counted.
    rough: Vec<usize>,
    /// Those of them that have spikes.
    spiky: Vec<SpikyColumn>,
    at: Stage,
    digest: [u8; 32],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Labels,
    Counts,
    Trees,
    Calibration,
    Done,
    Spikes,
}

impl Growth {
    /// Everything that can be refused is refused here.
    pub(crate) fn new(
        plan: &Plan,
        relation: &Relation,
        training: Training<'_>,
        coins: Coins,
    ) -> Result<Self, Error> {
        let mut features = Features::of(training.schema);
        let watched = plan.spikes.iter().flat_map(|plan| &plan.watched);
        watched.for_each(|&feature| features.watch(feature));
        let watch = plan.spikes.as_ref().map(|plan| Watch::new(plan, &features));
        let laws = Laws::new(plan, relation, &training, &features)?;
        if let Some(before) = &training.before {
            before.ensemble.check(training.schema)?;
        }
        let Training {
            schema,
            cells,
            features: asked,
            start,
            before,
            ..
        } = training;
        let (columns, coding) = (&features.columns, &plan.coding);
        let scale = (plan.transform, plan.largest_weight);
        let known = start.as_ref().map(|start| start.scores.as_slice());
        let mut before = before;
        let scored = before.as_mut().and_then(|before| before.scores.take());
        // What earlier trees say of a row is as private as the row.
        let mut rows = match (&before, scored) {
            (None, _) => cells.map(|cells| ScoredRows::new(cells, columns.clone(), coding, scale, known)),
            (Some(_), Some(scores)) => cells.zip(scores, |cells, scores| {
                ScoredRows::new(cells, columns.clone(), coding, scale, Some(&scores))
            }),
            (Some(before), None) => cells.map(|cells| {
                let scores = before.ensemble.scores(schema, &cells).unwrap_or_default();
                let scores: Vec<f32> = scores.iter().map(|&score| score as f32).collect();
                ScoredRows::new(cells, columns.clone(), coding, scale, Some(&scores))
            }),
        };
        let unit = before.as_ref().and_then(|before| before.unit);
        if let Some(unit) = unit {
            rows.update(Private::new(()), |rows, ()| rows.measure(0.0, unit));
        }
        let gains = PairGains::new(asked.len());
        let mut growth = Self {
            plan: plan.clone(),
            laws,
            features,
            turns: asked.clone(),
            asked,
            rows,
            coins,
            order: Vec::new(),
            start,
            before,
            labels: unit.map(|unit| LabelRange { start: 0.0, unit }),
            histograms: None,
            gains,
            trees: Vec::with_capacity(plan.trees as usize),
            added: 0,
            cut: None,
            frequencies: None,
            calibration: None,
            watch,
            rough: Vec::new(),
            spiky: Vec::new(),
            at: Stage::Labels,
            digest: [0; 32],
        };
        growth.go_on();
        Ok(growth)
    }

    /// What is done next.
    pub(crate) fn step(&self) -> Step {
        let about = match self.at {
            Stage::Labels => About::Labels,
            Stage::Counts => About::Counts,
            Stage::Trees if self.cut.is_none() => return Step::Choose,
            Stage::Trees if self.rough.is_empty() => About::Leaves,
            Stage::Trees => About::LaterLeaves,
            Stage::Spikes => About::Spikes,
            Stage::Calibration => About::Calibration,
            Stage::Done => return Step::Done,
        };
        let dimension = match (about, &self.laws.labels, &self.cut) {
            (About::Labels, Some(labels), _) => labels.points.len() + 1,
            (About::Labels, None, _) => self.plan.coding.outputs(),
            (About::Counts, ..) => self.slots(&self.asked),
            (About::Spikes, ..) => self.slots(&self.rough),
            (About::Leaves | About::LaterLeaves, _, Some(cut)) => {
                2 * self.plan.coding.outputs() * cut.leaves()
            }
            _ => match self.plan.coding {
                Coding::Classes(_) => slope::COUNTS,
                _ => calibration::COUNTS,
            },
        };
        Step::Ask(Question {
            about,
            tree: self.trees.len() as u32,
            dimension,
        })
    }

    fn slots(&self, of: &[usize]) -> usize {
        of.iter()
            .map(|&feature| self.features.columns[feature].slots)
            .sum()
    }

    /// What is claimed of such questions, if any is asked.
    pub(crate) fn law(&self, about: About) -> Option<&Law> {
        self.laws.law(about, self.rough.len())
    }

    /// What is claimed of the rows of one rough column, of two, and so on: how many there will be is not known beforehand.
    pub(super) fn laws_of_spikes(&self) -> &[Law] {
        &self.laws.spikes
    }

    /// How many columns were found to be rough.
    pub(super) fn rough(&self) -> usize {
        self.rough.len()
    }

    /// The exact answer to what is asked now. Asked again, it is the same.
    pub(crate) fn answer(&mut self) -> Private<Vec<i64>> {
        let nothing = Private::new(());
        match (self.at, &self.cut) {
            (Stage::Trees, Some(cut)) => {
                let pending = &self.trees[self.added..];
                let (done, earlier) = match pending.split_last() {
                    Some((last, earlier)) => (Some(last), earlier),
                    None => (None, pending),
                };
                let coding = &self.plan.coding;
                self.rows.update(nothing, |rows, ()| {
                    earlier.iter().for_each(|tree| rows.add(tree));
                    let next = cut;
                    rows.run(&Pass { coding, done, next });
                });
                self.added = self.trees.len();
                self.rows.as_ref().map(|rows| rows.sums.clone())
            }
            (Stage::Labels, _) => match &self.laws.labels {
                Some(labels) => self.rows.as_ref().map(|rows| rows.labels(&labels.points)),
                None => {
                    let classes = self.plan.coding.outputs();
                    self.rows.as_ref().map(|rows| rows.by_class(classes))
                }
            },
            (Stage::Counts, _) => self.rows.as_ref().map(|rows| rows.counts(&self.asked)),
            (Stage::Spikes, _) => self.rows.as_ref().map(|rows| rows.counts(&self.rough)),
            _ => {
                self.add_trees();
                match &self.frequencies {
                    Some(known) => self.rows.as_ref().map(|rows| rows.by_slope(known)),
                    None => self.rows.as_ref().map(ScoredRows::by_score),
                }
            }
        }
    }

    /// Adds to the rows' scores all trees that they do not contain yet.
    fn add_trees(&mut self) {
        let pending = &self.trees[self.added..];
        let add = |rows: &mut ScoredRows, ()| pending.iter().for_each(|tree| rows.add(tree));
        self.rows.update(Private::new(()), add);
        self.added = self.trees.len();
    }

    /// The noisy answer to what is asked now, and the standard deviation of the noise in each of its numbers.
    ///
    /// # Errors
    /// [`Error::Internal`] if it is not as long as what was asked for.
    pub(crate) fn take(&mut self, noisy: &[i64], deviation: f64) -> Result<(), Error> {
        match self.step() {
            Step::Ask(question) if question.dimension == noisy.len() => {}
            _ => return Err(Error::internal("an answer is as long as its question")),
        }
        let mut told = Writer::default();
        told.byte(self.at as u8);
        // What a row counts.
        let unit = self.plan.counted_as() as f64;
        match self.at {
            Stage::Labels => {
                if let Some(labels) = &self.laws.labels {
                    let mut range = LabelRange::of(labels, noisy, deviation);
                    if self.before.is_some() {
                        // Earlier trees have a base of their own: only the unit is new.
                        range.start = 0.0;
                    }
                    told.long(range.start.to_bits());
                    told.long(range.unit.to_bits());
                    let measure = |rows: &mut ScoredRows, ()| rows.measure(range.start, range.unit);
                    self.rows.update(Private::new(()), measure);
                    self.labels = Some(range);
                } else {
                    noisy.iter().for_each(|&count| told.long(count as u64));
                    self.frequencies = Some(Frequencies::counted(noisy, (deviation / unit, unit)));
                }
                self.at = Stage::Counts;
            }
            Stage::Counts => {
                noisy.iter().for_each(|&count| told.long(count as u64));
                let histograms = Histograms::of(noisy, &self.asked, &self.features);
                if self.plan.places == Places::PrivateQuantiles {
                    histograms.choose(&self.asked, &mut self.features);
                }
                self.histograms = Some(histograms).filter(|_| self.plan.histograms);
                self.at = Stage::Trees;
            }
            Stage::Trees => {
                if let Some(cut) = self.cut.take() {
                    let tree = self.grown(cut, noisy, deviation);
                    tree.cut.write(&mut told);
                    tree.values.iter().for_each(|value| told.word(value.to_bits()));
                    self.trees.push(tree);
                }
                if self.trees.len() == self.plan.trees as usize {
                    self.at = Stage::Calibration;
                }
            }
            Stage::Spikes => {
                noisy.iter().for_each(|&count| told.long(count as u64));
                self.take_spikes(noisy, deviation);
                self.at = Stage::Trees;
            }
            Stage::Calibration | Stage::Done => {
                noisy.iter().for_each(|&count| told.long(count as u64));
                let noise = (deviation / unit, unit);
                self.calibration = Some(match &self.frequencies {
                    Some(known) => known.fit(noisy, noise),
                    None => calibration::of(noisy, noise, self.plan.coding.class_weights()),
                });
                self.at = Stage::Done;
            }
        }
        let hash = Sha256::new_with_prefix(b"privet trees 1\0").chain_update(self.digest);
        self.digest = hash.chain_update(told.into_bytes()).finalize().into();
        self.go_on();
        Ok(())
    }

    /// A digest of everything that was released so far, and of the trees that followed from it.
    pub(crate) fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// How many trees are grown.
    pub(crate) fn trees(&self) -> u32 {
        self.trees.len() as u32
    }

    /// Skips what is not asked, and cuts the next tree.
    fn go_on(&mut self) {
        if self.at == Stage::Labels && self.law(About::Labels).is_none() {
            self.at = Stage::Counts;
        }
        if self.at == Stage::Counts && self.law(About::Counts).is_none() {
            self.at = Stage::Trees;
        }
        let due = self.plan.spikes.as_ref().map(|plan| plan.after as usize);
        if self.at == Stage::Trees && due == Some(self.trees.len()) && self.rough.is_empty() {
            self.rough = self.watch.as_ref().map(Watch::rough).unwrap_or_default();
            if self.rough.is_empty() {
                self.watch = None;
            } else {
                self.at = Stage::Spikes;
            }
        }
        if self.at == Stage::Trees && self.cut.is_none() && self.laws.choice.is_none() {
            self.cut = Some(self.next_cut());
        }
        if self.at == Stage::Calibration && self.law(About::Calibration).is_none() {
            self.at = Stage::Done;
        }
    }

    /// The cut of the next tree: the schema and coins decide.
    fn next_cut(&mut self) -> Cut {
        let (number, plan) = (self.trees.len() as u32, &self.plan);
        match plan.splits {
            Splits::Random | Splits::NoisyGreedy => {
                Cut::random(&self.features, &self.asked, plan.depth, &mut self.coins)
            }
            Splits::OneFeature | Splits::Mixed | Splits::Pairs => {
                let rule = plan.pairs;
                let late = 5 * number >= rule.after * plan.trees;
                let may_pair = plan.splits != Splits::OneFeature && late && self.asked.len() > 1;
                let feature = turn(&self.turns, &mut self.order, &mut self.coins);
                let is_spiky = self.spiky.iter().any(|column| column.feature == feature);
                let coins = &mut self.coins;
                if may_pair && !is_spiky && coins.below(10) < rule.of_ten {
                    let pair = match rule.by_gain {
                        true => self.gains.draw(coins).map(|place| self.asked[place]),
                        false => {
                            let others = self.asked.iter().copied().filter(|&other| other != feature);
                            let others: Vec<usize> = others.collect();
                            [feature, others[coins.below(others.len() as u64) as usize]]
                        }
                    };
                    return Cut::two(&self.features, pair, rule.groups, coins);
                }
                Cut::one(&self.features, feature, plan.leaves, coins)
            }
        }
    }

    /// Chooses the questions of the next tree for their gain; of three classes or more, for one of them after another.
    ///
    /// # Privacy
    /// What the reservation has paid for each level; `docs/proofs/trees.md#gain`.
    ///
    /// # Errors
    /// As [`Reservation::parallel`].
    pub(super) fn choose(&mut self, paid: &mut Reservation<'_>) -> Result<(), Error> {
        let gradients = self.gradients();
        let cut = self
            .choice()?
            .reserved(&self.features, &gradients, self.plan.depth, paid)?;
        self.cut = Some(cut);
        Ok(())
    }

    /// The same from an allowance: a run that is resumed finds what was chosen.
    ///
    /// # Privacy
    /// As [`choose`](Self::choose).
    ///
    /// # Errors
    /// As [`Ledger::draw_parts`].
    pub(super) fn choose_again(&mut self, ledger: &mut Ledger, paid: &PaidTrees<'_>) -> Result<(), Error> {
        let gradients = self.gradients();
        let name = format!("tree {}", self.trees.len());
        let levels = (self.plan.depth, name.as_str());
        let choice = self.choice()?;
        let cut = choice.allowed(&self.features, &gradients, levels, (ledger, paid))?;
        self.cut = Some(cut);
        Ok(())
    }

    /// Each row's slots and gradient, with all trees so far.
    fn gradients(&mut self) -> Private<PerRow<GradientRow>> {
        self.add_trees();
        let coding = &self.plan.coding;
        let output = self.trees.len() % coding.outputs();
        self.rows.row_by_row(ScoredRows::len, |rows, row| {
            rows.gradient_row(row, coding, output)
        })
    }

    fn choice(&self) -> Result<&Choice, Error> {
        let choice = self.laws.choice.as_ref();
        choice.ok_or_else(|| Error::internal("a share of the budget is set aside to choose questions with"))
    }

    /// The values of a tree's leaves.
    fn grown(&mut self, cut: Cut, sums: &[i64], deviation: f64) -> GrownTree {
        let pair = match self.plan.splits {
            Splits::Mixed | Splits::Pairs => cut.pair(),
            _ => None,
        };
        let about = cut.by_slot();
        let in_order = about.is_some_and(|(feature, _)| self.features.columns[feature].ordered);
        let mut leaves = self.plan.values(deviation, pair.is_some(), in_order);
        // Others are visited less often for the sake of columns with spikes, and go as far in all.
        leaves.rate *= self.turns.len() as f64 / self.asked.len() as f64;
        if let Some(pair) = pair.filter(|_| self.plan.pairs.by_gain) {
            let place = |feature| self.asked.iter().position(|&asked| asked == feature);
            if let [Some(a), Some(b)] = pair.map(place) {
                self.gains.learn([a, b], leaves.gain(sums, 1.0 / ONE as f64));
            }
        }
        let known = self
            .histograms
            .as_ref()
            .and_then(|histograms| histograms.leaves(&cut));
        let spiky = about.and_then(|(feature, leaf_of_slot)| {
            let mut columns = self.spiky.iter_mut();
            let column = columns.find(|column| column.feature == feature)?;
            Some(column.values(sums, leaf_of_slot, &leaves))
        });
        let (values, noise) =
            spiky.unwrap_or_else(|| leaves.values(sums, self.plan.coding.outputs(), known.as_deref()));
        if let Some(watch) = &mut self.watch {
            watch.learn(&self.features, &cut, (sums, &values), &leaves);
        }
        GrownTree { cut, values, noise }
    }

    /// Finds the spikes of rough columns in the released counts of their rows.
    fn take_spikes(&mut self, noisy: &[i64], deviation: f64) {
        let Some(watch) = self.watch.take() else {
            return;
        };
        let mut rest = noisy;
        for &feature in &self.rough {
            let (own, others) = rest.split_at(self.features.columns[feature].slots);
            rest = others;
            if let Some(column) = watch.spikes(feature, &self.features, (own, deviation)) {
                self.features.separate(feature, column.slots());
                self.spiky.push(column);
            }
        }
        // Each feature once, in a random order, and columns with spikes more often.
        self.order.clear();
        for column in &self.spiky {
            let more = std::iter::repeat_n(column.feature, VISITS - 1);
            self.turns.extend(more);
        }
    }

    /// The model, with all trees that were grown. What earlier trees it goes on from is part of it.
    pub(crate) fn finish(self) -> Ensemble {
        self.ensemble()
    }

    /// The same while the run goes on.
    pub(crate) fn ensemble(&self) -> Ensemble {
        let mut ensemble = self.plan.ensemble(&self.trees, self.labels, self.start.as_ref());
        if let Some(before) = &self.before {
            let own = std::mem::replace(&mut ensemble.members, before.ensemble.members.clone());
            ensemble.members.extend(own);
            let bases = ensemble.base.iter_mut().zip(&before.ensemble.base);
            bases.for_each(|(base, earlier)| *base += earlier);
        }
        let spikes = self.spiky.iter().map(|column| Spikes {
            feature: column.feature,
            slots: column.slots(),
        });
        Ensemble {
            calibration: self.calibration.clone(),
            spikes: spikes.collect(),
            ..ensemble
        }
    }

    /// The size that residuals are clipped to, in units of the label, once it is known.
    pub(crate) fn unit(&self) -> Option<f64> {
        self.labels.map(|labels| labels.unit)
    }
}

/// Every feature once, in a random order; then again.
fn turn(asked: &[usize], order: &mut Vec<usize>, coins: &mut Coins) -> usize {
    if order.is_empty() {
        *order = asked.to_vec();
        for i in (1..order.len()).rev() {
            order.swap(i, coins.below(i as u64 + 1) as usize);
        }
    }
    order.pop().unwrap_or(0)
}
