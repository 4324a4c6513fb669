//! What plain learners reach: the baselines of everything else.

use privet::Error;
use privet::boost::Thresholds;
use privet::data::{Keep, Table};
use privet::learner::SILENT;
use privet::noisy::evaluation::Evaluation;
use privet::privacy::Unprotected;
use privet::setting::plain::{Algorithm, Builder, Centroid, Constant, Flavour, Logistic, Stumps, Trees};

use super::{Data, Experiment, Measured};
use privet_node::progress::Progress;

pub(super) fn experiments() -> Vec<Experiment> {
    type Own = fn(&Data, u32, &Progress) -> Result<Vec<Measured>, Error>;
    let experiment = |dataset, runs, measure: Own| Experiment {
        paper: "plain",
        item: "table 1",
        dataset,
        runs,
        measure: Box::new(measure),
    };
    vec![
        experiment("adult", 1, adult),
        experiment("ionosphere", 20, ionosphere),
        experiment("pendigits", 1, pendigits),
        experiment("powerplant", 5, powerplant),
    ]
    .into_iter()
    .chain(boosted())
    .collect()
}

/// Gradient-boosted trees, first and second order, on random splits.
fn boosted() -> [Experiment; 4] {
    let all: [(&'static str, &'static [&'static str]); 4] = [
        ("adult", &["accuracy", "AUC"]),
        ("casp", &["RMSE"]),
        ("pendigits", &["accuracy"]),
        ("powerplant", &["RMSE"]),
    ];
    all.map(|(dataset, metrics)| Experiment {
        paper: "plain",
        item: "table 2",
        dataset,
        runs: 5,
        measure: Box::new(move |data, runs, bar| trees(data, dataset, (metrics, runs), bar)),
    })
}

/// Eighty rounds of depth 3 at a rate of 0.1: second order with a ridge of 1 as XGBoost has it, first order without one as
/// Friedman had it.
fn trees(
    data: &Data,
    name: &str,
    what: (&[&'static str], u32),
    bar: &Progress,
) -> Result<Vec<Measured>, Error> {
    let start = || Trees::builder().rounds(80).depth(3).learning_rate(0.1);
    let friedman = start().l2(0.0).flavour(Flavour::FirstOrder);
    let methods: Methods = vec![
        ("XGBoost", Box::new(start().l2(1.0).build()?)),
        ("GBDT", Box::new(friedman.build()?)),
        ("constant", Box::new(Constant::default())),
    ];
    random_splits(data, name, &methods, what, bar)
}

fn stumps(rounds: u32) -> Result<Box<Stumps>, Error> {
    Ok(Box::new(Stumps::builder().rounds(rounds).build()?))
}

type Methods = Vec<(&'static str, Box<dyn Algorithm>)>;

fn adult(data: &Data, _runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let methods: Methods = vec![
        ("logistic", Box::new(Logistic::default())),
        ("stumps", stumps(100)?),
        ("constant", Box::new(Constant::default())),
    ];
    published_split(data, "adult", &methods, &["accuracy", "AUC"], bar)
}

fn pendigits(data: &Data, _runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let methods: Methods = vec![
        ("logistic", Box::new(Logistic::default())),
        ("constant", Box::new(Constant::default())),
    ];
    published_split(data, "pendigits", &methods, &["accuracy"], bar)
}

/// As the research notes on MABoost have them: thresholds halfway between two numbers of the table.
fn exact() -> Builder<Stumps> {
    Stumps::builder().rounds(50).thresholds(Thresholds::Exact)
}

fn ionosphere(data: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let methods: Methods = vec![
        ("logistic", Box::new(Logistic::default())),
        ("centroid", Box::new(Centroid::default())),
        ("stumps", stumps(50)?),
        ("exact stumps", Box::new(exact().build()?)),
        ("abstaining", Box::new(exact().abstain(true).build()?)),
        ("constant", Box::new(Constant::default())),
    ];
    random_splits(data, "ionosphere", &methods, (&["accuracy"], runs), bar)
}

fn powerplant(data: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let methods: Methods = vec![
        ("ridge", Box::new(Logistic::default())),
        ("constant", Box::new(Constant::default())),
    ];
    random_splits(data, "powerplant", &methods, (&["RMSE"], runs), bar)
}

/// Trains and tests on the files as their publisher split them.
fn published_split(
    data: &Data,
    name: &str,
    methods: &Methods,
    metrics: &[&'static str],
    bar: &Progress,
) -> Result<Vec<Measured>, Error> {
    let (train, test) = (data.train(name, Keep::Values)?, data.test(name, Keep::Values)?);
    let mut all = Vec::new();
    for (i, (method, algorithm)) in methods.iter().enumerate() {
        bar.at(i as u64, methods.len() as u64);
        let figures = figures(algorithm.as_ref(), train.clone(), &test)?;
        all.extend(
            metrics
                .iter()
                .map(|metric| measured(method, metric, vec![figure(&figures, metric)])),
        );
    }
    Ok(all)
}

/// Trains on four fifths and tests on the rest, split anew in each run.
fn random_splits(
    data: &Data,
    name: &str,
    methods: &Methods,
    (metrics, runs): (&[&'static str], u32),
    bar: &Progress,
) -> Result<Vec<Measured>, Error> {
    let table = data.train(name, Keep::Values)?;
    let mut all: Vec<Measured> = methods
        .iter()
        .flat_map(|(method, _)| metrics.iter().map(|metric| measured(method, metric, Vec::new())))
        .collect();
    for run in 0..runs {
        bar.at(run.into(), runs.into());
        let mut seed = [0; 32];
        seed[..4].copy_from_slice(&run.to_le_bytes());
        let (train, test) = table.hold_out(20, seed, &public(&table));
        for (method, algorithm) in methods {
            let figures = figures(algorithm.as_ref(), train.clone(), &test)?;
            for found in all.iter_mut().filter(|m| m.method == *method) {
                found.values.push(figure(&figures, found.metric));
            }
        }
    }
    Ok(all)
}

fn measured(method: &'static str, metric: &'static str, values: Vec<f64>) -> Measured {
    Measured {
        method,
        epsilon: None,
        metric,
        values,
    }
}

fn figure(figures: &[(&'static str, f64)], metric: &str) -> f64 {
    figures
        .iter()
        .find(|(name, _)| *name == metric)
        .map_or(f64::NAN, |(_, value)| *value)
}

/// The data sets are public.
fn public(table: &Table) -> Unprotected {
    let schema = table.schema();
    Unprotected::unrecorded(schema.dataset(), &schema.relation(), "a public data set")
}

/// Trains on one table and judges on another.
fn figures(algorithm: &dyn Algorithm, train: Table, test: &Table) -> Result<Vec<(&'static str, f64)>, Error> {
    let leave = public(&train);
    let evaluation = Evaluation::of(train.schema())?;
    let model = algorithm.plan(train.schema())?.fit(train, &leave, SILENT)?;
    let judged = test.cells().as_ref().map(|cells| evaluation.judge(&model, cells));
    Ok(evaluation.open(judged, &leave).named())
}
