//! One tree on the rows of one owner, beside what a tree without noise and a constant reach.

use privet::Error;
use privet::data::schema::Label;
use privet::data::{Schema, Table};
use privet::learner::SILENT;
use privet::model::Model;
use privet::noisy::evaluation::Evaluation;
use privet::setting::plain::{Algorithm, Constant, Trees};
use rayon::prelude::*;

use super::super::Measure;
use super::printed::permission;
use super::{DEPTH, Levels, Measured, by_rule, coins, corrected, measured, paid, published, rows, schema};

const EPSILON: f64 = 1.0;

/// What is grown.
#[derive(Debug, Clone, Copy)]
enum Method {
    Constant,
    Plain,
    Printed(Option<f64>, Levels),
    Corrected,
    ByRule,
}

const METHODS: [(&str, Method); 7] = [
    ("constant", Method::Constant),
    ("plain", Method::Plain),
    ("as published, no noise", Method::Printed(None, Levels::Split)),
    (
        "as published (void)",
        Method::Printed(Some(EPSILON), Levels::Split),
    ),
    (
        "as published, ε₁ a level (void)",
        Method::Printed(Some(EPSILON), Levels::Whole),
    ),
    ("corrected", Method::Corrected),
    ("trees", Method::ByRule),
];

/// The accuracy on a data set with classes; on one with numbers, the mean distance on the scale from -1 to 1 and, of what is
/// printed, the largest: a residual of the next tree, of which the paper says that it is 1 at most.
pub(super) fn on(dataset: &'static str) -> Measure {
    Box::new(move |data, runs, bar| {
        let records = data.records(dataset)?;
        let schema = schema(&records)?;
        let mut found = Vec::new();
        for (done, (name, method)) in METHODS.into_iter().enumerate() {
            bar.at(done as u64, METHODS.len() as u64);
            let each = (0..runs).into_par_iter().map(|run| {
                let (train, test) = rows(&records, run);
                let tables = [records.table(&schema, &train)?, records.table(&schema, &test)?];
                method.figure(tables, run)
            });
            let figures = each.collect::<Result<Vec<[f64; 2]>, Error>>()?;
            let epsilon = matches!(
                method,
                Method::Printed(Some(_), _) | Method::Corrected | Method::ByRule
            );
            let epsilon = epsilon.then_some(EPSILON);
            let (metric, _) = metric(&schema);
            let [means, largest] = [0, 1].map(|which| figures.iter().map(|of| of[which]).collect());
            found.push(measured(name, epsilon, metric, means));
            if let (Method::Printed(Some(_), _), "MAE") = (method, metric) {
                found.push(measured(name, epsilon, "largest", largest));
            }
        }
        Ok::<Vec<Measured>, Error>(found)
    })
}

/// The metric, and what it is divided by.
fn metric(schema: &Schema) -> (&'static str, f64) {
    match schema.label() {
        Some((_, Label::Number { min, max })) => ("MAE", (max - min) / 2.0),
        _ => ("accuracy", 1.0),
    }
}

impl Method {
    /// The metric, and how far a tree as printed is off at most.
    fn figure(self, [train, test]: [Table; 2], run: u32) -> Result<[f64; 2], Error> {
        let plain = |algorithm: &dyn Algorithm, train: Table| {
            algorithm
                .plan(train.schema())?
                .fit(train, &permission(test.schema()), SILENT)
        };
        let model = match self {
            Self::Printed(epsilon, levels) => {
                let tree = published(train, (epsilon, levels), &mut coins(run))?;
                let off = tree.off(&test);
                let mean = off.iter().sum::<f64>() / off.len() as f64;
                let largest = off.iter().copied().fold(0.0, f64::max);
                return Ok(match metric(test.schema()).0 {
                    "accuracy" => [1.0 - mean, largest],
                    _ => [mean, largest],
                });
            }
            Self::Constant => plain(&Constant::default(), train)?,
            Self::Plain => {
                let one = Trees::builder().rounds(1).depth(DEPTH - 1).learning_rate(1.0);
                plain(&one.build()?, train)?
            }
            Self::Corrected => paid(corrected(), train, EPSILON)?,
            Self::ByRule => paid(by_rule(), train, EPSILON)?,
        };
        Ok([judged(&model, &test)?, f64::NAN])
    }
}

fn judged(model: &Model, test: &Table) -> Result<f64, Error> {
    let evaluation = Evaluation::of(test.schema())?;
    let judged = test.cells().as_ref().map(|cells| evaluation.judge(model, cells));
    let report = evaluation.open(judged, &permission(test.schema()));
    let (metric, unit) = metric(test.schema());
    let found = report.named().into_iter().find(|(name, _)| *name == metric);
    Ok(found.map_or(f64::NAN, |(_, value)| value / unit))
}
