//! The arguments as they are typed: texts, not yet checked against each other.
#![allow(missing_docs, reason = "clap shows these comments to users as help")]

mod desensitise;
mod ledger;
mod model;
mod schema;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use desensitise::{BudgetName, CategoriesName, Desensitise, MechanismName};
pub use ledger::{Adopt, Change, Export, Key, Ledger, LedgerVerb, Limit, Show, Verify};
pub use model::{
    Evaluate, ExportFormat, ExportModel, Inspect, OutputKind, Patience, Plan, Predict, Reproduce, Simulate,
    Train,
};
pub use schema::{Check, Draft, Schema, SchemaVerb};

const EXITS: &str = "\
Exit codes:
  0  it worked
  1  something unexpected
  2  invalid command or value
  3  the budget does not allow it; nothing was drawn
  4  the ledger does not verify or cannot be used; nothing was drawn
  5  a file that was given cannot be read or is invalid
  6  a reproduced figure lies outside its tolerance
  7  another party did not follow the protocol
  130  stopped with Ctrl-C

Example:
  privet demo            see it all on made-up data, in seconds
  privet help jobs       every key of every job";

/// Boosted models trained on data that may not be pooled, with a ledger of what each release costs in privacy.
#[derive(Debug, Parser)]
#[command(
    name = "privet",
    version,
    after_help = EXITS,
    propagate_version = true,
    disable_help_subcommand = true
)]
pub struct LowArgs {
    /// Answer in JSON, on standard output only.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    Demo(Demo),
    Schema(Schema),
    Plan(Plan),
    Train(Train),
    Predict(Predict),
    Evaluate(Evaluate),
    Inspect(Inspect),
    Export(ExportModel),
    Desensitise(Desensitise),
    Simulate(Simulate),
    Reproduce(Reproduce),
    Ledger(Ledger),
    Completions(Completions),
    Help(Help),
}

/// Print help: of a command, or every key of every job.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  privet help train\n  privet help jobs             every key of every job\n  privet help jobs central     of one setting"
)]
pub struct Help {
    /// A command, or jobs and a setting.
    #[arg(value_name = "COMMAND")]
    pub about: Vec<String>,
}

/// See private boosted trees beside the same without privacy, a refusal, and a run between parties, on made-up data.
///
/// Generates tables of made-up people, trains private trees on one, paid from a budget, compares them with trees without privacy, is refused when
/// the budget is spent, trains one model on the rows of three clinics that show nobody theirs, and verifies the ledger. Needs no set-up and removes
/// its files.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  privet demo --keep demo     look at the files afterwards")]
pub struct Demo {
    /// Work in this folder and keep the files there.
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}

/// Print a script that lets your shell complete privet's commands.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  privet completions bash > ~/.local/share/bash-completion/completions/privet"
)]
pub struct Completions {
    pub shell: clap_complete::Shell,
}
