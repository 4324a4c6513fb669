//! Arguments of the verbs for parties on a network, as typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::model::{LedgerPath, OutputKind, Patience};

/// Take part in a run with other parties over a network.
///
/// All parties have the same job, with a section `[network]` that says who listens and where; all others dial that party. Each has its own
/// table, ledger and key. Before anything is read the parties compare their plans, and all sign one agreement. A run that was broken off goes
/// on when the same command is given again: nothing is paid or drawn twice. A job that names a model predicts: only the label holder needs the
/// model's file, and only it gets predictions.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  privet keys init                                   once at each party, then exchange fingerprints\n  privet party job.toml --role miner                 what all will learn, and what this party spends\n  privet party job.toml --role miner --yes           take part\n  privet party job.toml --role owner --name north --yes\n\nA job on a network:\n  [network]\n  listens = \"miner\"                  # all others dial it\n  address = \"miner.example.org:7443\"\n  patience = 600                      # seconds to wait for a party that is not connected\n  deadline = 86400                    # seconds after which a run ends in any case"
)]
pub struct Party {
    /// The job, the same at all parties.
    pub job: PathBuf,
    /// What this party does: label-holder, feature-holder, miner, owner, initiator or responder.
    #[arg(long, value_name = "ROLE")]
    pub role: Option<String>,
    /// Its name in the job, where several parties have the same role.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Where the model or the predictions go, instead of where the job says. Certificate, transcript, status, metrics and log go beside it.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the model that is there already. What was paid for that one stays spent.
    #[arg(long)]
    pub overwrite: bool,
    /// Use private rows without protection. The ledger records this permanently.
    #[arg(long)]
    pub not_protected: bool,
    /// If the job predicts: copy this column of the label holder's file to the output, instead of numbering rows.
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,
    /// If the job predicts: what to write for each row.
    #[arg(long, value_enum, default_value_t = OutputKind::All)]
    pub what: OutputKind,
    /// Accept the plan.
    #[arg(long)]
    pub yes: bool,
    /// Accept the plan that was signed in this file, and no other.
    #[arg(long, value_name = "FILE", conflicts_with = "yes")]
    pub accepted: Option<PathBuf>,
    /// Sign the plan in this file, and do nothing else.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["yes", "accepted"])]
    pub sign: Option<PathBuf>,
    /// Give up the run of this job that is not over. What was spent stays spent.
    #[arg(long)]
    pub abandon: bool,
    /// Where the listening party binds, instead of at the job's port on all addresses.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub bind: Option<SocketAddr>,
    /// Dial through this HTTP proxy, by CONNECT.
    #[arg(long, value_name = "HOST:PORT")]
    pub proxy: Option<String>,
    #[command(flatten)]
    pub keys: KeysPath,
    #[command(flatten)]
    pub ledger: LedgerPath,
    #[command(flatten)]
    pub patience: Patience,
}

/// Make the key of this party, and trust those of others.
#[derive(Debug, Args)]
pub struct Keys {
    #[command(flatten)]
    pub keys: KeysPath,
    #[command(subcommand)]
    pub verb: KeysVerb,
}

#[derive(Debug, Subcommand)]
pub enum KeysVerb {
    /// Draw the key of this party, and show its fingerprint.
    #[command(after_help = "Example:\n  privet keys init")]
    Init,
    /// Show the fingerprint of this party, and whom it trusts.
    #[command(after_help = "Example:\n  privet keys show")]
    Show,
    /// Trust the key with this fingerprint under a name, as the other party says it by a way that you trust.
    #[command(after_help = "Example:\n  privet keys trust north 1f0c… --until 2027-12-31")]
    Trust {
        /// The party's name in jobs.
        name: String,
        /// The fingerprint that `privet keys show` says there.
        fingerprint: String,
        /// The last day of that trust, as 2027-12-31.
        #[arg(long, value_name = "DAY")]
        until: Option<String>,
    },
    /// Trust a party no more.
    #[command(after_help = "Example:\n  privet keys revoke north")]
    Revoke {
        /// The party's name in jobs.
        name: String,
    },
}

/// Show what a run with other parties is at.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  privet status model.privet.north.status.json")]
pub struct Status {
    /// The status file of the party, beside its output.
    pub file: PathBuf,
}

/// Where keys are.
#[derive(Debug, Args)]
pub struct KeysPath {
    /// The folder of keys, instead of PRIVET_KEYS or the one in your data folder.
    #[arg(long, value_name = "DIR", global = true)]
    pub keys: Option<PathBuf>,
}
