//! What a run guarantees, in words and as data.

mod commitment;
mod words;

pub use commitment::Commitment;
pub use words::REFUTED;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::account::{Caps, Price};
use super::journal::{Event, Head};
use super::mechanism::ordered::{Distance, Loss};
use super::run::Run;
use super::signature::{PublicKey, Purpose, Signature, SigningKey};
use super::texts::is_one_line;
use super::{Delta, Epsilon, Relation, Sharing};
use crate::Error;

/// A claim: who is protected, from whom, and by which guarantee.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The neighbour relation: the tables that must be hard to tell apart.
    pub protects: Relation,
    /// The observer.
    pub from: Observer,
    /// The guarantee.
    pub guarantee: Guarantee,
}

/// The observer that a claim protects from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observer {
    /// Anyone who sees what was released, whatever else they know.
    Anyone,
    /// The named party of a joint computation.
    Party(String),
    /// Anyone who sees what was released, provided that what is assumed of the owners of joint sums holds.
    Provided(Vec<Sharing>),
}

/// The guarantee of a claim. Guarantees of different kinds are never added up: there is no operation for it.
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
    /// ε-local differential privacy of all that an owner sent, without a trusted curator.
    Local {
        /// The ε of one message, or of several together.
        epsilon: Epsilon,
    },
    /// Every value was randomised on its own: the privacy loss between two values grows with their distance.
    Distance {
        /// Column by column.
        columns: Vec<Distance>,
        /// Two rows that differ in all of these columns, at worst.
        record: Loss,
        /// Two units of as many rows as a unit may have.
        unit: Loss,
    },
    /// The other party's view can be simulated from this list: nothing else is shown.
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
    /// How many items.
    pub count: u64,
    /// The proof anchor.
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
    /// Assumptions of the price, besides its proof; usually none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assuming: Vec<String>,
    /// The owners of joint sums, if it was for shares of noise in such sums: the price holds under what is assumed of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
}

/// What a run guarantees. It is stored in the model, and nothing in it depends on rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The data set's name.
    pub dataset: String,
    /// The claims.
    pub claims: Vec<Claim>,
    /// The payments.
    pub payments: Vec<Payment>,
    /// What all runs on the data set together guarantee, this one included.
    pub total: Option<Total>,
    /// Whether the payments stand in a ledger that outlives the process.
    pub recorded: bool,
    /// Where the ledger's chain ended: `privet ledger verify --against` looks for it. Empty where other parties see the certificate.
    pub ledger: Head,
    /// The same for whoever has the ledger's key, and for nobody else, with all runs that it speaks of. Certificates of ledgers without a key,
    /// and older ones, have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commitment: Option<Commitment>,
    /// The runs whose entries it speaks of, by a hash of their names in the ledger: everything above follows from these entries.
    /// Certificates that were written before runs had names have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
    /// The certificates of the other parties that took part, as they gave them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parties: Vec<PartyCertificate>,
    /// What was guaranteed for the model that the run started from, if it started from one: whoever sees the result sees its trees, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<PartyCertificate>,
}

/// The certificate that another party gave for its part. Only that party's ledger can show whether it is true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartyCertificate {
    /// The party, by the name that was agreed on.
    pub party: String,
    /// Its certificate.
    pub certificate: Certificate,
}

/// What all runs on a data set together guarantee under one relation: a model may use what earlier runs released.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Total {
    /// How far.
    pub guarantee: Guarantee,
    /// Payments that protect under another relation only, and so are not counted in the guarantee.
    pub uncovered: u64,
    /// Items that were shown in joint computations: no ε covers them.
    pub leaks: u64,
    /// Columns that were released desensitised: no ε covers them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desensitised: Option<Columns>,
    /// How often the limit was set or changed after something had been released. If at all, an (ε, δ) is no longer one that
    /// was fixed before the first output.
    pub changed: u64,
    /// Assumptions of the payments of all runs, besides their proofs: the guarantee holds only if they do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assuming: Vec<String>,
    /// The owners of joint sums that payments of all runs were for: the guarantee holds under what is assumed of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sharing: Vec<Sharing>,
}

