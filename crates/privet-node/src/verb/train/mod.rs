//! `privet train`

mod horizontal;
mod local;
mod secure;
mod vertical;

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::Path;

use privet::Error;
use privet::model::Model;
use privet::privacy::signature::SigningKey;
use privet::privacy::{Ledger, Randomness};
use privet::setting::{central, plain};
use serde_json::json;

use super::account::Account;
use super::exit::Failure;
use super::request::Train;
use super::{Answer, output, permission, words, written};
use crate::job::{Job, Rows, Setting, Source};
use crate::progress::Progress;
use crate::table;
pub(super) use vertical::BECAUSE;

pub(super) fn run(train: &Train) -> Result<Answer, Failure> {
    let job = Job::read(&train.job)?.with(train.data.as_deref(), train.out.as_deref())?;
    output::check_model(&train.ledger, &job.output, train.overwrite)?;
    let (model, key) = match &job.setting {
        Setting::Plain(plan, source) => unprotected(plan, source, train)?,
        Setting::Central(plan, source) => {
            before_paying(&job, source, train);
            let bar = Progress::steps("Training");
            Curator::default().train(plan, source, &Account::File(&train.ledger), &bar.watch())?
        }
        Setting::Vertical(parties) => return vertical::run(parties, &job, train),
        Setting::Prediction(_) => return Err(for_predicting(&train.job)),
        Setting::Horizontal(owners) => return horizontal::run(owners, &job, train),
        Setting::Secure(parties) => return secure::run(parties, &job, train),
        Setting::Local(local) => return local::run(local, &job, train),
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
pub type Trained = (Model, Option<SigningKey>);

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

/// How one curator trains, besides the plan.
#[derive(Default)]
pub struct Curator<'a> {
    /// The seed of all noise. It makes the model void.
    pub seed: Option<u64>,
    /// Why the model protects nobody, if it is known beforehand.
    pub void: Option<&'a str>,
}

impl Curator<'_> {
    /// Trains by a plan on rows, and pays for it. The key is of the ledger that recorded it.
    ///
    /// # Errors
    /// A [`Failure`] if that cannot be paid for, the rows cannot be read, or it was stopped.
    pub fn train(
        &self,
        plan: &central::Plan,
        rows: &dyn Rows,
        account: &Account<'_>,
        progress: central::Progress<'_>,
    ) -> Result<Trained, Failure> {
        // Before the rows are opened: what cannot be paid for is not read.
        let budget = account.budget(plan.epsilon(), plan.delta());
        let opened = account.open(rows.schema().dataset(), plan.relation(), &budget)?;
        let (dataset, price) = (rows.schema().dataset(), (plan.price(), plan.delta()));
        let open = |random| -> Result<Ledger, Error> {
            let mut ledger = opened.ledger(dataset, plan.relation(), price, random)?;
            ledger.promise(plan.price(), plan.delta())?;
            Ok(ledger)
        };
        let mut ledger = open(Randomness::from_os()?).map_err(|e| Failure::from(e).enough(&budget))?;
        let key = opened.signing_key()?;
        let table = rows.read(&plan.reads())?;
        opened.recognise(rows)?;
        // What makes a run void is written down for ever: after all that can be refused.
        if let Some(seed) = self.seed {
            ledger = open(Randomness::seeded(seed))?;
        }
        if let Some(because) = self.void {
            ledger.void(because)?;
        }
        let model = plan.fit(table, ledger, progress)?;
        Ok((model, key))
    }
}

/// Writes the model atomically; signed, if a ledger records it.
fn save(job: &Job, model: &Model, key: Option<&SigningKey>) -> Result<(), Failure> {
    let bytes = key.map_or_else(|| model.to_bytes(), |key| model.to_signed_bytes(key));
    match job.setting {
        Setting::Plain(..) | Setting::Local(_) => written(&job.output, &bytes),
        _ => output::written_paid(&job.output, &bytes),
    }
}
