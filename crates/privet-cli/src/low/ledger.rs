//! Arguments of `privet ledger`, as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::model::Patience;

/// Look at and set privacy budgets.
///
/// The ledger records each payment before anything is released, so that what was spent cannot be forgotten or spent
/// twice. It is found at --ledger, else at PRIVET_LEDGER, else in your data folder, so that it is the same one from
/// wherever you work.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  privet ledger limit patients --epsilon 1\n  privet ledger show")]
pub struct Ledger {
    /// The ledger's file, instead of PRIVET_LEDGER or the one in your data folder.
    #[arg(long, global = true, value_name = "PATH")]
    pub ledger: Option<PathBuf>,
    #[command(subcommand)]
    pub verb: LedgerVerb,
}

#[derive(Debug, Subcommand)]
pub enum LedgerVerb {
    Show(Show),
    Verify(Verify),
    Limit(Limit),
    Adopt(Adopt),
    Export(Export),
    Key(Key),
}

/// Show the budget of each data set: its limit, what was spent and what remains.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  privet ledger show patients")]
pub struct Show {
    /// Only this data set.
    pub dataset: Option<String>,
}

/// Check that the ledger is whole and was not changed afterwards.
///
/// With --against, also checks that what a model or certificate says follows from the entries of its run: claims, payments,
/// totals. A ledger that was put back to an older copy or cut short does not hold them, and an edited certificate says
/// something else.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  privet ledger verify --against model.json")]
pub struct Verify {
    /// JSON files with a certificate, alone or as the field "certificate" of a model.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub against: Vec<PathBuf>,
}

/// Set how much may be spent on a data set.
///
/// Makes the ledger if there is none. Set the limit before the first release: what the budget promises as a whole holds
/// only for a limit that was fixed beforehand.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  privet ledger limit patients --epsilon 1
      no more than ε = 1 in all, for every release together
  privet ledger limit patients --epsilon 1 --delta 1e-6
      the same, but it may fail with a chance of one in a million; allows far more releases with Gaussian noise
  privet ledger limit patients --epsilon 1 --change replace-private --columns diagnosis,income
      only these columns are private, everything else about a person is known anyway
  privet ledger limit visits --epsilon 1 --unit patient --rows-per-unit 3
      rows with the same 'patient' are one person, of whom three rows are used, as the schema says
  privet ledger limit shop --epsilon 0 --change replace
      no release that costs ε; columns may still be released by desensitisation, each once")]
pub struct Limit {
    /// The data set's name, as in its schema.
    pub dataset: String,
    /// The most that the odds about one person may change by, as the exponent of e. With --rho or --mu-squared: the part
    /// of the budget for releases that are priced in plain ε.
    #[arg(long, value_name = "E", allow_negative_numbers = true, required_unless_present_any = ["rho", "mu_squared"])]
    pub epsilon: Option<String>,
    /// The chance with which the promise may fail, such as 1e-6.
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub delta: Option<String>,
    /// What an observer must not be able to find out.
    #[arg(long, value_enum, default_value_t = Change::AddRemove)]
    pub change: Change,
    /// The private columns, for --change replace-private.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// The column that tells people apart, as in the schema (unit = "COLUMN"). Without it each row is a person.
    #[arg(long, value_name = "COLUMN")]
    pub unit: Option<String>,
    /// How many rows one person has, at most.
    #[arg(long, value_name = "K", allow_negative_numbers = true, default_value = "1")]
    pub rows_per_unit: String,
    /// The part of the budget for releases that are priced in zero-concentrated ρ.
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub rho: Option<String>,
    /// The part of the budget for releases that are priced in Gaussian μ².
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    pub mu_squared: Option<String>,
    /// Open a second budget, for another change, beside one that the data set has. What is paid from one is then not counted by
    /// the other, and that one's promise no longer covers everything that was released.
    #[arg(long)]
    pub second_budget: bool,
    #[command(flatten)]
    pub patience: Patience,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Change {
    /// Whether a person is in the table.
    AddRemove,
    /// What a person's row says; that there are so many people is known.
    Replace,
    /// What the private columns say; who is in the table and all other columns are known.
    ReplacePrivate,
    /// Everything about the owner of this device; for messages of the local setting, and for nothing else.
    Owner,
}

/// Record that a new name means a known data set, and shares its budget.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  privet ledger adopt patients-2024 --of patients")]
pub struct Adopt {
    /// The new name.
    #[arg(value_name = "NEW")]
    pub dataset: String,
    /// The name that has the budget.
    #[arg(long, value_name = "OLD")]
    pub of: String,
    #[command(flatten)]
    pub patience: Patience,
}

/// Write the ledger's entries as JSON lines, for a backup or an auditor.
///
/// Each line has an entry's number, text and hash. What tables are recognised by and the values that the ledger keeps are never part
/// of it. Without --out the lines go to standard output, with and without --json.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  privet ledger export --out ledger.jsonl")]
pub struct Export {
    /// Write to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the file, if it is there already.
    #[arg(long, requires = "out")]
    pub overwrite: bool,
}

/// Show the fingerprint of the key that models and certificates are signed with.
///
/// The key is made when it is needed for the first time, in a file beside the ledger that only you can read. Whoever holds that
/// file can sign anything in your name: keep it, and a backup of it, as you keep the ledger.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  privet ledger key")]
pub struct Key {
    #[command(flatten)]
    pub patience: Patience,
}
