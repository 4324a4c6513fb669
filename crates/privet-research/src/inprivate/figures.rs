//! Figures 5 to 8 of the paper, and all ways at one point of them.
//!
//! A fifth of the rows judges; owners have the others, as far as they go. Fifty runs are the paper's ten cross-validations of five folds.

use privet::Error;
use privet::data::Schema;
use privet::data::schema::Label;
use privet::setting::horizontal::Protocol;

use super::super::{Measure, each_run, figure};
use super::owners::{Deal, Owned, Way};
use super::printed::{Correction, InPrivate, LevelPrice};
use super::{DEPTH, Data, Experiment, Measured, Progress, Records, attack, schema, waiting};

/// As it is printed.
const PRINTED: InPrivate = InPrivate {
    depth: DEPTH,
    epsilon: Some(1.0),
    levels: LevelPrice::Split,
    learning_rate: 1.0,
    corrected: None,
};
/// What it says without noise.
const NO_PRIV: InPrivate = InPrivate {
    epsilon: None,
    ..PRINTED
};

/// Ways by their names.
const WAYS: [(&str, Way); 16] = [
    ("constant", Way::Constant),
    ("no privacy, pooled rows", Way::Pooled),
    ("paper's chain, no noise", Way::Paper(NO_PRIV)),
    (
        "paper's chain, no noise, rate 0.1",
        Way::Paper(InPrivate {
            learning_rate: 0.1,
            ..NO_PRIV
        }),
    ),
    ("as published (void)", Way::Paper(PRINTED)),
    (
        "as published, ε₁ a level (void)",
        Way::Paper(InPrivate {
            levels: LevelPrice::Whole,
            ..PRINTED
        }),
    ),
    (
        "corrected",
        Way::Paper(InPrivate {
            corrected: Some(Correction { ridge: 1.0 }),
            ..PRINTED
        }),
    ),
    (
        "corrected, depth 6, rate 0.5",
        Way::Paper(InPrivate {
            depth: 6,
            learning_rate: 0.5,
            corrected: Some(Correction { ridge: 20.0 }),
            ..PRINTED
        }),
    ),
    ("one owner alone", Way::Alone),
    ("chain", Way::Together(Protocol::Chain)),
    (
        "chain, paper's trees, pure ε",
        Way::Greedy {
            is_pure: true,
            judged: false,
        },
    ),
    (
        "chain, paper's trees",
        Way::Greedy {
            is_pure: false,
            judged: false,
        },
    ),
    (
        "chain, paper's trees, judged",
        Way::Greedy {
            is_pure: false,
            judged: true,
        },
    ),
    ("averaged", Way::Together(Protocol::Averaged)),
    ("aggregated", Way::Together(Protocol::Aggregated)),
    ("central, equal noise", Way::Central),
];

