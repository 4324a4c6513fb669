//! OpBoost's figures: order that is kept, ranges, and models on desensitised columns.
//!
//! Columns and coins are public, so nothing here protects anybody.
//!
//! | item | what |
//! | --- | --- |
//! | table 1 | losses and laws that are known exactly |
//! | table 2 | times of the samplers |
//! | figure 3, 4 | what becomes of one value; how likely a split is kept |
//! | figure 5, 11 | the weighted Kendall coefficient: ages, and numbers that are all equally likely |
//! | figure 6, 12 | range queries: salaries, and numbers that are close to normal |

mod kendall;
mod laws;
mod mechanisms;
mod ranges;
mod times;

use privet::data::Schema;
use privet::privacy::{Coins, Unprotected};

use super::{Data, Experiment, Measure, Measured};
use crate::progress::Progress;
use kendall::Values;

/// The ε of the paper's figures.
const EPSILONS: &[f64] = &[0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24];

pub(super) fn experiments() -> Vec<Experiment> {
    let experiment = |item, dataset, runs, measure: Measure| Experiment {
        paper: "opboost",
        item,
        dataset,
        runs,
        measure,
    };
    vec![
        experiment("table 1", "mechanisms", 1, Box::new(laws::table)),
        experiment("table 2", "mechanisms", 5, Box::new(times::table)),
        experiment("figure 3", "middle", 1, Box::new(laws::figure_3)),
        experiment("figure 4", "uniform", 1, laws::figure_4("uniform")),
        experiment("figure 4", "normal", 1, laws::figure_4("normal")),
        experiment("figure 5", "adult", 5, kendall::on(Values::Mapped)),
        experiment("figure 5", "adult-ages", 5, kendall::on(Values::Ages)),
        experiment("figure 11", "uniform-10", 5, kendall::on(Values::Uniform(10))),
        experiment("figure 11", "uniform-100", 5, kendall::on(Values::Uniform(100))),
        experiment("figure 6", "sf-salaries", 5, ranges::on("sf-salaries")),
        experiment("figure 12", "normal", 5, ranges::on("normal")),
    ]
}

fn measured(method: &'static str, epsilon: Option<f64>, metric: &'static str, values: Vec<f64>) -> Measured {
    Measured {
        method,
        epsilon,
        metric,
        values,
    }
}

/// Coins that everybody may know.
fn coins(number: u32) -> Coins {
    let mut seed = [0; 32];
    seed[..4].copy_from_slice(&number.to_le_bytes());
    Coins::from_seed(seed)
}

/// The data sets are public; their rows only stand for private ones.
fn public(schema: &Schema) -> Unprotected {
    Unprotected::unrecorded(schema.dataset(), &schema.relation(), "a public data set")
}
