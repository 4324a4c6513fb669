//! The effect of each feature on scores, compared with the effect of noise alone.
//!
//! Leaves that were released with noise carry its standard deviation. So the part of the scores that depends on one feature has a
//! variance over that feature's cells, and the same variance is known for leaves that hold nothing but noise: its mean, and how far it
//! strays. `docs/decisions/0013-noisy-trees.md` has the formulas. Everything follows from the model alone: how many rows a leaf has is
//! guessed from its noise, which is smaller where the released hessian is larger.

mod ways;

use ways::{FeatureSlots, each_leaf, groups};

use serde::{Deserialize, Serialize};

use super::Ensemble;
use crate::learner::Learner;
use crate::learner::tree::{Column, Tree};

/// The probability that some column of pure noise is taken for signal.
const ALARMS: f64 = 0.05;

/// The effect of a feature on the scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Signal {
    /// The variance of what it adds to the scores, over its cells.
    pub variance: f64,
    /// The same, on average, if its leaves held noise alone.
    pub by_noise: f64,
    /// How far the variance stands out, in standard errors: about 0 ± 1 if there is noise alone; −∞ if shrinkage kept nothing of any
    /// tree about the feature.
    pub deviations: f64,
}

impl Signal {
    /// Of a feature that noisy trees ask about, and of which shrinkage kept nothing.
    const NOTHING: Self = Self {
        variance: 0.0,
        by_noise: 0.0,
        deviations: f64::NEG_INFINITY,
    };

    /// Whether it is more than noise. For `columns` columns of pure noise, this holds for some column in one model of twenty.
    pub fn stands_out(&self, columns: usize) -> bool {
        let z = self.deviations;
        // An upper bound of the normal tail, after Mills.
        let tail = (-0.5 * z * z).exp() / (z * (2.0 * std::f64::consts::PI).sqrt());
        z > 0.0 && columns.max(1) as f64 * tail <= ALARMS
    }

    /// From the variance, and the mean and variance that it has by noise. A sum of squares is nearly normal after its cube root is
    /// taken (Wilson and Hilferty 1931), with the degrees of freedom that its mean and variance imply (Satterthwaite 1946).
    fn new(variance: f64, by_noise: f64, spread: f64) -> Option<Self> {
        if !(by_noise > 0.0 && spread > 0.0) {
            return None;
        }
        let part = 2.0 / 9.0 * spread / (2.0 * by_noise * by_noise);
        let deviations = ((variance / by_noise).cbrt() - (1.0 - part)) / part.sqrt();
        deviations.is_finite().then_some(Self {
            variance,
            by_noise,
            deviations,
        })
    }
}

/// The log-odds of one feature's cells, as noisy counts told them, beside what noise and chance make of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedTerm {
    /// Their variance over the rows.
    pub variance: f64,
    /// The same, on average, of noise and chance alone.
    pub by_noise: f64,
    /// The variance that it then has from run to run.
    pub spread: f64,
}

impl CountedTerm {
    pub(super) fn is_valid(&self) -> bool {
        let all = [self.variance, self.by_noise, self.spread];
        all.iter().all(|x| x.is_finite() && *x >= 0.0)
    }
}

impl Ensemble {
    /// The signal of each feature; none for a feature that no noisy tree splits on and that was not counted.
    pub fn signals(&self, columns: &[Column]) -> Vec<Option<Signal>> {
        let slope = self
            .calibration
            .as_ref()
            .map_or(1.0, |calibration| calibration.slope);
        let noisy = |output: usize| {
            let own = self.members.iter().filter(move |member| member.output == output);
            own.filter_map(move |member| match &member.learner {
                Learner::Tree(tree) if tree.noise.iter().any(|noise| *noise > 0.0) => {
                    Some((slope * member.weight, tree))
                }
                _ => None,
            })
        };
        let mut sums = vec![[0.0; 3]; columns.len()];
        for output in 0..self.outputs() {
            let shares = Shares::of(columns, noisy(output).map(|(_, tree)| tree));
            let mut effects: Vec<Effect> = shares.by_group.iter().map(|own| Effect::new(own.len())).collect();
            for (weight, tree) in noisy(output) {
                let size = size(tree);
                each_leaf(tree, columns, &mut |leaf, asked| {
                    let Some(noise) = tree.deviation(leaf) else { return };
                    let (value, noise) = (
                        weight * f64::from(tree.leaves[leaf]),
                        size * weight * f64::from(noise),
                    );
                    shares.tell(asked, |feature, part, inside| {
                        effects[feature].add(inside, part * value, part * noise);
                    });
                });
            }
            for ((sum, effect), share) in sums.iter_mut().zip(&effects).zip(&shares.by_group) {
                sum.iter_mut()
                    .zip(effect.moments(share))
                    .for_each(|(sum, own)| *sum += own);
            }
        }
        let signal = |([variance, by_noise, spread], is_silent): ([f64; 3], bool)| {
            Signal::new(variance, by_noise, spread).or(is_silent.then_some(Signal::NOTHING))
        };
        let counted = (0..columns.len()).map(|feature| {
            let own = (*self.counted.get(feature)?)?;
            Signal::new(own.variance, own.by_noise, own.spread)
        });
        sums.into_iter()
            .zip(self.silent(columns.len()))
            .map(signal)
            .zip(counted)
            .map(|(of_trees, counted)| of_trees.or(counted))
            .collect()
    }

    /// Which features are asked about by a tree that was released with noise and of which shrinkage kept nothing: its values and their
    /// noise are all 0, where a tree without noise has no word about it.
    fn silent(&self, features: usize) -> Vec<bool> {
        let mut silent = vec![false; features];
        for member in &self.members {
            if let Learner::Tree(tree) = &member.learner
                && !tree.noise.is_empty()
                && tree.leaves.iter().all(|value| *value == 0.0)
            {
                tree.nodes
                    .iter()
                    .for_each(|node| silent[node.feature as usize] = true);
            }
        }
        silent
    }
}

