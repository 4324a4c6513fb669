//! `privet simulate`

mod horizontal;
mod local;
mod prediction;
mod secure;
mod synthetic;
mod vertical;

use std::fmt::Write;
use std::sync::Arc;

use privet::Error;
use privet::data::{Intake, Keep, Table};
use privet::model::metrics::mean_and_deviation;
use privet::model::{Model, Predictions};
use privet::noisy::evaluation::Evaluation;
use privet::privacy::Unprotected;
use privet::setting::plain::{Algorithm, Constant, Logistic};
use privet::setting::{central, plain};
use serde_json::json;

use super::exit::{Exit, Failure};
use super::gathering::Traffic;
use super::request::Simulate;
use super::{Answer, permission};
use crate::job::{Job, Setting, Source};
use crate::progress::{Progress, going_on, unseen};

/// Figures by their metric's name.
type MethodFigures = Vec<(&'static str, f64)>;

/// One way to train, and how good it was in each run.
struct SimulatedMethod {
    name: &'static str,
    title: String,
    /// For each run, the figures by their metric's name.
    runs: Vec<MethodFigures>,
}

impl SimulatedMethod {
    fn new(name: &'static str, title: impl Into<String>) -> Self {
        Self {
            name,
            title: title.into(),
            runs: Vec::new(),
        }
    }
}

pub(super) fn run(simulate: &Simulate) -> Result<Answer, Failure> {
    let job = Job::read(&simulate.job)?.with(simulate.data.as_deref(), None)?;
    let Some(rows) = simulate.synthetic else {
        return of(&job, simulate);
    };
    let temporary = tempfile::tempdir().map_err(|e| {
        Failure::new(
            Exit::Unexpected,
            format!("a rehearsal needs a folder to work in: {e}"),
        )
    })?;
    let folder = simulate.keep.as_deref().unwrap_or(temporary.path());
    let (job, simulate) = synthetic::prepared(job, simulate, (folder, temporary.path()), rows.get())?;
    of(&job, &simulate)
}

fn of(job: &Job, simulate: &Simulate) -> Result<Answer, Failure> {
    match &job.setting {
        Setting::Plain(plan, source) => one_table(&Trainer::Plain(plan), source, simulate),
        Setting::Central(plan, source) => one_table(&Trainer::Central(plan), source, simulate),
        Setting::Vertical(parties) => vertical::run(parties, simulate),
        Setting::Prediction(prediction) => prediction::run(prediction, simulate),
        Setting::Horizontal(owners) => horizontal::run(owners, simulate),
        Setting::Secure(parties) => secure::run(parties, simulate),
        Setting::Local(local) => local::run(local, simulate),
    }
}

/// Parties who share the rows of one table.
fn one_table(own: &Trainer<'_>, source: &Source, simulate: &Simulate) -> Result<Answer, Failure> {
    allowed(source, simulate)?;
    // Without privacy, a job is its own baseline.
    let open = match own {
        Trainer::Plain(_) => None,
        Trainer::Central(_) => Some(Logistic::default().plan(&source.schema)?),
    };
    let constant = Constant::default().plan(&source.schema)?;
    let baselines: Vec<Trainer<'_>> = open.iter().chain([&constant]).map(Trainer::Plain).collect();
    let trainers = || [own].into_iter().chain(&baselines);
    let keep = match trainers().any(|trainer| trainer.keep() == Keep::Values) {
        true => Keep::Values,
        false => Keep::Bins,
    };
    let intake = Intake::everything(Arc::clone(&source.schema), keep);
    check(trainers(), &intake)?;
    let table = source.read(&intake)?;
    let permission = permission::take(source, BECAUSE, &simulate.ledger)?;

    let mut methods = vec![
        SimulatedMethod::new("together", "all rows together"),
        SimulatedMethod::new("alone", format!("each alone, mean of {}", simulate.parties)),
    ];
    methods.extend(
        open.iter()
            .map(|_| SimulatedMethod::new("open", "logistic, no privacy")),
    );
    methods.push(SimulatedMethod::new("constant", "the best constant"));
    let bar = Progress::steps("Simulating");
    for run in 0..simulate.runs {
        going_on()?;
        bar.at(run.into(), simulate.runs.into());
        let seed = seed(simulate.seed.wrapping_add(run.into()));
        let (train, test) = table.hold_out(simulate.test, seed, &permission);
        let alone = train.parties(simulate.parties, seed, &permission);
        let judge = |trainer: &Trainer<'_>, train: Table| figures(trainer, train, &test, &permission);
        methods[0].runs.push(judge(own, train.clone())?);
        let each = alone
            .into_iter()
            .map(|part| judge(own, part))
            .collect::<Result<Vec<_>, _>>()?;
        methods[1].runs.push(mean(&each));
        for (method, baseline) in methods[2..].iter_mut().zip(&baselines) {
            method.runs.push(judge(baseline, train.clone())?);
        }
    }
    drop(bar);
    let who = format!("{} parties", simulate.parties);
    let last = match own {
        Trainer::Plain(_) => {
            "setting = \"plain\": nobody is protected. Figures are for comparison, and reveal something about the rows."
        }
        Trainer::Central(_) => LAST,
    };
    Ok(answer(simulate, &who, &methods, last))
}

/// Whether rows of this table may be used; made-up ones always.
fn allowed(source: &Source, simulate: &Simulate) -> Result<(), Failure> {
    if simulate.synthetic.is_some() {
        return Ok(());
    }
    permission::ask(&source.schema, "a simulation", simulate.not_protected)?;
    permission::own_terminal(&source.schema)
}

const BECAUSE: &str = "a simulation used the rows without protection";
const LAST: &str =
    "Figures are for comparison, and reveal something about the rows: a real run computes none of them.";

/// How a job trains.
enum Trainer<'a> {
    Plain(&'a plain::Plan),
    Central(&'a central::Plan),
}

impl Trainer<'_> {
    fn keep(&self) -> Keep {
        match self {
            Self::Plain(plan) => plan.keep(),
            Self::Central(plan) => plan.keep(),
        }
    }

    /// With a budget that is not recorded: the ledger records the permission to simulate.
    fn fit(&self, train: Table, permission: &Unprotected) -> Result<Model, Error> {
        match self {
            Self::Plain(plan) => plan.fit(train, permission, &unseen),
            Self::Central(plan) => plan.rehearse(train),
        }
    }
}

/// Trains and judges on no rows at all: whatever refuses a schema does so here, before the ledger says that anybody's rows were used.
fn check<'a>(trainers: impl Iterator<Item = &'a Trainer<'a>>, intake: &Intake) -> Result<(), Failure> {
    let nobody = Table::new(intake, vec![intake.piece(intake.columns())?]);
    let schema = nobody.schema();
    let permission = Unprotected::unrecorded(schema.dataset(), &schema.relation(), "nobody's rows");
    for trainer in trainers {
        figures(trainer, nobody.clone(), &nobody, &permission)?;
    }
    Ok(())
}

