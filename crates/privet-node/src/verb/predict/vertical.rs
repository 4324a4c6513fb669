//! `privet predict` where columns lie apart: every party on this machine, each with the columns of new rows that it has.

use std::fmt::Write;
use std::path::Path;

use privet::Error;
use privet::setting::vertical::{LabelHolder, Outcome};
use serde_json::json;

use super::table::OutputTable;
use super::{Predict, check_same, ids_of};
use crate::job::{Job, PredictionJob, Setting};
use crate::verb::exit::Failure;
use crate::verb::gathering::{Columns, Played, Tables, Traffic, recognise};
use crate::verb::parties::open;
use crate::verb::{Answer, open_model, output, permission, words, written};

pub(super) fn run(file: &Path, not_protected: bool, given: &Predict) -> Result<Answer, Failure> {
    let job = Job::read(file)?.with(None, given.out.as_deref())?;
    let Setting::Prediction(prediction) = &job.setting else {
        return Err(for_training(file, &job.setting));
    };
    let PredictionJob {
        parties, branches, ..
    } = &**prediction;
    output::check(&given.ledger, &job.output)?;
    // What the job itself names is for its predictions alone, and is written again.
    if given.out.is_some() {
        output::check_new(&job.output, given.overwrite)?;
    }
    output::check_writable(&job.output)?;
    let own = &parties.label_holder;
    let what = format!("predicting the rows of {} as they are", own.name);
    permission::ask(&own.source.schema, &what, not_protected)?;
    let model = open_model(&prediction.model)?;
    parties
        .plan()
        .check_model(&model, *branches)
        .map_err(|e| unfit(prediction, e))?;

    let tables = Tables::read(parties, own.plan.reads_new_rows(), &given.ledger)?;
    let shared = open(&given.ledger, &parties.data_sets())?;
    let columns = Columns::of(parties, &shared)?;
    columns.check(&tables.theirs)?;
    // A column that is not there is found before anything is released.
    let (data, column) = (&own.source.data, given.id.as_deref());
    let ids = column.map(|column| ids_of(&own.source.schema, data, column));
    let ids = ids.transpose()?;
    recognise(parties, &shared, &given.ledger)?;
    columns.release(&tables.theirs)?;
    let leaks = own.plan.leaks_of_predicting(*branches);
    let permission = permission::take_showing(&own.source, (&leaks, BECAUSE), &shared, &given.ledger)?;
    let rows = permission::count_rows(&permission, &tables.mine);
    check_same(data, ids.as_ref(), rows)?;
    let Played { outcome, traffic } = columns.play("Predicting", tables, |table, _| {
        let (plan, model) = (own.plan.clone(), model.clone());
        LabelHolder::predicting(plan, table, model, *branches, permission.clone())
    })?;
    let Outcome::Predicted {
        rows: common,
        predictions,
    } = outcome
    else {
        return Err(Error::internal("a label holder that predicts has predictions").into());
    };
    let table = OutputTable::new(&model, (&predictions, Some(&common)), given.what, column.zip(ids))?;
    written(&job.output, &table.csv())?;
    Ok(answer(prediction, &job, given, (common.len(), rows), &traffic))
}

pub(in crate::verb) const BECAUSE: &str =
    "its rows were given to a model as they are (setting = \"vertical\")";

/// That a job does not predict.
fn for_training(file: &Path, setting: &Setting) -> Failure {
    let file = file.display();
    Failure::usage(match setting {
        Setting::Vertical(_) => format!(
            "{file} is a job for training: run `privet train {file}`. To predict rows whose columns lie apart, write a job with model = \
             \"model.privet\" in place of [algorithm], output = \"predictions.csv\", and the schemas and tables of the new rows. Nothing was read."
        ),
        _ => format!(
            "{file} is a job for training: run `privet train {file}`, then `privet predict MODEL --data FILE`. Jobs for predicting have setting = \
             \"vertical\" and name a model. Nothing was read."
        ),
    })
}

/// Why a model cannot be used, and what its job must say.
pub(in crate::verb) fn unfit(job: &PredictionJob, e: Error) -> Failure {
    let advice = match &e {
        Error::Data(_) => format!(
            " Declare what the model was trained on, in the same order: first the columns of {}, then those of each feature holder.",
            job.parties.trainer()
        ),
        _ => String::new(),
    };
    let failure = Failure::from(e);
    let (model, why) = (job.model.display(), &failure.message);
    let message = format!("{model}: {why}.{advice} Nothing was released.");
    Failure { message, ..failure }
}

fn answer(
    prediction: &PredictionJob,
    job: &Job,
    given: &Predict,
    (common, rows): (usize, usize),
    traffic: &Traffic,
) -> Answer {
    let own = prediction.parties.trainer();
    let mut text = traffic.text();
    let _ = writeln!(
        text,
        "matched    {common} of {own}'s {} are known to all parties (shown to {own} only)",
        words::count(rows as u64, "row", "rows"),
    );
    for holder in &prediction.parties.feature_holders {
        let _ = writeln!(
            text,
            "kept       {}'s columns of these rows in the ledger{}: other models can predict from them, and nothing is released again",
            holder.name,
            given
                .ledger
                .path()
                .map(|path| format!(" {}", path.display()))
                .unwrap_or_default()
        );
    }
    let _ = writeln!(
        text,
        "\nWrote {} to {}",
        words::count(common as u64, "prediction", "predictions"),
        job.output.display()
    );
    if common < rows {
        let _ = writeln!(
            text,
            "{} not known to all parties, and have no prediction.",
            words::count((rows - common) as u64, "row is", "rows are")
        );
    }
    let json = json!({
        "rows": common,
        "rows_without_prediction": rows - common,
        "out": job.output,
        "predict": if prediction.branches { "branches" } else { "columns" },
        "sent": traffic.json(),
    });
    Answer::new(words::wrapped(&text), json)
}
