//! Where a ledger ended, said so that only its owner can read it.

use serde::{Deserialize, Serialize};

use super::Certificate;
use crate::privacy::journal::{Head, Journal, hexadecimal};

/// A keyed hash of the place in the ledger at which a certificate was made, and of its run. Whoever has the ledger and its key can find that
/// place; to everybody else it is random, and says nothing about what else stands in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commitment {
    /// 16 bytes in hexadecimal, which follow from the place, the run and the key: a certificate that is made again is the same to the byte.
    nonce: String,
    /// The hash, in hexadecimal.
    seal: String,
}

impl Commitment {
    /// To the end of a journal, if it has a key. `run` is the public name of the run, if it has entries.
    pub(in crate::privacy) fn to(
        head: &Head,
        dataset: &str,
        run: Option<&str>,
        journal: &dyn Journal,
    ) -> Option<Self> {
        let keyed = journal.commitment(format!("nonce\n{}", text("", dataset, run, head)).as_bytes())?;
        let nonce = hexadecimal(&keyed[..16]);
        let seal = journal.commitment(text(&nonce, dataset, run, head).as_bytes())?;
        Some(Self {
            nonce,
            seal: hexadecimal(&seal),
        })
    }

    /// Whether it is to this place, by the ledger's keyed hash.
    pub fn is_to(
        &self,
        head: &Head,
        dataset: &str,
        run: Option<&str>,
        keyed: impl FnOnce(&[u8]) -> [u8; 32],
    ) -> bool {
        // Whoever compares has the key: how long it takes tells nobody anything.
        hexadecimal(&keyed(text(&self.nonce, dataset, run, head).as_bytes())) == self.seal
    }

    /// The hash, by which it is named.
    pub fn seal(&self) -> &str {
        &self.seal
    }
}

/// What is hashed. Each part is one line.
fn text(nonce: &str, dataset: &str, run: Option<&str>, head: &Head) -> String {
    let Head { entries, hash } = head;
    let run = run.unwrap_or("");
    format!("privet-commitment-1\n{nonce}\n{dataset}\n{run}\n{entries}\n{hash}")
}

impl Certificate {
    /// What other parties are shown of it: its claims and payments. Where the ledger ended, and what all runs on the data set add up to, would
    /// tell them what else its owner does; in their place stands the commitment.
    #[must_use]
    pub fn for_partners(&self) -> Self {
        Self {
            total: None,
            ledger: Head::empty(),
            ..self.clone()
        }
    }

    /// Whether it is one that other parties were shown.
    pub fn is_for_partners(&self) -> bool {
        self.commitment.is_some() && self.ledger == Head::empty()
    }
}
