//! How the budget is divided among releases, by the parameters alone.

use super::params::{Places, Splits};
use crate::Error;
use crate::privacy::account::Price;

/// What histograms get, in hundredths of the whole: counts are needed in every leaf, quantiles need little.
const COUNTS: u64 = 10;
const QUANTILES: u64 = 5;
/// Classes are few, and their counts large.
const CLASSES: u64 = 1;
/// Measured: log loss improves by far more than this share costs, and the ranking hardly changes.
const CALIBRATION: u64 = 5;
/// The same of three classes or more, whose rows are counted by class besides.
const SLOPE: u64 = CALIBRATION - CLASSES;

/// What the rows of rough columns get, in hundredths of what trees have: measured on sets without such columns, where it may be spent for nothing.
const SPIKES: u64 = 8;

/// The price of each kind of release.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shares {
    /// The price of all.
    pub(super) all: Price,
    /// Of the histogram of labels, if they are numbers, or of rows by class, if there are three or more and scores are recalibrated.
    pub(super) labels: Option<Price>,
    /// Of the histograms of features, if there are any.
    pub(super) histograms: Option<Price>,
    /// Of rows by score and class, if these are recalibrated.
    pub(super) calibration: Option<Price>,
    /// Of the choice of questions, for each level of each tree.
    pub(super) level: Option<Price>,
    /// Of each tree's leaves.
    pub(super) leaves: Price,
    /// Of all trees together.
    rest: Price,
    /// Of the rows of rough columns in fine bins, and of each later tree's leaves if these were counted.
    pub(super) spikes: Option<[Price; 2]>,
}

impl Shares {
    pub(super) fn of(
        price: Price,
        splits: Splits,
        trees: u32,
        depth: u32,
        labels: Option<u64>,
        [counts, calibrated]: [bool; 2],
        places: Places,
    ) -> Result<Self, Error> {
        let few = || {
            Error::parameter(
                "trees",
                format!("trees = {trees} are too many: the budget cannot be cut into so many shares"),
            )
        };
        let percent = match (counts, places) {
            (true, _) => COUNTS,
            (false, Places::PrivateQuantiles) => QUANTILES,
            (false, Places::Public) => 0,
        };
        let share = |percent: u64| match percent {
            0 => Ok(None),
            percent => price.part(percent, 100).ok_or_else(few).map(Some),
        };
        let (for_labels, for_calibration) = match (labels, calibrated) {
            // Only of three classes or more are rows counted by class, and by score.
            (Some(_), true) => (CLASSES, SLOPE),
            (Some(share), false) => (share, 0),
            (None, true) => (0, CALIBRATION),
            (None, false) => (0, 0),
        };
        let rest = price
            .part(100 - percent - for_labels - for_calibration, 100)
            .ok_or_else(few)?;
        let (level, leaves) = match splits {
            Splits::NoisyGreedy => (
                Some(
                    rest.part(1, 2 * u64::from(trees) * u64::from(depth))
                        .ok_or_else(few)?,
                ),
                rest.part(1, 2 * u64::from(trees)).ok_or_else(few)?,
            ),
            _ => (None, rest.part(1, u64::from(trees)).ok_or_else(few)?),
        };
        Ok(Self {
            all: price,
            labels: share(for_labels)?,
            histograms: share(percent)?,
            calibration: share(for_calibration)?,
            level,
            leaves,
            rest,
            spikes: None,
        })
    }

    /// The same with a share for the rows of rough columns, which are counted when so many trees are grown: later ones have what remains.
    pub(super) fn with_spikes(mut self, trees: u32, after: u32) -> Option<Self> {
        let (trees, after) = (u64::from(trees), u64::from(after));
        let left = trees.checked_sub(after).filter(|&left| left > 0)?;
        // Of equal shares of all trees, those of the later ones are left.
        let remaining = (100 * left).checked_sub(SPIKES * trees)?;
        let later = self.rest.part(remaining, 100 * trees * left)?;
        self.spikes = Some([self.rest.part(SPIKES, 100)?, later]);
        Some(self)
    }
}
