//! Noisy trees, beside the same without noise: the tables of the research notes on InPrivate.
//!
//! A person comes or goes; δ is 10⁻⁶ where ε is not pure. Nothing here is tuned on a test part: numbers of trees, leaves and
//! rates are the public rule's.

use std::sync::Arc;

use privet::Error;
use privet::data::Table;
use privet::learner::SILENT;
use privet::model::Model;
use privet::privacy::{AddRemove, Delta, Epsilon, Neighbours};
use privet::setting::central::{Algorithm as _, Budget, Splits, Trees};
use privet::setting::plain::{self, Algorithm as _};

use super::records::{ColumnCoding, PrivateColumns, Records};
use super::{Data, Experiment, Measured, compared, judged, public};
use privet_node::progress::Progress;

const EPSILONS: &[f64] = &[0.1, 0.5, 1.0, 2.0, 4.0, 8.0];
/// So much that its noise is none to speak of.
const NO_NOISE: &[f64] = &[100_000.0];

/// A data set, how many rows are for testing, and what is measured.
const SETS: [(&str, TestRows, &[&str]); 5] = [
    ("adult", TestRows::AsPublished(16_281), &["AUC", "accuracy"]),
    ("credit-default", TestRows::Fifth, &["AUC", "accuracy"]),
    ("bank", TestRows::Fifth, &["AUC", "accuracy"]),
    ("kc-house", TestRows::Fifth, &["MAE", "RMSE"]),
    ("pendigits", TestRows::Fifth, &["accuracy"]),
];

/// Which rows are for testing.
#[derive(Clone, Copy)]
enum TestRows {
    /// In the first run the last so many of the file, as its publisher split it; then as many at random.
    AsPublished(usize),
    /// A fifth, at random.
    Fifth,
}

#[derive(Clone, Copy)]
enum TreesMethod {
    /// Without privacy.
    Plain(&'static str),
    /// Noisy trees: with δ, or pure; by the rule, or with these splits.
    Noisy(bool, Option<Splits>),
    /// As many one-feature trees of as many leaves as the research notes have, with next to no noise.
    Noiseless,
}

const METHODS: [super::NamedMethod<TreesMethod>; 7] = [
    ("constant", TreesMethod::Plain("constant"), &[]),
    ("non-private trees", TreesMethod::Plain("trees"), &[]),
    ("trees", TreesMethod::Noisy(true, None), EPSILONS),
    ("trees, pure", TreesMethod::Noisy(false, None), EPSILONS),
    ("random", TreesMethod::Noisy(true, Some(Splits::Random)), EPSILONS),
    (
        "noisy-greedy",
        TreesMethod::Noisy(true, Some(Splits::NoisyGreedy)),
        &[1.0, 4.0],
    ),
    ("one feature, no noise", TreesMethod::Noiseless, NO_NOISE),
];

pub(super) fn experiments() -> Vec<Experiment> {
    let experiment = |(dataset, test, metrics)| {
        let measure = move |data: &Data, runs: u32, bar: &Progress| {
            measure(&data.records(dataset)?, test, metrics, (runs, bar))
        };
        Experiment::new(("dp-trees", "table 1", dataset), 20, measure)
    };
    SETS.map(experiment).into()
}

fn measure(
    records: &Records,
    test: TestRows,
    metrics: &[&'static str],
    runs: (u32, &Progress),
) -> Result<Vec<Measured>, Error> {
    let schema = Arc::new(
        records
            .schema(ColumnCoding::Declared, PrivateColumns::Everything)?
            .spread(),
    );
    compared(&METHODS, metrics, runs, |method, epsilon, run| {
        let (train, test) = match test {
            TestRows::AsPublished(rows) if run == 0 => {
                let mut all: Vec<usize> = (0..records.len()).collect();
                let test = all.split_off(records.len() - rows);
                (all, test)
            }
            TestRows::AsPublished(rows) => records.deal(rows, run.into()),
            TestRows::Fifth => records.deal(records.len() / 5, run.into()),
        };
        let (train, test) = (records.table(&schema, &train)?, records.table(&schema, &test)?);
        judged(&trained(*method, epsilon, train)?, &test)
    })
}

fn trained(method: TreesMethod, epsilon: Option<f64>, train: Table) -> Result<Model, Error> {
    let permission = public(train.schema());
    match (method, epsilon) {
        (TreesMethod::Noisy(..) | TreesMethod::Noiseless, Some(epsilon)) => {
            let rows = train.cells().as_ref().map(privet::data::Cells::rows);
            let (trees, budget) = noisy(method, epsilon, permission.reveal(rows))?;
            let plan = trees.plan(train.schema(), &AddRemove::row().relation(), budget)?;
            plan.rehearse(train)
        }
        (TreesMethod::Plain("trees"), _) => {
            let trees = plain::Trees::builder().rounds(300).depth(5).learning_rate(0.1);
            trees
                .build()?
                .plan(train.schema())?
                .fit(train, &permission, SILENT)
        }
        (TreesMethod::Plain(_), _) => {
            let plan = plain::Constant::default().plan(train.schema())?;
            plan.fit(train, &permission, SILENT)
        }
        (TreesMethod::Noisy(..) | TreesMethod::Noiseless, None) => Err(Error::internal("noise has an ε")),
    }
}

fn noisy(method: TreesMethod, epsilon: f64, rows: usize) -> Result<(Trees, Budget), Error> {
    let delta = match method {
        TreesMethod::Noisy(true, _) | TreesMethod::Noiseless => Delta::new(1e-6)?,
        TreesMethod::Noisy(false, _) | TreesMethod::Plain(_) => Delta::ZERO,
    };
    let start = Trees::builder();
    let trees = match method {
        TreesMethod::Noisy(true, Some(splits)) => start.splits(splits),
        TreesMethod::Noiseless => start
            .splits(Splits::OneFeature)
            .trees(300)
            .leaves(8)
            .learning_rate(0.5),
        TreesMethod::Noisy(..) | TreesMethod::Plain(_) => start,
    };
    let budget = Budget::with_delta(Epsilon::new(epsilon)?, delta, rows as u64)?;
    Ok((trees.build()?, budget))
}
