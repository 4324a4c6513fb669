//! Requests: their values have been checked.

mod limit;
mod party;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use privet::Error;
use privet::error::JournalFault;
use privet::model::Format;
use privet::privacy::signature::Fingerprint;
use privet::privacy::texts::check_name;
use privet::privacy::{BudgetToSet, Delta, Epsilon, Relation};
use privet::setting::local::Share;
use privet::setting::vertical::Desensitisation;

use super::exit::{Exit, Failure};
use crate::ledger::{Store, WAIT};
pub use limit::{Limit, Limits};
pub use party::{KeysCommand, KeysFolder, Party};

/// One request.
#[derive(Debug)]
pub enum Command {
    /// Write the draft of a schema.
    Draft {
        /// The table.
        file: PathBuf,
        /// Where the draft goes, if not into the answer.
        out: Option<PathBuf>,
        /// The data set's name.
        dataset: Option<String>,
        /// What is known of its columns.
        known: Known,
        /// Where the ledger is, which is never overwritten.
        ledger: LedgerFile,
    },
    /// Check a schema, and a table by it.
    Check {
        /// The schema.
        schema: PathBuf,
        /// The table.
        data: Option<PathBuf>,
        /// Whether to count the cells that fit, which reveals something about rows.
        diagnostics: bool,
    },
    /// Say what a job would do and cost.
    Plan {
        /// The job.
        job: PathBuf,
        /// Where the ledger is.
        ledger: LedgerFile,
    },
    /// Train a model.
    Train(Train),
    /// Predict rows.
    Predict(Predict),
    /// Measure how good a model is.
    Evaluate(Evaluate),
    /// Show a model and its guarantees.
    Inspect(Inspect),
    /// Show the transcript of a run with others.
    Transcript {
        /// The transcript.
        file: PathBuf,
    },
    /// Make or show the key of this party, or trust those of others.
    Keys {
        /// The folder of keys.
        keys: KeysFolder,
        /// What is to be done.
        verb: KeysCommand,
    },
    /// Take part in a run with others over a network.
    Party(Box<Party>),
    /// Show the state of a run with others.
    Status {
        /// Its status file.
        file: PathBuf,
    },
    /// Write a model for other programs.
    Export {
        /// The model.
        model: PathBuf,
        /// The file format.
        format: Format,
        /// Where it goes.
        out: PathBuf,
        /// Whether files that are there may be replaced.
        overwrite: bool,
        /// Where the ledger is, which is never overwritten.
        ledger: LedgerFile,
    },
    /// Change the columns of a table.
    Desensitise(Desensitise),
    /// Answer a campaign of the local setting.
    Contribute(Contribute),
    /// Count the answers to a campaign.
    Collect(Collect),
    /// Train and judge on rows that are set aside.
    Simulate(Simulate),
    /// Look at the ledger, or set a limit.
    Ledger {
        /// The ledger.
        ledger: LedgerFile,
        /// What is to be done.
        verb: LedgerCommand,
    },
}

/// Public files that bounds and values of a draft are taken from.
#[derive(Debug, Default)]
pub struct Known {
    /// A table that is public as a whole.
    pub like: Option<PathBuf>,
    /// A code book.
    pub from: Option<PathBuf>,
}

/// A request about the ledger.
#[derive(Debug)]
pub enum LedgerCommand {
    /// Show budgets and what was spent.
    Show {
        /// Of this data set only.
        dataset: Option<String>,
    },
    /// Check the ledger, and models or certificates against it.
    Verify {
        /// The files.
        against: Vec<PathBuf>,
    },
    /// Set a limit.
    Limit(Limit),
    /// Record that two names are one data set.
    Adopt {
        /// The new name.
        dataset: String,
        /// The old one.
        of: String,
    },
    /// Write the entries down.
    Export {
        /// Where they go, if not into the answer.
        out: Option<PathBuf>,
        /// Whether a file that is there may be replaced.
        overwrite: bool,
    },
    /// Show the fingerprint of the signing key.
    Key,
}

/// A request to train a model.
#[derive(Debug)]
pub struct Train {
    /// The job.
    pub job: PathBuf,
    /// The table, instead of the job's.
    pub data: Option<PathBuf>,
    /// Where the model goes, instead of where the job says.
    pub out: Option<PathBuf>,
    /// Whether a model that is there may be replaced.
    pub overwrite: bool,
    /// Whether private rows may be used without protection.
    pub not_protected: bool,
    /// Where the ledger is.
    pub ledger: LedgerFile,
}

/// A request to answer a campaign.
#[derive(Debug)]
pub struct Contribute {
    /// The campaign.
    pub campaign: PathBuf,
    /// The owner's rows.
    pub data: Option<PathBuf>,
    /// Where the message goes; without it, what is stored is shown.
    pub out: Option<PathBuf>,
    /// Where the ledger is.
    pub ledger: LedgerFile,
}

/// A request about the answers to a campaign.
#[derive(Debug)]
pub enum Collect {
    /// Count messages.
    Messages(Collecting),
    /// Add up collections of different shares.
    Merge {
        /// The collections.
        files: Vec<PathBuf>,
        /// Where the sum goes.
        out: PathBuf,
    },
}

