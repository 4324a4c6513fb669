//! Figures 7 to 9 and 13 and the tables of XGBoost: models on desensitised columns, beside those that need no privacy.
//!
//! A has the label and the categories, B the numbers. Every column is changed at the full ε, as the reference implementation
//! does, so a row costs that many times as much as the columns that B has. Models are judged by mapped rows that were not
//! changed.

use privet::Error;
use privet::data::schema::Label;
use privet::data::{Table, Target};
use privet::model::Model;
use privet::privacy::mechanism::ordered::{Column, Desensitised, Ordered, RandomisedResponse};
use privet::privacy::{Epsilon, Private};
use privet::setting::evaluation::Evaluation;
use privet::setting::plain::Plain;
use rayon::prelude::*;

use super::super::{Measure, named};
use super::mechanisms::{Domain, Kind, ledger};
use super::prepare::{Mapping, Prepared, SLOTS, Setup};
use super::{Data, Measured, Progress, measured, public};

const EPSILONS: &[f64] = &[0.08, 0.32, 0.64, 1.28, 2.56, 5.12];
const LABELS: &[f64] = &[1.0, 2.0, 4.0];

#[derive(Debug, Clone, Copy)]
enum Method {
    /// Everybody's columns as they are.
    Plain,
    /// B's columns mapped.
    Mapped(Mapping),
    /// A alone.
    Own,
    Constant,
    /// B's columns mapped and changed, with parts that begin as in the reference implementation.
    Noisy(Kind, Mapping),
    /// The same, with parts that begin at the first slot.
    FromFirst(Kind),
    /// B's columns mapped, A's labels changed.
    Labels,
}

type Row = (&'static str, Method, &'static [f64]);

const METHODS: [Row; 19] = [
    ("plain", Method::Plain, &[]),
    ("mapped plain", Method::Mapped(Mapping::Ceiling), &[]),
    ("mapped plain, quantiles", Method::Mapped(Mapping::Quantiles), &[]),
    ("A only", Method::Own, &[]),
    ("constant", Method::Constant, &[]),
    ("Piecewise", noisy(Kind::Piecewise), EPSILONS),
    ("Piecewise at (R−L)ε", noisy(Kind::PiecewiseWhole), EPSILONS),
    ("Global-map", noisy(Kind::Global), EPSILONS),
    ("Adj-map θ=4 α=2", noisy(Kind::Adjusted(4, 20)), EPSILONS),
    ("Adj-map θ=4 α=10", noisy(Kind::Adjusted(4, 100)), EPSILONS),
    ("Local-map θ=2", noisy(Kind::Local(2)), EPSILONS),
    ("Local-map θ=4", noisy(Kind::Local(4)), EPSILONS),
    (
        "Local-map θ=4, from L",
        Method::FromFirst(Kind::Local(4)),
        &[0.08],
    ),
    ("path θ=4, border 2", noisy(Kind::Path(4, 2)), &[0.08]),
    ("path θ=4, border 4", noisy(Kind::Path(4, 4)), &[0.08]),
    (
        "Global-map, quantiles",
        Method::Noisy(Kind::Global, Mapping::Quantiles),
        EPSILONS,
    ),
    ("clamped", noisy(Kind::Clamped), EPSILONS),
    (
        "clamped, quantiles",
        Method::Noisy(Kind::Clamped, Mapping::Quantiles),
        EPSILONS,
    ),
    ("labels changed", Method::Labels, LABELS),
];

const fn noisy(kind: Kind) -> Method {
    Method::Noisy(kind, Mapping::Ceiling)
}

pub(super) fn on(setup: Setup) -> Measure {
    Box::new(move |data, runs, bar| measure(setup, data, runs, bar))
}

fn measure(setup: Setup, data: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let prepared = Prepared::new(setup, data)?;
    let classes = matches!(prepared.plain().label(), Some((_, Label::Classes(_))));
    let alone = prepared.plain().features().count() > prepared.names().count();
    let cases: Vec<(usize, &str, Method, Option<f64>)> = METHODS
        .iter()
        .filter(|(_, method, _)| match method {
            // Without columns of its own, A alone is the constant.
            Method::Own => alone,
            Method::Labels => classes,
            _ => true,
        })
        .flat_map(|(name, method, epsilons)| match epsilons.is_empty() {
            true => vec![(*name, *method, None)],
            false => epsilons.iter().map(|&e| (*name, *method, Some(e))).collect(),
        })
        .enumerate()
        .map(|(number, (name, method, epsilon))| (number, name, method, epsilon))
        .collect();
    let metrics: &[&'static str] = match (classes, setup.dataset) {
        (true, "adult") => &["accuracy", "AUC"],
        (true, _) => &["accuracy"],
        (false, _) => &["MSE"],
    };
    let mut found = Vec::new();
    for (number, name, method, epsilon) in &cases {
        bar.at(*number as u64, cases.len() as u64);
        let figures = (0..runs).into_par_iter().map(|run| {
            let seed = u64::from(run) * 1000 + *number as u64;
            figures(&prepared, (*method, *epsilon), (run, seed))
        });
        let figures = figures.collect::<Result<Vec<_>, Error>>()?;
        for metric in metrics {
            let value = |run: &Vec<(&str, f64)>| {
                let found = |metric: &str| run.iter().find(|(name, _)| *name == metric);
                match *metric {
                    "MSE" => found("RMSE").map_or(f64::NAN, |(_, root)| root * root),
                    metric => found(metric).map_or(f64::NAN, |(_, value)| *value),
                }
            };
            let values = figures.iter().map(value).collect();
            found.push(measured(name, *epsilon, metric, values));
        }
    }
    Ok(found)
}

