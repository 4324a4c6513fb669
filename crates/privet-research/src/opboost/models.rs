//! Figures 7 to 9 and 13 and the tables of XGBoost: models on desensitised columns, beside those that need no privacy.
//!
//! A, the label holder, has the categories; B, the feature holder, has the numbers. Every column is changed at the full ε, as the
//! reference implementation does, so a row costs as many times as much as B has columns. All messages of the protocol are
//! sent, in one process. Models are judged by rows that were not changed.

use privet::Error;
use privet::data::schema::Label;
use privet::learner::SILENT;
use privet::model::Model;
use privet::privacy::Epsilon;
use privet::privacy::mechanism::ordered::{Alignment as Blocks, Route};
use privet::setting::plain::{Algorithm, Constant, Trees};
use privet::setting::vertical::{Alignment, Budget, Desensitisation, Mechanism, Vertical};

use super::super::{Measure, NamedFigures, compared, judged, mean_and_deviation};
use super::prepare::{Mapping, Prepared, SLOTS, Setup};
use super::{Data, Measured, Progress, public};

const EPSILONS: &[f64] = &[0.08, 0.32, 0.64, 1.28, 2.56, 5.12];
const LABELS: &[f64] = &[1.0, 2.0, 4.0];
/// So much that nothing is changed.
const UNCHANGED: f64 = 40.0;
/// Where the reference implementation's parts begin: at zero, and its domain at one.
const REFERENCE: Blocks = Blocks::Zero { first: 1 };

#[derive(Debug, Clone)]
enum OpBoostMethod {
    /// Everybody's columns as they are.
    Plain,
    /// B's columns mapped.
    Mapped(Mapping),
    /// A alone.
    Own,
    Constant,
    /// B's columns mapped and changed.
    Noisy(Mechanism, Mapping),
    /// An ordinary ε, as much as the others spend on the whole domain.
    Whole,
    /// B's columns mapped, A's labels changed.
    Labels,
}

type MethodRow = super::super::NamedMethod<OpBoostMethod>;

fn methods() -> Vec<MethodRow> {
    let noisy = |mechanism| OpBoostMethod::Noisy(mechanism, Mapping::Ceiling);
    let quantiles = |mechanism| OpBoostMethod::Noisy(mechanism, Mapping::Quantiles);
    let global = Mechanism::GlobalMap(Route::default());
    let clamped = Mechanism::ClampedGeometric;
    let adjusted = |alpha: u32| {
        noisy(Mechanism::AdjustedMap {
            width: 4,
            alpha_thousandths: 1000 * alpha,
            blocks: REFERENCE,
        })
    };
    let local = |width, blocks| noisy(Mechanism::LocalMap { width, blocks });
    let path = |across: u32| {
        let across = Some(Epsilon::from_billionths(u64::from(across) * 1_000_000_000));
        noisy(Mechanism::PathGeometric { width: 4, across })
    };
    let piecewise = Mechanism::Piecewise { clipped: false };
    vec![
        ("plain", OpBoostMethod::Plain, &[]),
        ("mapped plain", OpBoostMethod::Mapped(Mapping::Ceiling), &[]),
        (
            "mapped plain, quantiles",
            OpBoostMethod::Mapped(Mapping::Quantiles),
            &[],
        ),
        ("A only", OpBoostMethod::Own, &[]),
        ("constant", OpBoostMethod::Constant, &[]),
        ("Piecewise", noisy(piecewise), EPSILONS),
        ("Piecewise at (R−L)ε", OpBoostMethod::Whole, EPSILONS),
        ("Global-map", noisy(global.clone()), EPSILONS),
        ("Adj-map θ=4 α=2", adjusted(2), EPSILONS),
        ("Adj-map θ=4 α=10", adjusted(10), EPSILONS),
        ("Local-map θ=2", local(2, REFERENCE), EPSILONS),
        ("Local-map θ=4", local(4, REFERENCE), EPSILONS),
        ("Local-map θ=4, from L", local(4, Blocks::FirstSlot), &[0.08]),
        ("path θ=4, border 2", path(2), &[0.08]),
        ("path θ=4, border 4", path(4), &[0.08]),
        ("Global-map, quantiles", quantiles(global), EPSILONS),
        ("clamped", noisy(clamped.clone()), EPSILONS),
        ("clamped, quantiles", quantiles(clamped), EPSILONS),
        ("labels changed", OpBoostMethod::Labels, LABELS),
    ]
}

pub(super) fn on(setup: Setup) -> Measure {
    Box::new(move |data, runs, bar| measure(setup, data, runs, bar))
}

