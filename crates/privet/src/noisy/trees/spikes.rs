//! Spikes: single values that many rows share, on columns whose effect is rough. They get bins of their own.
//!
//! Bins of a schema are made without looking at rows, so a value that decides shares its bin with others. Numbers are read in bins
//! sixteen times as fine, and trees cut between the usual ones. After three tenths of the trees, [`Roughness`] says which columns are rough. Their rows
//! are counted once, in fine bins, with noise; bins that stick out of their neighbourhood are spikes. From then on a tree about such a column puts
//! each spike into a leaf of its own, whose value is a running mean of all that was released about it. Decision 0045.

use super::coding::{Coding, ONE};
use super::cut::{Cut, Features};
use super::grid::CoarseGrid;
use super::leaves::Leaves;
use super::params::{Places, Splits, Trees};
use super::plan::Facts;
use super::rough::{HessianEstimate, ReleasedSums, Roughness};
use crate::Error;
use crate::data::schema::{Kind, Schema};
use crate::privacy::account::Price;

/// From this strength on.
const STRENGTH: f64 = 1000.0;
/// How much of the trees comes before rough columns are chosen, in tenths.
const BEFORE: f64 = 3.0;
/// How often a column with spikes is visited while others are visited once.
pub(super) const VISITS: usize = 4;
/// No more columns are counted.
pub(super) const MOST_COLUMNS: usize = 4;
/// No more spikes of a column have bins of their own, and fewer are taken for noise: of two thousand bins, two are above the mark by noise alone.
const SPIKES: [usize; 2] = [6, 64];
/// A spike exceeds its neighbourhood by so many deviations, and so many times.
const EXCESS: f64 = 3.0;
/// Its neighbourhood: so many bins on either side, without the largest counts.
const AROUND: usize = 6;
const LARGEST: usize = 2;
/// About what a row adds to its hessian.
const HESSIAN: f64 = 0.12;
/// How large effects of spikes are.
const USUAL: f64 = 2.0;
/// How much of the way to its mean a spike's value goes with each tree, and how far at most.
const STEP: f64 = 0.2;
const FARTHEST: f64 = 1.5;

/// What is fixed about spikes before rows are looked at.
#[derive(Debug, Clone)]
pub(super) struct SpikePlan {
    /// The features that are watched.
    pub(super) watched: Vec<usize>,
    /// So many trees come before rough ones are chosen of them.
    pub(super) after: u32,
    /// About how many rows there are.
    pub(super) rows: u64,
}

impl Trees {
    /// How spikes are looked for: where they are asked for, or there is little noise.
    pub(super) fn spike_plan(
        &self,
        schema: &Schema,
        facts: &Facts<'_>,
        (splits, trees, strength): (Splits, u32, f64),
        coding: &Coding,
    ) -> Result<Option<SpikePlan>, Error> {
        let refused = |why: &str| match self.spikes {
            Some(true) => Err(Error::parameter(
                "spikes",
                format!("spikes = true {why}: remove it"),
            )),
            _ => Ok(None),
        };
        if self.spikes == Some(false) || self.spikes.is_none() && strength < STRENGTH {
            return Ok(None);
        }
        let features = facts.features.max(1) as u32;
        let after = (f64::from(trees / features) * BEFORE / 10.0) as u32 * features;
        let watched: Vec<usize> = schema
            .features()
            .enumerate()
            .filter(|(_, column)| matches!(&column.kind, Kind::Number(number) if number.finer().is_some()))
            .map(|(place, _)| place)
            .collect();
        match (coding, facts.price, splits) {
            _ if !facts.one_curator => {
                refused("is for setting = \"central\", where no column is learnt from for free")
            }
            (Coding::Classes(_) | Coding::Residual(_), ..) => refused("is for two classes"),
            (_, Price::Pure(_), _) => refused("is for a budget with a delta"),
            (.., Splits::Random | Splits::NoisyGreedy) => {
                refused("is for splits = \"one-feature\", \"mixed\" or \"pairs\"")
            }
            _ if self.bins == Some(Places::PrivateQuantiles) => refused("is for bins = \"public\""),
            _ if watched.is_empty() => refused("finds no number without declared bins and with many values"),
            _ if after == 0 => refused("needs at least four trees for each column"),
            _ => Ok(Some(SpikePlan {
                watched,
                after,
                rows: facts.rows,
            })),
        }
    }
}

/// The features that are watched, with their effects so far.
pub(super) struct Watch {
    columns: Vec<WatchedColumn>,
    /// How far trees have moved scores.
    moved: f64,
}

struct WatchedColumn {
    feature: usize,
    /// The effect of each bin: of the usual ones, and of missing cells.
    values: Vec<f64>,
    shape: Roughness,
}

impl Watch {
    pub(super) fn new(plan: &SpikePlan, features: &Features) -> Self {
        let column = |&feature: &usize| {
            let bins = features.coarse(feature)?.bins() + 1;
            Some(WatchedColumn {
                feature,
                values: vec![0.0; bins],
                shape: Roughness::new(bins, plan.rows as f64),
            })
        };
        Self {
            columns: plan.watched.iter().filter_map(column).collect(),
            moved: 0.0,
        }
    }

