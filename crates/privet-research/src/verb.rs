//! `privet reproduce`

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::json;

use privet_node::progress::Progress;
use privet_node::verb::{Answer, Exit, Failure, count};

use crate::{Data, Expected, Experiment, Line, Verdict, experiments, lines};

/// What is to be repeated.
#[derive(Debug)]
pub struct Reproduce {
    /// The paper's key; all are listed if there is none.
    pub key: Option<String>,
    /// "table 2" or "figure 1".
    pub item: Option<String>,
    /// The data set.
    pub dataset: Option<String>,
    /// How often, if not as often as each experiment says.
    pub runs: Option<u32>,
    /// The folder with the data sets.
    pub data: PathBuf,
}

/// Repeats experiments and compares them with what is expected.
///
/// # Errors
/// A [`Failure`] if there is no such experiment, or its data cannot be read.
pub fn run(reproduce: &Reproduce) -> Result<Answer, Failure> {
    let all = experiments();
    let Some(key) = &reproduce.key else {
        return Ok(list(&all));
    };
    if !all.iter().any(|e| e.paper == key) {
        let mut keys: Vec<&str> = all.iter().map(|e| e.paper).collect();
        keys.dedup();
        return Err(Failure::usage(format!(
            "there is no '{key}' to reproduce: there is {}",
            keys.join(", ")
        )));
    }
    let wanted = |e: &&Experiment| {
        e.paper == key
            && reproduce.item.as_ref().is_none_or(|item| item == e.item)
            && reproduce
                .dataset
                .as_ref()
                .is_none_or(|dataset| dataset == e.dataset)
    };
    let chosen: Vec<&Experiment> = all.iter().filter(wanted).collect();
    if chosen.is_empty() {
        let what: Vec<String> = all
            .iter()
            .filter(|e| e.paper == key)
            .map(|e| format!("{} on {}", e.item, e.dataset))
            .collect();
        return Err(Failure::usage(format!(
            "'{key}' has no such experiment: there is {}",
            what.join(", ")
        )));
    }
    let data = Data::in_folder(&reproduce.data);
    let expected = Expected::of(key)?;
    let mut found = Vec::new();
    for experiment in chosen {
        let bar = Progress::steps(format!(
            "{} {} on {}",
            experiment.paper, experiment.item, experiment.dataset
        ));
        found.extend(lines(experiment, &expected, &data, reproduce.runs, &bar)?);
    }
    answer(&found)
}

fn list(all: &[Experiment]) -> Answer {
    let mut text = String::from("What can be reproduced:\n\n");
    for e in all {
        let _ = writeln!(
            text,
            "   privet reproduce {} --{} --dataset {}",
            e.paper, e.item, e.dataset
        );
    }
    let json = all
        .iter()
        .map(|e| json!({"paper": e.paper, "item": e.item, "dataset": e.dataset}))
        .collect();
    Answer::new(text, json)
}

fn answer(lines: &[Line]) -> Result<Answer, Failure> {
    let width = |least: usize, of: fn(&Line) -> &str| {
        let widths = lines.iter().map(|line| of(line).chars().count());
        widths.max().unwrap_or(0).max(least)
    };
    let (method, metric) = (width(12, |line| line.method), width(9, |line| line.metric));
    let mut text = format!(
        "{:<9} {:<11} {:<method$} {:>6} {:<metric$} {:>19} {:>5} {:>10} {:>18}\n",
        "item", "data set", "method", "ε", "metric", "mean ± sd", "runs", "published", "expected"
    );
    let or_dash = |x: Option<f64>| x.map_or("-".into(), |x| format!("{x}"));
    for line in lines {
        let expected = match (line.expected, line.tolerance) {
            (Some(expected), Some(tolerance)) if tolerance < 1e-4 => format!("{expected:e} ± {tolerance:e}"),
            (Some(expected), Some(tolerance)) => format!("{expected} ± {tolerance}"),
            _ => "-".into(),
        };
        let mark = match line.verdict {
            Verdict::Within => "",
            Verdict::Better => "  better",
            Verdict::Outside => "  OUTSIDE",
        };
        let _ = writeln!(
            text,
            "{:<9} {:<11} {:<method$} {:>6} {:<metric$} {:>19} {:>5} {:>10} {:>18}{mark}",
            line.item,
            line.dataset,
            line.method,
            or_dash(line.epsilon),
            line.metric,
            mean_and_deviation(line),
            line.runs,
            or_dash(line.published),
            expected
        );
    }
    let how_many = |verdict| lines.iter().filter(|line| line.verdict == verdict).count();
    let (outside, better) = (how_many(Verdict::Outside), how_many(Verdict::Better));
    let mut json = String::new();
    for line in lines {
        let failed = |e| Failure::new(Exit::Unexpected, format!("a line cannot be written as JSON: {e}"));
        json += &serde_json::to_string(line).map_err(failed)?;
        json.push('\n');
    }
    let exit = if outside > 0 { Exit::Outside } else { Exit::Ok };
    if better > 0 {
        let _ = writeln!(
            text,
            "\n{} better than expected, by more than the tolerance.",
            count(better as u64, "figure is", "figures are")
        );
    }
    if outside > 0 {
        let _ = writeln!(
            text,
            "\n{}",
            count(outside as u64, "figure lies", "figures lie") + " outside the tolerance."
        );
    }
    Ok(Answer {
        text,
        json,
        exit,
        is_data: false,
        is_paid: false,
    })
}

/// Four digits behind the point, or three in all where that would show nothing.
fn mean_and_deviation(line: &Line) -> String {
    let (mean, sd) = (line.mean, line.sd);
    if mean != 0.0 && mean.abs() < 1e-3 {
        format!("{mean:.2e} ± {sd:.1e}")
    } else {
        format!("{mean:.4} ± {sd:.4}")
    }
}
