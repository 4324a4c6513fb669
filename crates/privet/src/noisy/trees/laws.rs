//! Every claim and mechanism of a run. Whatever can be refused about them is refused here, before anything is paid.

use super::coding::{Coding, Noise};
use super::cut::Features;
use super::greedy::{Candidates, Choice};
use super::plan::Plan;
use super::spikes::MOST_COLUMNS;
use super::{Before, PaidTrees, Training};
use crate::Error;
use crate::data::place;
use crate::data::schema::{Column, Transform};
use crate::privacy::account::Price;
use crate::privacy::mechanism::{Gaussian, Laplace, Mechanism};
use crate::privacy::{Anchor, Ledger, Norm, Query, Relation, Reservation, Sensitivity, getters};

/// Labels are counted in about twice as many bins, at most and at least.
const LABEL_BINS: [usize; 2] = [8, 64];
/// The hundredths of a budget that this may have.
const LABEL_SHARES: [u64; 4] = [4, 8, 16, 30];

/// In how many: in so many that rows that are spread evenly over them are still seen in each. Where a bin holds less than half a deviation of noise,
/// the bins that labels lie in cannot be told from others ([`LabelRange`](super::histograms::LabelRange)), and quartiles are those of noise.
pub(super) fn label_bins(price: Price, relation: &Relation, rows: u64) -> Result<usize, Error> {
    let [fewest, most] = LABEL_BINS;
    let mut bins = most;
    // A quarter of the rows may lie in few bins, as they do at the end of a tail.
    while bins > fewest && noise_in(bins, price, relation)? > 0.75 * rows as f64 {
        bins /= 2;
    }
    Ok(bins)
}

/// The hundredths of a budget that labels which are numbers are counted with: a few, unless noise in the fewest bins outweighs all rows. Then all trees would
/// begin, and be measured, at what noise says.
pub(super) fn label_share(all: Price, relation: &Relation, rows: u64) -> Result<u64, Error> {
    let [mut chosen, ..] = LABEL_SHARES;
    for share in LABEL_SHARES {
        let Some(price) = all.part(share, 100) else { break };
        chosen = share;
        if noise_in(2 * LABEL_BINS[0], price, relation)? <= 1.5 * rows as f64 {
            break;
        }
    }
    Ok(chosen)
}

/// What so many counts have in noise, if that of each is one deviation.
fn noise_in(bins: usize, price: Price, relation: &Relation) -> Result<f64, Error> {
    let deviation = match (price, counted(price, relation, (1, 1))?) {
        (Price::Pure(epsilon), Norm::L1(l1)) => std::f64::consts::SQRT_2 * l1 as f64 / epsilon.to_f64(),
        (Price::Gaussian(mu_squared), Norm::L2Squared(l2)) => (l2 as f64 / mu_squared.to_f64()).sqrt(),
        _ => return Err(Error::internal("counts are paid for in ε or in μ²")),
    };
    Ok(bins as f64 * deviation)
}

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    /// Where labels that are numbers lie, or rows by class.
    Labels,
    /// Rows by the slots of each feature.
    Counts,
    /// The sums of one tree's leaves.
    Leaves,
    /// Rows by score and class.
    Calibration,
    /// Rows of rough columns, in fine bins.
    Spikes,
    /// The sums of one tree's leaves, after these were counted.
    LaterLeaves,
}

impl About {
    /// Those that every setting can ask: spikes are for one curator.
    pub(crate) const ALL: [Self; 4] = [Self::Labels, Self::Counts, Self::Leaves, Self::Calibration];
}

/// What a run asks: for each kind of question its claim and its price.
pub(super) struct Laws {
    of: [Option<Law>; 4],
    /// Of the rows of one rough column, of two, and so on.
    pub(super) spikes: Vec<Law>,
    later: Option<Law>,
    /// How labels that are numbers are counted, if they are.
    pub(super) labels: Option<Labels>,
    /// The questions of trees.
    pub(super) choice: Option<Choice>,
}

/// How labels that are numbers are counted.
pub(super) struct Labels {
    /// Between these points.
    pub(super) points: Vec<f64>,
    /// The least and the largest label.
    pub(super) bounds: [f64; 2],
    /// What residuals are clipped to, if that was given.
    pub(super) unit: Option<f64>,
    /// Else to so much of the distance between their quartiles.
    pub(super) quartiles: f64,
    /// And at least to this.
    pub(super) least: f64,
}

