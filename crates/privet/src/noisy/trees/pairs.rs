//! Trees about two features: how they are made, and which features they are about.
//!
//! Which pair of columns matters is not known beforehand, and most do not. What a tree about a pair releases says how much it gained; later pairs are
//! drawn by that, in part. Nothing but released sums, the deviation of their noise and coins goes in.

use super::leaves::Leaves;
use crate::privacy::Coins;

/// So much of every draw is even over all pairs, however little they have gained.
const EVEN: f64 = 0.2;
/// The weight of the latest tree about a pair in what the pair has gained, at least.
const LATEST: f64 = 0.3;

/// How trees about two features are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairRule {
    /// Groups of each of the two features, at most.
    pub(super) groups: usize,
    /// How many of ten trees are about two features, once so many fifths of all trees are grown.
    pub(super) of_ten: u64,
    pub(super) after: u32,
    /// Their learning rate, in those of others.
    pub(super) rate: f64,
    /// What their values are shrunk by; as others' if not given.
    pub(super) shrinkage: Option<f64>,
    /// Whether pairs are drawn by what they have gained; else evenly.
    pub(super) by_gain: bool,
}

impl PairRule {
    /// Few and coarse, where noise lets hardly more be seen.
    pub(super) const COARSE: Self = Self {
        groups: 4,
        of_ten: 5,
        after: 2,
        rate: 2.0,
        shrinkage: Some(1.0),
        by_gain: false,
    };
    /// Most trees, for numbers: the error of trees about one feature stops falling however little noise there is, where labels follow from
    /// products of columns.
    pub(super) const NUMBERS: Self = Self {
        groups: 8,
        of_ten: 9,
        after: 2,
        rate: 3.0,
        shrinkage: None,
        by_gain: true,
    };
    /// The same for classes, with less confidence in each tree: decision 0070.
    pub(super) const CLASSES: Self = Self {
        after: 1,
        rate: 2.0,
        shrinkage: Some(1.0),
        ..Self::NUMBERS
    };
}

/// What trees about each pair of features have gained so far, as they released it.
#[derive(Debug, Clone)]
pub(super) struct PairGains {
    features: usize,
    /// By pair, numbered as in [`number`]: how many trees there were, and what they gained.
    of: Vec<(u32, f64)>,
}

/// The number of a pair of places, the larger first.
fn number([larger, smaller]: [usize; 2]) -> usize {
    larger * (larger - 1) / 2 + smaller
}

impl PairGains {
    /// Of so many features, none of which was asked about.
    pub(super) fn new(features: usize) -> Self {
        Self {
            features,
            of: vec![(0, 0.0); features * features.saturating_sub(1) / 2],
        }
    }

    /// Learns what a tree about two features, at these places, gained.
    pub(super) fn learn(&mut self, [a, b]: [usize; 2], gain: f64) {
        if a == b || a.max(b) >= self.features {
            return;
        }
        let (trees, known) = &mut self.of[number([a.max(b), a.min(b)])];
        *trees = trees.saturating_add(1);
        *known += LATEST.max(1.0 / f64::from(*trees)) * (gain - *known);
    }

    /// Two places, drawn in proportion to gains; of pairs that were never asked about, to the mean of the others'.
    pub(super) fn draw(&self, coins: &mut Coins) -> [usize; 2] {
        let asked = || self.of.iter().filter(|(trees, _)| *trees > 0);
        let mean = match asked().count() {
            0 => 1.0,
            count => asked().map(|(_, gain)| gain.max(0.0)).sum::<f64>() / count as f64,
        };
        let worth = |&(trees, gain): &(u32, f64)| if trees > 0 { gain.max(0.0) } else { mean };
        let total: f64 = self.of.iter().map(worth).sum();
        let even = 1.0 / self.of.len() as f64;
        let mut left = coins.unit();
        for larger in 1..self.features {
            for smaller in 0..larger {
                let own = &self.of[number([larger, smaller])];
                let share = if total > 0.0 { worth(own) / total } else { even };
                left -= EVEN * even + (1.0 - EVEN) * share;
                if left < 0.0 {
                    return [larger, smaller];
                }
            }
        }
        // What rounding left over.
        [1, 0]
    }
}

impl Leaves {
    /// By how much a tree lowers the squared error, as its released sums say, without what noise alone would add to that.
    pub(super) fn gain(&self, sums: &[i64], unit: f64) -> f64 {
        let raised = self.deviation * self.hessian_unit + 1.0;
        let each = sums.chunks_exact(2).map(|pair| {
            let gradient = pair[0] as f64;
            let excess = (gradient * gradient - self.deviation * self.deviation) * unit * unit;
            excess / ((pair[1] as f64 * self.hessian_unit).max(0.0) + raised)
        });
        each.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(gains: &PairGains, times: usize) -> Vec<usize> {
        let mut coins = Coins::from_seed([7; 32]);
        let mut counts = vec![0; gains.of.len()];
        for _ in 0..times {
            counts[number(gains.draw(&mut coins))] += 1;
        }
        counts
    }

    /// Numbers of pairs are their places in a list, each once.
    #[test]
    fn every_pair_has_a_number() {
        let pairs = (1..9).flat_map(|larger| (0..larger).map(move |smaller| [larger, smaller]));
        assert_eq!(pairs.map(number).collect::<Vec<_>>(), (0..36).collect::<Vec<_>>());
    }

    /// Expected: 4 fifths by gain and one fifth evenly; at 10 000 draws a count is within 250 of that (five standard deviations).
    #[test]
    fn pairs_are_drawn_by_what_they_gained() {
        let mut gains = PairGains::new(3);
        let near = |counts: &[usize], expected: [f64; 3]| {
            for (&count, expected) in counts.iter().zip(expected) {
                assert!((count as f64 / 1e4 - expected).abs() < 0.025, "{counts:?}");
            }
        };
        near(&drawn(&gains, 10_000), [1.0 / 3.0; 3]);
        gains.learn([0, 1], 3.0);
        gains.learn([2, 1], -5.0);
        // The pair that was never asked about counts as the mean of 3 and 0.
        let even = EVEN / 3.0;
        near(
            &drawn(&gains, 10_000),
            [even + 0.8 * 2.0 / 3.0, even + 0.8 / 3.0, even],
        );
        gains.learn([2, 0], 0.0);
        gains.learn([1, 0], 0.0);
        assert_eq!(gains.of[0], (2, 1.5), "the mean of two");
        (0..50).for_each(|_| gains.learn([1, 0], 10.0));
        assert!(
            (gains.of[0].1 - 10.0).abs() < 1e-6,
            "the latest outweigh the first"
        );
    }

    /// Of noise alone, gains are zero on average: values of one deviation in size.
    #[test]
    fn noise_gains_nothing() {
        let leaves = Leaves {
            deviation: 40.0,
            hessian_unit: 0.001,
            ridge: 1.0,
            in_order: false,
            shrinkage: 0.5,
            rate: 0.1,
            bound: 2.0,
        };
        assert_eq!(leaves.gain(&[40, 9, -40, 1000], 1.0), 0.0);
        assert!(leaves.gain(&[80, 0], 1.0) > 0.0 && leaves.gain(&[0, 0], 1.0) < 0.0);
    }
}
