//! `privet train`

use std::fmt::Write;

use privet::model::Model;
use serde_json::json;

use super::exit::{Exit, Failure};
use super::high::Train;
use super::{Answer, leave, words};
use crate::job::{Job, Setting};
use crate::ledger::write_whole;
use crate::progress::Progress;

pub(super) fn run(train: &Train) -> Result<Answer, Failure> {
    let job = Job::read(&train.job)?.with(train.data.as_deref(), train.out.as_deref())?;
    let Setting::Plain(plain) = &job.setting;
    leave::spare(&train.ledger, &job.output)?;
    leave::ask(&job.schema, "setting = \"plain\"", train.not_protected)?;
    let table = job.table(plain.keep())?;
    let rows = leave::Rows {
        schema: &job.schema,
        file: &job.data,
    };
    let leave = leave::take(
        &rows,
        "a model was trained without privacy (setting = \"plain\")",
        &train.ledger,
    )?;
    let model = {
        let bar = Progress::steps("Training");
        plain.fit(table, &leave, &|done, of| bar.at(done, of))?
    };
    save(&job, &model)?;

    let mut text = String::new();
    let _ = writeln!(text, "{}", model.certificate());
    let _ = writeln!(
        text,
        "\nWrote {}: {}",
        job.output.display(),
        model.ensemble().summary()
    );
    let json = json!({"model": job.output, "certificate": model.certificate(), "ensemble": model.ensemble().summary()});
    Ok(Answer::new(words::wrapped(&text), json))
}

/// The whole model is there afterwards, or what was before.
fn save(job: &Job, model: &Model) -> Result<(), Failure> {
    write_whole(&job.output, &model.to_bytes()).map_err(|e| Failure {
        exit: Exit::Unexpected,
        message: format!("{} cannot be written: {e}", job.output.display()),
    })
}