/// Columns that were released desensitised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// How many.
    pub columns: u64,
    /// The privacy loss between two rows, over all of these columns.
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
            commitment: stand.commitment,
            runs: stand.names,
            parties: Vec::new(),
            earlier: Vec::new(),
        }
    }

    /// What messages to a campaign guarantee each of its owners, by the campaign's mechanism (`docs/proofs/local.md#contributions`). The payment
    /// stands in each owner's own ledger, and in no other.
    pub(crate) fn of_messages(campaign: &str, epsilon: Epsilon) -> Self {
        let claim = Claim {
            protects: Relation::Owner,
            from: Observer::Anyone,
            guarantee: Guarantee::Local { epsilon },
        };
        Self {
            dataset: campaign.into(),
            claims: vec![claim],
            payments: Vec::new(),
            total: None,
            recorded: false,
            ledger: Head::empty(),
            commitment: None,
            runs: Vec::new(),
            parties: Vec::new(),
            earlier: Vec::new(),
        }
    }

    /// This certificate joined with that of another run on the same data set. The total is that of the run that ended later, which
    /// counts both; there is none unless both are recorded.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let recorded = self.recorded && other.recorded;
        // Claims whose run has no name would be looked for in the other's.
        let unnamed = |one: &Self| one.runs.is_empty() && !one.claims.is_empty();
        let named = !unnamed(&self) && !unnamed(&other);
        let later = if other.ledger.entries >= self.ledger.entries {
            (other.total, other.ledger, other.commitment.or(self.commitment))
        } else {
            (self.total, self.ledger, self.commitment.or(other.commitment))
        };
        Self {
            dataset: other.dataset,
            claims: [self.claims, other.claims].concat(),
            payments: [self.payments, other.payments].concat(),
            total: later.0.filter(|_| recorded),
            recorded,
            ledger: later.1,
            commitment: later.2,
            runs: [self.runs, other.runs]
                .concat()
                .into_iter()
                .filter(|_| named)
                .collect(),
            parties: [self.parties, other.parties].concat(),
            earlier: [self.earlier, other.earlier].concat(),
        }
    }

    /// What it guarantees, part by part, as the certificate of a run says it that starts from its model: nobody's ledger is shown, and no part has
    /// parts of its own.
    #[must_use]
    pub fn as_earlier(&self) -> Vec<PartyCertificate> {
        let alone = |certificate: &Self| Self {
            parties: Vec::new(),
            earlier: Vec::new(),
            ..certificate.for_partners()
        };
        let own = (!self.claims.is_empty()).then(|| PartyCertificate {
            party: format!("the owner of {}", self.dataset),
            certificate: alone(self),
        });
        let said = |part: &PartyCertificate| PartyCertificate {
            party: part.party.clone(),
            certificate: alone(&part.certificate),
        };
        let parts = self.parties.iter().chain(&self.earlier);
        own.into_iter().chain(parts.map(said)).collect()
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
            Error::data(format!("it is not a certificate that this version can read: {e}"))
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

    /// Another party's certificate, if it can be shown: its texts are single lines without invisible characters, and it contains
    /// no certificate of a third party.
    pub fn from_json(text: &str) -> Option<Self> {
        // It is read in one form only, in which nothing but quotes, backslashes and control characters is escaped: what cannot be seen stands
        // in the text as it is, or after a backslash.
        let mut rest = text;
        while let Some((_, escaped)) = rest.split_once('\\') {
            match escaped.chars().next() {
                None | Some('"' | '\\') => rest = escaped.get(1..).unwrap_or_default(),
                Some(_) => return None,
            }
        }
        if !is_one_line(text) {
            return None;
        }
        let certificate: Self = serde_json::from_str(text).ok()?;
        let is_one = certificate.parties.is_empty() && certificate.earlier.is_empty();
        (is_one && certificate.to_json() == text).then_some(certificate)
    }

    /// The sum of its payments, if all are pure ε.
    pub fn pure_sum(&self) -> Option<Epsilon> {
        pure_sum(&self.payments)
    }

    /// Assumptions of the payments, besides their proofs; each once.
    pub fn assuming(&self) -> BTreeSet<&str> {
        let all = self.payments.iter().flat_map(|payment| &payment.assuming);
        all.map(String::as_str).collect()
    }

    /// Whether some claim is void.
    pub fn is_void(&self) -> bool {
        self.claims
            .iter()
            .any(|claim| matches!(claim.guarantee, Guarantee::Void { .. }))
    }

    /// Whether some claim is void, of this party, of another, or of the model that the run started from.
    pub fn is_void_anywhere(&self) -> bool {
        let mut parts = self.parties.iter().chain(&self.earlier);
        self.is_void() || parts.any(|part| part.certificate.is_void())
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

/// The state of the ledger that a certificate is made from.
pub(super) struct Stand {
    pub(super) names: Vec<String>,
    pub(super) total: Option<Total>,
    pub(super) head: Head,
    pub(super) commitment: Option<Commitment>,
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