fn figures(
    prepared: &Prepared,
    (method, epsilon): (Method, Option<f64>),
    (run, seed): (u32, u64),
) -> Result<Vec<(&'static str, f64)>, Error> {
    let (train, test) = prepared.deal(run);
    let tables = |schema: &_| -> Result<(Table, Table), Error> {
        Ok((prepared.table(schema, &train)?, prepared.table(schema, &test)?))
    };
    let epsilon = epsilon.unwrap_or_default();
    let (kept, asked) = match method {
        Method::Plain | Method::Constant => tables(prepared.plain())?,
        Method::Own => tables(&prepared.own()?)?,
        Method::Mapped(mapping) => tables(&prepared.mapped(mapping, &train)?)?,
        Method::Labels => {
            let schema = prepared.mapped(Mapping::Ceiling, &train)?;
            let changed = labels(prepared, &train, epsilon, seed)?;
            let train = prepared.records.table_with(&schema, &train, &[changed])?;
            (train, prepared.table(&schema, &test)?)
        }
        Method::Noisy(kind, mapping) => {
            let mechanism = kind.as_reference(epsilon, Domain::new(1, SLOTS))?;
            changed(prepared, mechanism.as_ref(), mapping, (&train, &test), seed)?
        }
        Method::FromFirst(kind) => {
            let mechanism = kind.as_paper(epsilon, SLOTS)?;
            changed(
                prepared,
                mechanism.as_ref(),
                Mapping::Ceiling,
                (&train, &test),
                seed,
            )?
        }
    };
    let leave = public(asked.schema());
    let plain = match method {
        Method::Constant => Plain::builder().algorithm("constant").build()?,
        _ => trees(prepared.setup)?,
    };
    let model: Model = plain.fit(kept, &leave, &|_, _| {})?;
    let evaluation = Evaluation::of(asked.schema())?;
    let judged = asked
        .cells()
        .as_ref()
        .map(|cells| evaluation.judge(&model, cells));
    Ok(named(&evaluation.open(judged, &leave)))
}

fn trees(setup: Setup) -> Result<Plain, Error> {
    let trees = Plain::builder()
        .algorithm("trees")
        .rounds(80)
        .depth(3)
        .learning_rate(0.1)
        .l2(1.0);
    match setup.stumps {
        true => trees.leaves(2),
        false => trees,
    }
    .build()
}

/// Rows to train on whose columns of B were changed, and rows to test on that were only mapped.
fn changed(
    prepared: &Prepared,
    mechanism: &dyn Ordered,
    mapping: Mapping,
    (train, test): (&[usize], &[usize]),
    seed: u64,
) -> Result<(Table, Table), Error> {
    let mapped = prepared.mapped(mapping, train)?;
    let outputs = mechanism.outputs();
    let schema = prepared.outputs(outputs.lowest, outputs.count)?;
    let clean = |rows: &[usize]| -> Result<Vec<(String, Vec<u16>)>, Error> {
        let table = prepared.table(&mapped, rows)?;
        let cells = public(&mapped).reveal(table.into_cells());
        let columns = mapped.features().zip(cells.features());
        let ours = columns.filter(|(column, _)| prepared.names().any(|name| name == column.name));
        Ok(ours
            .map(|(column, feature)| (column.name.clone(), feature.bins.iter().collect()))
            .collect())
    };
    let columns: Vec<(String, Vec<u16>)> = clean(train)?;
    let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    let columns = columns
        .into_iter()
        .map(|(name, values)| Column::slots(name, mechanism, Private::new(values)))
        .collect();
    let left = ledger(seed)?.desensitise("public columns", columns)?.into_inner();
    let noisy = names.into_iter().zip(left).map(|(name, left)| match left {
        Desensitised::Slots(values) => {
            let lowest = i64::from(outputs.lowest);
            Ok((
                name,
                values
                    .into_iter()
                    .map(|y| (i64::from(y) + lowest).to_string())
                    .collect(),
            ))
        }
        _ => Err(Error::Misuse("slots come out as slots".into())),
    });
    let noisy = noisy.collect::<Result<Vec<(String, Vec<String>)>, Error>>()?;
    let clean: Vec<(String, Vec<String>)> = clean(test)?
        .into_iter()
        .map(|(name, values)| (name, values.iter().map(u16::to_string).collect()))
        .collect();
    Ok((
        prepared.records.table_with(&schema, train, &noisy)?,
        prepared.records.table_with(&schema, test, &clean)?,
    ))
}

/// Labels after randomised response.
fn labels(
    prepared: &Prepared,
    rows: &[usize],
    epsilon: f64,
    seed: u64,
) -> Result<(String, Vec<String>), Error> {
    let table = prepared.table(prepared.plain(), rows)?;
    let schema = table.schema().clone();
    let cells = public(&schema).reveal(table.into_cells());
    let (Some((label, Label::Classes(classes))), Some(Target::Classes(own))) =
        (schema.label(), cells.target())
    else {
        return Err(Error::Misuse("labels that are changed are classes".into()));
    };
    let response = RandomisedResponse::new(Epsilon::new(epsilon)?, classes.values().len())?;
    let column = Column::slots("label", &response, Private::new(own.clone()));
    let left = ledger(seed)?
        .desensitise("public labels", vec![column])?
        .into_inner();
    match left.into_iter().next() {
        Some(Desensitised::Slots(changed)) => {
            let text = |class: u16| classes.values()[usize::from(class)].clone();
            Ok((label.name.clone(), changed.into_iter().map(text).collect()))
        }
        _ => Err(Error::Misuse("slots come out as slots".into())),
    }
}