/// How messages are counted.
#[derive(Debug)]
pub struct Collecting {
    /// The campaign.
    pub campaign: PathBuf,
    /// Files of messages; standard input if there are none.
    pub from: Vec<PathBuf>,
    /// Where the collection is kept.
    pub out: PathBuf,
    /// Messages, at most.
    pub most: u64,
    /// The tokens that are taken.
    pub share: Share,
    /// Threads that work.
    pub threads: usize,
    /// Messages of a batch.
    pub batch: usize,
    /// Is told how many bytes of standard input are on disk.
    pub durable: fn(u64),
}

/// A request to predict rows.
#[derive(Debug)]
pub struct Predict {
    /// What predicts them, and where they are.
    pub from: PredictionSource,
    /// The column of the rows that is copied beside the predictions; otherwise rows are numbered.
    pub id: Option<String>,
    /// Where predictions go, if not into the answer or where the job says.
    pub out: Option<PathBuf>,
    /// Whether a file that is there may be replaced.
    pub overwrite: bool,
    /// What is written for each row.
    pub what: OutputKind,
    /// Where the ledger is. With a model it is not needed, and never overwritten.
    pub ledger: LedgerFile,
}

/// What predicts rows.
#[derive(Debug)]
pub enum PredictionSource {
    /// A model, and a file that has all columns.
    Model {
        /// The model.
        model: PathBuf,
        /// The rows.
        data: PathBuf,
    },
    /// A job, whose parties have the columns.
    Job {
        /// The job.
        job: PathBuf,
        /// Whether private rows of the label holder may be used without protection.
        not_protected: bool,
    },
}

/// A request to evaluate a model.
#[derive(Debug)]
pub struct Evaluate {
    /// The model.
    pub model: PathBuf,
    /// The labelled rows.
    pub data: PathBuf,
    /// Their schema, if it is not the model's.
    pub schema: Option<PathBuf>,
    /// What their owner agreed to.
    pub consent: Consent,
    /// Where the report goes as well, if it was paid for.
    pub out: Option<PathBuf>,
    /// Whether a file that is there is replaced.
    pub overwrite: bool,
    /// Where the ledger is.
    pub ledger: LedgerFile,
}

/// A request to show a model.
#[derive(Debug)]
pub struct Inspect {
    /// The model, or a certificate.
    pub model: PathBuf,
    /// Whose signature it must have.
    pub signed_by: Option<Fingerprint>,
    /// Where a page about the model goes, if one is wanted.
    pub report: Option<PathBuf>,
    /// Whether a file that is there may be replaced.
    pub overwrite: bool,
    /// Where the ledger is: the page says what remains of the budget.
    pub ledger: LedgerFile,
}

/// What the owner of private rows agreed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Nothing.
    Nothing,
    /// To pay this ε.
    Spend(Epsilon),
    /// To use the rows without protection.
    NotProtected,
}

/// A request to desensitise a table.
#[derive(Debug)]
pub struct Desensitise {
    /// The table.
    pub file: PathBuf,
    /// Its schema.
    pub schema: PathBuf,
    /// Where the changed columns go.
    pub out: PathBuf,
    /// The file in which an earlier version kept released columns, if there is one.
    pub kept: PathBuf,
    /// How they are changed.
    pub desensitisation: Desensitisation,
    /// The ε of labels, if they are released too.
    pub label_epsilon: Option<Epsilon>,
    /// Where the ledger is.
    pub ledger: LedgerFile,
}

/// A request to simulate a job.
#[derive(Debug)]
pub struct Simulate {
    /// The job.
    pub job: PathBuf,
    /// The table, instead of the job's.
    pub data: Option<PathBuf>,
    /// The number of parties that rows are split between.
    pub parties: NonZeroUsize,
    /// How many made-up rows are used instead of any table.
    pub synthetic: Option<NonZeroUsize>,
    /// Where made-up tables are kept.
    pub keep: Option<PathBuf>,
    /// Per cent of people that are set aside.
    pub test: u8,
    /// The seed of the splits.
    pub seed: u64,
    /// The number of repetitions.
    pub runs: u32,
    /// Whether private rows may be used without protection.
    pub not_protected: bool,
    /// Where the ledger is.
    pub ledger: LedgerFile,
}

/// What is written for each predicted row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// The most likely class, or the number.
    Labels,
    /// The probability of each class, in one column per class.
    Probabilities,
    /// The scores before they are converted to probabilities.
    Scores,
    /// Labels and probabilities.
    All,
}

/// The path of the ledger, or why it is unknown: only some runs need one. And how long to wait for other processes.
#[derive(Debug, Clone)]
pub struct LedgerFile {
    path: Result<PathBuf, String>,
    /// Whether it was named in the command: another command finds it only if it is named again.
    is_named: bool,
    wait: Duration,
}

