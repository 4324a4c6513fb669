//! Small schemas, tables read by them, and models that see one row.

use std::sync::Arc;

use privet::Error;
use privet::data::schema::{id, label, number};
use privet::data::{Cells, Intake, Keep, Schema, Table, Target, Value};
use privet::model::metrics::Judged;
use privet::noisy::evaluation::{Evaluation, PaidReport};
use privet::privacy::{Epsilon, Ledger, Neighbours, Private};

/// A row of a file: who, the feature, the label.
pub(crate) type Row = (&'static str, f64, &'static str);

/// What is predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Task {
    Binary,
    Several,
    Number,
}

pub(crate) const TASKS: [Task; 3] = [Task::Binary, Task::Several, Task::Number];

impl Task {
    /// To how many counts a row adds one.
    pub(crate) fn entries(self) -> u64 {
        if self == Task::Binary { 1 } else { 2 }
    }

    /// Two labels at the ends.
    pub(crate) fn labels(self) -> [&'static str; 2] {
        match self {
            Task::Binary => ["a", "b"],
            Task::Several => ["a", "c"],
            Task::Number => ["0", "10"],
        }
    }

    pub(crate) fn schema(self, rows_per_unit: u32) -> Arc<Schema> {
        let of = match self {
            Task::Binary => label("y", ["a", "b"]),
            Task::Several => label("y", ["a", "b", "c"]),
            Task::Number => label("y", 0.0..=10.0),
        };
        let schema = Schema::builder("judged").columns([id("who"), number("x", 0.0..=1.0), of]);
        let schema = schema.unit("who").rows_per_unit(rows_per_unit);
        Arc::new(schema.missing::<&str>([]).build().unwrap())
    }
}

/// What a model that sees one row says, or one that sees the others as well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Model {
    OneRow,
    /// Scores are taken from the highest of all rows: one row moves everybody's.
    Relative,
}

fn judge(task: Task, cells: &Cells, model: Model) -> Judged {
    let scaled = cells
        .features()
        .first()
        .and_then(|feature| feature.scaled.clone());
    let mut scores: Vec<f32> = scaled
        .unwrap_or_default()
        .iter()
        .map(|x| (x + 1.0) / 2.0)
        .collect();
    if model == Model::Relative {
        let highest = scores.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        scores.iter_mut().for_each(|score| *score /= highest);
    }
    let probabilities = |p: &f32| match task {
        Task::Several => vec![0.9 * (1.0 - p), 0.1, 0.9 * p],
        Task::Binary | Task::Number => vec![1.0 - p, *p],
    };
    match cells.target() {
        Some(Target::Classes(labels)) => Judged::Classes {
            labels: labels.clone(),
            probabilities: scores.iter().flat_map(probabilities).collect(),
        },
        Some(Target::Numbers(labels)) => Judged::Numbers {
            labels: labels.clone(),
            values: scores.iter().map(|score| 10.0 * score).collect(),
        },
        None => panic!("a table with labels"),
    }
}

/// Reads the rows by the schema's rules and judges the model on them: the way of a real run.
pub(crate) fn judged(task: Task, schema: &Arc<Schema>, rows: &[Row], model: Model) -> Private<Judged> {
    let cells = table(schema, rows).into_cells();
    cells.map(|cells| judge(task, &cells, model))
}

/// The table of these rows.
pub(crate) fn table(schema: &Arc<Schema>, rows: &[Row]) -> Table {
    let record = |&(who, x, y): &Row| [Value::from(who), x.into(), y.into()];
    let records: Vec<[Value<'_>; 3]> = rows.iter().map(record).collect();
    privet_testkit::rows::table(&Intake::everything(Arc::clone(schema), Keep::Values), &records)
}

pub(crate) fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

/// A whole run.
pub(crate) fn run<N: Neighbours>(
    task: Task,
    schema: &Arc<Schema>,
    rows: &[Row],
    ledger: &mut Ledger<N>,
    model: Model,
) -> Result<PaidReport, Error> {
    Evaluation::of(schema)?.paid_as_judged(judged(task, schema, rows, model), ledger, epsilon("0.5"))
}
