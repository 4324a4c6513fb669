//! Arguments of `privet schema`, as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Describe a table: what is public about it, and who is protected.
///
/// A schema names each column with its type and, from public knowledge, its bounds or values. Nothing in it may be taken
/// from the rows: the largest income in a table is one person's.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  privet schema draft patients.csv --out schema.toml\n  privet schema check schema.toml --data patients.csv"
)]
pub struct Schema {
    #[command(subcommand)]
    pub verb: SchemaVerb,
}

#[derive(Debug, Subcommand)]
pub enum SchemaVerb {
    Draft(Draft),
    Check(Check),
}

/// Begin a schema for a file: names and types are filled in, bounds are for you to fill in.
///
/// Bounds and values come from public knowledge, never from the table. Where a public file has them, it can be named: --like takes them from a
/// table that is public as a whole, such as last year's published one; --from takes them from a code book, which has columns as a schema has
/// them, also for many columns at once: "reading_*" = { type = "number", min = 0, max = 50 }.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  privet schema draft patients.csv --out schema.toml\n  privet schema draft patients.csv --like published.csv --from codebook.toml --out schema.toml"
)]
pub struct Draft {
    /// A CSV (also gzipped) or Parquet file; - for standard input.
    pub file: PathBuf,
    /// Take bounds and values from this file, which must be public as a whole.
    #[arg(long, value_name = "PUBLIC")]
    pub like: Option<PathBuf>,
    /// Take columns from this code book, which has them as a schema has; names with * stand for many.
    #[arg(long, value_name = "CODEBOOK")]
    pub from: Option<PathBuf>,
    /// Write to this file, which must not exist yet, instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The data set's name, instead of the file's.
    #[arg(long, value_name = "NAME")]
    pub dataset: Option<String>,
}

/// Say in plain words what a schema means, or everything that is wrong with it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  privet schema check schema.toml --data patients.csv")]
pub struct Check {
    /// The schema.
    pub schema: PathBuf,
    /// Also check that this file has the declared columns and reads to its end; - for standard input.
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Count missing, undeclared and out-of-bounds cells of every column, the label too, for the owner only: shown on a terminal, never as JSON.
    #[arg(long, requires = "data")]
    pub private_diagnostics: bool,
}
