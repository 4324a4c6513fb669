//! What the `privet` command does, without arguments and without a terminal: a request goes in, an answer comes out.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `request` | requests with checked values |
//! | `exit` | how a request ended, and why it failed |
//! | `train`, `plan`, `predict`, `evaluate`, `inspect`, `report`, `export_model`, `desensitise`, `contribute`, `collect`, `simulate`, `schema`, `ledger`, `keys`, `party`, `status`, `transcript` | one verb each |
//! | `account` | where a run pays |
//! | `permission`, `output`, `protection`, `parties`, `owners`, `gathering`, `diagnostics`, `words` | what several verbs say or ask |

mod account;
mod collect;
mod contribute;
mod desensitise;
mod diagnostics;
mod evaluate;
mod exit;
mod export_model;
mod gathering;
mod inspect;
mod keys;
mod ledger;
mod output;
mod owners;
mod parties;
mod party;
mod permission;
mod plan;
mod predict;
mod protection;
mod report;
mod request;
mod schema;
mod secure;
mod simulate;
mod status;
mod train;
mod transcript;
mod words;

use std::path::Path;

use privet::model::{Model, Origin};

pub use account::{Account, Unrecorded};
pub use desensitise::{Desensitised, desensitised};
pub use evaluate::evaluated;
pub use exit::{Exit, Failure};
pub use inspect::signed_words;
pub use ledger::show_unrecorded;
pub use output::rescued;
pub use party::plan as party_plan;
pub use plan::central as central_plan;
pub use report::{drawings, page};
pub use request::{
    Collect, Collecting, Command, Consent, Contribute, Desensitise, Evaluate, Inspect, KeysCommand,
    KeysFolder, Known, LedgerCommand, LedgerFile, Limit, Limits, OutputKind, Party, Predict,
    PredictionSource, Simulate, Train, dataset_name,
};
pub use train::{Curator, Trained};
pub use words::{count, wrapped};

/// The answer to a request, as text and as JSON.
#[derive(Debug)]
pub struct Answer {
    /// The text for people.
    pub text: String,
    /// The JSON for programs.
    pub json: String,
    /// The exit code.
    pub exit: Exit,
    /// Whether the text is a file that programs read on: it is written as it is, except to a terminal.
    pub is_data: bool,
    /// Whether it was paid for and stands nowhere else: whoever cannot show it keeps it.
    pub is_paid: bool,
}

impl Answer {
    /// An answer with the exit code 0.
    pub fn new(text: String, json: serde_json::Value) -> Self {
        Self {
            text,
            json: format!("{json:#}\n"),
            exit: Exit::Ok,
            is_data: false,
            is_paid: false,
        }
    }

    /// The same if it was paid for and stands nowhere else.
    pub fn paid(text: String, json: serde_json::Value) -> Self {
        Self {
            is_paid: true,
            ..Self::new(text, json)
        }
    }

    /// The same if the text is a file that was to be written to standard output.
    pub fn data(text: String, json: serde_json::Value) -> Self {
        Self {
            is_data: true,
            ..Self::new(text, json)
        }
    }
}

/// Carries out a request.
///
/// # Errors
/// A [`Failure`] that says what is wrong, where, and how to mend it.
pub fn run(command: &Command) -> Result<Answer, Failure> {
    match command {
        Command::Draft {
            file,
            out,
            dataset,
            known,
            ledger,
        } => schema::draft(file, out.as_deref(), dataset.as_deref(), (known, ledger)),
        Command::Check {
            schema,
            data,
            diagnostics,
        } => schema::check(schema, data.as_deref(), *diagnostics),
        Command::Plan { job, ledger } => plan::run(job, ledger),
        Command::Train(train) => train::run(train),
        Command::Predict(predict) => predict::run(predict),
        Command::Evaluate(evaluate) => evaluate::run(evaluate),
        Command::Inspect(inspect) => inspect::run(inspect),
        Command::Transcript { file } => transcript::run(file),
        Command::Keys { keys, verb } => keys::run(keys, verb),
        Command::Party(party) => party::run(party),
        Command::Status { file } => status::run(file),
        Command::Export {
            model,
            format,
            out,
            overwrite,
            ledger,
        } => export_model::run(model, *format, (out, *overwrite), ledger),
        Command::Desensitise(desensitise) => desensitise::run(desensitise),
        Command::Contribute(contribute) => contribute::run(contribute),
        Command::Collect(collect) => collect::run(collect),
        Command::Simulate(simulate) => simulate::run(simulate),
        Command::Ledger { ledger, verb } => ledger::run(ledger, verb),
    }
}

/// Writes a file atomically: afterwards it has the new content, or is unchanged.
///
/// # Errors
/// A [`Failure`] that names the file.
pub fn written(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    crate::ledger::write_whole(path, bytes).map_err(|e| unwritten(path, &e))
}

fn unwritten(path: &Path, e: &std::io::Error) -> Failure {
    Failure::new(
        Exit::Unexpected,
        format!("{} cannot be written: {e}", path.display()),
    )
}

/// Reads a model file. A bad signature is an error.
fn open_model(file: &Path) -> Result<Model, Failure> {
    signed_model(file).map(|(model, _)| model)
}

/// A model, and who signed it.
fn signed_model(file: &Path) -> Result<(Model, Origin), Failure> {
    let bad = |why: String| Failure::input(format!("{}: {why}", file.display()));
    let bytes = std::fs::read(file).map_err(|e| bad(format!("it cannot be read: {e}")))?;
    Model::from_file(&bytes).map_err(|e| bad(e.to_string()))
}
