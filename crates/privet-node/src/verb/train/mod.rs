//! `privet train`

mod horizontal;
mod secure;
mod vertical;

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::Path;

use privet::model::Model;
use privet::privacy::signature::SigningKey;
use privet::privacy::{Ledger, Randomness};
use privet::setting::{central, plain};
use serde_json::json;

use super::exit::Failure;
use super::request::{LedgerFile, Train};
use super::{Answer, output, permission, words, written};
use crate::job::{Job, Setting, Source};
use crate::ledger::Shared;
use crate::progress::Progress;
use crate::table;

pub(super) fn run(train: &Train) -> Result<Answer, Failure> {
    let job = Job::read(&train.job)?.with(train.data.as_deref(), train.out.as_deref())?;
    output::check_model(&train.ledger, &job.output, train.overwrite)?;
    let (model, key) = match &job.setting {
        Setting::Plain(plan, source) => unprotected(plan, source, train)?,
        Setting::Central(plan, source) => {
            before_paying(&job, source, train);
            curated(plan, source, &train.ledger)?
        }
        Setting::Vertical(parties) => return vertical::run(parties, &job, train),
        Setting::Prediction(_) => return Err(for_predicting(&train.job)),
        Setting::Horizontal(owners) => return horizontal::run(owners, &job, train),
        Setting::Secure(parties) => return secure::run(parties, &job, train),
    };
    save(&job, &model, key.as_ref())?;

    let warnings = match &job.setting {
        Setting::Central(plan, _) => plan.warnings(),
        _ => Vec::new(),
    };
    let mut text = words::warnings(&warnings);
    let _ = writeln!(text, "{}", model.certificate());
    let _ = writeln!(
        text,
        "\nWrote {}: {}",
        job.output.display(),
        model.ensemble().summary()
    );
    let json = json!({
        "model": job.output,
        "certificate": model.certificate(),
        "ensemble": model.ensemble().summary(),
        "warnings": warnings,
    });
    Ok(Answer::new(words::wrapped(&text), json))
}

/// Says on a terminal how the owner can see whether cells fit the schema. It is said of every table, whatever its cells are: a run must
/// not tell.
fn before_paying(job: &Job, source: &Source, train: &Train) {
    if !std::io::stderr().is_terminal() || source.data == Path::new(table::STANDARD_INPUT) {
        return;
    }
    let schema = job
        .schema_file()
        .map_or_else(String::new, |file| file.display().to_string());
    let _ = writeln!(
        std::io::stderr(),
        "privet: before it pays: a cell that does not fit the schema, a label too, counts as another value, and no error says so. To count such \
         cells, on your own terminal and for nothing:\n  privet schema check {schema} --data {} --private-diagnostics\n",
        train.data.as_deref().unwrap_or(&source.data).display()
    );
}

/// That a job does not train.
fn for_predicting(job: &Path) -> Failure {
    let job = job.display();
    Failure::usage(format!(
        "{job} names a model, so it is a job for predicting: run `privet predict {job}`. To train, remove model and predict from it and add \
         [algorithm] with name = \"trees\". Nothing was read."
    ))
}

/// A model, and the key of the ledger that it was recorded in.
type Trained = (Model, Option<SigningKey>);

fn unprotected(plan: &plain::Plan, source: &Source, train: &Train) -> Result<Trained, Failure> {
    permission::ask(&source.schema, "setting = \"plain\"", train.not_protected)?;
    let table = source.read(&plan.reads())?;
    let private = source.schema.is_private();
    let key = private.then(|| Ok::<_, Failure>(train.ledger.open_or_create()?.signing_key()?));
    let key = key.transpose()?;
    let because = "a model was trained without privacy (setting = \"plain\")";
    let permission = permission::take(source, because, &train.ledger)?;
    let bar = Progress::steps("Training");
    let model = plan.fit(table, &permission, &bar.watch())?;
    Ok((model, key))
}

/// One curator, who pays from a ledger.
fn curated(plan: &central::Plan, source: &Source, ledger: &LedgerFile) -> Result<Trained, Failure> {
    // Before the rows are opened: what cannot be paid for is not read.
    let shared = Shared::new(ledger.open_to_pay(source.schema.dataset(), plan.relation(), plan.delta())?);
    let (dataset, relation) = (source.schema.dataset(), plan.relation().clone());
    let mut ledger = Ledger::open(dataset, relation, shared.clone(), Randomness::from_os()?)?;
    ledger.promise(plan.price(), plan.delta())?;
    let key = shared.store().signing_key()?;
    let table = source.read(&plan.reads())?;
    permission::recognise(&mut shared.store(), &[source])?;
    let bar = Progress::steps("Training");
    let model = plan.fit(table, ledger, &bar.watch())?;
    Ok((model, Some(key)))
}

/// Writes the model atomically; signed, if a ledger records it.
fn save(job: &Job, model: &Model, key: Option<&SigningKey>) -> Result<(), Failure> {
    let bytes = key.map_or_else(|| model.to_bytes(), |key| model.to_signed_bytes(key));
    written(&job.output, &bytes)
}
