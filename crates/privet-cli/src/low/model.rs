//! Arguments of the verbs that make and use models, as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Say what a job would do, who would learn what, and what it would cost. Reads no rows.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  privet plan job.toml")]
pub struct Plan {
    /// The job.
    pub job: PathBuf,
    #[command(flatten)]
    pub ledger: LedgerPath,
}

/// Train a model.
///
/// A job is one file: the setting, the schema, the table, the algorithm and where the model goes. It is checked as a
/// whole before anything runs.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  privet train job.toml\n\nA job that protects everybody in the table:\n  setting = \"central\"      # you see the rows, everybody else the model\n  schema = \"schema.toml\"\n  data = \"patients.csv\"    # or \"-\" for standard input\n  output = \"model.privet\"\n\n  [algorithm]\n  name = \"trees\"          # boosted trees; or \"auto\", which chooses\n\n  [privacy]\n  epsilon = 0.5\n  delta = 1e-7\n  rows_about = 30000      # by public knowledge: it is never counted\n\nThe budget is set before: privet ledger limit patients --epsilon 1 --delta 1e-7\n\nEvery key of every job: privet help jobs. Other settings: the folders below examples/"
)]
pub struct Train {
    /// The job.
    pub job: PathBuf,
    /// The table, instead of the one that the job names; - for standard input.
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Where the model goes, instead of where the job says.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the model that is there already. What was paid for that one stays spent.
    #[arg(long)]
    pub overwrite: bool,
    /// Use private rows without protection. The ledger records this permanently.
    #[arg(long)]
    pub not_protected: bool,
    #[command(flatten)]
    pub ledger: LedgerPath,
    #[command(flatten)]
    pub patience: Patience,
}

/// Predict new rows with a model.
///
/// Raw rows are fine: the schema travels with the model. Columns that it does not know are ignored; label and ids are
/// not needed. The output is CSV. Its first column says which row is meant: the row's number from 1, or a column of the file (--id).
/// Texts that a spreadsheet program would run as a formula (they begin with =, +, - or @ and are no numbers) are written with an
/// apostrophe before them.
///
/// If several parties have the columns of the new rows, give a job in place of the model. It plays all of them on this machine: feature
/// holders send columns with every value changed, or only answers to the model's questions. `privet plan` says who learns what. Rows that
/// not all parties know get no prediction.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  privet predict model.privet --data new.csv --out predictions.csv\n  privet predict model.privet --data new.csv --id client --out predictions.csv\n  privet predict predict.toml --id customer\n\nA job for predicting:\n  setting = \"vertical\"\n  model = \"model.privet\"\n  output = \"predictions.csv\"\n  predict = \"columns\"    # or \"branches\"\n  most_ids = 2000\n\n  [privacy]\n  epsilon = 4.0\n\n  [label_holder]\n  schema = \"new-bank.toml\"  # new rows are data sets with names of their own\n  data = \"new-bank.csv\"\n  id = \"customer\"\n\n  [feature_holder.shop]\n  schema = \"new-shop.toml\"\n  data = \"new-shop.csv\"\n  id = \"client\""
)]
pub struct Predict {
    /// The model, or a job that names one: its file name ends in .toml.
    #[arg(value_name = "MODEL|JOB")]
    pub from: PathBuf,
    /// A CSV (also gzipped) or Parquet file with the new rows, - for standard input. A job names the tables itself.
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Copy this column of the file to the output, instead of numbering rows. It may be one that the model does not know. With a job it is a
    /// column of the label holder's file.
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,
    /// Write to this file instead of standard output, or instead of where the job says.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the file that --out names, if it is there already.
    #[arg(long, requires = "out")]
    pub overwrite: bool,
    /// What to write for each row.
    #[arg(long, value_enum, default_value_t = OutputKind::All)]
    pub what: OutputKind,
    /// With a job: use the label holder's private rows without protection. The ledger records this permanently.
    #[arg(long)]
    pub not_protected: bool,
    #[command(flatten)]
    pub ledger: LedgerPath,
    #[command(flatten)]
    pub patience: Patience,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputKind {
    /// The most likely class, or the number.
    Labels,
    /// The probability of each class, in one column per class.
    Probabilities,
    /// Scores before they are converted to probabilities.
    Scores,
    /// Labels and probabilities.
    All,
}

/// Measure how good a model is on labelled rows.
///
/// If the schema marks anything private, exact metrics would reveal something about these people: use --spend to
/// pay for noisy ones, or --not-protected.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  privet evaluate model.privet --data test.csv --spend 0.1\n  privet evaluate model.privet --data volunteers.csv --schema volunteers.toml"
)]
pub struct Evaluate {
    /// The model.
    pub model: PathBuf,
    /// A CSV (also gzipped) or Parquet file with labels; - for standard input.
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// The schema of these rows: whether they are private, and which budget is theirs. Needed if they are not of the data
    /// set that the model was trained on, or if that was public. Their columns must be the model's.
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// Pay this much ε for noisy metrics.
    #[arg(
        long,
        value_name = "E",
        allow_negative_numbers = true,
        conflicts_with = "not_protected"
    )]
    pub spend: Option<String>,
    /// With --spend: write the metrics to this file too, as JSON with their certificate. `privet inspect` reads it.
    #[arg(long, value_name = "FILE", requires = "spend")]
    pub out: Option<PathBuf>,
    /// Replace the file that --out names, if it is there already.
    #[arg(long, requires = "out")]
    pub overwrite: bool,
    /// Print the exact metrics, on your own terminal only. The ledger records this permanently.
    #[arg(long)]
    pub not_protected: bool,
    #[command(flatten)]
    pub ledger: LedgerPath,
    #[command(flatten)]
    pub patience: Patience,
}

