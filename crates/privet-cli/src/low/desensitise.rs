//! Arguments of `privet desensitise`, as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::model::LedgerPath;

/// Write the columns of a table with every value changed, near values more readily than far ones.
///
/// What comes out is a CSV file that can be passed on as far as its certificate goes: how well two people can be told apart grows
/// with how much they differ. Ids and skipped columns are left out, and the label unless --label-epsilon is given. A column leaves
/// once: what left is kept in FILE.columns, and the same command writes the same file again.
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
    /// How numbers and ordinals are changed.
    #[arg(long, value_enum, default_value_t = MechanismName::ClampedGeometric)]
    pub mechanism: MechanismName,
    /// Bins in a part: of path-geometric, adjusted-map and local-map.
    #[arg(long, value_name = "N")]
    pub width: Option<u32>,
    /// ε over a border of two parts, of path-geometric; without it parts are shown.
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub across: Option<String>,
    /// How much more is spent between parts, of adjusted-map: 0.001 to 1000.
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    pub alpha: Option<f64>,
    /// Let values of piecewise lie outside their domain.
    #[arg(long)]
    pub unclipped: bool,
    /// How categories are changed.
    #[arg(long, value_enum, default_value_t = CategoriesName::Response)]
    pub categories: CategoriesName,
    /// How ε is laid out over columns.
    #[arg(long, value_enum, default_value_t = BudgetName::Split)]
    pub budget: BudgetName,
    /// How many columns leave, of --budget sample.
    #[arg(long, value_name = "N")]
    pub columns: Option<u32>,
    /// Bins of numbers whose schema says nothing about bins.
    #[arg(long, value_name = "N", default_value = "10")]
    pub bins: u16,
    /// Write the label, too, changed by randomised response with this ε; of more than two classes, some come out as (other) or empty.
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub label_epsilon: Option<String>,
    /// Where the columns are kept, instead of FILE.columns.
    #[arg(long, value_name = "FILE")]
    pub kept: Option<PathBuf>,
    #[command(flatten)]
    pub ledger: LedgerPath,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MechanismName {
    /// Geometric noise, clamped to the domain.
    ClampedGeometric,
    /// The same with parts: another ε over their borders.
    PathGeometric,
    /// OpBoost's global map.
    GlobalMap,
    /// OpBoost's adjusted map; tells more over borders than its ε says.
    AdjustedMap,
    /// OpBoost's local map; shows the part that a value lies in.
    LocalMap,
    /// An ordinary ε for the whole domain, to compare with.
    Piecewise,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CategoriesName {
    /// The true one more often than each other.
    Response,
    /// A flag for each, symmetric.
    SymmetricUnary,
    /// A flag for each, with the odds that estimate frequencies best.
    OptimisedUnary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BudgetName {
    /// Each column gets an equal part.
    Split,
    /// Each column gets all of it: a row loses as many times as much.
    Full,
    /// Some columns, drawn by chance, share it; the others stay.
    Sample,
}
