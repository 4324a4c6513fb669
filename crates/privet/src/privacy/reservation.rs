//! Draws that have been paid for, on a whole table or on one part of it.

use super::account::{Caps, Price};
use super::book::Refusal;
use super::mechanism::{LogisticRows, Mechanism, Objective, Paid};
use super::query::{Query, Sensitivity};
use super::{AddRemove, Neighbours, Partition, Private, Randomness, Relation, Released, getters};
use crate::Error;

/// A paid allowance: a number of draws and a cap on their cost together.
///
/// Prices of single draws may depend on earlier draws; the cap, in one currency, was fixed when it was paid.
pub struct Reservation<'l, N = Relation> {
    pub(super) relation: N,
    pub(super) cap: Caps,
    pub(super) spent: Caps,
    pub(super) draws: u64,
    /// Whether it was charged to a budget for units that are added or removed, too.
    pub(super) added: bool,
    pub(super) random: &'l mut Randomness,
    #[cfg(feature = "audit")]
    pub(super) auditor: Option<&'l mut (dyn super::audit::Auditor + 'static)>,
}

impl<N: Neighbours> Reservation<'_, N> {
    /// Draws once from what was paid.
    ///
    /// # Errors
    /// [`Error::Budget`] if too little of the reservation remains; the answer is not computed then.
    pub fn release<M: Mechanism>(
        &mut self,
        mechanism: &M,
        query: Query<'_, N>,
    ) -> Result<Released<M::Output>, Error> {
        query.check(&self.relation)?;
        if self.added && !query.sensitivity().holds_added() {
            return Err(Error::misuse(
                "this was reserved for questions whose sensitivity holds when a unit is added or removed, and this one's was not claimed \
                 for that",
            ));
        }
        let norm = query.sensitivity().norm();
        let price = mechanism.price(norm)?;
        self.take(price, 1)?;
        self.random.renew()?;
        let answer = query.answer();
        #[cfg(feature = "audit")]
        if let Some(auditor) = self.auditor.as_deref_mut() {
            let random = &mut *self.random;
            return super::audit::observe(auditor, norm, price, mechanism, answer, random).map(Released::new);
        }
        Ok(Released::new(mechanism.draw(
            answer,
            Paid::receipt(),
            self.random,
        )))
    }

    /// Finds the minimum of a perturbed loss from what was paid. See [`Ledger::minimise`](super::Ledger::minimise).
    ///
    /// # Errors
    /// [`Error::Budget`] if too little of the reservation remains; `rows` are not looked at then.
    pub fn minimise<R: LogisticRows>(
        &mut self,
        objective: &Objective<N>,
        rows: impl FnOnce() -> Private<R>,
    ) -> Result<Released<Vec<f64>>, Error> {
        objective.check(&self.relation)?;
        self.take(objective.price(), 1)?;
        self.random.renew()?;
        let rows = rows();
        #[cfg(feature = "audit")]
        if let Some(auditor) = self.auditor.as_deref_mut() {
            let random = &mut *self.random;
            return super::audit::observe_minimum(auditor, objective, rows, random).map(Released::new);
        }
        Ok(Released::new(objective.minimum(
            rows,
            Paid::receipt(),
            self.random,
        )))
    }

    /// Runs `body` on each part with `price` and up to `draws` draws of its own, all of which are taken from this
    /// reservation. See [`Ledger::parallel`](super::Ledger::parallel).
    ///
    /// # Errors
    /// As [`Reservation::release`], and the first error of `body`.
    pub fn parallel<P, R>(
        &mut self,
        price: Price,
        draws: u64,
        parts: Partition<P>,
        mut body: impl FnMut(&mut Part<'_, P, AddRemove>) -> Result<R, Error>,
    ) -> Result<Vec<R>, Error> {
        let all = draws.saturating_mul(parts.parts() as u64);
        self.take(price_of_parts(&self.relation, price)?, all)?;
        #[cfg(feature = "audit")]
        if let Some(auditor) = self.auditor.as_deref_mut() {
            auditor.parts_begin(parts.parts(), self.relation.steps());
        }
        let mut run_part = |rows| {
            let mut part = Part {
                rows,
                allowance: Reservation {
                    relation: self.relation.within(),
                    cap: Caps::from(price),
                    spent: Caps::ZERO,
                    draws,
                    added: self.added,
                    random: &mut *self.random,
                    #[cfg(feature = "audit")]
                    auditor: self.auditor.as_deref_mut(),
                },
            };
            let result = body(&mut part);
            #[cfg(feature = "audit")]
            if let Some(auditor) = self.auditor.as_deref_mut() {
                auditor.part_ends();
            }
            result
        };
        let results = parts.into_parts().into_iter().map(&mut run_part).collect();
        #[cfg(feature = "audit")]
        if let Some(auditor) = self.auditor.as_deref_mut() {
            auditor.parts_end();
        }
        results
    }

    /// What remains of the cap.
    pub fn remaining(&self) -> Caps {
        self.cap.remaining(&self.spent)
    }

    /// How many draws remain.
    pub fn draws_remaining(&self) -> u64 {
        self.draws
    }

    fn take(&mut self, price: Price, draws: u64) -> Result<(), Error> {
        let spent = self.spent.charge(&self.cap, price);
        let (Some(spent), Some(remaining)) = (spent, self.draws.checked_sub(draws)) else {
            let refusal = Refusal::OverReservation {
                draws,
                needed: price,
                remaining: self.remaining(),
                draws_remaining: self.draws,
            };
            return Err(refusal.into());
        };
        self.spent = spent;
        self.draws = remaining;
        Ok(())
    }
}

