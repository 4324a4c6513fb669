//! One tree on the rows of one owner, beside what a tree without noise and a constant reach.

use privet::Error;
use privet::data::schema::Label;
use privet::data::{Schema, Table};
use privet::learner::SILENT;
use privet::setting::central::{self, inprivate};
use privet::setting::plain::{Algorithm, Constant, Trees};

use super::super::{Measure, NamedFigures, compared, figure, judged};
use super::printed::permission;
use super::{DEPTH, LevelPrice, Measured, coins, paid, published, rows, schema};

const EPSILON: &[f64] = &[1.0];

/// What is grown.
#[derive(Debug, Clone, Copy)]
enum Growth {
    Constant,
    Plain,
    Printed(LevelPrice),
    Corrected,
    ByRule,
}

const METHODS: [super::super::NamedMethod<Growth>; 7] = [
    ("constant", Growth::Constant, &[]),
    ("plain", Growth::Plain, &[]),
    ("as published, no noise", Growth::Printed(LevelPrice::Split), &[]),
    ("as published (void)", Growth::Printed(LevelPrice::Split), EPSILON),
    (
        "as published, ε₁ a level (void)",
        Growth::Printed(LevelPrice::Whole),
        EPSILON,
    ),
    ("corrected", Growth::Corrected, EPSILON),
    ("trees", Growth::ByRule, EPSILON),
];

/// The accuracy on a data set with classes; on one with numbers, the mean distance on the scale from -1 to 1 and, of what is
/// printed, the largest: a residual of the next tree, of which the paper says that it is 1 at most.
pub(super) fn on(dataset: &'static str) -> Measure {
    Box::new(move |data, runs, bar| {
        let records = data.records(dataset)?;
        let schema = schema(&records)?;
        let (metric, _) = metric(&schema);
        let metrics = [metric, "largest"];
        let mut found = compared(&METHODS, &metrics, (runs, bar), |method, epsilon, run| {
            let (train, test) = rows(&records, run);
            let tables = [records.table(&schema, &train)?, records.table(&schema, &test)?];
            method.figures(tables, epsilon, run)
        })?;
        let printed =
            |row: &Measured| row.epsilon.is_some() && row.values.iter().any(|value| !value.is_nan());
        found.retain(|row| row.metric == metric || metric == "MAE" && printed(row));
        Ok(found)
    })
}

/// The metric, and what it is divided by.
fn metric(schema: &Schema) -> (&'static str, f64) {
    match schema.label() {
        Some((_, Label::Number { min, max })) => ("MAE", (max - min) / 2.0),
        _ => ("accuracy", 1.0),
    }
}

impl Growth {
    /// The metric, and how far a tree as printed is off at most.
    fn figures(
        self,
        [train, test]: [Table; 2],
        epsilon: Option<f64>,
        run: u32,
    ) -> Result<NamedFigures, Error> {
        let (metric, unit) = metric(test.schema());
        let plain = |algorithm: &dyn Algorithm, train: Table| {
            algorithm
                .plan(train.schema())?
                .fit(train, &permission(test.schema()), SILENT)
        };
        let spent = epsilon.unwrap_or_default();
        let model = match self {
            Self::Printed(levels) => {
                let tree = published(train, (epsilon, levels), &mut coins(run.into()))?;
                let off = tree.off(&test);
                let mean = off.iter().sum::<f64>() / off.len() as f64;
                let largest = off.iter().copied().fold(0.0, f64::max);
                let value = if metric == "accuracy" { 1.0 - mean } else { mean };
                return Ok(vec![(metric, value), ("largest", largest)]);
            }
            Self::Constant => plain(&Constant::default(), train)?,
            Self::Plain => {
                let one = Trees::builder().rounds(1).depth(DEPTH - 1).learning_rate(1.0);
                plain(&one.build()?, train)?
            }
            Self::Corrected => paid(inprivate(DEPTH), train, spent)?,
            Self::ByRule => paid(central::Trees::builder(), train, spent)?,
        };
        Ok(vec![(metric, figure(&judged(&model, &test)?, metric) / unit)])
    }
}
