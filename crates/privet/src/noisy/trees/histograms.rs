//! Noisy counts of rows by the slots of each feature, released once: they give row counts per leaf, and quantiles.

use std::ops::Range;

use super::cut::{Cut, Features};
use super::laws::Labels;
use crate::noisy::calibration::body;

/// A number is cut between so many noisy quantiles.
const QUANTILES: usize = 64;

/// Residuals are clipped by the distance between the quartiles of labels; or, where these lie in one bin and most others far from it, between the first of these
/// quantiles that lie so many times as far apart, as many rows below the one as above the other.
const QUARTER: f64 = 0.25;
const TAILS: [f64; 3] = [0.1, 0.05, 0.02];
const FAR: f64 = 8.0;
/// As this part of it: most residuals are then those of zeros, and a smaller one would leave predictions near zero.
const PART: f64 = 0.5;

/// Labels beyond empty bins are more than so many deviations of the noise in theirs: of all stretches of noise alone, the largest hardly is.
const MORE: f64 = 4.5;

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
    /// Of released counts of labels, with the deviation of the noise in each.
    ///
    /// # Privacy
    /// `docs/proofs/trees.md#histograms`.
    pub(super) fn of(labels: &Labels, counts: &[i64], deviation: f64) -> Self {
        let body = inhabited(counts, deviation);
        let counts = &counts[body.clone()];
        let total: f64 = counts.iter().map(|&count| count as f64).sum();
        // Where so many of the rows lie below, as if those of a bin were spread evenly over it; and which bin that is.
        let place = |share: f64| {
            let mut below = 0.0;
            for (bin, &count) in body.clone().zip(counts) {
                let (before, count) = (below, count as f64);
                below += count;
                if below >= share * total {
                    let [low, high] = labels.ends(bin);
                    let part = if count > 0.0 {
                        (share * total - before) / count
                    } else {
                        0.0
                    };
                    return (low + (high - low) * part.clamp(0.0, 1.0), bin);
                }
            }
            let last = body.end.saturating_sub(1);
            (labels.ends(last)[1], last)
        };
        let spread = |tail: f64| place(1.0 - tail).0 - place(tail).0;
        let quartiles = spread(QUARTER);
        // Of counts most are often zero, and both quartiles with them: residuals clipped to the width of that bin would say little but that zeros are most
        // frequent, and the model would be the constant zero.
        let wider = match place(QUARTER).1 == place(1.0 - QUARTER).1 {
            true => TAILS.into_iter().map(spread).find(|&far| far > FAR * quartiles),
            false => None,
        };
        let size = wider.map_or(labels.quartiles * quartiles, |far| far * PART);
        let unit = labels.unit.unwrap_or(size.max(labels.quartiles * labels.least));
        Self {
            start: place(0.5).0,
            unit,
        }
    }
}

/// The bins that labels lie in. Few rows are spread over few bins; the noise of many empty ones would move quartiles to where nobody is, and with them the unit that
/// everybody's noise is measured in. But labels may also lie far apart: what is beyond empty bins belongs to them if it is more than noise in all.
fn inhabited(counts: &[i64], deviation: f64) -> Range<usize> {
    let mut found = body(counts, deviation / 2.0);
    let beyond = |rest: &[i64]| {
        let stretch = body(rest, deviation / 2.0);
        let rows: f64 = rest[stretch.clone()].iter().map(|&count| count as f64).sum();
        (rows > MORE * deviation * (stretch.len() as f64).sqrt()).then_some(stretch)
    };
    while let Some(stretch) = beyond(&counts[found.end..]) {
        found.end += stretch.end;
    }
    while let Some(stretch) = beyond(&counts[..found.start]) {
        found.start = stretch.start;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 800 rows in ten bins of 64, and noise of deviation 20 that adds up to half as many in the empty ones: three quarters of all
    /// counts are reached at bin 15 only.
    #[test]
    fn noise_where_nobody_is_does_not_move_the_unit() {
        let labels = Labels {
            points: (1..64).map(f64::from).collect(),
            bounds: [0.0, 64.0],
            unit: None,
            quartiles: 0.45,
            least: 0.064,
        };
        let noise = |bin: usize| [30, -20, 14, 0, 11][bin % 5];
        let rows = |bin: usize| if bin < 10 { 80 } else { 0 };
        let exact: Vec<i64> = (0..64).map(rows).collect();
        let noisy: Vec<i64> = (0..64).map(|bin| rows(bin) + noise(bin)).collect();
        let [exact, noisy] = [(exact, 0.0), (noisy, 20.0)]
            .map(|(counts, deviation)| LabelRange::of(&labels, &counts, deviation));
        assert_eq!([exact.start, exact.unit], [5.0, 0.45 * 5.0]);
        assert!(
            (noisy.unit / exact.unit - 1.0).abs() <= 0.21,
            "{} and {}",
            noisy.unit,
            exact.unit
        );
        assert!((noisy.start - exact.start).abs() <= 1.0, "{}", noisy.start);
    }

    /// Four fifths of the labels are zero, as of many counts: quartiles lie in one bin, the tenth of either end does not. Evenly spread labels keep their quartiles.
    #[test]
    fn a_bin_with_most_labels_is_not_the_unit() {
        let labels = Labels {
            points: (1..64).map(f64::from).collect(),
            bounds: [0.0, 64.0],
            unit: None,
            quartiles: 0.2,
            least: 0.064,
        };
        let unit = |counts: &[i64]| LabelRange::of(&labels, counts, 0.0).unit;
        let mut counts = vec![0; 64];
        (counts[0], counts[6], counts[12]) = (800, 150, 50);
        // The first tenth ends within the zeros, the last begins within the sixes.
        let expected = PART * (6.0 + 100.0 / 150.0 - 0.125);
        assert!((unit(&counts) - expected).abs() < 1e-9, "{}", unit(&counts));
        assert!((unit(&[10; 64]) - 0.2 * 32.0).abs() < 1e-9);
        counts[6..].fill(0);
        assert!((unit(&counts) - 0.2 * 0.5).abs() < 1e-9, "all in one bin");
        counts[1] = 150;
        assert!(unit(&counts) < 0.2, "in two neighbouring bins");
    }

    /// Most labels in the first bin, and some beyond fifty empty ones: these are more than noise in all, and less than noise in one bin would be.
    #[test]
    fn labels_beyond_empty_bins_count() {
        let mut counts = vec![0; 128];
        counts[0] = 4000;
        (60..66).for_each(|bin| counts[bin] = 60);
        assert_eq!(body(&counts, 10.0), 0..1);
        assert_eq!(inhabited(&counts, 10.0), 0..66);
        assert_eq!(inhabited(&counts, 60.0), 0..1, "what noise could make");
    }

    /// Without noise nothing is left out, whatever bins are empty.
    #[test]
    fn without_noise_all_labels_count() {
        let mut counts = vec![0; 20];
        (counts[3], counts[16]) = (5, 7);
        assert_eq!(body(&counts, 0.0), 3..17);
        assert_eq!(body(&[0, 0], 3.0), 0..1, "there is always a bin");
    }
}
