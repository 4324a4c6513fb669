//! Figure 4 on UCI Adult: other ways to combine public and private columns, and how fast BRC converges.

use std::sync::Arc;

use privet::Error;
use privet::boost::Ensemble;
use privet::data::Table;
use privet::model::Model;
use privet::privacy::Epsilon;
use privet::setting::central::{Brc, Budget, Coefficient, Normaliser};

use super::super::records::{ColumnCoding, PrivateColumns, Records, RowChoice};
use super::super::{Data, Experiment, Measured, coins, each_run};
use super::pate::Pate;
use super::run::{accuracy, private};
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
    vec![
        Experiment::new(("brc", "figure 4b", "adult"), 10, votes),
        Experiment::new(("brc", "figure 4c", "adult"), 20, convergence),
    ]
}

/// Training and test rows of one run, coded by the alphabet, some columns private.
fn split(records: &Records, run: u32) -> Result<[Table; 2], Error> {
    let schema = Arc::new(records.schema(ColumnCoding::Alphabet, PrivateColumns::AllBut(SETS[0].1))?);
    let (train, test) = records.split(RowChoice::BALANCED, run.into());
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
                epsilon,
                composed,
            };
            let values = each_run(runs, |run| {
                let right = pate.right(split(&records, run)?, &mut coins(run.into()))?;
                Ok(right.iter().filter(|right| **right).count() as f64 / right.len() as f64)
            })?;
            all.push(Measured::new(method, Some(epsilon), "accuracy", values));
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
        let found = each_run(runs, |run| {
            let [train, test] = split(&records, run)?;
            let (brc, budget) = boosted(epsilon, coefficient, records.len())?;
            let model = private(&brc, budget, train)?;
            ROUNDS
                .iter()
                .map(|&(_, rounds)| accuracy(&after(&model, rounds)?, &test))
                .collect::<Result<Vec<f64>, Error>>()
        })?;
        for (place, (method, _)) in ROUNDS.into_iter().enumerate() {
            let values = found.iter().map(|run| run[place]);
            all.push(Measured::new(method, epsilon, metric, values));
        }
    }
    Ok(all)
}

/// Algorithm 2 as printed; or, without noise and clips, algorithm 1 with random classifiers.
fn boosted(epsilon: Option<f64>, coefficient: Coefficient, rows: usize) -> Result<(Brc, Budget), Error> {
    let start = Brc::builder()
        .rounds(25)
        .normaliser(Normaliser::Weights)
        .coefficient(coefficient);
    let brc = match epsilon {
        Some(_) => start,
        None => start.lower(100.0).upper(100.0),
    };
    // Two in five rows remain when classes are balanced and a tenth is set aside.
    let budget = Budget::pure(Epsilon::new(epsilon.unwrap_or(NONE))?, rows as u64 * 2 / 5)?;
    Ok((brc.build()?, budget))
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
