//! Numbers in their order, sorted once.
//!
//! Boosting asks the same rows again and again with other weights, and only the weights change. The order of the rows is
//! found once; a round then adds up weights by rank and looks at every cut between two neighbouring values, in time that
//! grows with the rows and not with their sorting.
//!
//! Cuts that follow the rows are data. They are for tables that protect nobody, or for a computation that may show
//! them; everything else asks about the schema's bins.
//!
//! # Paper
//! MABoost, section 5: sorting takes n log n for each attribute in the first iteration, the others are linear.

use rayon::prelude::*;

use super::{Sample, Shape};
use crate::data::Feature;

/// The order of the rows of each number. The default knows of none: every feature is asked about by its slots.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sorted {
    features: Vec<Option<Ranks>>,
}

/// The rows of one number by the order of their values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranks {
    /// The rank of each row's value, and one behind the last where it is missing.
    pub(super) of: Vec<u32>,
    /// The values, each once, rising.
    pub(super) values: Vec<f32>,
}

impl Sorted {
    /// Sorts the numbers of a sample. Those of which only bins were kept are left alone.
    pub fn new(sample: &Sample<'_>) -> Self {
        let pairs = sample.features.par_iter().zip(sample.shapes);
        Self {
            features: pairs.map(|(feature, shape)| Ranks::new(feature, shape)).collect(),
        }
    }

    pub(super) fn ranks(&self, feature: usize) -> Option<&Ranks> {
        self.features.get(feature)?.as_ref()
    }
}

impl Ranks {
    fn new(feature: &Feature, shape: &Shape) -> Option<Self> {
        let scaled = feature.scaled.as_deref().filter(|_| shape.number)?;
        let mut order: Vec<(f32, u32)> = (0..scaled.len())
            .filter(|&row| feature.bins.get(row) != shape.missing)
            .map(|row| (scaled[row], row as u32))
            .collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut ranks, mut values) = (vec![u32::MAX; scaled.len()], Vec::new());
        for (value, row) in order {
            // Zero with and without a sign is one value.
            if values.last().is_none_or(|&last| last < value) {
                values.push(value);
            }
            ranks[row as usize] = values.len() as u32 - 1;
        }
        let missing = values.len() as u32;
        ranks.iter_mut().for_each(|rank| *rank = (*rank).min(missing));
        Some(Self { of: ranks, values })
    }

    /// Halfway between a value and the next; the upper bound behind the last.
    pub(super) fn place_after(&self, rank: u32) -> f64 {
        let value = |rank: usize| self.values.get(rank).map(|&value| f64::from(value));
        let rank = rank as usize;
        // Halfway between two singles is a double strictly between them.
        match (value(rank), value(rank + 1)) {
            (Some(this), Some(next)) => (this + next) / 2.0,
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Bins;

    #[test]
    fn values_are_ranked_once_and_cut_between() {
        let shape = Shape {
            slots: 3,
            ordered: 2,
            missing: 2,
            number: true,
        };
        let feature = Feature {
            bins: Bins::Narrow(vec![1, 0, 2, 1, 0, 0, 0]),
            scaled: Some(vec![0.5, -0.25, 0.0, 0.5, -1.0, -0.0, 0.0]),
        };
        let ranks = Ranks::new(&feature, &shape).expect("a number");
        assert_eq!(ranks.values, [-1.0, -0.25, 0.0, 0.5]);
        assert_eq!(ranks.of, [3, 1, 4, 3, 0, 2, 2]);
        let places: Vec<f64> = (0..4).map(|rank| ranks.place_after(rank)).collect();
        assert_eq!(places, [-0.625, -0.125, 0.25, 1.0]);
        let narrow = Ranks {
            of: Vec::new(),
            values: vec![0.5, 0.5_f32.next_up()],
        };
        let place = narrow.place_after(0);
        assert!(0.5 < place && place < f64::from(0.5_f32.next_up()));
        let category = Shape {
            number: false,
            ..shape
        };
        assert_eq!(Ranks::new(&feature, &category), None);
    }
}
