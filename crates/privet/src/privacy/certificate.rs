//! What a run guarantees, in words and as data.

mod words;

pub use words::REFUTED;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::account::{Caps, Price};
use super::journal::{Event, Head};
use super::mechanism::ordered::{Distance, Loss};
use super::run::Run;
use super::signature::{PublicKey, Purpose, Signature, SigningKey};
use super::texts::is_one_line;
use super::{Delta, Epsilon, Relation};
use crate::Error;

/// Who is protected, from whom, how far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Who must not be told apart.
    pub protects: Relation,
    /// Who looks.
    pub from: Observer,
    /// How far.
    pub guarantee: Guarantee,
}

/// Who looks at what was released.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observer {
    /// Anyone who sees what was released, whatever else they know.
    Anyone,
    /// The named party of a joint computation.
    Party(String),
}

/// How far a claim goes. Guarantees of different kinds are never added up: there is no operation for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Guarantee {
    /// ε-differential privacy.
    Pure {
        /// The most that the log-odds about one unit can move.
        epsilon: Epsilon,
    },
    /// (ε, δ)-differential privacy, from a box of caps.
    Approximate {
        /// ε at the stated δ, rounded up.
        epsilon: Epsilon,
        /// The stated δ.
        delta: Delta,
        /// The box that was paid for; it gives the ε at every other δ.
        caps: Caps,
    },
    /// ε-local differential privacy of a whole message: nobody need be trusted.
    Local {
        /// The ε of the message.
        epsilon: Epsilon,
    },
    /// Every value was changed by itself: how well two values can be told apart depends on how far they are from each other.
    Distance {
        /// Column by column.
        columns: Vec<Distance>,
        /// Two rows that differ in all of these columns, at worst.
        record: Loss,
        /// Two units of as many rows as a unit may have.
        unit: Loss,
    },
    /// The other side could have written its view itself from this list: nothing else is shown.
    Simulated {
        /// What is shown, item by item.
        leakage: Vec<Leakage>,
    },
    /// Nobody is protected.
    Void {
        /// Why not.
        because: String,
    },
}

/// One item that a joint computation shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leakage {
    /// What is shown.
    pub what: String,
    /// To whom.
    pub to: String,
    /// How many of it.
    pub count: u64,
    /// Where it is argued.
    pub proof: String,
}

impl Leakage {
    /// What an entry of a journal says was shown.
    pub fn of(event: &Event) -> Option<Self> {
        let Event::Leak {
            what,
            to,
            count,
            proof,
            ..
        } = event
        else {
            return None;
        };
        Some(Self {
            what: what.clone(),
            to: to.clone(),
            count: *count,
            proof: proof.clone(),
        })
    }
}

/// One payment of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payment {
    /// What it was for.
    pub what: String,
    /// What it cost.
    pub price: Price,
    /// How many draws it bought, at most.
    pub draws: u64,
    /// What the price rests on, beside the proof: most rest on nothing else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assuming: Vec<String>,
}

/// What a run guarantees. It travels with the model, and holds nothing that depends on rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The data set's name.
    pub dataset: String,
    /// What holds, for whom.
    pub claims: Vec<Claim>,
    /// What was paid.
    pub payments: Vec<Payment>,
    /// What all runs on the data set together guarantee, this one included.
    pub total: Option<Total>,
    /// Whether the payments stand in a ledger that outlives the process.
    pub recorded: bool,
    /// Where the ledger's chain ended: `privet ledger verify --against` looks for it.
    pub ledger: Head,
    /// The runs whose entries it speaks of, by a hash of their names in the ledger: everything above follows from these entries.
    /// Certificates that were written before runs had names have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
    /// What holds for the data sets of other parties that took part, in their own words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parties: Vec<Said>,
}

/// What another party says of its part. Whether it is true only its own ledger can show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// The party, by the name that was agreed on.
    pub party: String,
    /// What it says.
    pub certificate: Certificate,
}

/// What all runs on a data set together guarantee under one relation: a model may use what earlier runs released.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Total {
    /// How far.
    pub guarantee: Guarantee,
    /// Payments that protect under another relation only, and so are not part of this sentence.
    pub uncovered: u64,
    /// Items that were shown in joint computations: no ε covers them.
    pub leaks: u64,
    /// Columns that left with their values changed: no ε covers them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desensitised: Option<Columns>,
    /// How often the limit was set or changed after something had been released. If at all, an (ε, δ) is no longer one that
    /// was fixed before the first output.
    pub changed: u64,
    /// What the payments of all runs rest on, beside their proofs: the guarantee is no better than these sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assuming: Vec<String>,
}

/// Columns that left with every value changed by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// How many.
    pub columns: u64,
    /// How well two rows can be told apart by all of them.
    pub record: Loss,
}