    /// Learns what a tree has released, and its leaves' values.
    pub(super) fn learn(
        &mut self,
        features: &Features,
        cut: &Cut,
        (sums, values): (&[i64], &[f32]),
        of: &Leaves,
    ) {
        let [gradients, hessians] = released(sums, of);
        // Trees about pairs move scores, too.
        if let Some((feature, leaf_of_slot)) = cut.by_slot() {
            let found = self.columns.iter_mut().find(|column| column.feature == feature);
            if let (Some(column), Some(grid)) = (found, features.coarse(feature)) {
                let leaf_of: Vec<usize> = grid.slots().map(|slot| leaf_of_slot[slot].into()).collect();
                let seen = ReleasedSums {
                    leaf_of: &leaf_of,
                    gradients: &gradients,
                    hessians: &hessians,
                    noise: noise(of),
                };
                column.shape.learn(&seen, &column.values, self.moved);
                for (value, &leaf) in column.values.iter_mut().zip(&leaf_of) {
                    *value += f64::from(values[leaf]);
                }
            }
        }
        // By how much scores differ more than before.
        let weights = || hessians.iter().map(|h| h.max(0.0));
        let all: f64 = weights().sum();
        if all > 0.0 {
            let steps = || {
                weights()
                    .zip(values)
                    .map(|(weight, &x)| (weight / all, f64::from(x)))
            };
            let mean: f64 = steps().map(|(weight, x)| weight * x).sum();
            self.moved += steps()
                .map(|(weight, x)| weight * (x - mean).powi(2))
                .sum::<f64>();
        }
    }

    /// The features that are rough.
    pub(super) fn rough(&self) -> Vec<usize> {
        let rough = self.columns.iter().filter(|column| column.shape.is_rough());
        rough.map(|column| column.feature).take(MOST_COLUMNS).collect()
    }

    /// The spikes of a feature, by the released counts of its slots and the deviation of the noise in each; none if there are too few.
    pub(super) fn spikes(
        &self,
        feature: usize,
        features: &Features,
        (counts, deviation): (&[i64], f64),
    ) -> Option<SpikyColumn> {
        let column = self.columns.iter().find(|column| column.feature == feature)?;
        let grid = features.coarse(feature)?;
        let found = found(counts, grid, deviation)?;
        let spike = |(slot, count): (u16, f64)| Spike {
            slot,
            value: column.values[grid.bin(slot)],
            mean: 0.0,
            information: USUAL.powi(-2),
            hessian: HessianEstimate {
                value: (HESSIAN * count).max(1e-3),
                variance: (HESSIAN * deviation).powi(2) + (HESSIAN * count / 2.0).powi(2),
            },
        };
        Some(SpikyColumn {
            feature,
            spikes: found.into_iter().map(spike).collect(),
        })
    }
}

/// The slots that stick out of their neighbourhood, rising, with their counts above it; none if there are too few to be more than noise.
fn found(counts: &[i64], grid: &CoarseGrid, deviation: f64) -> Option<Vec<(u16, f64)>> {
    let widths = grid.widths();
    let around = |slot: usize| {
        let near = slot.saturating_sub(AROUND)..(slot + AROUND + 1).min(widths.len());
        let mut near: Vec<usize> = near.filter(|&other| other != slot).collect();
        near.sort_by_key(|&other| std::cmp::Reverse(counts[other]));
        let near = &near[LARGEST.min(near.len())..];
        let rows: f64 = near.iter().map(|&other| counts[other] as f64).sum();
        let width: f64 = near.iter().map(|&other| widths[other]).sum();
        (widths[slot] * rows / width.max(f64::MIN_POSITIVE)).max(0.0)
    };
    let excess = |slot: usize| {
        let (count, usual) = (counts[slot] as f64, around(slot));
        let mark = (EXCESS * (deviation * deviation + usual).sqrt()).max(EXCESS * usual);
        (count - usual > mark).then_some((slot as u16, count))
    };
    let mut spikes: Vec<(u16, f64)> = (0..widths.len()).filter_map(excess).collect();
    // What is alone in its bin anyway teaches nothing new, and neither do as many as noise makes.
    let shared = spikes.iter().filter(|(slot, _)| !grid.is_alone(*slot)).count();
    if shared < SPIKES[0] {
        return None;
    }
    spikes.sort_by(|a, b| b.1.total_cmp(&a.1));
    spikes.truncate(SPIKES[1]);
    spikes.sort_unstable_by_key(|(slot, _)| *slot);
    Some(spikes)
}

/// A feature with spikes.
pub(super) struct SpikyColumn {
    pub(super) feature: usize,
    spikes: Vec<Spike>,
}

/// One spike: its value, and what was released about it.
struct Spike {
    slot: u16,
    value: f64,
    /// The mean of where its value should be, by all trees so far, and by how much these outweigh noise.
    mean: f64,
    information: f64,
    hessian: HessianEstimate,
}

impl SpikyColumn {
    /// The slots of its spikes, rising.
    pub(super) fn slots(&self) -> Vec<u16> {
        self.spikes.iter().map(|spike| spike.slot).collect()
    }

