//! What a ledger's file holds of an agreement until its run is over: written before this party signs, and again when all have signed.

use std::path::Path;

use privet::Error;
use privet::error::JournalFault;
use privet::wire::Wire;
use sha2::{Digest, Sha256};

use super::control::Bundle;
use crate::ledger::AgreedRun;

/// What is held of an agreement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// Nothing.
    Nothing,
    /// This party has signed. It has drawn nothing: others may not have signed.
    Proposed(Bundle),
    /// All have signed.
    Agreed(Bundle),
}

impl Held {
    pub(super) fn bundle(&self) -> Option<&Bundle> {
        match self {
            Self::Nothing => None,
            Self::Proposed(bundle) | Self::Agreed(bundle) => Some(bundle),
        }
    }
}

/// The place in a ledger's file for the agreement of a party's run of a plan.
pub struct HeldRun(AgreedRun);

impl HeldRun {
    /// Opens it.
    ///
    /// # Errors
    /// [`Error::Journal`] if the ledger cannot be written.
    pub fn open(ledger: &Path, plan: &str, me: &str) -> Result<Self, Error> {
        let digest = Sha256::digest(plan.as_bytes());
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self(AgreedRun::open(ledger, format!("{digest} {me}"))?))
    }

    /// What is held.
    ///
    /// # Errors
    /// [`Error::Journal`] if it cannot be read.
    pub fn get(&self) -> Result<Held, Error> {
        let Some(bytes) = self.0.get()? else {
            return Ok(Held::Nothing);
        };
        let bundle = Bundle::from_bytes(&bytes).map_err(|e| {
            let why = format!("the agreement of a run was written by another version of privet: {e}");
            Error::journal(JournalFault::OtherVersion, why)
        })?;
        Ok(match bundle.signatures.is_empty() {
            true => Held::Proposed(bundle),
            false => Held::Agreed(bundle),
        })
    }

    /// How many entries the ledger had before the run.
    ///
    /// # Errors
    /// [`Error::Journal`] if it cannot be read.
    pub fn first(&self) -> Result<u64, Error> {
        self.0.first()
    }

    pub(super) fn put(&self, bundle: &Bundle) -> Result<(), Error> {
        self.0.put(&bundle.to_bytes(), bundle.signatures.is_empty())
    }

    /// Forgets it: the run is over.
    ///
    /// # Errors
    /// [`Error::Journal`] if it cannot be written.
    pub fn remove(&self) -> Result<(), Error> {
        self.0.remove()
    }
}
