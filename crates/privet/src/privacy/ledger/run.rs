//! What one run promises, may spend, and is certified to guarantee.

use std::num::NonZeroU32;

use super::Ledger;
use crate::Error;
use crate::error::JournalFault;
use crate::privacy::account::{Caps, MuSquared, Price, Rho};
use crate::privacy::book::{Book, BudgetLine, Refusal};
use crate::privacy::certificate::{Certificate, Commitment, Stand};
use crate::privacy::journal::Event;
use crate::privacy::run::{Promise, Run, public_name};
use crate::privacy::{Delta, Epsilon, Neighbours, Relation, Sharing};

impl<N: Neighbours> Ledger<N> {
    /// Promises that this run costs no more than `price`, before anything is paid; its certificate states the ε of that at `delta`,
    /// the job's own. A run in ρ or μ² that does not promise is certified at all that remained before its first payment, at the
    /// budget's δ: what it happens to spend may follow from its outputs.
    ///
    /// A run that is resumed after its first payment may promise what it promised before it.
    ///
    /// # Errors
    /// [`Error::Misuse`] if something was paid already, unless the run is resumed and the promise is the same; [`Error::Budget`] if too
    /// little of the budget remains; [`Error::Parameter`] if ρ or μ² are promised at δ = 0, where they guarantee nothing.
    pub fn promise(&mut self, price: Price, delta: Delta) -> Result<(), Error> {
        self.catch_up()?;
        let promise = Self::promised(price, delta)?;
        match self.view().entries().promise() {
            Some(made) if self.taken_up && made == promise => return Ok(()),
            Some(_) => return Err(Error::misuse("a promise comes before the first payment of a run")),
            None => {}
        }
        let relation = self.relation.relation();
        // What the run asks is not known yet: it may be charged to a budget for added units, too.
        let added = matches!(relation, Relation::Replace { .. });
        self.book.admits(&self.dataset, &relation, price, added)?;
        self.promised = Some(promise);
        Ok(())
    }

    fn promised(price: Price, delta: Delta) -> Result<Promise, Error> {
        let delta = match price {
            Price::Pure(_) => Delta::ZERO,
            _ if delta == Delta::ZERO => {
                let why = format!("{price} means nothing at δ = 0: state a positive δ");
                return Err(Error::parameter("delta", why));
            }
            _ => delta,
        };
        let caps = Caps::from(price);
        Ok(Promise { caps, delta })
    }

    /// What this run may still spend.
    pub fn remaining(&self) -> Caps {
        self.view().remaining()
    }

    /// The δ at which this budget states its ε.
    pub fn delta(&self) -> Delta {
        self.view().line().map_or(Delta::ZERO, |line| line.delta)
    }

    /// Ends the run and says what it guarantees, and what all runs on the data set together do.
    pub fn close(self) -> Certificate {
        self.close_after(&[])
    }

    /// What the run guarantees by what it has promised and paid for so far: all of it, if nothing more is paid. Draws that were paid for may
    /// follow.
    pub fn certificate_so_far(&self) -> Certificate {
        self.certified_after(&[])
    }

    /// The same for a certificate that is joined with that of earlier runs: its commitment is to all of them.
    pub(crate) fn close_after(self, earlier: &[String]) -> Certificate {
        self.certified_after(earlier)
    }

    fn certified_after(&self, earlier: &[String]) -> Certificate {
        let relation = self.relation.relation();
        let mut certificate = self.certificate(&self.book, (&self.dataset, &self.name), &relation);
        if !certificate.runs.is_empty() {
            let runs = [earlier, &certificate.runs].concat();
            certificate.commitment =
                Commitment::to(&certificate.ledger, &self.dataset, &runs, &*self.journal);
        }
        certificate
    }

    /// What a run guarantees, and what all runs on its data set together do, as the entries of `book` say it.
    pub(super) fn certificate(
        &self,
        book: &Book,
        (dataset, name): (&str, &str),
        relation: &Relation,
    ) -> Certificate {
        let recorded = self.journal.is_durable();
        let mut run = book.run(dataset, name).unwrap_or(Run::NEW).clone();
        if let Some(because) = &self.void {
            run.void(because, Some(relation));
        }
        // What is recorded nowhere, or perhaps not all of it, has no total.
        let account = book.account(dataset);
        let account = account.filter(|_| recorded && !self.broken);
        let named = recorded && book.run(dataset, name).is_some();
        let names = Vec::from_iter(named.then(|| public_name(name)));
        let head = book.head().clone();
        let stand = Stand {
            commitment: Commitment::to(&head, dataset, &names, &*self.journal),
            names,
            total: account.and_then(|account| account.total(relation)),
            head,
            recorded,
        };
        Certificate::of(dataset, relation, &[&run], stand)
    }