    /// The values of a tree's leaves, and the deviations of their noise: of spikes by all that was released about them, of others as of any tree.
    pub(super) fn values(&mut self, sums: &[i64], leaf_of_slot: &[u16], of: &Leaves) -> (Vec<f32>, Vec<f32>) {
        let alone: Vec<usize> = self
            .spikes
            .iter()
            .map(|spike| leaf_of_slot[usize::from(spike.slot)].into())
            .collect();
        let leaves = sums.len() / 2;
        let others: Vec<usize> = (0..leaves).filter(|leaf| !alone.contains(leaf)).collect();
        let rest: Vec<i64> = others
            .iter()
            .flat_map(|&leaf| [sums[2 * leaf], sums[2 * leaf + 1]])
            .collect();
        let (mut values, mut deviations) = (vec![0.0; leaves], vec![0.0; leaves]);
        let usual = of.values(&rest, 1, None);
        for ((&leaf, value), deviation) in others.iter().zip(usual.0).zip(usual.1) {
            (values[leaf], deviations[leaf]) = (value, deviation);
        }
        let [gradients, hessians] = released(sums, of);
        for (spike, &leaf) in self.spikes.iter_mut().zip(&alone) {
            let (step, deviation) = spike.learn(gradients[leaf], hessians[leaf], noise(of));
            (values[leaf], deviations[leaf]) = (step as f32, deviation as f32);
        }
        (values, deviations)
    }
}

impl Spike {
    /// The next step of its value, and the deviation of the noise in it.
    fn learn(&mut self, gradient: f64, hessian: f64, [noise, of_hessian]: [f64; 2]) -> (f64, f64) {
        self.hessian.learn(hessian, of_hessian);
        let hessian = self.hessian.value;
        // Newton's method says where the value should be; noise makes that uncertain by so much.
        let best = self.value - gradient / hessian;
        let weight = (hessian / noise).powi(2);
        self.information += weight;
        self.mean += weight / self.information * (best - self.mean);
        let step = (STEP * (self.mean - self.value)).clamp(-FARTHEST, FARTHEST);
        self.value += step;
        let released = (self.information - USUAL.powi(-2)).max(0.0);
        (step, STEP * released.sqrt() / self.information)
    }
}

/// Gradients and hessians in units of one.
fn released(sums: &[i64], of: &Leaves) -> [Vec<f64>; 2] {
    let each = |place: usize, unit: f64| {
        sums.iter()
            .skip(place)
            .step_by(2)
            .map(move |&sum| sum as f64 * unit)
            .collect()
    };
    [each(0, 1.0 / ONE as f64), each(1, of.hessian_unit)]
}

/// The deviations of the noise in a gradient and in a hessian.
fn noise(of: &Leaves) -> [f64; 2] {
    [of.deviation / ONE as f64, of.deviation * of.hessian_unit]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Schema;
    use crate::data::schema::{label, number};

    fn column() -> Features {
        let columns = [number("x", 0..=100_000).into(), label("y", ["no", "yes"]).into()];
        let schema = Schema::builder("spikes").columns::<crate::data::schema::AnyColumn>(columns);
        let mut features = Features::of(&schema.build().expect("a schema").finer());
        features.watch(0);
        features
    }

    /// Even rows, and ten values with many more: these are found, with their counts, and without them nothing is.
    #[test]
    fn values_that_many_rows_share_are_spikes() {
        let features = column();
        let grid = features.coarse(0).expect("a grid");
        let widths = grid.widths();
        let even: Vec<i64> = widths.iter().map(|width| (width / 50.0) as i64).collect();
        assert!(found(&even, grid, 10.0).is_none());
        let mut counts = even.clone();
        let spikes: Vec<usize> = (0..10).map(|i| 200 + 97 * i).collect();
        spikes.iter().for_each(|&slot| counts[slot] += 500);
        let slots: Vec<usize> = found(&counts, grid, 10.0)
            .expect("spikes")
            .iter()
            .map(|(slot, _)| usize::from(*slot))
            .collect();
        assert_eq!(slots, spikes);
        assert!(found(&counts, grid, 200.0).is_none(), "what noise could make");
    }

    /// A spike goes to where all that was released says it should be, and not to where noise says.
    #[test]
    fn spikes_go_to_the_mean_of_what_was_released() {
        let spike = || Spike {
            slot: 0,
            value: 0.0,
            mean: 0.0,
            information: USUAL.powi(-2),
            hessian: HessianEstimate {
                value: 10.0,
                variance: 25.0,
            },
        };
        let gone = |hessian: f64, noise: f64| {
            let mut spike = spike();
            let mut last = 0.0;
            for _ in 0..60 {
                let gradient = hessian * (spike.value - 1.5);
                last = spike.learn(gradient, hessian, [noise; 2]).1;
            }
            (spike.value, last)
        };
        let (sure, deviation) = gone(10.0, 1.0);
        assert!(
            (sure - 1.5).abs() < 0.05 && deviation < 0.01,
            "{sure} {deviation}"
        );
        assert!(gone(0.01, 100.0).0.abs() < 0.2);
    }
}
