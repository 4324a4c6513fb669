//! `privet predict`

use std::path::Path;

use privet::data::schema::Label;
use privet::data::{Intake, Names, column_texts};
use privet::model::{Model, Predictions};
use rayon::prelude::*;
use serde_json::json;

use super::exit::Failure;
use super::request::{OutputKind, Predict};
use super::{Answer, open_model, output, written};
use crate::progress::Progress;
use crate::table::{self, CsvWriter};

pub(super) fn run(given: &Predict) -> Result<Answer, Failure> {
    let Predict { model, data, .. } = given;
    let out = given.out.as_deref();
    if let Some(out) = out {
        output::check(&given.ledger, out)?;
    }
    if let Some(out) = out
        && output::clash(&[out], &[data, model]).is_some()
    {
        return Err(Failure::usage(format!(
            "--out would overwrite {}, which the predictions are made from: choose another name",
            out.display()
        )));
    }
    let model = open_model(model)?;
    // These rows are not trained on, and the caller can read their file anyway, so predictions need no permission.
    let predictions = model.predict(&|intake: &Intake| {
        let bar = Progress::bytes(format!("Reading {}", data.display()));
        table::rows(data, intake, &|done, of| bar.at(done, of))
    })?;
    let ids = given
        .id
        .as_deref()
        .map(|column| ids(&model, data, column, predictions.rows()))
        .transpose()?;
    let columns = OutputTable::new(&model, &predictions, given.what, given.id.as_deref().zip(ids))?;
    let csv = columns.csv();
    let rows = predictions.rows();
    let Some(out) = out else {
        let text = String::from_utf8_lossy(&csv).into_owned();
        return Ok(Answer::data(text, columns.json()));
    };
    written(out, &csv)?;
    let text = format!("Wrote {rows} predictions to {}\n", out.display());
    Ok(Answer::new(text, json!({"rows": rows, "out": out})))
}

/// The cells of the column that tells rows apart, as they stand in the file.
fn ids(model: &Model, data: &Path, column: &str, rows: usize) -> Result<Names, Failure> {
    let read = |intake: &Intake| table::rows(data, intake, &|_, _| {});
    let ids = column_texts(&read, model.schema(), column)?;
    if ids.len() != rows {
        return Err(Failure::input(format!(
            "{}: it was changed while it was read: run the command again",
            data.display()
        )));
    }
    Ok(ids)
}

/// What a row is called if no column of the file is to say it.
const ROW: &str = "row";

/// The columns that are written for each row.
struct OutputTable<'a> {
    predictions: &'a Predictions,
    /// The id of each row; otherwise its number stands there.
    ids: Option<Names>,
    names: Vec<String>,
    classes: &'a [String],
    labels: Option<Vec<u16>>,
    probabilities: Option<Vec<f64>>,
    scores: bool,
}

impl<'a> OutputTable<'a> {
    fn new(
        model: &'a Model,
        predictions: &'a Predictions,
        what: OutputKind,
        id: Option<(&str, Names)>,
    ) -> Result<Self, Failure> {
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
        let (first, ids) = match id {
            Some((column, _)) if names.iter().any(|name| name == column) => {
                return Err(Failure::usage(format!(
                    "--id {column}: the predictions have a column of that name: choose another column, or rename it in the file"
                )));
            }
            Some((column, ids)) => (column.to_owned(), Some(ids)),
            None => {
                let mut first = ROW.to_owned();
                while names.contains(&first) {
                    first.push('_');
                }
                (first, None)
            }
        };
        names.insert(0, first);
        Ok(Self {
            predictions,
            ids,
            names,
            classes,
            labels,
            probabilities,
            scores,
        })
    }

    /// The cells of one row.
    fn row(&self, row: usize, write: &mut dyn FnMut(OutputCell<'_>)) {
        match &self.ids {
            Some(ids) => write(OutputCell::Text(ids.get(row))),
            None => write(OutputCell::Row(row as u64 + 1)),
        }
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
            write(OutputCell::Text(class.map_or(&[], |class| class.as_bytes())));
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
        let mut table = CsvWriter::with_names(self.names.iter().map(String::as_str));
        let blocks: Vec<CsvWriter> = (0..rows.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let mut writer = CsvWriter::default();
                for row in block * BLOCK..rows.min((block + 1) * BLOCK) {
                    self.row(row, &mut |cell| match cell {
                        OutputCell::Row(row) => writer.number(row),
                        OutputCell::Number(x) => writer.number(x),
                        OutputCell::Text(text) => writer.text(text),
                    });
                    writer.end_row();
                }
                writer
            })
            .collect();
        blocks.iter().for_each(|block| table.append(block));
        table.into_bytes()
    }

    fn json(&self) -> serde_json::Value {
        let rows: Vec<serde_json::Value> = (0..self.predictions.rows())
            .map(|row| {
                let mut cells = Vec::new();
                self.row(row, &mut |cell| {
                    cells.push(match cell {
                        OutputCell::Row(row) => json!(row),
                        OutputCell::Number(x) => json!(x),
                        OutputCell::Text(text) => json!(String::from_utf8_lossy(text)),
                    });
                });
                serde_json::Value::Array(cells)
            })
            .collect();
        json!({"columns": self.names, "rows": rows})
    }
}

enum OutputCell<'a> {
    Row(u64),
    Number(f64),
    Text(&'a [u8]),
}