/// Trains on one table and judges on another.
fn figures(
    trainer: &Trainer<'_>,
    train: Table,
    test: &Table,
    permission: &Unprotected,
) -> Result<MethodFigures, Failure> {
    going_on()?;
    let model = trainer.fit(train, permission)?;
    judged(&model, test, permission)
}

/// How good a model is on a table.
fn judged(model: &Model, test: &Table, permission: &Unprotected) -> Result<MethodFigures, Failure> {
    let evaluation = Evaluation::of(test.schema())?;
    let judged = test.cells().as_ref().map(|cells| evaluation.judge(model, cells));
    Ok(evaluation.open(judged, permission).named())
}

/// How good predictions of a table's rows are that were made elsewhere.
fn judged_predictions(
    predictions: &Predictions,
    test: &Table,
    permission: &Unprotected,
) -> Result<MethodFigures, Failure> {
    let evaluation = Evaluation::of(test.schema())?;
    let judged = test.cells().as_ref();
    let judged = judged.map(|cells| evaluation.judge_predictions(Some(predictions), cells));
    Ok(evaluation.open(judged, permission).named())
}

fn seed(number: u64) -> [u8; 32] {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    seed
}

/// The mean of each figure; all have the same ones in the same order.
fn mean(all: &[MethodFigures]) -> MethodFigures {
    let first = all.first().into_iter().flatten().enumerate();
    first
        .map(|(place, (name, _))| {
            (
                *name,
                all.iter().map(|run| run[place].1).sum::<f64>() / all.len() as f64,
            )
        })
        .collect()
}

/// The figures of all methods in a table, below `who` takes part and above a `last` word.
fn answer(simulate: &Simulate, who: &str, methods: &[SimulatedMethod], last: &str) -> Answer {
    answer_with(simulate, who, methods, last, None)
}

/// The same, with what parties sent to each other in the last run.
fn answer_with(
    simulate: &Simulate,
    who: &str,
    methods: &[SimulatedMethod],
    last: &str,
    sent: Option<&Traffic>,
) -> Answer {
    let (mut text, mut json) = compared(simulate, who, methods);
    let last = match (&simulate.synthetic, &simulate.keep) {
        (None, _) => last.to_owned(),
        (Some(_), None) => synthetic::LAST.to_owned(),
        (Some(_), Some(folder)) => format!("{} The tables are in {}.", synthetic::LAST, folder.display()),
    };
    if let Some(sent) = sent {
        let _ = write!(text, "\n{}", sent.text());
        json["sent"] = json!(sent.json());
    }
    let _ = writeln!(text, "\n{last}");
    Answer::new(text, json)
}

/// The figures of all methods in a table, below `who` takes part.
fn compared(simulate: &Simulate, who: &str, methods: &[SimulatedMethod]) -> (String, serde_json::Value) {
    let metrics: Vec<&str> = methods[0]
        .runs
        .first()
        .map(|run| run.iter().map(|(name, _)| *name).collect())
        .unwrap_or_default();
    let widest = methods.iter().map(|method| method.title.chars().count()).max();
    let widest = widest.unwrap_or(0).max(22);
    let made_up = simulate
        .synthetic
        .map_or_else(String::new, |rows| format!("{rows} made-up rows in each table, "));
    let mut text = format!(
        "{made_up}{who}, {} % of the people set aside to test on, {} from seed {}\n\n   {:<widest$}",
        simulate.test,
        super::words::count(simulate.runs.into(), "run", "runs"),
        simulate.seed,
        ""
    );
    for metric in &metrics {
        let _ = write!(text, " {metric:>16}");
    }
    text.push('\n');
    let mut lines = Vec::new();
    for method in methods {
        let _ = write!(text, "   {:<widest$}", method.title);
        for metric in &metrics {
            let values: Vec<f64> = method
                .runs
                .iter()
                .flatten()
                .filter(|(name, _)| name == metric)
                .map(|(_, x)| *x)
                .collect();
            let (mean, sd) = mean_and_deviation(&values);
            let shown = match values.len() {
                0 => "not defined".to_owned(),
                1 => format!("{mean:.4}"),
                _ => format!("{mean:.4} ± {sd:.4}"),
            };
            let _ = write!(text, " {shown:>16}");
            lines.push(json!({"method": method.name, "metric": metric, "mean": mean, "sd": sd, "runs": values.len()}));
        }
        text.push('\n');
    }
    (text, json!({"figures": lines, "synthetic": simulate.synthetic}))
}
