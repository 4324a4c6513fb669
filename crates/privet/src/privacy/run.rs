//! The claims and payments of one run, computed from its entries. The ledger that made the run and the verification of its
//! certificate use the same code, on the same entries.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::account::{Caps, Price};
use super::book::Refusal;
use super::certificate::{Claim, Guarantee, Leakage, Observer, Payment, pure_sum};
use super::journal::hexadecimal;
use super::mechanism::ordered::Distance;
use super::{Delta, Epsilon, Relation, Sharing, getters};

/// What a run may spend, fixed before its first draw, and the δ at which that is stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// The box of caps.
    pub caps: Caps,
    /// The δ of the job, or of the budget where a job promised nothing; none where all is pure ε.
    pub delta: Delta,
}

/// The public name of a run, in certificates. Its name in the ledger is secret: a party resumes its run by it.
pub(super) fn public_name(name: &str) -> String {
    let hash = Sha256::new_with_prefix(b"privet-run-1\0")
        .chain_update(name)
        .finalize();
    hexadecimal(&hash[..16])
}

/// One run, as its entries say it.
#[derive(Debug, Clone, Default)]
pub(super) struct Run {
    /// Whom it protects; unknown for disclosures that were written before runs had names.
    relation: Option<Relation>,
    promise: Option<Promise>,
    spent: Caps,
    payments: Vec<Payment>,
    leakage: Vec<Leakage>,
    columns: Vec<Distance>,
    void: Option<String>,
}

impl Run {
    /// A run without entries.
    pub(super) const NEW: &Self = &Self {
        relation: None,
        promise: None,
        spent: Caps::ZERO,
        payments: Vec::new(),
        leakage: Vec::new(),
        columns: Vec::new(),
        void: None,
    };

    getters! {
        /// What it promised, if it has paid.
        pub(super) promise(promise) -> Option<Promise>;
        /// What it has spent of its promise.
        pub(super) spent(spent) -> Caps;
        pub(super) relation(relation.as_ref()) -> Option<&Relation>;
        pub(super) payments(&payments) -> &[Payment];
    }

    /// Whether it has paid for something or shown something; being void is neither.
    pub(super) fn is_begun(&self) -> bool {
        self.promise.is_some() || !self.leakage.is_empty() || !self.columns.is_empty()
    }

    /// Checks that an entry under `relation` may belong to this run.
    pub(super) fn is_about(&self, relation: &Relation) -> Result<(), Box<Refusal>> {
        match &self.relation {
            Some(begun) if begun != relation => {
                let (begun, relation) = (begun.clone(), relation.clone());
                Err(Refusal::OtherChange { begun, relation }.into())
            }
            _ => Ok(()),
        }
    }

    /// The promise and the amount spent after paying `price`, or the refusal.
    pub(super) fn admits(
        &self,
        relation: &Relation,
        price: Price,
        promise: Option<Promise>,
    ) -> Result<(Promise, Caps), String> {
        self.is_about(relation).map_err(|why| why.fact())?;
        let promise = match (self.promise, promise) {
            (Some(made), None) | (None, Some(made)) => made,
            _ => return Err("a run promises once, with its first payment".into()),
        };
        let spent = self.spent.charge(&promise.caps, price);
        let spent = spent.ok_or_else(|| format!("{price} is more than its run promised to spend"))?;
        Ok((promise, spent))
    }

    pub(super) fn pay(&mut self, payment: Payment, relation: &Relation, (promise, spent): (Promise, Caps)) {
        self.about(Some(relation));
        self.promise = Some(promise);
        self.spent = spent;
        self.payments.push(payment);
    }

    pub(super) fn leak(&mut self, item: Leakage, relation: Option<&Relation>) {
        self.about(relation);
        self.leakage.push(item);
    }

    pub(super) fn desensitise(&mut self, columns: &[Distance], relation: &Relation) {
        self.about(Some(relation));
        self.columns.extend_from_slice(columns);
    }

    /// Marks it void; the first reason is kept.
    pub(super) fn void(&mut self, because: &str, relation: Option<&Relation>) {
        self.about(relation);
        self.void.get_or_insert_with(|| because.into());
    }

    fn about(&mut self, relation: Option<&Relation>) {
        if self.relation.is_none() {
            self.relation = relation.cloned();
        }
    }

    /// Its claims; `relation` is used where its entries name none.
    pub(super) fn claims(&self, relation: &Relation) -> Vec<Claim> {
        let relation = self.relation.as_ref().unwrap_or(relation);
        let claim = |from, guarantee| Claim {
            protects: relation.clone(),
            from,
            guarantee,
        };
        let mut claims = Vec::new();
        claims.extend(
            self.guarantee()
                .map(|guarantee| claim(self.observer(), guarantee)),
        );
        if !self.columns.is_empty() && self.void.is_none() {
            let record = Distance::record(&self.columns);
            let guarantee = Guarantee::Distance {
                columns: self.columns.clone(),
                record,
                unit: record.times(relation.rows().get().into()),
            };
            claims.push(claim(Observer::Anyone, guarantee));
        }
        if !self.leakage.is_empty() {
            let guarantee = match &self.void {
                Some(because) => Guarantee::Void {
                    because: because.clone(),
                },
                None => Guarantee::Simulated {
                    leakage: self.leakage.clone(),
                },
            };
            claims.push(claim(Observer::Party("the other parties".into()), guarantee));
        }
        claims
    }

    /// From whom its payments protect: what was paid for joint sums holds under what is assumed of their owners, and so does the whole.
    fn observer(&self) -> Observer {
        let sharing: BTreeSet<Sharing> = self.payments.iter().filter_map(|paid| paid.sharing).collect();
        if sharing.is_empty() || self.void.is_some() {
            return Observer::Anyone;
        }
        Observer::Provided(sharing.into_iter().collect())
    }

    /// Prices and the decision to stop may depend on outputs, so the guarantee is computed from what the run was allowed to spend.
    /// For pure ε the sum of the payments holds as well (`docs/proofs/accounts.md`).
    fn guarantee(&self) -> Option<Guarantee> {
        if let Some(because) = &self.void {
            return Some(Guarantee::Void {
                because: because.clone(),
            });
        }
        let promise = self.promise?;
        match pure_sum(&self.payments) {
            // Beside desensitised columns, an ε of zero would be read as a promise about them.
            Some(Epsilon::ZERO) if !self.columns.is_empty() => None,
            Some(epsilon) if self.relation == Some(Relation::Owner) => Some(Guarantee::Local { epsilon }),
            Some(epsilon) => Some(Guarantee::Pure { epsilon }),
            None => Some(Guarantee::approximate(promise.caps, promise.delta)),
        }
    }
}