impl Certificate {
    /// What the entries of these runs say together. `relation` is whose rows they are about.
    pub(super) fn of(dataset: &str, relation: &Relation, runs: &[&Run], stand: Stand) -> Self {
        Self {
            dataset: dataset.into(),
            claims: runs.iter().flat_map(|run| run.claims(relation)).collect(),
            payments: runs.iter().flat_map(|run| run.payments()).cloned().collect(),
            total: stand.total,
            recorded: stand.recorded,
            ledger: stand.head,
            runs: stand.names,
            parties: Vec::new(),
        }
    }

    /// This, and what another run on the same data set guarantees. The total is that of whichever ended later, for it counts both;
    /// there is none unless both are recorded.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let recorded = self.recorded && other.recorded;
        // Claims whose run has no name would be looked for in the other's.
        let unnamed = |one: &Self| one.runs.is_empty() && !one.claims.is_empty();
        let named = !unnamed(&self) && !unnamed(&other);
        let later = if other.ledger.entries >= self.ledger.entries {
            (other.total, other.ledger)
        } else {
            (self.total, self.ledger)
        };
        Self {
            dataset: other.dataset,
            claims: [self.claims, other.claims].concat(),
            payments: [self.payments, other.payments].concat(),
            total: later.0.filter(|_| recorded),
            recorded,
            ledger: later.1,
            runs: [self.runs, other.runs]
                .concat()
                .into_iter()
                .filter(|_| named)
                .collect(),
            parties: [self.parties, other.parties].concat(),
        }
    }

    /// As text that [`from_json`](Self::from_json) reads.
    pub fn to_json(&self) -> String {
        // Unwrap safety: plain structs with text keys always serialise.
        serde_json::to_string(self).expect("a certificate is plain data")
    }

    /// As a file: its text with a signature over that text as one more field.
    pub fn to_signed_json(&self, key: &SigningKey) -> String {
        let text = self.to_json();
        let signature = key.sign(Purpose::Certificate, text.as_bytes());
        // Unwrap safety: two texts always serialise.
        let signature = serde_json::to_string(&signature).expect("a signature is plain data");
        format!("{},\"signature\":{signature}}}", &text[..text.len() - 1])
    }

    /// A certificate from its file, and whose key signed it, if one did.
    ///
    /// # Errors
    /// [`Error::Data`] if it is no certificate that this version can read, or its signature is bad.
    pub fn from_file(mut value: serde_json::Value) -> Result<(Self, Option<PublicKey>), Error> {
        let unreadable = |e: serde_json::Error| {
            Error::data(format!("it holds no certificate that this version can read: {e}"))
        };
        let signature = value
            .as_object_mut()
            .and_then(|fields| fields.remove("signature"));
        let certificate: Self = serde_json::from_value(value).map_err(unreadable)?;
        let signer = match signature {
            None => None,
            Some(signature) => {
                let signature: Signature = serde_json::from_value(signature).map_err(unreadable)?;
                Some(signature.verify(Purpose::Certificate, certificate.to_json().as_bytes())?)
            }
        };
        Ok((certificate, signer))
    }

    /// What another party sent as its certificate, if it is one that can be shown: its texts are single lines of what can be seen,
    /// and nobody speaks for a third.
    pub fn from_json(text: &str) -> Option<Self> {
        fn is_readable(value: &serde_json::Value) -> bool {
            match value {
                serde_json::Value::String(text) => is_one_line(text),
                serde_json::Value::Array(items) => items.iter().all(is_readable),
                serde_json::Value::Object(fields) => fields.values().all(is_readable),
                _ => true,
            }
        }
        let certificate: Self = serde_json::from_str(text).ok()?;
        let shown = is_readable(&serde_json::from_str(text).ok()?) && certificate.parties.is_empty();
        (shown && certificate.to_json() == text).then_some(certificate)
    }

    /// The sum of its payments, if all are pure ε.
    pub fn pure_sum(&self) -> Option<Epsilon> {
        pure_sum(&self.payments)
    }

    /// What the payments rest on, beside their proofs; each sentence once.
    pub fn assuming(&self) -> BTreeSet<&str> {
        let all = self.payments.iter().flat_map(|payment| &payment.assuming);
        all.map(String::as_str).collect()
    }

    /// Whether some claim protects nobody.
    pub fn is_void(&self) -> bool {
        self.claims
            .iter()
            .any(|claim| matches!(claim.guarantee, Guarantee::Void { .. }))
    }
}

pub(super) fn pure_sum(payments: &[Payment]) -> Option<Epsilon> {
    payments
        .iter()
        .try_fold(Epsilon::ZERO, |sum, payment| match payment.price {
            Price::Pure(epsilon) => sum.checked_add(epsilon),
            _ => None,
        })
}

/// Where and how runs are recorded.
pub(super) struct Stand {
    pub(super) names: Vec<String>,
    pub(super) total: Option<Total>,
    pub(super) head: Head,
    pub(super) recorded: bool,
}

impl Guarantee {
    pub(super) fn approximate(caps: Caps, delta: Delta) -> Self {
        Self::Approximate {
            epsilon: caps.epsilon(delta),
            delta,
            caps,
        }
    }
}
