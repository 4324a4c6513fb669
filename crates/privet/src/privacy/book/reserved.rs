//! Reservations that a role owns: their draws are stored with the ledger, or enter joint sums.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::Book;
use super::refusal::Refusal;
use super::released::KeptAt;
use crate::privacy::account::{Caps, Price};
use crate::privacy::run::Run;
use crate::privacy::{Relation, Sharing};

/// The reservations of one data set that roles own, by run and purpose.
#[derive(Debug, Clone, Default)]
pub(super) struct Reserved(BTreeMap<(String, String), PaidDraws>);

/// A reservation, and what was drawn from it.
#[derive(Debug, Clone)]
pub(in crate::privacy) struct PaidDraws {
    /// What was paid for.
    pub(in crate::privacy) terms: Terms,
    /// The draws that were kept, by their labels.
    pub(in crate::privacy) kept: BTreeMap<String, (KeptAt, Price)>,
    /// What these cost together, by the portion of the units that they are about; all of them together where there are no portions.
    spent: BTreeMap<Option<u32>, Caps>,
}

/// What a reservation buys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::privacy) struct Terms {
    /// The data set's name in the entry.
    pub(in crate::privacy) dataset: String,
    pub(in crate::privacy) relation: Relation,
    pub(in crate::privacy) price: Price,
    pub(in crate::privacy) draws: u64,
    pub(in crate::privacy) added: bool,
    /// The owners of the joint sums that the draws enter, if they are shares.
    pub(in crate::privacy) sharing: Option<Sharing>,
    /// Into how many portions units are cut, if draws are about one portion each.
    pub(in crate::privacy) portions: Option<NonZeroU32>,
}

impl Book {
    /// The other name of a data set under which a run has entries, if it has none under this one.
    pub(in crate::privacy) fn begun_under(&self, dataset: &str, name: &str) -> Option<&str> {
        let has_entries = |dataset: &str| self.run(dataset, name).is_some_and(Run::is_begun);
        let owner = self.names.get(dataset).filter(|_| !has_entries(dataset))?;
        let mut names = self.names.iter();
        let (begun, _) = names.find(|(other, of)| *of == owner && has_entries(other))?;
        Some(begun)
    }
}

impl PaidDraws {
    /// What remains of the cap for draws about this portion of the units.
    pub(in crate::privacy) fn remaining(&self, portion: Option<u32>) -> Caps {
        Caps::from(self.terms.price).remaining(&self.spent(portion))
    }

    fn spent(&self, portion: Option<u32>) -> Caps {
        self.spent.get(&portion).copied().unwrap_or(Caps::ZERO)
    }

    /// Whether the reservation is for such a portion.
    pub(in crate::privacy) fn has(&self, portion: Option<u32>) -> bool {
        match (self.terms.portions, portion) {
            (None, None) => true,
            (Some(portions), Some(portion)) => portion < portions.get(),
            _ => false,
        }
    }

    /// How many draws remain.
    pub(in crate::privacy) fn draws_remaining(&self) -> u64 {
        self.terms.draws.saturating_sub(self.kept.len() as u64)
    }

    /// What is spent on a portion after one more draw; or the refusal.
    pub(in crate::privacy) fn admits(
        &self,
        portion: Option<u32>,
        price: Price,
    ) -> Result<Caps, Box<Refusal>> {
        let spent = self.spent(portion).charge(&Caps::from(self.terms.price), price);
        match spent {
            Some(spent) if self.draws_remaining() > 0 => Ok(spent),
            _ => Err(Box::new(Refusal::OverReservation {
                draws: 1,
                needed: price,
                remaining: self.remaining(portion),
                draws_remaining: self.draws_remaining(),
            })),
        }
    }
}

impl Reserved {
    pub(super) fn get(&self, run: &str, what: &str) -> Option<&PaidDraws> {
        self.0.get(&(run.to_owned(), what.to_owned()))
    }

    /// Notes a reservation that was admitted.
    pub(super) fn note(&mut self, run: &str, what: &str, terms: Terms) {
        let paid = PaidDraws {
            terms,
            kept: BTreeMap::new(),
            spent: BTreeMap::new(),
        };
        self.0.insert((run.to_owned(), what.to_owned()), paid);
    }

    /// Notes that a draw is stored with the ledger; or why that cannot be.
    pub(super) fn note_kept(
        &mut self,
        (run, what): (&str, &str),
        (draw, price, portion): (&str, Price, Option<u32>),
        at: KeptAt,
    ) -> Result<(), String> {
        let paid = self.0.get_mut(&(run.to_owned(), what.to_owned()));
        let paid = paid.ok_or("this run has reserved no draws that could be kept")?;
        if paid.terms.sharing.is_some() {
            return Err("shares of noise are not kept with the ledger".into());
        }
        if paid.kept.contains_key(draw) {
            return Err("this draw was kept before, and is kept once".into());
        }
        if !paid.has(portion) {
            return Err("this draw is about no portion of the units that was paid for".into());
        }
        let spent = paid.admits(portion, price).map_err(|why| why.fact())?;
        paid.spent.insert(portion, spent);
        paid.kept.insert(draw.into(), (at, price));
        Ok(())
    }
}
