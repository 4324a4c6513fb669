//! Noisy trees, beside the same without noise: the tables of the research notes on InPrivate.
//!
//! A person comes or goes; δ is 10⁻⁶ where ε is not pure. Nothing here is tuned on a test part: numbers of trees, leaves and
//! rates are the public rule's.

use std::sync::Arc;

use privet::Error;
use privet::data::{Schema, Table};
use privet::learner::SILENT;
use privet::noisy::evaluation::Evaluation;
use privet::privacy::{AddRemove, Delta, Epsilon, Neighbours, Unprotected};
use privet::setting::central::{Algorithm as _, Budget, Splits, Trees};
use privet::setting::plain::{self, Algorithm as _};
use rayon::prelude::*;

use super::records::{Coding, Records, Secret};
use super::{Data, Experiment, Measured};
use privet_node::progress::Progress;

const EPSILONS: &[f64] = &[0.1, 0.5, 1.0, 2.0, 4.0, 8.0];
/// So much that its noise is none to speak of.
const NO_NOISE: &[f64] = &[100_000.0];

/// A data set, how many rows are for testing, and what is measured.
const SETS: [(&str, Test, &[&str]); 5] = [
    ("adult", Test::AsPublished(16_281), &["AUC", "accuracy"]),
    ("credit-default", Test::Fifth, &["AUC", "accuracy"]),
    ("bank", Test::Fifth, &["AUC", "accuracy"]),
    ("kc-house", Test::Fifth, &["MAE", "RMSE"]),
    ("pendigits", Test::Fifth, &["accuracy"]),
];

/// Which rows are for testing.
#[derive(Clone, Copy)]
enum Test {
    /// In the first run the last so many of the file, as its publisher split it; then as many at random.
    AsPublished(usize),
    /// A fifth, at random.
    Fifth,
}

#[derive(Clone, Copy)]
enum Method {
    /// Without privacy.
    Plain(&'static str),
    /// Noisy trees: with δ, or pure; by the rule, or with these splits.
    Noisy(bool, Option<Splits>),
    /// As many one-feature trees of as many leaves as the research notes have, with next to no noise.
    Noiseless,
}

/// What is trained, what it is called, and at which ε: none for what spends none.
const METHODS: [(&str, Method, &[f64]); 7] = [
    ("constant", Method::Plain("constant"), &[]),
    ("non-private trees", Method::Plain("trees"), &[]),
    ("trees", Method::Noisy(true, None), EPSILONS),
    ("trees, pure", Method::Noisy(false, None), EPSILONS),
    ("random", Method::Noisy(true, Some(Splits::Random)), EPSILONS),
    (
        "noisy-greedy",
        Method::Noisy(true, Some(Splits::NoisyGreedy)),
        &[1.0, 4.0],
    ),
    ("one feature, no noise", Method::Noiseless, NO_NOISE),
];

pub(super) fn experiments() -> Vec<Experiment> {
    let experiment = |(dataset, test, metrics)| Experiment {
        paper: "dp-trees",
        item: "table 1",
        dataset,
        runs: 20,
        measure: Box::new(move |data: &Data, runs, bar: &Progress| {
            measure(&data.records(dataset)?, test, metrics, runs, bar)
        }),
    };
    SETS.map(experiment).into()
}

fn measure(
    records: &Records,
    test: Test,
    metrics: &[&'static str],
    runs: u32,
    bar: &Progress,
) -> Result<Vec<Measured>, Error> {
    let schema = Arc::new(records.schema(Coding::Declared, Secret::Everything)?.spread());
    let deal = |run: u32| match test {
        Test::AsPublished(rows) if run == 0 => {
            let all: Vec<usize> = (0..records.len()).collect();
            let (train, test) = all.split_at(records.len() - rows);
            (train.to_vec(), test.to_vec())
        }
        Test::AsPublished(rows) => records.deal(rows, run.into()),
        Test::Fifth => records.deal(records.len() / 5, run.into()),
    };
    let all: Vec<(&str, Method, Option<f64>)> = METHODS
        .iter()
        .flat_map(|(name, method, epsilons)| match epsilons.is_empty() {
            true => vec![(*name, *method, None)],
            false => epsilons.iter().map(|&e| (*name, *method, Some(e))).collect(),
        })
        .collect();
    let mut measured = Vec::new();
    for (number, (name, method, epsilon)) in all.iter().enumerate() {
        bar.at(number as u64, all.len() as u64);
        let figures = (0..runs).into_par_iter().map(|run| {
            let (train, test) = deal(run);
            let (train, test) = (records.table(&schema, &train)?, records.table(&schema, &test)?);
            figures(*method, *epsilon, train, &test)
        });
        let figures = figures.collect::<Result<Vec<_>, Error>>()?;
        for metric in metrics {
            let values = figures.iter().map(|run| {
                let found = run.iter().find(|(name, _)| name == metric);
                found.map_or(f64::NAN, |(_, value)| *value)
            });
            measured.push(Measured {
                method: name,
                epsilon: *epsilon,
                metric,
                values: values.collect(),
            });
        }
    }
    Ok(measured)
}

/// The data sets are public; their rows only stand for private ones.
fn public(schema: &Schema) -> Unprotected {
    Unprotected::unrecorded(schema.dataset(), &schema.relation(), "a public data set")
}

fn figures(
    method: Method,
    epsilon: Option<f64>,
    train: Table,
    test: &Table,
) -> Result<Vec<(&'static str, f64)>, Error> {
    let leave = public(test.schema());
    let model = match (method, epsilon) {
        (Method::Noisy(..) | Method::Noiseless, Some(epsilon)) => {
            let rows = train.cells().as_ref().map(privet::data::Cells::rows);
            let (trees, budget) = noisy(method, epsilon, leave.reveal(rows))?;
            let plan = trees.plan(train.schema(), &AddRemove::row().relation(), budget)?;
            plan.rehearse(train)?
        }
        (Method::Plain(name), _) => {
            let plan = match name {
                "trees" => plain::Trees::builder()
                    .rounds(300)
                    .depth(5)
                    .learning_rate(0.1)
                    .build()?
                    .plan(train.schema())?,
                _ => plain::Constant::default().plan(train.schema())?,
            };
            plan.fit(train, &leave, SILENT)?
        }
        (Method::Noisy(..) | Method::Noiseless, None) => return Err(Error::internal("noise has an ε")),
    };
    let evaluation = Evaluation::of(test.schema())?;
    let judged = test.cells().as_ref().map(|cells| evaluation.judge(&model, cells));
    Ok(evaluation.open(judged, &leave).named())
}

fn noisy(method: Method, epsilon: f64, rows: usize) -> Result<(Trees, Budget), Error> {
    let delta = match method {
        Method::Noisy(true, _) | Method::Noiseless => Delta::new(1e-6)?,
        Method::Noisy(false, _) | Method::Plain(_) => Delta::ZERO,
    };
    let start = Trees::builder();
    let trees = match method {
        Method::Noisy(true, Some(splits)) => start.splits(splits),
        Method::Noiseless => start
            .splits(Splits::OneFeature)
            .trees(300)
            .leaves(8)
            .learning_rate(0.5),
        Method::Noisy(..) | Method::Plain(_) => start,
    };
    let budget = Budget::with_delta(Epsilon::new(epsilon)?, delta, rows as u64)?;
    Ok((trees.build()?, budget))
}
