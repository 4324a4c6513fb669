//! The columns that predictions are written in.

use privet::data::Names;
use privet::data::schema::Label;
use privet::model::{Model, Predictions};
use rayon::prelude::*;
use serde_json::json;

use crate::table::CsvWriter;
use crate::verb::exit::Failure;
use crate::verb::request::OutputKind;

/// What a row is called if no column of the file is to say it.
const ROW: &str = "row";

/// The columns that are written for each row.
pub(in crate::verb) struct OutputTable<'a> {
    predictions: &'a Predictions,
    /// The row of the file that each prediction is about, if they are not of all rows.
    rows: Option<&'a [usize]>,
    /// The id of each row of the file; otherwise its number stands there.
    ids: Option<Names>,
    names: Vec<String>,
    classes: &'a [String],
    labels: Option<Vec<u16>>,
    probabilities: Option<Vec<f64>>,
    scores: bool,
}

impl<'a> OutputTable<'a> {
    /// `id` is a column of the file, whole.
    pub(in crate::verb) fn new(
        model: &'a Model,
        (predictions, rows): (&'a Predictions, Option<&'a [usize]>),
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
            rows,
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
        let number = self.rows.map_or(row, |rows| rows[row]);
        match &self.ids {
            Some(ids) => write(OutputCell::Text(ids.get(number))),
            None => write(OutputCell::Row(number as u64 + 1)),
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

    pub(in crate::verb) fn csv(&self) -> Vec<u8> {
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

    pub(in crate::verb) fn json(&self) -> serde_json::Value {
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
