//! Draws about parts of a table: nodes that share no row, and portions of the units that a coin of each unit decides.

use std::num::NonZeroU32;

use sha2::{Digest, Sha256};

use super::allowance::Which;
use super::{Allowance, KeptOutput, Ledger, Mechanism};
use crate::Error;
use crate::privacy::account::{Caps, Price};
use crate::privacy::book::stays_together;
use crate::privacy::keeping::Binding;
use crate::privacy::reservation::price_of_parts;
use crate::privacy::{AddRemove, Epsilon, Neighbours, Partition, Query, Released, Sensitivity, getters};

/// Into which portions units are cut, by a coin of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Portions {
    /// Rounds: the first has about half of the units, the next about half of those that remain and so on, and the last all that remain.
    pub rounds: NonZeroU32,
    /// Whether about a fifth of all units are in no round, and judge.
    pub judges: bool,
}

impl Portions {
    /// How many there are.
    pub fn count(self) -> NonZeroU32 {
        self.rounds.saturating_add(u32::from(self.judges))
    }

    /// The portion of the units that judge, if some do: it comes after all rounds.
    pub fn judging(self) -> Option<u32> {
        self.judges.then_some(self.rounds.get())
    }

    /// About which share of all units is in a portion.
    pub fn share(self, portion: u32) -> f64 {
        let training = if self.judges { 0.8 } else { 1.0 };
        let last = self.rounds.get() - 1;
        match portion {
            portion if portion < last => training / f64::from(1u32 << (portion + 1).min(31)),
            portion if portion == last => training / f64::from(1u32 << last.min(31)),
            _ => 1.0 - training,
        }
    }
}

/// Draws about disjoint portions of the units. A unit is in one portion only, by a private coin of its own, so all draws together cost what
/// those about one portion may cost.
///
/// # Privacy
/// `docs/proofs/horizontal.md#portions`.
#[derive(Clone)]
pub struct PortionAllowance {
    allowance: Allowance,
    portions: Portions,
    key: [u8; 32],
}

/// So many of 2³² units judge, in expectation.
const JUDGES: u32 = u32::MAX / 5;
/// The label of the draw that decides about all coins.
const COINS: &str = "the coins of units";

impl PortionAllowance {
    getters! {
        /// The portions.
        pub portions(portions) -> Portions;
    }

    /// The portion of the unit with this number. It follows from the number and from a key that the ledger keeps, and from nothing about
    /// the unit.
    pub fn portion(&self, unit: u64) -> u32 {
        let hash = Sha256::new_with_prefix(self.key).chain_update(unit.to_le_bytes());
        let coins: [u8; 32] = hash.finalize().into();
        let word = |from: usize| u32::from_le_bytes(std::array::from_fn(|place| coins[from + place]));
        match self.portions.judging() {
            Some(judging) if word(0) < JUDGES => judging,
            _ => word(4).trailing_zeros().min(self.portions.rounds.get() - 1),
        }
    }
}

impl<N: Neighbours> Ledger<N> {
    /// Buys up to `draws` draws about portions of the units, of which those about any one portion cost at most `price`; or finds the entry with
    /// which this run has bought them before, with the same coins. All draws must hold when a unit is added or removed, too. The coins are one
    /// draw more: they are kept with the ledger before anything is drawn about a portion, so that a unit stays in its portion whatever
    /// happens to the run.
    ///
    /// # Privacy
    /// `docs/proofs/horizontal.md#portions`.
    ///
    /// # Errors
    /// As [`Ledger::allow`]; [`Error::Parameter`] if a unit has several rows that nothing tells to be of one unit.
    pub fn allow_portions_also_added(
        &mut self,
        what: &str,
        price: Price,
        draws: u64,
        portions: Portions,
    ) -> Result<PortionAllowance, Error> {
        if !stays_together(&self.relation.relation()) {
            return Err(Error::parameter(
                "rounds",
                "rows of one unit would be in several portions: declare the column that tells units apart, or one row per unit",
            ));
        }
        let paid = (price, draws.saturating_add(1));
        let allowance = self.allowed(what, paid, Some(portions.count()), true)?;
        let binding = Binding::default()
            .with("rounds", portions.rounds.to_string())
            .with("judges", portions.judges.to_string())
            .with("table", self.mark().unwrap_or_default());
        let coins = ((Some(0), COINS), Price::Pure(Epsilon::ZERO));
        let kept = self.kept_draw(&allowance, coins, &binding, |ledger| Ok(ledger.coins()?.seed()))?;
        // Kept values are no secrets for somebody who has a copy of the ledger. Coins must be, so they need the ledger's key, too.
        let sealed = self.journal.seal(kept.into_inner())?;
        let key = Sha256::new_with_prefix(b"privet portions 1\0").chain_update(sealed);
        Ok(PortionAllowance {
            allowance,
            portions,
            key: key.finalize().into(),
        })
    }

