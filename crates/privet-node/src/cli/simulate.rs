//! `privet simulate`

use std::fmt::Write;

use privet::Error;
use privet::data::Table;
use privet::model::Model;
use privet::privacy::Unprotected;
use privet::setting::evaluation::Evaluation;
use privet::setting::plain::Plain;
use serde_json::json;

use super::exit::Failure;
use super::high::Simulate;
use super::{Answer, leave};
use crate::job::{Curated, Job, Setting};
use crate::progress::Progress;
use crate::reproduce::{mean_and_deviation, named};

/// One way to train, and how good it was in each run.
struct Method {
    name: String,
    /// For each run, the figures by their metric's name.
    runs: Vec<Vec<(&'static str, f64)>>,
}

pub(super) fn run(simulate: &Simulate) -> Result<Answer, Failure> {
    let job = Job::read(&simulate.job)?.with(simulate.data.as_deref(), None)?;
    leave::ask(&job.schema, "a simulation", simulate.not_protected)?;
    leave::own_terminal(&job.schema)?;
    let table = job.table()?;
    let rows = leave::Rows {
        schema: &job.schema,
        file: &job.data,
    };
    let leave = leave::take(
        &rows,
        "a simulation used the rows without protection",
        &simulate.ledger,
    )?;

    let own = Trainer::of(&job.setting);
    // Without privacy, a job is its own baseline.
    let open = match &job.setting {
        Setting::Plain(_) => None,
        Setting::Central(_) => Some(Plain::builder().algorithm("logistic").build()?),
    };
    let constant = Plain::builder().algorithm("constant").build()?;
    let names = ["together", "alone", "open", "constant"].into_iter();
    let mut methods: Vec<Method> = names
        .filter(|name| *name != "open" || open.is_some())
        .map(|name| Method {
            name: name.into(),
            runs: Vec::new(),
        })
        .collect();
    let bar = Progress::steps("Simulating");
    for run in 0..simulate.runs {
        bar.at(run.into(), simulate.runs.into());
        let seed = seed(simulate.seed.wrapping_add(run.into()));
        let (train, test) = table.hold_out(simulate.test, seed, &leave);
        let alone = train.parties(simulate.parties, seed, &leave);
        let judge = |trainer: &Trainer<'_>, train: Table| figures(trainer, train, &test, &leave);
        methods[0].runs.push(judge(&own, train.clone())?);
        let each = alone
            .into_iter()
            .map(|part| judge(&own, part))
            .collect::<Result<Vec<_>, _>>()?;
        methods[1].runs.push(mean(&each));
        let baselines = open.iter().chain([&constant]);
        for (method, plain) in methods[2..].iter_mut().zip(baselines) {
            method.runs.push(judge(&Trainer::Plain(plain), train.clone())?);
        }
    }
    drop(bar);
    Ok(answer(simulate, &job.setting, &methods))
}

/// How a job trains.
enum Trainer<'a> {
    Plain(&'a Plain),
    Central(&'a Curated),
}

impl<'a> Trainer<'a> {
    fn of(setting: &'a Setting) -> Self {
        match setting {
            Setting::Plain(plain) => Self::Plain(plain),
            Setting::Central(curated) => Self::Central(curated),
        }
    }

    /// With a budget of its own that is recorded nowhere: the leave to simulate is.
    fn fit(&self, train: Table, leave: &Unprotected) -> Result<Model, Error> {
        match self {
            Self::Plain(plain) => plain.fit(train, leave, &|_, _| {}),
            Self::Central(curated) => curated.central.rehearse(train, &curated.relation),
        }
    }
}

/// Trains on one table and judges on another.
fn figures(
    trainer: &Trainer<'_>,
    train: Table,
    test: &Table,
    leave: &Unprotected,
) -> Result<Vec<(&'static str, f64)>, Failure> {
    let evaluation = Evaluation::of(train.schema())?;
    let model = trainer.fit(train, leave)?;
    let judged = test.cells().as_ref().map(|cells| evaluation.judge(&model, cells));
    Ok(named(&evaluation.open(judged, leave)))
}

fn seed(number: u64) -> [u8; 32] {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    seed
}

fn mean(all: &[Vec<(&'static str, f64)>]) -> Vec<(&'static str, f64)> {
    let Some(first) = all.first() else {
        return Vec::new();
    };
    let average = |name: &str| {
        let found: Vec<f64> = all
            .iter()
            .flatten()
            .filter(|(other, _)| *other == name)
            .map(|(_, x)| *x)
            .collect();
        found.iter().sum::<f64>() / found.len().max(1) as f64
    };
    first.iter().map(|(name, _)| (*name, average(name))).collect()
}

fn answer(simulate: &Simulate, setting: &Setting, methods: &[Method]) -> Answer {
    let metrics: Vec<&str> = methods[0]
        .runs
        .first()
        .map(|run| run.iter().map(|(name, _)| *name).collect())
        .unwrap_or_default();
    let mut text = format!(
        "{} parties, {} % of the people set aside to test on, {} from seed {}\n\n   {:<22}",
        simulate.parties,
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
        let title = match method.name.as_str() {
            "together" => "all rows together".into(),
            "alone" => format!("each alone, mean of {}", simulate.parties),
            "open" => "logistic, no privacy".into(),
            _ => "the best constant".to_owned(),
        };
        let _ = write!(text, "   {title:<22}");
        for metric in &metrics {
            let values: Vec<f64> = method
                .runs
                .iter()
                .flatten()
                .filter(|(name, _)| name == metric)
                .map(|(_, x)| *x)
                .collect();
            let (mean, sd) = mean_and_deviation(&values);
            let shown = if values.len() > 1 {
                format!("{mean:.4} ± {sd:.4}")
            } else {
                format!("{mean:.4}")
            };
            let _ = write!(text, " {shown:>16}");
            lines.push(json!({"method": method.name, "metric": metric, "mean": mean, "sd": sd, "runs": values.len()}));
        }
        text.push('\n');
    }
    text.push_str(match setting {
        Setting::Plain(_) => {
            "\nsetting = \"plain\": nobody is protected. Figures are for comparison, and tell about the rows.\n"
        }
        Setting::Central(_) => "\nFigures are for comparison, and tell about the rows: a real run computes none of them.\n",
    });
    Answer::new(text, json!({"figures": lines}))
}
