//! What plain learners reach: the baselines of everything else.

use privet::Error;
use privet::boost::Thresholds;
use privet::data::{Keep, Table};
use privet::learner::SILENT;
use privet::setting::plain::{Algorithm, Centroid, Constant, Flavour, Logistic, Stumps, Trees};

use TrainTestSplit::{Published, Random};

use super::{Data, Experiment, NamedFigures, NamedMethod, compared, judged, public, seed};

/// What a method is called, and how it is made.
type NamedAlgorithm = (&'static str, fn() -> Result<Box<dyn Algorithm>, Error>);

const CONSTANT: NamedAlgorithm = ("constant", || Ok(Box::new(Constant::default())));
const LOGISTIC: NamedAlgorithm = ("logistic", || Ok(Box::new(Logistic::default())));

/// Gradient-boosted trees, eighty rounds of depth 3 at a rate of 0.1: second order with a ridge of 1 as XGBoost has it, first order
/// without one as Friedman had it.
const BOOSTED: &[NamedAlgorithm] = &[
    ("XGBoost", || {
        let trees = Trees::builder().rounds(80).depth(3).learning_rate(0.1);
        Ok(Box::new(trees.l2(1.0).build()?))
    }),
    ("GBDT", || {
        let trees = Trees::builder().rounds(80).depth(3).learning_rate(0.1);
        Ok(Box::new(trees.l2(0.0).flavour(Flavour::FirstOrder).build()?))
    }),
    CONSTANT,
];

/// Exact and abstaining stumps are as the research notes on MABoost have them: thresholds halfway between two numbers of the table.
const IONOSPHERE: &[NamedAlgorithm] = &[
    LOGISTIC,
    ("centroid", || Ok(Box::new(Centroid::default()))),
    ("stumps", || Ok(Box::new(Stumps::builder().rounds(50).build()?))),
    ("exact stumps", || {
        let exact = Stumps::builder().rounds(50).thresholds(Thresholds::Exact);
        Ok(Box::new(exact.build()?))
    }),
    ("abstaining", || {
        let exact = Stumps::builder().rounds(50).thresholds(Thresholds::Exact);
        Ok(Box::new(exact.abstain(true).build()?))
    }),
    CONSTANT,
];

const ADULT: &[NamedAlgorithm] = &[
    LOGISTIC,
    ("stumps", || Ok(Box::new(Stumps::builder().rounds(100).build()?))),
    CONSTANT,
];

const PENDIGITS: &[NamedAlgorithm] = &[LOGISTIC, CONSTANT];
const POWERPLANT: &[NamedAlgorithm] = &[("ridge", LOGISTIC.1), CONSTANT];

/// What is trained on which rows.
#[derive(Clone, Copy)]
enum TrainTestSplit {
    /// As their publisher split them.
    Published,
    /// On four fifths, and tested on the rest, anew in each run.
    Random,
}

const ACCURACY: &[&str] = &["accuracy"];
const RANKED: &[&str] = &["accuracy", "AUC"];
const ERROR: &[&str] = &["RMSE"];

/// The table, the data set, the runs, the split, the methods and the metrics.
type ExperimentRow = (
    &'static str,
    &'static str,
    u32,
    TrainTestSplit,
    &'static [NamedAlgorithm],
    &'static [&'static str],
);

const ROWS: [ExperimentRow; 8] = [
    ("table 1", "adult", 1, Published, ADULT, RANKED),
    ("table 1", "ionosphere", 20, Random, IONOSPHERE, ACCURACY),
    ("table 1", "pendigits", 1, Published, PENDIGITS, ACCURACY),
    ("table 1", "powerplant", 5, Random, POWERPLANT, ERROR),
    ("table 2", "adult", 5, Random, BOOSTED, RANKED),
    ("table 2", "casp", 5, Random, BOOSTED, ERROR),
    ("table 2", "pendigits", 5, Random, BOOSTED, ACCURACY),
    ("table 2", "powerplant", 5, Random, BOOSTED, ERROR),
];

pub(super) fn experiments() -> Vec<Experiment> {
    let experiment = |(item, dataset, runs, split, methods, metrics): ExperimentRow| Experiment {
        paper: "plain",
        item,
        dataset,
        runs,
        measure: Box::new(move |data: &Data, runs, bar| {
            let made = |(name, make): &NamedAlgorithm| Ok((*name, make()?, &[][..]));
            let methods = methods
                .iter()
                .map(made)
                .collect::<Result<Vec<NamedMethod<_>>, Error>>()?;
            let table = data.train(dataset, Keep::Values)?;
            let test = match split {
                Published => Some(data.test(dataset, Keep::Values)?),
                Random => None,
            };
            // A published split gives the same figures in every run.
            let runs = if test.is_some() { 1 } else { runs };
            compared(&methods, metrics, (runs, bar), |algorithm, _, run| match &test {
                Some(test) => figures(algorithm.as_ref(), table.clone(), test),
                None => {
                    let (train, test) = table.hold_out(20, seed(run.into()), &public(table.schema()));
                    figures(algorithm.as_ref(), train, &test)
                }
            })
        }),
    };
    ROWS.map(experiment).into()
}

/// Trains on one table and judges on another.
fn figures(algorithm: &dyn Algorithm, train: Table, test: &Table) -> Result<NamedFigures, Error> {
    let permission = public(train.schema());
    let model = algorithm.plan(train.schema())?.fit(train, &permission, SILENT)?;
    judged(&model, test)
}