    /// What remains for draws about a portion, and how many draws remain in all.
    ///
    /// # Errors
    /// [`Error::Misuse`] if it is of another run.
    pub fn portion_remaining(&self, paid: &PortionAllowance, portion: u32) -> Result<(Caps, u64), Error> {
        let paid = self.reserved(&paid.allowance)?;
        Ok((paid.remaining(Some(portion)), paid.draws_remaining()))
    }

    /// One draw about a portion, known by its label: see [`Ledger::draw`]. The answer is of the units of that portion only.
    ///
    /// # Privacy
    /// `docs/proofs/horizontal.md#portions`.
    ///
    /// # Errors
    /// As [`Ledger::draw`].
    pub fn draw_of_portion<M: Mechanism<Output: KeptOutput>>(
        &mut self,
        paid: &PortionAllowance,
        (portion, label): (u32, &str),
        mechanism: &M,
        query: Query<'_, N>,
    ) -> Result<Released<M::Output>, Error> {
        self.draw_about(&paid.allowance, (Some(portion), label), mechanism, query)
    }

    /// A draw about each part of a table, all known by one label: as the ledger has kept them; else they are drawn, and kept together before
    /// they are given. Parts share no row, so together they cost one part's price, times the steps of one change, and count as one
    /// draw.
    ///
    /// # Privacy
    /// `docs/proofs/relations.md#parts`.
    ///
    /// # Errors
    /// As [`Ledger::draw`].
    pub fn draw_parts<P, M: Mechanism<Output = usize>>(
        &mut self,
        allowance: &Allowance,
        label: &str,
        mechanism: &M,
        asked: PartQuery<'_, P>,
    ) -> Result<Released<Vec<usize>>, Error> {
        self.draw_parts_about(allowance, (None, label), mechanism, asked)
    }

    /// The same about a portion: the table has the units of that portion only.
    ///
    /// # Privacy
    /// `docs/proofs/relations.md#parts`, within `docs/proofs/horizontal.md#portions`.
    ///
    /// # Errors
    /// As [`Ledger::draw`].
    pub fn draw_parts_of_portion<P, M: Mechanism<Output = usize>>(
        &mut self,
        paid: &PortionAllowance,
        (portion, label): (u32, &str),
        mechanism: &M,
        asked: PartQuery<'_, P>,
    ) -> Result<Released<Vec<usize>>, Error> {
        self.draw_parts_about(&paid.allowance, (Some(portion), label), mechanism, asked)
    }

    fn draw_parts_about<P, M: Mechanism<Output = usize>>(
        &mut self,
        allowance: &Allowance,
        which: Which<'_>,
        mechanism: &M,
        asked: PartQuery<'_, P>,
    ) -> Result<Released<Vec<usize>>, Error> {
        let PartQuery {
            parts,
            dimension,
            claim,
            answer,
        } = asked;
        let within = self.relation.within();
        Query::new(dimension, claim.clone(), || {
            crate::privacy::Private::new(Vec::new())
        })
        .check(&within)?;
        allowance.covers(&claim)?;
        let (norm, count) = (claim.norm(), parts.parts());
        let each = mechanism.price(norm)?;
        let price = price_of_parts(&self.relation, each)?;
        let binding = Binding::default()
            .with("mechanism", mechanism.describe())
            .with("norm", format!("{norm:?}"))
            .with("dimension", dimension.to_string())
            .with("parts", count.to_string());
        self.kept_draw(allowance, (which, price), &binding, |ledger| {
            #[cfg(feature = "audit")]
            if let Some(auditor) = ledger.auditor.as_deref_mut() {
                auditor.parts_begin(count, ledger.relation.steps());
            }
            let mut drawn = Vec::with_capacity(count);
            for rows in parts.into_parts() {
                let query = Query::new(dimension, claim.clone(), || rows.as_ref().map(answer));
                ledger.random.renew()?;
                drawn.push(ledger.output(mechanism, (norm, each), query.answer())?);
                #[cfg(feature = "audit")]
                if let Some(auditor) = ledger.auditor.as_deref_mut() {
                    auditor.part_ends();
                }
            }
            #[cfg(feature = "audit")]
            if let Some(auditor) = ledger.auditor.as_deref_mut() {
                auditor.parts_end();
            }
            Ok(drawn)
        })
    }
}

/// What is asked about each part of a table: a choice among candidates by their scores.
pub struct PartQuery<'a, P> {
    /// The parts.
    pub parts: Partition<P>,
    /// How many candidates there are.
    pub dimension: usize,
    /// How far one row moves the scores.
    pub claim: Sensitivity<AddRemove>,
    /// The scores of a part's rows.
    pub answer: &'a (dyn Fn(&P) -> Vec<i64> + Sync),
}

#[cfg(test)]
mod tests;