    /// This run, as the book says it.
    pub(super) fn view(&self) -> RunView<'_> {
        RunView {
            book: &self.book,
            dataset: &self.dataset,
            relation: self.relation.relation(),
            name: &self.name,
            promised: self.promised,
        }
    }
}

/// What becomes of the draws that a payment buys.
#[derive(Debug, Clone, Copy)]
pub(super) enum Drawn {
    /// Each is released.
    Released,
    /// Each is stored with the ledger before it is given.
    Kept,
    /// The same, each about one of so many portions of the units.
    KeptOf(NonZeroU32),
    /// Each is a share of noise that enters a joint sum of these owners.
    Shared(Sharing),
}

impl Drawn {
    pub(super) fn sharing(self) -> Option<Sharing> {
        match self {
            Self::Shared(sharing) => Some(sharing),
            _ => None,
        }
    }

    pub(super) fn portions(self) -> Option<NonZeroU32> {
        match self {
            Self::KeptOf(portions) => Some(portions),
            _ => None,
        }
    }
}

/// A run, as a book says it.
pub(super) struct RunView<'a> {
    pub(super) book: &'a Book,
    pub(super) dataset: &'a str,
    pub(super) relation: Relation,
    /// The run's name in the ledger.
    pub(super) name: &'a str,
    pub(super) promised: Option<Promise>,
}

impl RunView<'_> {
    /// What the entries say of this run.
    pub(super) fn entries(&self) -> &Run {
        self.book.run(self.dataset, self.name).unwrap_or(Run::NEW)
    }

    pub(super) fn line(&self) -> Option<&BudgetLine> {
        let account = self.book.account(self.dataset)?;
        account.lines().get(&self.relation)
    }

    /// Refuses a price in a currency that the budget line does not limit.
    pub(super) fn limits(&self, price: Price) -> Result<(), Error> {
        let Some(caps) = self.line().map(|line| line.caps) else {
            return Ok(());
        };
        let limited = match price {
            Price::Pure(_) => caps.pure != Epsilon::ZERO,
            Price::Concentrated(_) => caps.rho != Rho::ZERO,
            Price::Gaussian(_) => caps.mu_squared != MuSquared::ZERO,
        };
        let (dataset, needed) = (self.dataset.into(), price);
        let refusal = Refusal::OtherCurrency {
            dataset,
            needed,
            caps,
        };
        limited.then_some(()).ok_or_else(|| refusal.into())
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
        let promised = self.entries().promise().or(self.promised);
        promised.unwrap_or_else(|| self.line().map_or(nothing, remaining))
    }

    /// What it may still spend.
    pub(super) fn remaining(&self) -> Caps {
        self.may_spend().caps.remaining(&self.entries().spent())
    }

    /// The entry of a payment, if the budget and the run's promise admit it.
    pub(super) fn spend(
        &self,
        (what, price, draws): (&str, Price, u64),
        added: bool,
        drawn: Drawn,
    ) -> Result<Event, Error> {
        if self.relation == Relation::Owner {
            return Err(Refusal::OnlyMessages.into());
        }
        self.book.admits(self.dataset, &self.relation, price, added)?;
        self.is_own()?;
        let (may, spent) = (self.may_spend(), self.entries().spent());
        if spent.charge(&may.caps, price).is_none() {
            let (needed, remaining) = (price, self.remaining());
            return Err(Refusal::OverPromise { needed, remaining }.into());
        }
        Ok(Event::Spend {
            dataset: self.dataset.into(),
            relation: self.relation.clone(),
            what: what.into(),
            price,
            draws,
            assuming: Vec::new(),
            run: Some(self.name.into()),
            promise: self.entries().promise().is_none().then_some(may),
            added,
            stored: matches!(drawn, Drawn::Kept | Drawn::KeptOf(_)),
            sharing: drawn.sharing(),
            portions: drawn.portions(),
        })
    }

    /// Checks that an entry under the ledger's relation and this name of the data set may belong to this run. One that is resumed under an
    /// adopted name would promise twice, and its certificate would not say what it paid under the other.
    pub(super) fn is_own(&self) -> Result<(), Error> {
        if let Some(begun) = self.book.begun_under(self.dataset, self.name) {
            let why = format!(
                "this run was begun under the name '{begun}' of its data set, and not under '{}': go on under that name, or begin a new run",
                self.dataset
            );
            return Err(Error::journal(JournalFault::OtherJob, why));
        }
        Ok(self.entries().is_about(&self.relation)?)
    }
}
