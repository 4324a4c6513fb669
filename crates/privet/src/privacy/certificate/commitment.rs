//! Where a ledger ended, said so that only its owner can read it.

use serde::{Deserialize, Serialize};

use super::Certificate;
use crate::privacy::journal::{Head, Journal, hexadecimal};

/// A keyed hash of the place in the ledger at which a certificate was made, and of all its runs, in hexadecimal. Whoever has the ledger and its key
/// can find that place; to everybody else it is random, and says nothing about what else stands in the ledger. Each run has another one, and
/// a run that is taken up again has the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Commitment(String);

impl Commitment {
    /// To the end of a journal, if it has a key. `runs` are the public names of all runs that the certificate speaks of, so that none can be left
    /// out of it later. Without a run, equal commitments would tell that nothing was written between two runs: then there is none.
    pub(in crate::privacy) fn to(
        head: &Head,
        dataset: &str,
        runs: &[String],
        journal: &dyn Journal,
    ) -> Option<Self> {
        if runs.is_empty() {
            return None;
        }
        let seal = journal.commitment(text(dataset, runs, head).as_bytes())?;
        Some(Self(hexadecimal(&seal)))
    }

    /// Whether it is to this place and these runs, by the ledger's keyed hash.
    pub fn is_to(
        &self,
        head: &Head,
        dataset: &str,
        runs: &[String],
        keyed: impl FnOnce(&[u8]) -> [u8; 32],
    ) -> bool {
        // Whoever compares has the key: how long it takes tells nobody anything.
        hexadecimal(&keyed(text(dataset, runs, head).as_bytes())) == self.0
    }

    /// The hash.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is hashed. Each part is one line.
fn text(dataset: &str, runs: &[String], head: &Head) -> String {
    let Head { entries, hash } = head;
    let runs = runs.join(" ");
    format!("privet-commitment-1\n{dataset}\n{runs}\n{entries}\n{hash}")
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

    /// Whether it is of a party that has no rows: it guarantees nothing itself, and says what others guarantee.
    pub fn is_without_rows(&self) -> bool {
        let says_nothing = self.claims.is_empty() && self.payments.is_empty() && self.runs.is_empty();
        says_nothing && self.total.is_none() && !self.parties.is_empty()
    }

    /// Whether it is one that other parties were shown. A ledger has at least one entry, so a certificate that its owner has says where it ended.
    pub fn is_for_partners(&self) -> bool {
        self.recorded && self.ledger == Head::empty()
    }
}
