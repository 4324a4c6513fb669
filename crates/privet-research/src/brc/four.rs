//! Figure 4 on UCI Adult: other ways to combine public and private columns, and how fast BRC converges.

use std::sync::Arc;

use privet::Error;
use privet::boost::Ensemble;
use privet::data::Table;
use privet::model::Model;
use privet::privacy::{Coins, Epsilon};
use privet::setting::central::as_published::Pate;
use privet::setting::central::{Central, Coefficient, Normaliser};
use rayon::prelude::*;

use super::super::records::{Coding, Pick, Records, Secret};
use super::super::{Data, Experiment, Measured};
use super::run::{accuracy, private, public};
use super::{FIGURES, SETS};
use privet_node::progress::Progress;

/// Noise of next to nothing.
const NONE: f64 = 1_000_000.0;
/// The rounds after which figure 4 c looks.
const ROUNDS: [(&str, usize); 6] = [
    ("round 1", 1),
    ("round 5", 5),
    ("round 10", 10),
    ("round 15", 15),
    ("round 20", 20),
    ("round 25", 25),
];

pub(super) fn experiments() -> Vec<Experiment> {
    let own = |item, runs, measure: fn(&Data, u32, &Progress) -> Result<Vec<Measured>, Error>| Experiment {
        paper: "brc",
        item,
        dataset: "adult",
        runs,
        measure: Box::new(measure),
    };
    vec![own("figure 4b", 10, votes), own("figure 4c", 20, convergence)]
}

/// Training and test rows of one run, coded by the alphabet, some columns private.
fn split(records: &Records, run: u32) -> Result<[Table; 2], Error> {
    let schema = Arc::new(records.schema(Coding::Alphabet, Secret::AllBut(SETS[0].1))?);
    let (train, test) = records.split(Pick::BALANCED, run.into());
    Ok([records.table(&schema, &train)?, records.table(&schema, &test)?])
}

/// Figure 4 b: the PATE extension, as described (void) and with ε cut over all votes (void as well).
fn votes(data: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let records = data.records("adult")?;
    let mut all = Vec::new();
    for (method, composed) in [("PATE (void)", false), ("PATE, composed (void)", true)] {
        for (done, &epsilon) in FIGURES.iter().enumerate() {
            bar.at(
                (done + FIGURES.len() * usize::from(composed)) as u64,
                2 * FIGURES.len() as u64,
            );
            let pate = Pate {
                teachers: 50,
                epsilon: Epsilon::new(epsilon)?,
                composed,
            };
            let values = (0..runs).into_par_iter().map(|run| {
                let tables = split(&records, run)?;
                let schema = tables[0].schema().clone();
                let mut seed = [0; 32];
                seed[..4].copy_from_slice(&run.to_le_bytes());
                let mut coins = Coins::from_seed(seed);
                let said = pate.predict(tables, &schema.relation(), &public(&schema), &mut coins)?;
                let right = said.right.iter().filter(|right| **right).count();
                Ok(right as f64 / said.right.len() as f64)
            });
            all.push(Measured {
                method,
                epsilon: Some(epsilon),
                metric: "accuracy",
                values: values.collect::<Result<Vec<f64>, Error>>()?,
            });
        }
    }
    Ok(all)
}

/// Figure 4 c: accuracy after so many rounds, with noise at ε = 0.1 and without, also with AdaBoost's own coefficients.
fn convergence(data: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let records = data.records("adult")?;
    let mut all = Vec::new();
    let kinds = [
        (Some(0.1), Coefficient::Linear, "accuracy"),
        (None, Coefficient::Linear, "accuracy, no noise"),
        (None, Coefficient::Logarithm, "accuracy, log"),
    ];
    for (done, (epsilon, coefficient, metric)) in kinds.into_iter().enumerate() {
        bar.at(done as u64, kinds.len() as u64);
        let found = (0..runs).into_par_iter().map(|run| {
            let [train, test] = split(&records, run)?;
            let model = private(&boosted(epsilon, coefficient, records.len())?, train)?;
            ROUNDS
                .iter()
                .map(|&(_, rounds)| accuracy(&after(&model, rounds)?, &test))
                .collect::<Result<Vec<f64>, Error>>()
        });
        let found = found.collect::<Result<Vec<Vec<f64>>, Error>>()?;
        for (place, (method, _)) in ROUNDS.into_iter().enumerate() {
            all.push(Measured {
                method,
                epsilon,
                metric,
                values: found.iter().map(|run| run[place]).collect(),
            });
        }
    }
    Ok(all)
}

/// Algorithm 2 as printed; or, without noise and clips, algorithm 1 with random classifiers.
fn boosted(epsilon: Option<f64>, coefficient: Coefficient, rows: usize) -> Result<Central, Error> {
    let start = Central::builder()
        .algorithm("brc")
        .rounds(25)
        // Two in five rows are left when classes are balanced and a tenth is set aside.
        .rows_about(rows as u64 * 2 / 5)
        .normaliser(Normaliser::Weights)
        .coefficient(coefficient);
    match epsilon {
        Some(epsilon) => start.epsilon(Epsilon::new(epsilon)?).build(),
        None => start
            .epsilon(Epsilon::new(NONE)?)
            .lower(100.0)
            .upper(100.0)
            .build(),
    }
}

/// The model as it was after so many rounds.
fn after(model: &Model, rounds: usize) -> Result<Model, Error> {
    let ensemble = model.ensemble();
    let members = ensemble.members.iter().take(rounds).cloned().collect();
    Model::new(
        model.schema().clone(),
        Ensemble {
            members,
            ..ensemble.clone()
        },
        model.certificate().clone(),
        model.settings().clone(),
    )
}
