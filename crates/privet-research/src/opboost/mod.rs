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
//! | figure 7, 8, 9, 13 | models of trees with two leaves, which is what the reference implementation grows |
//! | table 6 | models of trees of depth 3 |
//!
//! `-files` has the publisher's own training and test rows, `-clipped` bounds without a twentieth at either end.

mod kendall;
mod laws;
mod mechanisms;
mod models;
pub mod order;
mod prepare;
mod ranges;
mod times;

use super::{Data, Experiment, Measure, Measured, coins, public};
use kendall::Values;
use prepare::Setup;
use privet_node::progress::Progress;

const fn depth(dataset: &'static str) -> Setup {
    Setup {
        dataset,
        head: usize::MAX,
        files: None,
        clipped: false,
        stumps: false,
    }
}

const fn stumps(setup: Setup) -> Setup {
    Setup {
        stumps: true,
        ..setup
    }
}

/// The paper has the training file only.
const ADULT: Setup = Setup {
    head: 32_561,
    ..depth("adult")
};
/// As the publisher split it, by writers.
const WRITERS: Setup = Setup {
    files: Some(7_494),
    ..depth("pendigits")
};
const CLIPPED: Setup = Setup {
    clipped: true,
    ..depth("casp")
};

const SETUPS: [(&str, Setup); 11] = [
    ("figure 7", stumps(ADULT)),
    ("figure 8", stumps(depth("pendigits"))),
    ("figure 8-files", stumps(WRITERS)),
    ("figure 9", stumps(depth("powerplant"))),
    ("figure 13", stumps(depth("casp"))),
    ("table 6", ADULT),
    ("table 6", depth("pendigits")),
    ("table 6-files", WRITERS),
    ("table 6", depth("powerplant")),
    ("table 6", depth("casp")),
    ("table 6-clipped", CLIPPED),
];

/// The ε of the paper's figures.
const EPSILONS: &[f64] = &[0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24];

pub(super) fn experiments() -> Vec<Experiment> {
    let experiment =
        |item, dataset, runs, measure: Measure| Experiment::new(("opboost", item, dataset), runs, measure);
    let exact = vec![
        experiment("table 1", "mechanisms", 1, Box::new(laws::table)),
        experiment("table 2", "mechanisms", 5, Box::new(times::table)),
        experiment("figure 3", "[-50, 50]", 1, laws::figure_3(101)),
        experiment("figure 3", "[-50, 49]", 1, laws::figure_3(100)),
        experiment("figure 4", "uniform", 1, laws::figure_4("uniform")),
        experiment("figure 4", "normal", 1, laws::figure_4("normal")),
        experiment("figure 5", "adult", 5, kendall::on(Values::Mapped)),
        experiment("figure 5", "adult-ages", 5, kendall::on(Values::Ages)),
        experiment("figure 11", "uniform-10", 5, kendall::on(Values::Uniform(10))),
        experiment("figure 11", "uniform-100", 5, kendall::on(Values::Uniform(100))),
        experiment("figure 6", "sf-salaries", 5, ranges::on("sf-salaries")),
        experiment("figure 12", "normal", 5, ranges::on("normal")),
    ];
    let model = |(item, setup): (_, Setup)| experiment(item, setup.dataset, 5, models::on(setup));
    exact.into_iter().chain(SETUPS.map(model)).collect()
}