impl Labels {
    /// Where a bin begins and ends.
    pub(super) fn ends(&self, bin: usize) -> [f64; 2] {
        let point = |place: usize| self.points.get(place).copied().unwrap_or(self.bounds[1]);
        let low = bin.checked_sub(1).map_or(self.bounds[0], point);
        [low, point(bin).max(low)]
    }
}

impl Laws {
    pub(super) fn new(
        plan: &Plan,
        relation: &Relation,
        training: &Training<'_>,
        features: &Features,
    ) -> Result<Self, Error> {
        let norms = plan.coding.norms();
        let norm = match plan.noise {
            Noise::Laplace => Norm::L1(norms.l1_under(relation, training.unchanged)),
            Noise::Gaussian => Norm::L2Squared(norms.l2_squared_under(relation, training.unchanged)),
        };
        let steps = relation.steps();
        let counts = |price: Price, features: usize, anchor: Anchor| {
            Law::of_counts(relation, price, (features as u64, 1), anchor)
        };
        let counting = |price, features| counts(price, features, Anchor::new("trees#histograms"));
        let counted_labels = match training.before {
            Some(Before { unit: Some(_), .. }) if plan.bounds.is_some() => None,
            _ => plan.shares.labels,
        };
        let labels = match (plan.bounds, counted_labels) {
            (Some([min, max]), Some(_)) => {
                // Residuals of the public columns, or of earlier trees, lie on either side of zero.
                let [low, high] = match (&training.start, &training.before) {
                    (None, None) => [min, max],
                    _ => [min - max, max - min],
                };
                Some(Labels {
                    points: points(low, high, plan.label_bins),
                    bounds: [low, high],
                    unit: plan.clip.map(|clip| clip * (max - min) / 2.0),
                    quartiles: plan.quartiles,
                    least: (max - min) / 1000.0,
                })
            }
            _ => None,
        };
        let histograms = plan.shares.histograms;
        // Columns that are public under the relation are counted, and never change.
        let changes = |(place, column): &(usize, &Column)| {
            training.features.contains(place) && !column.is_public(relation)
        };
        let changing = training
            .schema
            .features()
            .enumerate()
            .filter(changes)
            .count()
            .max(1);
        let choice = plan.shares.level.map(|level| {
            let candidates = Candidates::of(features, &training.features, plan.coding.bound())?;
            Choice::new(candidates, level, relation.steps())
        });
        let by_class = |price: Price| {
            let row = plan.counted_as() as u64;
            Law::of_counts(relation, price, (1, row), Anchor::new("trees#calibration"))
        };
        let label_law = match (&labels, counted_labels, &plan.coding) {
            (Some(_), Some(price), _) => Some(counting(price, 1)?),
            (None, Some(price), Coding::Classes(_)) => Some(by_class(price)?),
            _ => None,
        };
        let counts_law = histograms.map(|price| counting(price, changing)).transpose()?;
        // A row adds a gradient and a hessian for each output.
        let moves = steps.saturating_mul(2 * plan.coding.outputs() as u64);
        let sums = |price| Law::new(relation, norm, price, Anchor::new("trees#sums"), moves);
        let leaves = sums(plan.shares.leaves)?;
        let (mut spikes, mut later) = (Vec::new(), None);
        if let (Some([price, each]), Some(plan)) = (plan.shares.spikes, &plan.spikes) {
            let most = plan.watched.len().min(MOST_COLUMNS);
            let columns = (1..=most).map(|columns| counts(price, columns, Anchor::new("trees#spikes")));
            spikes = columns.collect::<Result<_, _>>()?;
            later = Some(sums(each)?);
        }
        let calibration = plan.shares.calibration.map(by_class);
        Ok(Self {
            of: [label_law, counts_law, Some(leaves), calibration.transpose()?],
            spikes,
            later,
            labels,
            choice: choice.transpose()?,
        })
    }

    /// What is claimed of such a question, if it is asked; about the rows of rough columns, of so many.
    pub(super) fn law(&self, about: About, rough: usize) -> Option<&Law> {
        match about {
            About::Spikes => self.spikes.get(rough.checked_sub(1)?),
            About::LaterLeaves => self.later.as_ref(),
            about => self.of[about as usize].as_ref(),
        }
    }
}