fn measure(setup: Setup, data: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let prepared = Prepared::new(setup, data)?;
    let classes = matches!(prepared.plain.label(), Some((_, Label::Classes(_))));
    // Without columns of its own, A alone is the constant.
    let has_own = prepared.plain.features().count() > prepared.names().count();
    let methods = methods().into_iter().filter(|(_, method, _)| match method {
        OpBoostMethod::Own => has_own,
        // Labels are only worth protecting where nothing else of A's is in the model.
        OpBoostMethod::Labels => classes && !has_own,
        _ => true,
    });
    let methods: Vec<MethodRow> = methods.collect();
    let metrics: &[&'static str] = match (classes, setup.dataset) {
        (true, "adult") => &["accuracy", "AUC"],
        (true, _) => &["accuracy"],
        (false, _) => &["MSE"],
    };
    let mut found = compared(&methods, metrics, (runs, bar), |method, epsilon, run| {
        let (train, test) = prepared.deal(run);
        figures(&prepared, (method, epsilon), (&train, &test))
    })?;
    if setup.files.is_some() || setup.clipped {
        found.extend(ratios(&found));
    }
    Ok(found)
}

/// As the paper's appendix prints them: what is reached, as a share of the plain model's figure; of errors the other way round.
fn ratios(all: &[Measured]) -> Vec<Measured> {
    let Some(plain) = all.first().map(|plain| mean_and_deviation(&plain.values).0) else {
        return Vec::new();
    };
    let share = |metric: &str, value: f64| match metric {
        "MSE" => plain / value,
        _ => value / plain,
    };
    all.iter()
        .map(|row| {
            let values = row.values.iter().map(|value| share(row.metric, *value));
            Measured::new(row.method, row.epsilon, "share of plain", values)
        })
        .collect()
}

fn figures(
    prepared: &Prepared,
    (method, epsilon): (&OpBoostMethod, Option<f64>),
    (train, test): (&[usize], &[usize]),
) -> Result<NamedFigures, Error> {
    let epsilon = epsilon.unwrap_or_default();
    let start = Vertical::builder()
        .alignment(Alignment::Given)
        .trees(trees(prepared.setup)?);
    let changes = |mechanism, epsilon| {
        let changes = Desensitisation::builder().budget(Budget::Full);
        changes
            .mechanism(mechanism)
            .epsilon(Epsilon::new(epsilon)?)
            .build()
    };
    let (vertical, mapping) = match method {
        OpBoostMethod::Noisy(mechanism, mapping) => {
            let noisy = changes(mechanism.clone(), epsilon)?;
            (start.desensitisation(noisy), *mapping)
        }
        OpBoostMethod::Whole => {
            let whole = (epsilon * (SLOTS - 1) as f64).min(UNCHANGED);
            let piecewise = changes(Mechanism::Piecewise { clipped: false }, whole)?;
            (start.desensitisation(piecewise), Mapping::Ceiling)
        }
        OpBoostMethod::Labels => {
            let unchanged = changes(Mechanism::ClampedGeometric, UNCHANGED)?;
            let vertical = start.desensitisation(unchanged);
            (vertical.label_epsilon(Epsilon::new(epsilon)?), Mapping::Ceiling)
        }
        OpBoostMethod::Plain | OpBoostMethod::Mapped(_) | OpBoostMethod::Own | OpBoostMethod::Constant => {
            let schema = match method {
                OpBoostMethod::Own => prepared.own()?,
                OpBoostMethod::Mapped(mapping) => prepared.mapped(*mapping, train)?,
                _ => prepared.plain.clone(),
            };
            let plan = match method {
                OpBoostMethod::Constant => Constant::default().plan(&schema)?,
                _ => trees(prepared.setup)?.plan(&schema)?,
            };
            let table = prepared.records.table(&schema, train)?;
            let model = plan.fit(table, &public(&schema), SILENT)?;
            return judged(&model, &prepared.records.table(&schema, test)?);
        }
    };
    let model = apart(&vertical.build()?, prepared, mapping, train)?;
    judged(&model, &prepared.asked(&model, mapping, (train, test))?)
}

/// Through the protocol: A has the labels and its own columns, B the numbers.
fn apart(
    vertical: &Vertical,
    prepared: &Prepared,
    mapping: Mapping,
    train: &[usize],
) -> Result<Model, Error> {
    let schema = prepared.mapped(mapping, train)?;
    let table = prepared.records.table(&schema, train)?;
    let [own, others] = prepared.sides();
    let mut tables = table.columns(&[own, others])?;
    let others = tables.split_off(1);
    let own = tables
        .pop()
        .ok_or_else(|| Error::internal("there are two sides"))?;
    let plan = vertical.plan(own.schema(), others.iter().map(|table| table.schema()))?;
    plan.rehearse(own, others, &public(&schema))
}

/// What the paper's appendix has XGBoost do; with two leaves, what the reference implementation's GBDT does.
fn trees(setup: Setup) -> Result<Trees, Error> {
    let trees = Trees::builder().rounds(80).learning_rate(0.1).depth(3).l2(1.0);
    match setup.stumps {
        true => trees.leaves(2),
        false => trees,
    }
    .build()
}
