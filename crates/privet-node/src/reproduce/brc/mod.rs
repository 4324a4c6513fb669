//! BRC's figures, and what is better at the same ε.
//!
//! The data sets are prepared as the paper's authors seem to have done it (`research`: the encoding by alphabet, a balanced
//! subset, a tenth for testing); `head` is named where the subset is the head of the file, which matches the figures that the
//! paper prints and flatters every method.

mod run;

use std::sync::Arc;

use super::records::{Balance, Coding, Secret};
use super::{Data, Experiment, Measured};
use crate::progress::Progress;
use privet::Error;
use run::{Method, Preparation, run};

/// The ε of the paper's figures.
const FIGURES: [f64; 5] = [0.01, 0.02, 0.04, 0.08, 0.16];

/// The paper's data sets and their public columns.
const SETS: [(&str, &[&str]); 4] = [
    ("adult", &["workclass", "fnlwgt", "race", "sex", "native-country"]),
    ("credit-default", &["LIMIT_BAL", "SEX"]),
    ("sepsis", &["sex_0male_1female", "episode_number"]),
    ("bank", &["campaign", "pdays", "poutcome"]),
];

pub(super) fn experiments() -> Vec<Experiment> {
    let mut all = Vec::new();
    for (dataset, public) in SETS {
        let secrets = [
            ("figure 2", Secret::AllBut(public)),
            ("figure 3", Secret::Everything),
        ];
        for (item, secret) in secrets {
            all.push(experiment(item, dataset, 20, move |data, runs, bar| {
                figure(data, dataset, secret, (Balance::Random, None), runs, bar)
            }));
        }
    }
    all
}

fn experiment(
    item: &'static str,
    dataset: &'static str,
    runs: u32,
    measure: impl Fn(&Data, u32, &Progress) -> Result<Vec<Measured>, Error> + 'static,
) -> Experiment {
    Experiment {
        paper: "brc",
        item,
        dataset,
        runs,
        measure: Box::new(measure),
    }
}

fn figure(
    data: &Data,
    dataset: &str,
    secret: Secret,
    (balance, first): (Balance, Option<usize>),
    runs: u32,
    bar: &Progress,
) -> Result<Vec<Measured>, Error> {
    let records = Arc::new(data.records(dataset)?);
    let codes = Preparation {
        records: &records,
        coding: Coding::Alphabet,
        secret,
        balance,
        first,
    };
    let declared = Preparation {
        coding: Coding::Declared,
        ..codes
    };
    let mut all = Vec::new();
    let mut plan: Vec<(&Preparation<'_>, Method, &[f64])> = vec![
        (&codes, Method::Plain("logistic"), &[]),
        (&codes, Method::Plain("constant"), &[]),
        (&codes, Method::Paper, &FIGURES),
        (&codes, Method::Central("brc"), &FIGURES),
        (&codes, Method::Central("select"), &FIGURES),
        (&codes, Method::Central("moment-select"), &FIGURES),
        (&declared, Method::Central("histogram-bayes"), &FIGURES),
    ];
    if matches!(secret, Secret::AllBut(_)) {
        plan.insert(1, (&codes, Method::Central("public"), &[1.0]));
    }
    let steps: usize = plan.iter().map(|(_, _, at)| at.len().max(1)).sum();
    let mut done = 0;
    for (preparation, method, at) in plan {
        let at: Vec<Option<f64>> = if at.is_empty() {
            vec![None]
        } else {
            at.iter().copied().map(Some).collect()
        };
        for epsilon in at {
            bar.at(done, steps as u64);
            all.push(run(preparation, method, epsilon, runs)?);
            done += 1;
        }
    }
    Ok(all)
}