/// How large a tree's values are, in deviations of their noise. Shrinkage keeps more of trees that happen to be large; given their size, noise
/// alone still points anywhere. It counts up to where noise alone hardly ever goes, so that trees that say much are not called noisy.
fn size(tree: &Tree) -> f64 {
    let ratio = |leaf: usize| {
        let noise = tree.deviation(leaf).filter(|noise| *noise > 0.0);
        noise.map(|noise| f64::from(tree.leaves[leaf] / noise).powi(2))
    };
    let squares: Vec<f64> = (0..tree.leaves.len()).filter_map(ratio).collect();
    let count = squares.len().max(1) as f64;
    let most = 1.0 + 2.0 * (2.0 / count).sqrt();
    (squares.iter().sum::<f64>() / count).min(most).sqrt()
}

/// About which part of the rows is in each group of each feature's slots.
struct Shares {
    by_group: Vec<Vec<f64>>,
}

impl Shares {
    /// A leaf's noise falls with its released hessian, and so with its rows.
    fn of<'a>(columns: &[Column], trees: impl Iterator<Item = &'a Tree>) -> Self {
        let empty = |column: &Column| vec![0.0; groups(column.slots)];
        let mut by_group: Vec<Vec<f64>> = columns.iter().map(empty).collect();
        for tree in trees {
            let precision = |leaf: usize| {
                tree.deviation(leaf)
                    .filter(|noise| *noise > 0.0)
                    .map(|noise| 1.0 / f64::from(noise))
            };
            let all: f64 = (0..tree.leaves.len()).filter_map(precision).sum();
            each_leaf(tree, columns, &mut |leaf, asked| {
                let Some(own) = precision(leaf) else { return };
                for asked in asked {
                    let (inside, groups) = (asked.by_group(), &mut by_group[asked.feature]);
                    let total: f64 = inside.iter().sum();
                    for (group, part) in groups.iter_mut().zip(inside).filter(|_| total > 0.0) {
                        *group += own / all * part / total;
                    }
                }
            });
        }
        for groups in &mut by_group {
            let total: f64 = groups.iter().sum();
            groups
                .iter_mut()
                .filter(|_| total > 0.0)
                .for_each(|share| *share /= total);
        }
        Self { by_group }
    }

    /// For each feature on a path: the share of rows that the path's other features let through, and the feature's own groups.
    fn tell(&self, asked: &[FeatureSlots], mut tell: impl FnMut(usize, f64, &[f64])) {
        let inside: Vec<Vec<f64>> = asked.iter().map(FeatureSlots::by_group).collect();
        let share = |(asked, inside): (&FeatureSlots, &Vec<f64>)| -> f64 {
            inside
                .iter()
                .zip(&self.by_group[asked.feature])
                .map(|(a, p)| a * p)
                .sum()
        };
        let parts: Vec<f64> = asked.iter().zip(&inside).map(share).collect();
        // Products of all parts behind each, so that no feature multiplies those of all others again.
        let mut behind = vec![1.0; parts.len() + 1];
        for (place, part) in parts.iter().enumerate().rev() {
            behind[place] = behind[place + 1] * part;
        }
        let mut before = 1.0;
        for (place, (asked, inside)) in asked.iter().zip(&inside).enumerate() {
            tell(asked.feature, before * behind[place + 1], inside);
            before *= parts[place];
        }
    }
}

/// What one feature adds to a score, by groups of its slots, and the covariances that noise gives it.
struct Effect {
    values: Vec<f64>,
    noise: Vec<Vec<f64>>,
}

impl Effect {
    fn new(groups: usize) -> Self {
        Self {
            values: vec![0.0; groups],
            noise: vec![vec![0.0; groups]; groups],
        }
    }

    /// A leaf that these parts of the groups go to.
    fn add(&mut self, inside: &[f64], value: f64, noise: f64) {
        for (group, &part) in inside.iter().enumerate().filter(|(_, part)| **part > 0.0) {
            self.values[group] += part * value;
            for (sum, &other) in self.noise[group].iter_mut().zip(inside) {
                *sum += part * other * noise * noise;
            }
        }
    }

    /// The variance over rows; and the mean and the variance of that number if all is Gaussian noise.
    fn moments(&self, share: &[f64]) -> [f64; 3] {
        let mean: f64 = share.iter().zip(&self.values).map(|(p, x)| p * x).sum();
        let variance = share
            .iter()
            .zip(&self.values)
            .map(|(p, x)| p * (x - mean) * (x - mean))
            .sum();
        // The matrix that weighs and centres, times the covariances.
        let column_means: Vec<f64> = (0..share.len())
            .map(|column| {
                share
                    .iter()
                    .zip(&self.noise)
                    .map(|(p, row)| p * row[column])
                    .sum()
            })
            .collect();
        let centred: Vec<Vec<f64>> = share
            .iter()
            .zip(&self.noise)
            .map(|(p, row)| {
                row.iter()
                    .zip(&column_means)
                    .map(|(x, mean)| p * (x - mean))
                    .collect()
            })
            .collect();
        let groups = 0..share.len();
        let by_noise = groups.clone().map(|group| centred[group][group]).sum();
        let squares = groups.clone().flat_map(|a| groups.clone().map(move |b| (a, b)));
        let spread = 2.0 * squares.map(|(a, b)| centred[a][b] * centred[b][a]).sum::<f64>();
        [variance, by_noise, spread]
    }
}