/// Where something is measured: who has what, at which ε, and what figures are called there.
struct Point {
    owned: Owned,
    epsilon: f64,
    names: [&'static str; 3],
}

/// What is measured, by these names.
const METRICS: [&str; 3] = ["accuracy", "AUC", "MAE"];

macro_rules! point {
    ($owners:literal x $rows:literal, $rounds:expr, $epsilon:expr, $place:literal) => {
        Point {
            owned: Owned {
                owners: $owners,
                rows: $rows,
                rounds: $rounds,
            },
            epsilon: $epsilon,
            names: [
                concat!("accuracy", $place),
                concat!("AUC", $place),
                concat!("MAE", $place),
            ],
        }
    };
}

const TABLE: &[Point] = &[point!(20 x 1000, None, 1.0, "")];
const FIGURE_5: &[Point] = &[
    point!(1 x 1000, None, 1.0, ", 1 owner"),
    point!(5 x 1000, None, 1.0, ", 5 owners"),
    point!(10 x 1000, None, 1.0, ", 10 owners"),
    point!(15 x 1000, None, 1.0, ", 15 owners"),
    point!(20 x 1000, None, 1.0, ", 20 owners"),
];
const FIGURE_6: &[Point] = &[
    point!(10 x 100, None, 1.0, ", 100 rows"),
    point!(10 x 500, None, 1.0, ", 500 rows"),
    point!(10 x 1000, None, 1.0, ", 1,000 rows"),
    point!(10 x 1500, None, 1.0, ", 1,500 rows"),
    point!(10 x 2000, None, 1.0, ", 2,000 rows"),
];
const FIGURE_7: &[Point] = &[
    point!(5 x 2000, Some(1), 1.0, ", 1 round"),
    point!(5 x 2000, Some(2), 1.0, ", 2 rounds"),
    point!(5 x 2000, Some(3), 1.0, ", 3 rounds"),
    point!(5 x 2000, Some(4), 1.0, ", 4 rounds"),
    point!(5 x 2000, Some(5), 1.0, ", 5 rounds"),
];
const FIGURE_8: &[Point] = &[
    point!(20 x 1000, None, 0.1, ""),
    point!(20 x 1000, None, 0.5, ""),
    point!(20 x 1000, None, 2.0, ""),
    point!(20 x 1000, None, 4.0, ""),
    point!(20 x 1000, None, 8.0, ""),
];

/// Data sets: the paper's two that can be had, and stand-ins for the census.
const SETS: [&str; 5] = ["adult", "credit-default", "gss-films", "kc-house", "sf-jobs"];

/// A figure varies one thing; without the rest it would take hours.
const FIGURES: [(&str, &[Point]); 4] = [
    ("figure 5", FIGURE_5),
    ("figure 6", FIGURE_6),
    ("figure 7", FIGURE_7),
    ("figure 8", FIGURE_8),
];

pub(super) fn experiments() -> Vec<Experiment> {
    let experiment =
        |item, dataset, runs, measure: Measure| Experiment::new(("inprivate", item, dataset), runs, measure);
    let mut all = vec![
        experiment("table 2", "kc-house", 100, Box::new(attack::chain)),
        experiment("figure 4", "adult", 1, Box::new(waiting::measure)),
    ];
    for dataset in SETS {
        all.push(experiment("table 1", dataset, 20, on(dataset, TABLE)));
    }
    for (item, points) in FIGURES {
        all.extend(SETS.map(|dataset| experiment(item, dataset, 5, on(dataset, points))));
    }
    all
}

fn on(dataset: &'static str, points: &'static [Point]) -> Measure {
    Box::new(move |data: &Data, runs, bar: &Progress| {
        let records = data.records(dataset)?;
        let ways = |point: &'static Point| WAYS.into_iter().filter(|(_, way)| way.fits(point.owned));
        let cases: Vec<_> = points
            .iter()
            .flat_map(|point| ways(point).map(move |(name, way)| (point, name, way)))
            .collect();
        let schema = schema(&records)?;
        let mut found = Vec::new();
        for (done, (point, name, way)) in cases.iter().enumerate() {
            bar.at(done as u64, cases.len() as u64);
            found.extend(measured(&records, &schema, point, (name, *way), runs)?);
        }
        Ok(found)
    })
}

fn measured(
    records: &Records,
    schema: &std::sync::Arc<Schema>,
    point: &Point,
    (name, way): (&'static str, Way),
    runs: u32,
) -> Result<Vec<Measured>, Error> {
    let figures = each_run(runs, |run| {
        way.figures(&Deal::new(records, schema, point.owned, run), point.epsilon)
    })?;
    let is_number = matches!(schema.label(), Some((_, Label::Number { .. })));
    let epsilon = way.spends().then_some(point.epsilon);
    let each = METRICS.iter().zip(point.names);
    let each = each.filter(|(metric, _)| (**metric == "MAE") == is_number);
    let each = each.map(|(metric, called)| {
        let values = figures.iter().map(|run| figure(run, metric));
        Measured::new(name, epsilon, called, values)
    });
    // The paper's chain has no AUC.
    Ok(each
        .filter(|found| !found.values.iter().all(|value| value.is_nan()))
        .collect())
}