impl LedgerFile {
    /// Finds the ledger independently of the current folder, since another ledger would be another budget. `env` gives environment variables.
    pub fn new(given: Option<PathBuf>, env: &dyn Fn(&str) -> Option<OsString>) -> Self {
        Self {
            is_named: given.is_some(),
            path: ledger_path(given, env),
            wait: WAIT,
        }
    }

    /// Waits so long for other processes that write to it.
    #[must_use]
    pub fn waiting(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// The file.
    ///
    /// # Errors
    /// A [`Failure`] that says how to name it.
    pub fn path(&self) -> Result<&Path, Failure> {
        self.path.as_deref().map_err(Failure::usage)
    }

    /// The budget that a run needs, for the command that sets it in this ledger.
    pub(super) fn budget(&self, epsilon: Epsilon, delta: Delta) -> BudgetToSet {
        let named = self.path.as_ref().ok().filter(|_| self.is_named);
        BudgetToSet {
            ledger: named.map(|path| path.display().to_string()),
            ..BudgetToSet::of(epsilon, delta)
        }
    }

    /// Opens it for writing.
    pub(super) fn open(&self) -> Result<Store, Failure> {
        Ok(Store::open_waiting(self.path()?, self.wait)?)
    }

    /// Opens it for writing, to pay from the budget of a data set; without a ledger there is no budget, and the answer says how to set one.
    pub(super) fn open_to_pay(
        &self,
        dataset: &str,
        relation: &Relation,
        budget: &BudgetToSet,
    ) -> Result<Store, Failure> {
        match without_ledger(self.path()?, dataset, relation, budget) {
            Some(why) => Err(Failure::new(
                Exit::Budget,
                format!("refused: {why}. Nothing was read."),
            )),
            None => self.open(),
        }
    }

    /// Opens it for writing, and makes it if there is none.
    pub(super) fn open_or_create(&self) -> Result<Store, Failure> {
        let path = self.path()?;
        if std::fs::symlink_metadata(path).is_err() {
            match Store::create(path) {
                Ok(_) => {}
                // Another process was faster.
                Err(Error::Journal(e)) if e.fault() == JournalFault::Occupied && path.is_file() => {}
                Err(e) => return Err(e.into()),
            }
        }
        let store = self.open()?;
        store.complete()?;
        Ok(store)
    }
}

/// That there is no ledger yet, and the command that makes one with a budget.
pub(super) fn without_ledger(
    path: &Path,
    dataset: &str,
    relation: &Relation,
    budget: &BudgetToSet,
) -> Option<String> {
    if std::fs::symlink_metadata(path).is_ok() {
        return None;
    }
    Some(format!(
        "there is no ledger {} yet. Set a budget first: `{}`",
        path.display(),
        relation.limit_command(dataset, budget)
    ))
}

fn ledger_path(given: Option<PathBuf>, env: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, String> {
    let set = |variable| env(variable).filter(|value| !value.is_empty());
    if let Some(path) = given.or_else(|| set("PRIVET_LEDGER").map(PathBuf::from)) {
        return Ok(path);
    }
    data_folder(env)
        .map(|folder| folder.join("ledger.db"))
        .ok_or_else(|| {
            "your data folder is unknown (HOME is not set): give the ledger's path with --ledger PATH".into()
        })
}

/// The folder of privet's own files.
fn data_folder(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |variable| env(variable).filter(|value| !value.is_empty());
    // The XDG rules say that a relative path here is to be ignored.
    let data = set("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|p| p.is_absolute());
    let home = || set("HOME").map(|home| PathBuf::from(home).join(".local").join("share"));
    let local = || set("LOCALAPPDATA").map(PathBuf::from);
    Some(data.or_else(home).or_else(local)?.join("privet"))
}

/// Checks the name of a data set.
///
/// # Errors
/// A [`Failure`] that says why it is invalid.
pub fn dataset_name(text: &str) -> Result<String, Failure> {
    let bad = |why| Failure::usage(format!("{text:?} is not a valid name of a data set: {why}"));
    check_name(text, 100).map_err(bad)?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(given: Option<&str>, set: &[(&str, &str)]) -> Option<PathBuf> {
        let env = |name: &str| {
            let found = set.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| OsString::from(value))
        };
        ledger_path(given.map(PathBuf::from), &env).ok()
    }

    #[test]
    fn the_ledger_is_the_same_one_from_every_folder() {
        let all = [
            ("PRIVET_LEDGER", "/b.db"),
            ("XDG_DATA_HOME", "/data"),
            ("HOME", "/users/me"),
        ];
        assert_eq!(path(Some("a.db"), &all), Some("a.db".into()));
        assert_eq!(path(None, &all), Some("/b.db".into()));
        assert_eq!(path(None, &all[1..]), Some("/data/privet/ledger.db".into()));
        let home = Some(PathBuf::from("/users/me/.local/share/privet/ledger.db"));
        assert_eq!(path(None, &all[2..]), home);
        assert_eq!(
            path(
                None,
                &[
                    ("PRIVET_LEDGER", ""),
                    ("XDG_DATA_HOME", "relative"),
                    ("HOME", "/users/me")
                ]
            ),
            home
        );
        assert_eq!(path(None, &[]), None);
    }
}
