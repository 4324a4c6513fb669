//! `privet simulate`

use std::fmt::Write;

use privet::data::Table;
use privet::privacy::Unprotected;
use privet::setting::evaluation::Evaluation;
use privet::setting::plain::Plain;
use serde_json::json;

use super::exit::Failure;
use super::high::Simulate;
use super::{Answer, leave};
use crate::job::{Job, Setting};
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
    let Setting::Plain(plain) = &job.setting;
    leave::ask(&job.schema, "a simulation", simulate.not_protected)?;
    leave::own_terminal(&job.schema)?;
    let table = job.table(plain.keep())?;
    let rows = leave::Rows {
        schema: &job.schema,
        file: &job.data,
    };
    let leave = leave::take(
        &rows,
        "a simulation used the rows without protection",
        &simulate.ledger,
    )?;

    let constant = Plain::builder().algorithm("constant").build()?;
    let mut methods = ["together", "alone", "constant"].map(|name| Method {
        name: name.into(),
        runs: Vec::new(),
    });
    let bar = Progress::steps("Simulating");
    for run in 0..simulate.runs {
        bar.at(run.into(), simulate.runs.into());
        let seed = seed(simulate.seed.wrapping_add(run.into()));
        let (train, test) = table.hold_out(simulate.test, seed, &leave);
        let alone = train.parties(simulate.parties, seed, &leave);
        let judge = |plain: &Plain, train: Table| figures(plain, train, &test, &leave);
        methods[0].runs.push(judge(plain, train.clone())?);
        let each = alone
            .into_iter()
            .map(|part| judge(plain, part))
            .collect::<Result<Vec<_>, _>>()?;
        methods[1].runs.push(mean(&each));
        methods[2].runs.push(judge(&constant, train)?);
    }
    drop(bar);
    Ok(answer(simulate, &methods))
}

/// Trains on one table and judges on another.
fn figures(
    plain: &Plain,
    train: Table,
    test: &Table,
    leave: &Unprotected,
) -> Result<Vec<(&'static str, f64)>, Failure> {
    let evaluation = Evaluation::of(train.schema())?;
    let model = plain.fit(train, leave, &|_, _| {})?;
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

fn answer(simulate: &Simulate, methods: &[Method]) -> Answer {
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
    text.push_str(
        "\nsetting = \"plain\": nobody is protected. Figures are for comparison, and tell about the rows.\n",
    );
    Answer::new(text, json!({"figures": lines}))
}
