//! Arguments of `privet desensitise`, as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::model::{LedgerPath, Patience};

/// Write the columns of a table with every value randomised. Values that lie near each other are hard to tell apart.
///
/// The output is a CSV file. Its certificate says how well two people can be told apart: the more they differ, the better. Ids and
/// skipped columns are omitted, and so is the label unless --label-epsilon is given. Each column is randomised once: the ledger keeps
/// the result, and the same command writes the same file again.
///
/// A missing value is an empty cell, written as "" if it is the only one of its row. Names and values that a spreadsheet program would
/// run as a formula (they begin with =, +, - or @ and are no numbers) are written with an apostrophe before them, which Privet
/// removes when it reads them.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  privet ledger limit shop --epsilon 0 --change replace
  privet desensitise shop.csv --schema shop.toml --epsilon 1 --out changed.csv")]
pub struct Desensitise {
    /// A CSV (also gzipped) or Parquet file.
    pub file: PathBuf,
    /// Its schema.
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
    /// How well values that lie one bin apart may be told apart, as the exponent of e: for a row, over all columns.
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub epsilon: String,
    /// Where the changed columns go; FILE.certificate.json is written beside it.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Mechanism for numbers and ordinals.
    #[arg(long, value_enum, default_value_t = MechanismName::ClampedGeometric)]
    pub mechanism: MechanismName,
    /// Bins per part (for path-geometric, adjusted-map and local-map).
    #[arg(long, value_name = "N")]
    pub width: Option<u32>,
    /// ε between two neighbouring parts (for path-geometric). Without it, the part of each value is revealed.
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub across: Option<String>,
    /// Factor of ε between parts (for adjusted-map), from 0.001 to 1000.
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    pub alpha: Option<f64>,
    /// Allow results outside the domain (for piecewise).
    #[arg(long)]
    pub unclipped: bool,
    /// Mechanism for categories.
    #[arg(long, value_enum, default_value_t = CategoriesName::Response)]
    pub categories: CategoriesName,
    /// How ε is divided over the columns.
    #[arg(long, value_enum, default_value_t = BudgetName::Split)]
    pub budget: BudgetName,
    /// How many columns are released (for --budget sample).
    #[arg(long, value_name = "N")]
    pub columns: Option<u32>,
    /// Number of bins of a numeric column whose schema declares none.
    #[arg(long, value_name = "N", default_value = "10")]
    pub bins: u16,
    /// Also write the label, by randomised response with this ε. With more than two classes, some labels come out as (other) or empty.
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub label_epsilon: Option<String>,
    /// Where an earlier version of privet kept the columns, instead of FILE.columns: they are taken into the ledger once, and compared
    /// with it from then on.
    #[arg(long, value_name = "FILE")]
    pub kept: Option<PathBuf>,
    #[command(flatten)]
    pub ledger: LedgerPath,
    #[command(flatten)]
    pub patience: Patience,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MechanismName {
    /// Geometric noise, clamped to the domain.
    ClampedGeometric,
    /// Geometric noise with a second ε between parts.
    PathGeometric,
    /// OpBoost's global map.
    GlobalMap,
    /// OpBoost's adjusted map; between parts it reveals more than its ε says.
    AdjustedMap,
    /// OpBoost's local map; it reveals the part that a value lies in.
    LocalMap,
    /// The piecewise mechanism: an ordinary local ε for the whole domain, for comparison.
    Piecewise,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CategoriesName {
    /// Randomised response: the true category is the most likely one.
    Response,
    /// Symmetric unary encoding: one noisy flag per category.
    SymmetricUnary,
    /// Optimised unary encoding: one noisy flag per category, best for estimates of frequencies.
    OptimisedUnary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BudgetName {
    /// Each column gets an equal part of ε.
    Split,
    /// Each column gets the whole ε: the total of a row is ε times the number of columns.
    Full,
    /// Randomly chosen columns share ε; the others are not released.
    Sample,
}
