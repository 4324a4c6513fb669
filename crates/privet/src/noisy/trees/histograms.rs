//! Noisy counts of rows by the slots of each feature, released once: they give row counts per leaf, and quantiles.

use super::cut::{Cut, Features};
use super::laws::Labels;

/// A number is cut between so many noisy quantiles.
const QUANTILES: usize = 32;
/// Residuals are clipped to so much of the distance between the quartiles of labels.
const CLIP: f64 = 0.45;

/// Noisy counts of each feature's slots.
pub(super) struct Histograms {
    /// By feature; nothing for features that trees do not ask about.
    counts: Vec<Vec<i64>>,
}

impl Histograms {
    /// Of released counts, one feature after another.
    ///
    /// # Privacy
    /// `docs/proofs/trees.md#histograms`.
    pub(super) fn of(released: &[i64], asked: &[usize], features: &Features) -> Self {
        let mut rest = released;
        let mut counts = vec![Vec::new(); features.columns.len()];
        for &feature in asked {
            let (own, others) = rest.split_at(features.columns[feature].slots);
            counts[feature] = own.to_vec();
            rest = others;
        }
        Self { counts }
    }

    /// About how many rows each leaf of a tree about one feature has.
    pub(super) fn leaves(&self, cut: &Cut) -> Option<Vec<f64>> {
        let (feature, leaf_of_slot) = cut.by_slot()?;
        let mut leaves = vec![0.0; cut.leaves()];
        for (&leaf, &count) in leaf_of_slot.iter().zip(&self.counts[feature]) {
            leaves[usize::from(leaf)] += count as f64;
        }
        Some(leaves)
    }

    /// Restricts the cuts of numbers to noisy quantiles.
    pub(super) fn choose(&self, asked: &[usize], features: &mut Features) {
        for &feature in asked {
            let ordinary = features.columns[feature].ordinary;
            if !features.is_number(feature) || ordinary <= QUANTILES {
                continue;
            }
            let counts = &self.counts[feature][..ordinary];
            let total: f64 = counts.iter().map(|&count| count.max(0) as f64).sum();
            let mut below = 0.0;
            let mut chosen = Vec::new();
            for (slot, &count) in counts[..ordinary - 1].iter().enumerate() {
                below += count.max(0) as f64;
                if below / total.max(1.0) * QUANTILES as f64 >= (chosen.len() + 1) as f64 {
                    chosen.push(slot as u16);
                }
            }
            if !chosen.is_empty() {
                features.choose(feature, chosen);
            }
        }
    }
}

/// Where labels that are numbers lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct LabelRange {
    /// About the middle of them.
    pub(super) start: f64,
    /// The size that residuals are clipped to.
    pub(super) unit: f64,
}

impl LabelRange {
    /// Of released counts of labels.
    ///
    /// # Privacy
    /// `docs/proofs/trees.md#histograms`.
    pub(super) fn of(labels: &Labels, counts: &[i64]) -> Self {
        let points = &labels.points;
        let total: f64 = counts.iter().map(|&count| count as f64).sum();
        // The first point below which so many of the rows lie.
        let quantile = |share: f64| {
            let mut below = 0.0;
            let found = counts.iter().zip(points).find(|(count, _)| {
                below += **count as f64;
                below >= share * total
            });
            found.map_or(labels.most, |(_, &point)| point)
        };
        let spread = quantile(0.75) - quantile(0.25);
        let unit = labels.unit.unwrap_or(CLIP * spread.abs().max(labels.least));
        Self {
            start: quantile(0.5),
            unit,
        }
    }
}
