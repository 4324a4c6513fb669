//! `privet predict`

mod table;
mod vertical;

use std::path::Path;

use privet::data::{Intake, Names, Schema, column_texts};
use serde_json::json;

pub(super) use self::table::OutputTable;
pub(super) use self::vertical::{BECAUSE, unfit};

use super::exit::Failure;
use super::request::{Predict, PredictionSource};
use super::{Answer, open_model, output, written};
use crate::progress::Progress;

pub(super) fn run(given: &Predict) -> Result<Answer, Failure> {
    let (model, data) = match &given.from {
        PredictionSource::Model { model, data } => (model, data),
        PredictionSource::Job { job, not_protected } => return vertical::run(job, *not_protected, given),
    };
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
    if let Some(out) = out {
        output::check_new(out, given.overwrite)?;
    }
    let model = open_model(model)?;
    // These rows are not trained on, and the caller can read their file anyway, so predictions need no permission.
    let predictions = model.predict(&|intake: &Intake| {
        let bar = Progress::bytes(format!("Reading {}", data.display()));
        crate::table::rows(data, intake, &|done, of| bar.at(done, of))
    })?;
    let ids = given.id.as_deref();
    let ids = ids
        .map(|column| ids_of(model.schema(), data, column))
        .transpose()?;
    let rows = predictions.rows();
    check_same(data, ids.as_ref(), rows)?;
    let id = given.id.as_deref().zip(ids);
    let columns = OutputTable::new(&model, (&predictions, None), given.what, id)?;
    let csv = columns.csv();
    let Some(out) = out else {
        let text = String::from_utf8_lossy(&csv).into_owned();
        return Ok(Answer::data(text, columns.json()));
    };
    written(out, &csv)?;
    let text = format!("Wrote {rows} predictions to {}\n", out.display());
    Ok(Answer::new(text, json!({"rows": rows, "out": out})))
}

/// The cells of the column that tells rows apart, as they stand in the file.
pub(super) fn ids_of(schema: &Schema, data: &Path, column: &str) -> Result<Names, Failure> {
    let read = |intake: &Intake| crate::table::rows(data, intake, &|_, _| {});
    Ok(column_texts(&read, schema, column)?)
}

/// That the file had as many rows when its ids were read as when it was predicted.
pub(super) fn check_same(data: &Path, ids: Option<&Names>, rows: usize) -> Result<(), Failure> {
    match ids {
        Some(ids) if ids.len() != rows => Err(Failure::input(format!(
            "{}: it was changed while it was read: run the command again",
            data.display()
        ))),
        _ => Ok(()),
    }
}