/// Show what a model is, what it promises and what it has learnt.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  privet inspect model.privet\n  privet inspect --transcript model.privet.north.transcript.json"
)]
pub struct Inspect {
    /// The model, or a certificate as `privet desensitise` writes it.
    pub model: PathBuf,
    /// Fail unless the file was signed with the key of this fingerprint, as `privet ledger key` shows it to whoever made
    /// it.
    #[arg(long, value_name = "FINGERPRINT")]
    pub signed_by: Option<String>,
    /// The file is the transcript of a run with other parties.
    #[arg(long, conflicts_with = "signed_by")]
    pub transcript: bool,
    /// Write a page about the model to this file, for a browser: who is protected, what ε means, what was paid and what remains, and what each
    /// column does to the result, with the band by which noise moves it.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Replace the file that --report names, if it is there already.
    #[arg(long, requires = "report")]
    pub overwrite: bool,
    #[command(flatten)]
    pub ledger: LedgerPath,
}

/// Write a model of trees or stumps for XGBoost or ONNX.
///
/// Bins and transforms are folded into the trees: numbers are given raw, as NaN where they are missing. Other columns
/// are given as codes, which FILE.features.json lists. Whoever has the exported file has the model: what its certificate
/// says holds for both.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  privet export model.privet --format xgboost-json --out model.json")]
pub struct ExportModel {
    /// The model.
    pub model: PathBuf,
    /// For which program.
    #[arg(long, value_enum)]
    pub format: ExportFormat,
    /// The file to write; FILE.features.json is written beside it.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Replace these files, if they are there already.
    #[arg(long)]
    pub overwrite: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// XGBoost's JSON.
    XgboostJson,
    /// XGBoost's binary JSON.
    XgboostUbj,
    /// ONNX, with operators of ai.onnx.ml 3.
    Onnx,
}

/// Try a job on one machine: parties who share, parties who do not, and a constant, on rows that were set aside.
///
/// Of a job with setting = "vertical": its own parties, beside all columns as they are, the same bins without noise, the label
/// holder alone, and a constant. If that job predicts: both ways, beside raw rows given to the model and a constant.
///
/// Of a job with setting = "horizontal": its own owners, beside each owner alone and all rows at one curator with the same ε, all rows without
/// privacy, and a constant; and how many bytes each owner sends and receives.
///
/// For tables whose schema marks nothing private, or with --not-protected: exact accuracies reveal something about the rows.
///
/// With --synthetic N no table is read: each is made up of N rows that follow from its schema and the seed. So a job, its noise and its files can be
/// rehearsed for nothing; no budget is touched.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  privet simulate job.toml --synthetic 5000\n  privet simulate job.toml --parties 5 --seed 1"
)]
pub struct Simulate {
    /// The job.
    pub job: PathBuf,
    /// The table, instead of the one that the job names.
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Make up this many rows for each table, from its schema alone, and read none.
    #[arg(long, value_name = "N", conflicts_with_all = ["data", "not_protected"])]
    pub synthetic: Option<std::num::NonZeroUsize>,
    /// With --synthetic: keep the made-up tables in this folder.
    #[arg(long, value_name = "DIR", requires = "synthetic")]
    pub keep: Option<PathBuf>,
    /// How many parties share the rows of one table.
    #[arg(long, value_name = "P", default_value = "3")]
    pub parties: std::num::NonZeroUsize,
    /// Percent of the people that are set aside to test on.
    #[arg(long, value_name = "PERCENT", default_value = "25", value_parser = clap::value_parser!(u8).range(1..=99))]
    pub test: u8,
    /// Seed of the random split.
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,
    /// Number of repetitions, with consecutive seeds.
    #[arg(long, value_name = "R", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Use private rows without protection. The ledger records this permanently.
    #[arg(long)]
    pub not_protected: bool,
    #[command(flatten)]
    pub ledger: LedgerPath,
    #[command(flatten)]
    pub patience: Patience,
}

/// Repeat a paper's experiments and compare.
///
/// Prints mean and standard deviation beside the published figure and the one expected of a correct implementation.
/// Data sets are looked for in the folder PRIVET_DATA, else in ../shared/data. The exit code is 6 if a figure lies
/// outside its tolerance; an accuracy that is higher or an error that is lower than expected is called better.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  privet reproduce                         list what there is\n  privet reproduce plain --dataset adult --runs 3"
)]
pub struct Reproduce {
    /// The paper's key.
    pub key: Option<String>,
    /// Only this table.
    #[arg(long, value_name = "N", conflicts_with = "figure")]
    pub table: Option<String>,
    /// Only this figure.
    #[arg(long, value_name = "N")]
    pub figure: Option<String>,
    /// Only this data set.
    #[arg(long, value_name = "D")]
    pub dataset: Option<String>,
    /// How often, instead of as often as the expected figure says.
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub runs: Option<u32>,
}

/// How long to wait for others.
#[derive(Debug, Args)]
pub struct Patience {
    /// How many seconds to wait while another process writes to the ledger.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u32).range(0..=86_400))]
    pub wait: u32,
}

/// Where the ledger is.
#[derive(Debug, Args)]
pub struct LedgerPath {
    /// The ledger's file, instead of PRIVET_LEDGER or the one in your data folder.
    #[arg(long, value_name = "PATH")]
    pub ledger: Option<PathBuf>,
}
