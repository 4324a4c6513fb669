//! What one run promises, may spend, and is certified to guarantee.

use super::Ledger;
use crate::Error;
use crate::privacy::account::{Caps, Price};
use crate::privacy::book::BudgetLine;
use crate::privacy::certificate::{Certificate, Commitment, Stand};
use crate::privacy::journal::Journal;
use crate::privacy::run::{Promise, Run, public_name};
use crate::privacy::{Delta, Neighbours, Relation};

impl<N: Neighbours> Ledger<N> {
    /// Promises that this run costs no more than `price`, before anything is paid; its certificate states the ε of that at `delta`,
    /// the job's own. A run in ρ or μ² that does not promise is certified at all that remained before its first payment, at the
    /// budget's δ: what it happens to spend may follow from its outputs.
    ///
    /// # Errors
    /// [`Error::Misuse`] if something was paid already; [`Error::Budget`] if too little of the budget remains;
    /// [`Error::Parameter`] if ρ or μ² are promised at δ = 0, where they guarantee nothing.
    pub fn promise(&mut self, price: Price, delta: Delta) -> Result<(), Error> {
        let relation = self.relation.relation();
        // What the run asks is not known yet: it may be charged to a budget for added units, too.
        let added = matches!(relation, Relation::Replace { .. });
        self.book.admits(&self.dataset, &relation, price, added)?;
        if self.run().promise().is_some() {
            return Err(Error::misuse("a promise comes before the first payment of a run"));
        }
        let delta = match price {
            Price::Pure(_) => Delta::ZERO,
            _ if delta == Delta::ZERO => {
                let why = format!("{price} means nothing at δ = 0: state a positive δ");
                return Err(Error::parameter("delta", why));
            }
            _ => delta,
        };
        let caps = Caps::from(price);
        self.promised = Some(Promise { caps, delta });
        Ok(())
    }

    /// What this run may still spend.
    pub fn remaining(&self) -> Caps {
        self.may_spend().caps.remaining(&self.run().spent())
    }

    /// The δ at which this budget states its ε.
    pub fn delta(&self) -> Delta {
        self.line().map_or(Delta::ZERO, |line| line.delta)
    }

    /// Ends the run and says what it guarantees, and what all runs on the data set together do.
    pub fn close(self) -> Certificate {
        self.close_holding().0
    }

    /// As [`close`](Self::close), and returns the journal, whose lock is held until the drawn values have been stored.
    pub(crate) fn close_holding(self) -> (Certificate, Box<dyn Journal>) {
        let relation = self.relation.relation();
        let recorded = self.journal.is_durable();
        let mut run = self.run().clone();
        if let Some(because) = &self.void {
            run.void(because, Some(&relation));
        }
        // What is recorded nowhere, or perhaps not all of it, has no total.
        let account = self.book.account(&self.dataset);
        let account = account.filter(|_| recorded && !self.broken);
        let named = recorded && self.book.run(&self.dataset, &self.name).is_some();
        let name = named.then(|| public_name(&self.name));
        let head = self.book.head().clone();
        let commitment = Commitment::to(&head, &self.dataset, name.as_deref(), &*self.journal);
        let stand = Stand {
            names: Vec::from_iter(name),
            commitment: commitment.filter(|_| recorded),
            total: account.and_then(|account| account.total(&relation)),
            head,
            recorded,
        };
        let certificate = Certificate::of(&self.dataset, &relation, &[&run], stand);
        (certificate, self.journal)
    }

    /// What the entries say of this run.
    pub(super) fn run(&self) -> &Run {
        self.book.run(&self.dataset, &self.name).unwrap_or(Run::NEW)
    }

    fn line(&self) -> Option<&BudgetLine> {
        let account = self.book.account(&self.dataset)?;
        account.lines().get(&self.relation.relation())
    }

    /// What the run may spend in all: what it promised, else what remained before its first payment.
    pub(super) fn may_spend(&self) -> Promise {
        let nothing = Promise {
            caps: Caps::ZERO,
            delta: Delta::ZERO,
        };
        let remaining = |line: &BudgetLine| Promise {
            caps: line.remaining(),
            delta: line.delta,
        };
        let promised = self.run().promise().or(self.promised);
        promised.unwrap_or_else(|| self.line().map_or(nothing, remaining))
    }

    /// Checks that an entry under `relation` may belong to this run.
    pub(super) fn is_own(&self, relation: &Relation) -> Result<(), Error> {
        Ok(self.run().is_about(relation)?)
    }
}
