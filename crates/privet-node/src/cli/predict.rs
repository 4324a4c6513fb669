//! `privet predict`

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use privet::data::Intake;
use privet::data::schema::Label;
use privet::model::{Model, Predictions};
use privet::privacy::Unprotected;
use rayon::prelude::*;
use serde_json::json;

use super::exit::{Exit, Failure};
use super::low::What;
use super::{Answer, open_model};
use crate::ledger::write_whole;
use crate::progress::Progress;
use crate::table::{self, Extra};

pub(super) fn run(file: &Path, data: &Path, out: Option<&Path>, what: What) -> Result<Answer, Failure> {
    let model = open_model(file)?;
    let schema = Arc::new(model.schema().clone());
    let intake = Intake::features_only(Arc::clone(&schema), model.ensemble().keep());
    let table = {
        let bar = Progress::bytes(format!("Reading {}", data.display()));
        table::read(data, &intake, Extra::Ignore, &|done, of| bar.at(done, of))?
    };
    // Nobody trains on these rows: their owner asks for what the model says about each.
    let because = "predictions of somebody's own rows";
    let owner = Unprotected::unrecorded(schema.dataset(), &schema.relation(), because);
    let predictions = owner.reveal(table.into_cells().map(|cells| model.predict(&cells)));
    let columns = Columns::new(&model, &predictions, what);
    let csv = columns.csv();
    let rows = predictions.rows();
    let Some(out) = out else {
        let text = String::from_utf8_lossy(&csv).into_owned();
        return Ok(Answer::new(text, columns.json()));
    };
    write_whole(out, &csv).map_err(|e| Failure {
        exit: Exit::Unexpected,
        message: format!("{} cannot be written: {e}", out.display()),
    })?;
    let text = format!("Wrote {rows} predictions to {}\n", out.display());
    Ok(Answer::new(text, json!({"rows": rows, "out": out})))
}

/// What is written for each row.
struct Columns<'a> {
    predictions: &'a Predictions,
    names: Vec<String>,
    classes: Vec<String>,
    what: What,
}

impl<'a> Columns<'a> {
    fn new(model: &'a Model, predictions: &'a Predictions, what: What) -> Self {
        let classes = match model.schema().label() {
            Some((_, Label::Classes(declared))) => declared.values().to_vec(),
            _ => Vec::new(),
        };
        let label = model.schema().label().map_or("label", |(column, _)| column.name.as_str());
        let mut names = Vec::new();
        if matches!(what, What::Labels | What::All) || classes.is_empty() && what != What::Scores {
            names.push(label.to_owned());
        }
        if matches!(what, What::Probabilities | What::All) {
            names.extend(classes.iter().map(|class| format!("probability_{class}")));
        }
        if what == What::Scores {
            match predictions.outputs() {
                1 => names.push("score".into()),
                n => names.extend(classes.iter().take(n).map(|class| format!("score_{class}"))),
            }
        }
        Self { predictions, names, classes, what }
    }

    /// The cells of one row.
    fn row(&self, row: usize, write: &mut dyn FnMut(Cell<'_>)) {
        let p = self.predictions;
        if self.what == What::Scores {
            p.scores(row).iter().for_each(|&score| write(Cell::Number(score)));
            return;
        }
        if self.classes.is_empty() {
            write(Cell::Number(p.value(row)));
            return;
        }
        if matches!(self.what, What::Labels | What::All) {
            let class = usize::from(p.class(row));
            write(Cell::Text(self.classes.get(class).map_or("", String::as_str)));
        }
        if matches!(self.what, What::Probabilities | What::All) {
            p.probabilities(row).into_iter().for_each(|x| write(Cell::Number(x)));
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
                            Cell::Number(x) => drop(write!(text, "{x}")),
                            Cell::Text(class) => quoted(&mut text, class),
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
                        Cell::Number(x) => json!(x),
                        Cell::Text(class) => json!(class),
                    });
                });
                serde_json::Value::Array(cells)
            })
            .collect();
        json!({"columns": self.names, "rows": rows})
    }
}

enum Cell<'a> {
    Number(f64),
    Text(&'a str),
}

fn separate(text: &mut Vec<u8>, place: usize) {
    if place > 0 {
        text.push(b',');
    }
}

fn quoted(text: &mut Vec<u8>, cell: &str) {
    if cell.contains([',', '"', '\n', '\r']) {
        text.push(b'"');
        text.extend(cell.replace('"', "\"\"").bytes());
        text.push(b'"');
    } else {
        text.extend(cell.bytes());
    }
}
