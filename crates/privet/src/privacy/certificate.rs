//! What a run guarantees, in words and as data.

mod words;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::account::{Caps, Price};
use super::book::Line;
use super::joint::Leak;
use super::journal::Head;
use super::mechanism::ordered::{Distance, Loss};
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
    pub(super) fn of(
        dataset: &str,
        relation: Relation,
        run: Run,
        total: Option<Total>,
        ledger: Head,
    ) -> Self {
        let mut claims = Vec::new();
        if let Some(guarantee) = run.guarantee() {
            claims.push(Claim {
                protects: relation.clone(),
                from: Observer::Anyone,
                guarantee,
            });
        }
        if !run.columns.is_empty() && run.void.is_none() {
            let record = Distance::record(&run.columns);
            claims.push(Claim {
                protects: relation.clone(),
                from: Observer::Anyone,
                guarantee: Guarantee::Distance {
                    columns: run.columns,
                    record,
                    unit: record.times(relation.rows().get().into()),
                },
            });
        }
        if !run.leakage.is_empty() {
            let guarantee = match &run.void {
                Some(because) => Guarantee::Void {
                    because: because.clone(),
                },
                None => Guarantee::Simulated { leakage: run.leakage },
            };
            claims.push(Claim {
                protects: relation,
                from: Observer::Party("the other parties".into()),
                guarantee,
            });
        }
        Self {
            dataset: dataset.into(),
            claims,
            payments: run.payments,
            total,
            recorded: run.recorded,
            ledger,
            parties: Vec::new(),
        }
    }

    /// As text that [`from_json`](Self::from_json) reads.
    pub fn to_json(&self) -> String {
        // Unwrap safety: plain structs with text keys always serialise.
        serde_json::to_string(self).expect("a certificate is plain data")
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

fn pure_sum(payments: &[Payment]) -> Option<Epsilon> {
    payments
        .iter()
        .try_fold(Epsilon::ZERO, |sum, payment| match payment.price {
            Price::Pure(epsilon) => sum.checked_add(epsilon),
            _ => None,
        })
}

/// What a ledger notes of one run.
#[derive(Debug)]
pub(super) struct Run {
    /// What the run may spend: what was left when it opened, or what it promised.
    cap: Caps,
    spent: Caps,
    delta: Delta,
    payments: Vec<Payment>,
    leakage: Vec<Leakage>,
    columns: Vec<Distance>,
    void: Option<String>,
    recorded: bool,
}

impl Run {
    pub(super) fn open(line: Option<Line>, recorded: bool) -> Self {
        let (cap, delta) = line.map_or((Caps::ZERO, Delta::ZERO), |l| (l.remaining(), l.delta));
        let (payments, leakage) = (Vec::new(), Vec::new());
        Self {
            cap,
            spent: Caps::ZERO,
            delta,
            payments,
            leakage,
            columns: Vec::new(),
            void: None,
            recorded,
        }
    }

    pub(super) fn promise(&mut self, price: Price) -> Result<(), Error> {
        if !self.payments.is_empty() {
            return Err(Error::Misuse(
                "a promise comes before the first payment of a run".into(),
            ));
        }
        self.cap = Caps::from(price);
        Ok(())
    }

    /// What the run will have spent after `price`.
    pub(super) fn admits(&self, price: Price) -> Result<Caps, Error> {
        self.spent.charge(&self.cap, price).ok_or_else(|| {
            Error::Budget(format!(
                "refused: this needs {price}, and the run may spend {} more. Nothing was drawn and no data was looked at.",
                self.remaining()
            ))
        })
    }

    pub(super) fn is_recorded(&self) -> bool {
        self.recorded
    }

    pub(super) fn remaining(&self) -> Caps {
        self.cap.remaining(&self.spent)
    }

    pub(super) fn pay(&mut self, payment: Payment, spent: Caps) {
        self.payments.push(payment);
        self.spent = spent;
    }

    pub(super) fn leak(&mut self, leak: &Leak, count: u64) {
        let proof = leak.anchor().as_str().to_owned();
        self.leakage.push(Leakage {
            what: leak.what().into(),
            to: leak.to().into(),
            count,
            proof,
        });
    }

    pub(super) fn desensitise(&mut self, columns: Vec<Distance>) {
        self.columns.extend(columns);
    }

    pub(super) fn void(&mut self, because: &str) {
        self.void.get_or_insert_with(|| because.into());
    }

    /// Prices, and when to stop, may have followed from outputs: that is covered by what the run was allowed to spend, not by
    /// what it happened to. For pure ε the sum holds as well (`docs/proofs/accounts.md`).
    fn guarantee(&self) -> Option<Guarantee> {
        if let Some(because) = &self.void {
            return Some(Guarantee::Void {
                because: because.clone(),
            });
        }
        match pure_sum(&self.payments) {
            _ if self.payments.is_empty() => None,
            // Beside columns that have left, an ε of nothing would be read as a promise about them.
            Some(Epsilon::ZERO) if !self.columns.is_empty() => None,
            Some(epsilon) => Some(Guarantee::Pure { epsilon }),
            None => Some(Guarantee::approximate(self.cap, self.delta)),
        }
    }
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
