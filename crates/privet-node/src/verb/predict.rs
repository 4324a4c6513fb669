//! `privet predict`

use std::io::Write;
use std::path::Path;

use privet::data::Intake;
use privet::data::schema::Label;
use privet::model::{Model, Predictions};
use rayon::prelude::*;
use serde_json::json;

use super::exit::Failure;
use super::request::OutputKind;
use super::{Answer, open_model, output, written};
use crate::progress::Progress;
use crate::table;

pub(super) fn run(file: &Path, data: &Path, out: Option<&Path>, what: OutputKind) -> Result<Answer, Failure> {
    if let Some(out) = out
        && output::clash(&[out], &[data, file]).is_some()
    {
        return Err(Failure::usage(format!(
            "--out would overwrite {}, which the predictions are made from: choose another name",
            out.display()
        )));
    }
    let model = open_model(file)?;
    // These rows are not trained on, and the caller can read their file anyway, so predictions need no permission.
    let predictions = model.predict(&|intake: &Intake| {
        let bar = Progress::bytes(format!("Reading {}", data.display()));
        table::rows(data, intake, &|done, of| bar.at(done, of))
    })?;
    let columns = OutputTable::new(&model, &predictions, what);
    let csv = columns.csv();
    let rows = predictions.rows();
    let Some(out) = out else {
        let text = String::from_utf8_lossy(&csv).into_owned();
        return Ok(Answer::new(text, columns.json()));
    };
    written(out, &csv)?;
    let text = format!("Wrote {rows} predictions to {}\n", out.display());
    Ok(Answer::new(text, json!({"rows": rows, "out": out})))
}

/// The columns that are written for each row.
struct OutputTable<'a> {
    predictions: &'a Predictions,
    names: Vec<String>,
    classes: &'a [String],
    labels: Option<Vec<u16>>,
    probabilities: Option<Vec<f64>>,
    scores: bool,
}

impl<'a> OutputTable<'a> {
    fn new(model: &'a Model, predictions: &'a Predictions, what: OutputKind) -> Self {
        let label = model.schema().label();
        let classes = match label {
            Some((_, Label::Classes(declared))) => declared.values(),
            _ => &[],
        };
        let named = |prefix: &str| classes.iter().map(|class| format!("{prefix}_{class}")).collect();
        let title = label.map_or("label", |(column, _)| column.name.as_str());
        let wants = |columns: &[OutputKind]| columns.contains(&what) || what == OutputKind::All;
        let scores = what == OutputKind::Scores;
        let labels = predictions.classes().filter(|_| wants(&[OutputKind::Labels]));
        let probabilities = predictions
            .probabilities()
            .filter(|_| wants(&[OutputKind::Probabilities]));
        let mut names: Vec<String> = Vec::new();
        if scores {
            names = if predictions.outputs() == 1 {
                vec!["score".into()]
            } else {
                named("score")
            };
        } else if labels.is_some() || predictions.values().is_some() {
            names.push(title.to_owned());
        }
        if probabilities.is_some() {
            names.extend::<Vec<String>>(named("probability"));
        }
        Self {
            predictions,
            names,
            classes,
            labels,
            probabilities,
            scores,
        }
    }

    /// The cells of one row.
    fn row(&self, row: usize, write: &mut dyn FnMut(OutputCell<'_>)) {
        if self.scores {
            self.predictions
                .row(row)
                .iter()
                .for_each(|&score| write(OutputCell::Number(score)));
            return;
        }
        if let Some(values) = self.predictions.values() {
            write(OutputCell::Number(values[row]));
        }
        if let Some(labels) = &self.labels {
            let class = self.classes.get(usize::from(labels[row]));
            write(OutputCell::Text(class.map_or("", String::as_str)));
        }
        if let Some(probabilities) = &self.probabilities {
            let classes = self.classes.len();
            probabilities[row * classes..][..classes]
                .iter()
                .for_each(|&x| write(OutputCell::Number(x)));
        }
    }

    fn csv(&self) -> Vec<u8> {
        const BLOCK: usize = 1 << 14;
        let rows = self.predictions.rows();
        let mut text = Vec::new();
        for (i, name) in self.names.iter().enumerate() {
            separate(&mut text, i);
            quoted(&mut text, name);
        }
        text.push(b'\n');
        let blocks: Vec<Vec<u8>> = (0..rows.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let mut text = Vec::new();
                for row in block * BLOCK..rows.min((block + 1) * BLOCK) {
                    let mut place = 0;
                    self.row(row, &mut |cell| {
                        separate(&mut text, place);
                        place += 1;
                        match cell {
                            // Writing to a vector cannot fail.
                            OutputCell::Number(x) => drop(write!(text, "{x}")),
                            OutputCell::Text(class) => quoted(&mut text, class),
                        }
                    });
                    text.push(b'\n');
                }
                text
            })
            .collect();
        blocks.iter().for_each(|block| text.extend_from_slice(block));
        text
    }

    fn json(&self) -> serde_json::Value {
        let rows: Vec<serde_json::Value> = (0..self.predictions.rows())
            .map(|row| {
                let mut cells = Vec::new();
                self.row(row, &mut |cell| {
                    cells.push(match cell {
                        OutputCell::Number(x) => json!(x),
                        OutputCell::Text(class) => json!(class),
                    });
                });
                serde_json::Value::Array(cells)
            })
            .collect();
        json!({"columns": self.names, "rows": rows})
    }
}

enum OutputCell<'a> {
    Number(f64),
    Text(&'a str),
}

pub(super) fn separate(text: &mut Vec<u8>, place: usize) {
    if place > 0 {
        text.push(b',');
    }
}

pub(super) fn quoted(text: &mut Vec<u8>, cell: &str) {
    if cell.contains([',', '"', '\n', '\r']) {
        text.push(b'"');
        text.extend(cell.replace('"', "\"\"").bytes());
        text.push(b'"');
    } else {
        text.extend(cell.bytes());
    }
}
