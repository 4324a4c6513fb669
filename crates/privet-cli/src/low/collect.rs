//! Arguments of `privet contribute` and `privet collect`, as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::model::{LedgerPath, Patience};

/// Answer a campaign of the local setting, as an owner: one message about all of your rows, randomised on this machine.
///
/// The campaign's file says what is asked and under which ε. That ε is paid from your own budget before anything is drawn; the message
/// is stored in your ledger before it is written. A campaign is answered once: the same command writes the same bytes again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  privet ledger limit me --epsilon 2 --change owner
      so much ε in all, for every campaign together
  privet contribute campaign.toml --data mine.csv --out message.bin
      pay, draw, store and write your message
  privet contribute campaign.toml --show
      what is stored, in words; nothing is drawn")]
pub struct Contribute {
    /// The campaign's file, to the byte as it was published.
    pub campaign: PathBuf,
    /// Your rows: a CSV (also gzipped) or Parquet file with the columns that the campaign asks about.
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Where the message goes.
    #[arg(long, value_name = "FILE", required_unless_present = "show")]
    pub out: Option<PathBuf>,
    /// Say in words what was stored for this campaign. Never draws.
    #[arg(long, conflicts_with_all = ["data", "out"])]
    pub show: bool,
    #[command(flatten)]
    pub ledger: LedgerPath,
    #[command(flatten)]
    pub patience: Patience,
}

/// Count the messages to a campaign: each token once, exactly, also when killed and started again.
///
/// Messages come one after another from files, or from standard input. Sums are kept in the file of --out, tokens beside it; both are
/// written batch by batch, so that the same command goes on where it was killed. From standard input, each batch that is on
/// disk is reported on standard error ("durable: N bytes"): after a crash, send the rest again, and what was counted is known by its tokens.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  privet collect campaign.toml messages.bin --out steps.collected
  cat messages-*.bin | privet collect campaign.toml --out steps.collected
  privet collect campaign.toml messages.bin --share 1/2 --out first.collected
      one of two collectors: each takes half of the tokens, and refuses the others
  privet collect merge first.collected second.collected --out steps.collected"
)]
pub struct Collect {
    #[command(subcommand)]
    pub verb: Option<CollectVerb>,
    /// The campaign's file, to the byte as it was published.
    #[arg(required = true)]
    pub campaign: Option<PathBuf>,
    /// Files of messages, one after another; without them, standard input.
    pub from: Vec<PathBuf>,
    /// Where the sums are kept; FILE.tokens is written beside it.
    #[arg(long, value_name = "FILE", required = true)]
    pub out: Option<PathBuf>,
    /// Messages, at most: the register of tokens takes 23 bytes of memory for each. It can be raised when the collection is continued.
    #[arg(long, value_name = "N", default_value = "10000000", value_parser = clap::value_parser!(u64).range(1..=10_000_000_000))]
    pub most: u64,
    /// Take one share of the tokens, such as 1/4, where several collectors work.
    #[arg(long, value_name = "I/N")]
    pub share: Option<String>,
    /// Threads that work; all processors if it is not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// Messages that are counted between two writes to disk.
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub batch: u32,
}

#[derive(Debug, Subcommand)]
pub enum CollectVerb {
    Merge(Merge),
}

/// Add up collections of one campaign that took different shares of the tokens.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  privet collect merge first.collected second.collected --out steps.collected"
)]
pub struct Merge {
    /// The collections.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Where the sums go.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}