/// Half of them evenly, half finer towards zero.
fn points(low: f64, high: f64, bins: usize) -> Vec<f64> {
    let share = |bin: usize| bin as f64 / bins as f64;
    let each = (1..bins)
        .flat_map(|bin| [false, true].map(|scale| place(low, high, Transform::None, share(bin), scale)));
    let mut points: Vec<f64> = each.collect();
    points.sort_unstable_by(f64::total_cmp);
    points
}

/// How far one change moves the counts of this many histograms: a row has one slot of each, and adds at most `row` to it.
fn counted(price: Price, relation: &Relation, (histograms, row): (u64, u64)) -> Result<Norm, Error> {
    let rows = u128::from(relation.rows().get());
    let moved = match relation {
        Relation::AddRemove { .. } => 1,
        Relation::Replace { .. } | Relation::ReplacePrivate { .. } | Relation::Owner => 2,
    };
    match price {
        Price::Pure(_) => Ok(Norm::L1(
            relation.steps().saturating_mul(histograms).saturating_mul(row),
        )),
        Price::Gaussian(_) => Ok(Norm::L2Squared(
            moved * rows * rows * u128::from(histograms) * u128::from(row) * u128::from(row),
        )),
        Price::Concentrated(_) => Err(Error::internal("counts are paid for in ε or in μ²")),
    }
}

/// What is claimed of a question, and what an answer may cost.
#[derive(Debug, Clone)]
pub(crate) struct Law {
    claim: Sensitivity,
    price: Price,
    moves: u64,
}

impl Law {
    /// Of counts in so many histograms, of each of which a row adds at most `row` to one slot, and nothing below zero.
    pub(crate) fn of_counts(
        relation: &Relation,
        price: Price,
        (histograms, row): (u64, u64),
        anchor: Anchor,
    ) -> Result<Self, Error> {
        let norm = counted(price, relation, (histograms, row))?;
        let moves = relation.steps().saturating_mul(histograms);
        Self::new(relation, norm, price, anchor, moves)
    }

    fn new(relation: &Relation, norm: Norm, price: Price, anchor: Anchor, moves: u64) -> Result<Self, Error> {
        Ok(Self {
            claim: Sensitivity::claim(relation, norm, anchor)?.also_added(),
            price,
            moves,
        })
    }

    getters! {
        /// How far one change moves the answer.
        pub(crate) claim(&claim) -> &Sensitivity;
        /// What an answer may cost.
        pub(crate) price(price) -> Price;
        /// How many numbers of the answer one change moves, at most.
        pub(crate) moves(moves) -> u64;
    }

    /// The noise of a curator, who adds all of it.
    pub(crate) fn mechanism(&self) -> Result<Added, Error> {
        match (self.price, self.claim.norm()) {
            (Price::Pure(epsilon), Norm::L1(l1)) => Ok(Added::Laplace(Laplace::calibrated(epsilon, l1)?)),
            (Price::Gaussian(mu_squared), Norm::L2Squared(l2)) => {
                Ok(Added::Gaussian(Gaussian::calibrated(mu_squared, l2)?))
            }
            _ => Err(Error::internal("trees are paid for in ε or in μ²")),
        }
    }
}

/// The noise that a curator adds to every number of an answer.
pub(crate) enum Added {
    Laplace(Laplace),
    Gaussian(Gaussian),
}

impl Added {
    /// One of the draws that were reserved.
    pub(super) fn release(&self, paid: &mut Reservation<'_>, query: Query<'_>) -> Result<Vec<i64>, Error> {
        let released = match self {
            Self::Laplace(law) => paid.release(law, query)?,
            Self::Gaussian(law) => paid.release(law, query)?,
        };
        Ok(released.into_inner())
    }

    /// One of the draws that an allowance pays for, known by its label.
    pub(crate) fn draw(
        &self,
        ledger: &mut Ledger,
        (paid, label): (&PaidTrees<'_>, &str),
        query: Query<'_>,
    ) -> Result<Vec<i64>, Error> {
        let released = match self {
            Self::Laplace(law) => paid.draw(ledger, label, law, query)?,
            Self::Gaussian(law) => paid.draw(ledger, label, law, query)?,
        };
        Ok(released.into_inner())
    }

    /// The standard deviation of the noise on each number.
    pub(crate) fn deviation(&self) -> f64 {
        match self {
            Self::Laplace(law) => law.variance().sqrt(),
            Self::Gaussian(law) => law.variance().sqrt(),
        }
    }
}
