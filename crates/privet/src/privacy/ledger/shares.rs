//! Shares of noise for joint sums: paid for once in a run, drawn one by one, and never released.
//!
//! A share is stored in the run's record and not with the ledger, since it is secret; so a draw writes nothing here. Each has a number below
//! the number that was paid for, and costs at most an equal part of the price: whatever a crash forgets, no more than was paid can be drawn
//! as long as the record draws each number once.

use std::collections::{BTreeMap, BTreeSet};

use super::{Drawn, Ledger, Paid, Query};
use crate::Error;
use crate::privacy::account::Price;
use crate::privacy::book::{Refusal, Terms};
use crate::privacy::joint::Contribution;
use crate::privacy::mechanism::SharedMechanism;
use crate::privacy::{Neighbours, Norm, Private, Sharing};

/// The most numbers of one answer, up to which the price of Gaussian shares is proved.
const MOST_NUMBERS: u64 = 1 << 32;

/// A number of joint draws that a run has paid for. [`Ledger::share`] takes one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareAllowance {
    what: String,
    added: bool,
}

/// The joint draws that were made since the ledger was opened, by purpose and number.
#[derive(Debug, Default)]
pub(super) struct SharedDraws(BTreeMap<String, BTreeSet<u64>>);

impl<N: Neighbours> Ledger<N> {
    /// Pays for `draws` joint sums of at most `each`, to which this owner adds its share of the noise, with one durable entry; or finds the
    /// entry with which this run has paid for them before. What is paid for is spent from then on, drawn or not.
    ///
    /// # Privacy
    /// The price holds under what is assumed of the owners; the entry, and every certificate of the run, name that.
    ///
    /// # Errors
    /// As [`Ledger::release`]; [`Error::Budget`] if the budget is limited in another currency, or the run has paid for the same purpose
    /// otherwise; [`Error::Journal`] if it was begun under another name of the data set.
    pub fn share_allowance(
        &mut self,
        what: &str,
        each: Price,
        draws: u64,
        sharing: Sharing,
    ) -> Result<ShareAllowance, Error> {
        self.shares_allowed(what, (each, draws), sharing, false)
    }

    /// As [`share_allowance`](Self::share_allowance), for answers whose sensitivities all hold when a unit is added or removed, too.
    ///
    /// # Errors
    /// As [`share_allowance`](Self::share_allowance).
    pub fn share_allowance_also_added(
        &mut self,
        what: &str,
        each: Price,
        draws: u64,
        sharing: Sharing,
    ) -> Result<ShareAllowance, Error> {
        self.shares_allowed(what, (each, draws), sharing, true)
    }

    fn shares_allowed(
        &mut self,
        what: &str,
        (each, draws): (Price, u64),
        sharing: Sharing,
        added: bool,
    ) -> Result<ShareAllowance, Error> {
        let price = each.times(draws).filter(|_| draws > 0).ok_or_else(|| {
            Error::parameter(
                "draws",
                format!("{draws} joint draws at {each} cannot be paid for"),
            )
        })?;
        let added = self.paid_once((what, price, draws), Drawn::Shared(sharing), added)?;
        let what = what.to_owned();
        Ok(ShareAllowance { what, added })
    }

    /// This owner's part of the joint sum with this number: its answer with its share of the noise. The number is below that of the draws that
    /// were paid for. Nothing is written.
    ///
    /// # Privacy
    /// `docs/proofs/shares.md#redraw`: whoever calls this stores the contribution in the run's record with the turn in which it was drawn
    /// (`Context::once`), and asks for no number again whose contribution the record no longer holds.
    ///
    /// # Errors
    /// [`Error::Budget`] if it costs more than was paid for each, or its number is above those that were; [`Error::Misuse`] if this ledger has
    /// drawn this number before, or the allowance is of another run, relation or assumption. The answer is not computed then.
    pub fn share<M: SharedMechanism>(
        &mut self,
        allowance: &ShareAllowance,
        draw: u64,
        mechanism: &M,
        query: Query<'_, N>,
    ) -> Result<Contribution, Error> {
        self.check_written()?;
        query.check(&self.relation)?;
        if allowance.added && !query.sensitivity().holds_added() {
            return Err(Error::misuse(
                "these joint sums were paid for with questions whose sensitivity holds when a unit is added or removed, and this one's was \
                 not claimed for that",
            ));
        }
        if query.dimension() as u64 > MOST_NUMBERS {
            let why = format!(
                "a joint sum has at most {MOST_NUMBERS} numbers, not {}",
                query.dimension()
            );
            return Err(Error::parameter("dimension", why));
        }
        let norm = query.sensitivity().norm();
        let price = mechanism.price(norm)?;
        let terms = self.paid_shares(allowance)?;
        if terms.sharing != Some(mechanism.sharing()) {
            return Err(Error::misuse(
                "shares are drawn for the owners, and under the assumption, that the run has paid with",
            ));
        }
        // Exact, since that many times the price of one was paid.
        let each = terms.price.part(1, terms.draws).unwrap_or(terms.price);
        if draw >= terms.draws || !covers(each, price) {
            let refusal = Refusal::OverShares {
                draw,
                draws: terms.draws,
                needed: price,
                each,
            };
            return Err(refusal.into());
        }
        let made = self.shared.0.get(&allowance.what);
        if made.is_some_and(|made| made.contains(&draw)) {
            let why = format!(
                "joint draw {draw} for {} was made before: it is in the run's record",
                allowance.what
            );
            return Err(Error::misuse(why));
        }
        self.random.renew()?;
        match self.shared.0.get_mut(&allowance.what) {
            Some(made) => made.insert(draw),
            None => self
                .shared
                .0
                .entry(allowance.what.clone())
                .or_default()
                .insert(draw),
        };
        let answer = query.answer();
        self.contribution(mechanism, (norm, price), answer)
    }

    fn contribution<M: SharedMechanism>(
        &mut self,
        mechanism: &M,
        (norm, price): (Norm, Price),
        answer: Private<Vec<i64>>,
    ) -> Result<Contribution, Error> {
        #[cfg(feature = "audit")]
        if let Some(auditor) = self.auditor.as_deref_mut() {
            let random = &mut self.random;
            return crate::privacy::audit::observe_share(auditor, (norm, price), mechanism, answer, random)
                .map(Contribution::new);
        }
        let _ = (norm, price);
        let residues = mechanism.draw(answer, Paid::receipt(), &mut self.random);
        Ok(Contribution::new(residues))
    }

    /// What this run has paid for joint draws. What was paid for decides which questions may be asked, and not what somebody hands over.
    fn paid_shares(&self, allowance: &ShareAllowance) -> Result<&Terms, Error> {
        let paid = self.book.reserved(&self.dataset, &self.name, &allowance.what);
        let terms = paid
            .map(|paid| &paid.terms)
            .filter(|terms| terms.sharing.is_some());
        let terms = terms.ok_or_else(|| Error::misuse("shares are drawn by the run that paid for them"))?;
        if (&terms.relation, terms.added) != (&self.relation.relation(), allowance.added) {
            return Err(Error::misuse(
                "shares are drawn under the change that they were paid for, and with the questions that they were paid for",
            ));
        }
        Ok(terms)
    }
}

/// Whether what was paid for each draw covers a price, in the same currency.
fn covers(each: Price, price: Price) -> bool {
    match (each, price) {
        (Price::Pure(each), Price::Pure(price)) => price <= each,
        (Price::Concentrated(each), Price::Concentrated(price)) => price <= each,
        (Price::Gaussian(each), Price::Gaussian(price)) => price <= each,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
