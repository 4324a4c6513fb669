//! Stochastic gradient boosting of stumps from local messages: the paper's future work, in the simplest sound form.
//!
//! In each round a fresh group of owners, who stand for the random rows of a round, sends how the logistic loss of the ensemble so far falls along every stump: one vector
//! under the whole ε. The stump along which it falls most is added, with a step that its own gradient says. That is `ldp-sgd` on signs instead of axes, of which all but the
//! largest coordinate of each answer are thrown away.

use privet::Error;
use privet::data::schema::Schema;
use privet::data::{Cells, Target};
use privet::privacy::Epsilon;
use privet::setting::local::encoding::{Features, Rows, Statistic};
use privet::setting::local::{Campaign, CampaignDraft, Crowd, Encoding, Voice};

use super::rows::{Points, order};
use crate::coins;

/// Draws of made-up owners from the own rows, from which the length of a gradient is read.
const DRAWS: usize = 200;
/// The logistic loss curves by at most a quarter.
const NEWTON: f64 = 4.0;

/// Stumps, each the best of a round.
#[derive(Debug, Clone, Copy)]
pub(super) struct StumpBoosting {
    pub(super) rounds: usize,
    /// Cuts of each column, at quantiles of the own rows.
    pub(super) cuts: usize,
    /// What part of a Newton step is made.
    pub(super) shrinkage: f64,
}

impl StumpBoosting {
    /// The share of test rows that the ensemble calls wrongly.
    pub(super) fn error(
        &self,
        schema: &Schema,
        (own, each): (&Points, u32),
        (crowd, voice): (&Crowd<'_>, Voice),
        epsilon: Epsilon,
        test: &Cells,
    ) -> Result<f64, Error> {
        let features = self.features(schema, own)?;
        let width = features.dimension();
        let encoding =
            |at: Vec<f64>| Encoding::new(schema.clone(), features.clone(), Statistic::Gradient { at });
        let radius = length(&features, own, each as usize);
        let group = crowd.owners() / self.rounds.max(1);
        let mut at = vec![0.0; width];
        for round in 0..self.rounds {
            let draft = CampaignDraft {
                name: format!("round {}", round + 1),
                epsilon,
                kind: "vector".into(),
                radius,
                codewords: None,
                encoding: encoding(at.clone())?,
                round: None,
            };
            let campaign = Campaign::read("campaign", &draft.to_toml())?;
            let answer = crowd.answer(&campaign, round * group..(round + 1) * group, voice)?;
            let steepest = |a: &usize, b: &usize| answer.means[*a].abs().total_cmp(&answer.means[*b].abs());
            if let Some(best) = (0..width).max_by(steepest) {
                at[best] += self.shrinkage * NEWTON * answer.means[best];
            }
        }
        let (values, _) = encoding(at.clone())?.rows(test);
        let Some(Target::Classes(classes)) = test.target() else {
            return Err(Error::misuse("test rows have classes"));
        };
        let score = |x: &[f64]| x.iter().zip(&at).map(|(x, at)| x * at).sum::<f64>();
        let rows = values.chunks_exact(width).zip(classes);
        let wrong = rows.filter(|(x, class)| u16::from(score(x) > 0.0) != **class);
        Ok(wrong.count() as f64 / classes.len().max(1) as f64)
    }

    /// Signs at quantiles, and a constant.
    fn features(&self, schema: &Schema, own: &Points) -> Result<Features, Error> {
        let features = Features::of(schema);
        let mut map = features.map().clone();
        for column in 0..own.width {
            let sorted = own.sorted(column);
            let share = |cut: usize| cut as f64 / (self.cuts + 1) as f64;
            let mut cuts: Vec<f64> = (1..=self.cuts)
                .map(|cut| Points::quantile(&sorted, share(cut)))
                .collect();
            cuts.dedup();
            map = map.with_cuts(column, cuts)?;
        }
        features.mapped(map.with_constant(Some(1.0)))
    }
}

/// Half the median length of a gradient at zero, of owners of so many own rows: as `ldp-sgd` has it.
fn length(features: &Features, own: &Points, each: usize) -> f64 {
    let mut phi = Vec::new();
    for row in 0..own.len() {
        let base: Vec<f64> = own.point(row).iter().map(|x| f64::from(*x)).collect();
        features.map().row(&base, &mut phi);
    }
    let width = features.dimension();
    let mut coins = coins(0x5b00);
    let weights = vec![1.0 / each as f64; each];
    let mut lengths: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let drawn = &order(own.len(), &mut coins)[..each.min(own.len())];
            let values: Vec<f64> = drawn
                .iter()
                .flat_map(|row| phi[row * width..][..width].iter().copied())
                .collect();
            let labels: Vec<u16> = drawn.iter().map(|row| own.classes[*row].into()).collect();
            let rows = Rows {
                dimension: width,
                values: &values,
                labels: &labels,
                weights: &weights,
                classes: 2,
            };
            let vector = Statistic::SignedMean.vector(&rows);
            vector.iter().map(|x| x * x).sum::<f64>().sqrt()
        })
        .collect();
    lengths.sort_unstable_by(f64::total_cmp);
    lengths[DRAWS / 2] / 2.0
}
