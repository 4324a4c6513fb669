//! Requests of a party on a network.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use privet::privacy::signature::Fingerprint;

use super::{LedgerFile, OutputKind, data_folder};
use crate::net::Proxy;
use crate::verb::exit::Failure;

/// A request to take part in a run with others.
#[derive(Debug, Clone)]
pub struct Party {
    /// The job: the same at all parties.
    pub job: PathBuf,
    /// The role of this party, if that says which it is.
    pub role: Option<String>,
    /// The name of this party, if its role is not its alone.
    pub name: Option<String>,
    /// Where the model goes, instead of where the job says.
    pub out: Option<PathBuf>,
    /// Whether a model that is there may be replaced.
    pub overwrite: bool,
    /// Whether private rows may be used without protection.
    pub not_protected: bool,
    /// Where predictions are written: the column of this party's rows that is copied beside them; otherwise rows are numbered.
    pub id: Option<String>,
    /// Where predictions are written: what is written for each row.
    pub what: OutputKind,
    /// Whether the plan is accepted.
    pub yes: bool,
    /// A file in which this party accepted the plan before.
    pub accepted: Option<PathBuf>,
    /// Accept the plan in this file, and do nothing else.
    pub sign: Option<PathBuf>,
    /// Give up the run of this plan that is not over.
    pub abandon: bool,
    /// Where the listener binds, instead of at the job's port on all addresses.
    pub bind: Option<SocketAddr>,
    /// The proxy that a dialling party goes through.
    pub proxy: Option<Proxy>,
    /// The folder of keys.
    pub keys: KeysFolder,
    /// Where the ledger is.
    pub ledger: LedgerFile,
}

/// A request about keys.
#[derive(Debug)]
pub enum KeysCommand {
    /// Draw the key of this party.
    Init,
    /// Show its fingerprint, and whom this party trusts.
    Show,
    /// Trust a key under a name.
    Trust {
        /// The party's name in jobs.
        name: String,
        /// The fingerprint of its key.
        fingerprint: Fingerprint,
        /// The last day of that.
        until: Option<String>,
    },
    /// Trust a party no more.
    Revoke {
        /// The party's name in jobs.
        name: String,
    },
}

/// The folder with the key of this party and the file of trusted keys.
#[derive(Debug, Clone)]
pub struct KeysFolder(Result<PathBuf, String>);

impl KeysFolder {
    /// The one that was given, or `PRIVET_KEYS`, or the one in the data folder.
    pub fn new(given: Option<PathBuf>, env: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let set = env("PRIVET_KEYS")
            .filter(|value| !value.is_empty())
            .map(PathBuf::from);
        let folder = given
            .or(set)
            .or_else(|| data_folder(env).map(|folder| folder.join("keys")));
        Self(folder.ok_or_else(|| {
            "your data folder is unknown (HOME is not set): give the folder of keys with --keys DIR".into()
        }))
    }

    /// The folder.
    ///
    /// # Errors
    /// A [`Failure`] that says how to name it.
    pub fn path(&self) -> Result<&Path, Failure> {
        self.0.as_deref().map_err(Failure::usage)
    }
}