/// One part of a table with its own allowance.
///
/// Queries see the part's own rows, which the closure is given. A private value captured from elsewhere cannot become an
/// answer, since a closure cannot unwrap a [`Private`].
pub struct Part<'l, P, N> {
    rows: Private<P>,
    allowance: Reservation<'l, N>,
}

impl<P, N: Neighbours> Part<'_, P, N> {
    /// Draws once from what was paid for this part.
    ///
    /// # Errors
    /// As [`Reservation::release`].
    pub fn release<M: Mechanism>(
        &mut self,
        mechanism: &M,
        dimension: usize,
        sensitivity: Sensitivity<N>,
        answer: impl Fn(&P) -> Vec<i64> + Sync,
    ) -> Result<Released<M::Output>, Error> {
        let rows = self.rows.as_ref();
        self.allowance
            .release(mechanism, Query::new(dimension, sensitivity, || rows.map(answer)))
    }

    getters! {
        /// The relation that sensitivities within the part are claimed for.
        pub relation(&allowance.relation) -> &N;
        /// What remains of the part's cap.
        pub remaining(allowance.remaining()) -> Caps;
    }
}

impl<R: Clone, N: Neighbours> Part<'_, super::PerRow<R>, N> {
    /// Cuts the part further, by its own rows.
    ///
    /// # Errors
    /// As [`Reservation::parallel`].
    pub fn parallel<T>(
        &mut self,
        price: Price,
        draws: u64,
        parts: usize,
        part_of: impl Fn(&R) -> usize + Sync,
        body: impl FnMut(&mut Part<'_, super::PerRow<R>, AddRemove>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let cut = Partition::by(self.rows.clone(), parts, part_of);
        self.allowance.parallel(price, draws, cut, body)
    }
}

/// What all parts together cost when each may cost `price` under the relation within a part.
pub(super) fn price_of_parts<N: Neighbours>(relation: &N, price: Price) -> Result<Price, Error> {
    price.group(relation.steps()).ok_or_else(|| {
        Error::parameter(
            "price",
            format!("{price} for each of {} steps overflows", relation.steps()),
        )
    })
}
