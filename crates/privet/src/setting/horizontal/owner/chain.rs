//! An owner's turns in a chain.

use super::report::Reporting;
use super::{Brings, Outcome, cut};
use crate::Error;
use crate::boost::Ensemble;
use crate::data::Cells;
use crate::noisy::trees::Before;
use crate::party::{Context, PartyId};
use crate::privacy::{Certificate, Ledger, PortionAllowance, Private};
use crate::setting::horizontal::message::{Grown, Message};
use crate::setting::horizontal::plan::{OwnerPlan, coins_of_round};
use crate::setting::horizontal::quality::{Judged, said};
use crate::setting::horizontal::{MINER, certified, local};
use crate::wire::{Malformed, Reader, Wire, Writer};

/// Where an owner of a chain is.
pub(super) struct Chaining {
    cells: Private<Cells>,
    /// Rows that judge the model, if some do.
    held_out: Option<Private<Cells>>,
    ledger: Ledger,
    /// The trees of all turns that it has received.
    trees: Option<Before>,
    /// How many turns these are of.
    known: u32,
    /// What they say of all its rows.
    scores: Private<Vec<f64>>,
    /// The round whose turn is being taken, or was taken last.
    round: Option<u32>,
    certificate: Option<Box<Certificate>>,
}

impl Chaining {
    pub(super) fn new(plan: &OwnerPlan, brings: Brings) -> Self {
        let (table, held_out) = cut(plan, brings.table, brings.held_out);
        let mut own = Self {
            cells: table.into_cells(),
            held_out,
            ledger: brings.ledger,
            trees: None,
            known: 0,
            scores: Private::new(Vec::new()),
            round: None,
            certificate: None,
        };
        own.forget(plan);
        own
    }

    /// Goes back to what the run starts from: no trees, or those of a model.
    fn forget(&mut self, plan: &OwnerPlan) {
        (self.trees, self.known) = (plan.plan().before(), 0);
        self.scores = match &self.trees {
            Some(before) => plus(
                &Private::new(Vec::new()),
                &self.cells,
                &before.ensemble,
                true,
                plan,
            ),
            None => Private::new(Vec::new()),
        };
    }

    /// Trees that somebody has added meanwhile: they are applied at once, so that the turn need not wait for that.
    pub(super) fn added(
        &mut self,
        (known, grown): (u32, &Grown),
        plan: &OwnerPlan,
        context: &Context<'_, Message>,
    ) -> Result<(), Error> {
        let from = MINER;
        if known != self.known {
            return Err(context.complain(from, "added trees that do not follow those before"));
        }
        let piece = local::received(grown, plan.plan().schema()).map_err(|e| context.complain(from, e))?;
        self.apply(piece, plan);
        Ok(())
    }

    /// Its turn in a round, with the trees that it lacks.
    pub(super) fn turn(
        &mut self,
        (round, known, more): (u32, u32, &[Grown]),
        plan: &OwnerPlan,
        context: &Context<'_, Message>,
    ) -> Result<(), Error> {
        let is_next = self.round.is_none_or(|last| round > last);
        if !is_next || round >= plan.plan().chain()?.rounds {
            return Err(context.complain(MINER, "a turn in a round that is over, or that is none"));
        }
        if known == 0 {
            self.forget(plan);
        }
        for (place, grown) in more.iter().enumerate() {
            self.added((known.saturating_add(place as u32), grown), plan, context)?;
        }
        if self.known != known.saturating_add(more.len() as u32) {
            return Err(context.complain(MINER, "a turn without the trees before it"));
        }
        self.round = Some(round);
        Ok(())
    }

    /// Adds the trees of one turn, and what they say of the rows.
    fn apply(&mut self, piece: Before, plan: &OwnerPlan) {
        let is_first = self.trees.is_none();
        self.scores = plus(&self.scores, &self.cells, &piece.ensemble, is_first, plan);
        self.trees = Some(local::chained(self.trees.take(), piece));
        self.known += 1;
    }

    /// Takes its turn: trains on the units of this round, measures on those that judge, and sends both.
    ///
    /// # Privacy
    /// All turns together cost the price of the plan: `docs/proofs/horizontal.md#chain` and `#portions`.
    pub(super) fn take_turn(
        &mut self,
        plan: &OwnerPlan,
        context: &mut Context<'_, Message>,
    ) -> Result<(), Error> {
        let round = self
            .round
            .ok_or_else(|| Error::internal("a turn is in a round"))?;
        let agreement = context.agreement().clone();
        let coins = || coins_of_round(&agreement, plan.party(), round);
        // All of it before the first draw of the first turn.
        let paid = self.pay(plan)?;
        let added = context.once(&format!("the trees of round {}", round + 1), || {
            self.train(plan, round, paid.as_ref(), coins())
        })?;
        let said = context.once(&format!("the certificate of round {}", round + 1), || {
            Ok(self.ledger.certificate_so_far().to_json().into_bytes())
        })?;
        let certificate = certified::own(std::str::from_utf8(&said).unwrap_or_default())?;
        let message = Message::Turned {
            round,
            grown: added.grown,
            measured: added.measured,
            certificate: certificate.for_partners().to_json(),
        };
        self.certificate = Some(Box::new(certificate));
        context.send(MINER, &message)
    }

    /// Promises the whole price, and pays for the portions of all rounds if there are any. Without portions trees are paid for when they are
    /// grown.
    fn pay(&mut self, plan: &OwnerPlan) -> Result<Option<PortionAllowance>, Error> {
        let all = plan.plan();
        self.ledger.promise(all.price(), all.delta())?;
        if let Some(judging) = all.judging() {
            judging.pay(&mut self.ledger)?;
        }
        let chain = all.chain()?;
        let Some(portions) = chain.portions else {
            return Ok(None);
        };
        let what = match chain.rounds {
            1 => "noisy trees of a round".to_owned(),
            rounds => format!("noisy trees of {rounds} rounds"),
        };
        let draws = chain.draws(all.rounds(plan.place())?);
        let paid = self
            .ledger
            .allow_portions_also_added(&what, all.training_price(), draws, portions)?;
        Ok(Some(paid))
    }

    fn train(
        &mut self,
        plan: &OwnerPlan,
        round: u32,
        paid: Option<&PortionAllowance>,
        coins: crate::privacy::Coins,
    ) -> Result<AddedTrees, Error> {
        let all = plan.plan();
        let progress = &|_, _| std::ops::ControlFlow::Continue(());
        let trees = all.local(plan.place(), round)?;
        // Whoever is first asks what residuals of numbers are clipped to.
        let has_unit = self.trees.as_ref().is_some_and(|trees| trees.unit.is_some());
        let trees = if has_unit || self.known > 0 {
            &trees.later
        } else {
            &trees.first
        };
        let (cells, scores) = self.portion(paid, round);
        let earlier = self
            .trees
            .as_ref()
            .map_or(0, |before| before.ensemble.members.len());
        let before = self.trees.clone().map(|before| Before {
            scores: Some(scores.map(|scores| scores.iter().map(|&score| score as f32).collect())),
            ..before
        });
        let training = all.training(cells, before);
        let growth = match paid {
            None => trees.train_again(training, &mut self.ledger, coins, progress)?,
            Some(paid) => trees.train_portion(training, &mut self.ledger, (paid, round), coins, progress)?,
        };
        let unit = growth.unit();
        let mut own = growth.finish();
        own.members.drain(..earlier);
        let measured = self.measure(plan, round, paid, (&own, unit))?;
        Ok(AddedTrees {
            grown: local::grown(&own, unit)?,
            measured,
        })
    }

    /// How good the chain is without these trees and with them, if that is measured.
    fn measure(
        &mut self,
        plan: &OwnerPlan,
        round: u32,
        paid: Option<&PortionAllowance>,
        (own, unit): (&Ensemble, Option<f64>),
    ) -> Result<Vec<i64>, Error> {
        let chain = plan.plan().chain()?;
        let (Some(quality), Some(paid)) = (&chain.quality, paid) else {
            return Ok(Vec::new());
        };
        let Some(judging) = paid.portions().judging() else {
            return Ok(Vec::new());
        };
        let (cells, before) = self.portion(Some(paid), judging);
        let nothing = Ensemble::new(own.link, own.base.clone(), Vec::new());
        let before = match self.trees {
            Some(_) => before,
            None => plus(&before, &cells, &nothing, true, plan),
        };
        let after = plus(&before, &cells, own, false, plan);
        let judged = Judged {
            cells,
            before,
            after,
            unit,
        };
        quality.measure(&judged, &mut self.ledger, paid, round)
    }

    /// The rows of a portion, with what the chain says of them; all rows if there are no portions.
    fn portion(&self, paid: Option<&PortionAllowance>, portion: u32) -> (Private<Cells>, Private<Vec<f64>>) {
        let Some(paid) = paid else {
            return (self.cells.clone(), self.scores.clone());
        };
        let rows = self
            .cells
            .as_ref()
            .map(|cells| rows_of(cells.rows(), cells.units(), paid, portion));
        let cells = self
            .cells
            .as_ref()
            .zip(rows.as_ref(), |cells, rows| cells.take(rows));
        let outputs = self.trees.as_ref().map_or(1, |trees| trees.ensemble.outputs());
        let scores = self.scores.as_ref().zip(rows, |scores, rows| {
            let of = |row: &u32| scores.iter().skip(*row as usize * outputs).take(outputs).copied();
            rows.iter().flat_map(of).collect::<Vec<f64>>()
        });
        (cells, scores)
    }

    /// The chain has ended, and this owner judges the model on rows that it has held out.
    pub(super) fn judge(self, context: &Context<'_, Message>) -> Result<Reporting, Error> {
        let (Some(certificate), Some(held_out)) = (self.certificate, self.held_out) else {
            return Err(context.complain(MINER, "a model to judge, out of turn"));
        };
        Ok(Reporting {
            ledger: self.ledger,
            held_out,
            certificate: *certificate,
            model: None,
        })
    }

    /// The end: the model if it gets it, under what its turns were promised.
    pub(super) fn finish(
        self,
        plan: &OwnerPlan,
        (grown, certificates): (Option<Grown>, Vec<(PartyId, String)>),
        context: &Context<'_, Message>,
    ) -> Result<Outcome, Error> {
        let certificate = self
            .certificate
            .ok_or_else(|| context.complain(MINER, "the end of a chain without this owner"))?;
        super::outcome(plan, certificate, (grown, certificates), context)
    }
}

/// Which of so many rows are of the units of a portion. A unit's rows are all in its portion: the coin is the unit's. Without a column that tells
/// units apart, each row is one.
fn rows_of(rows: usize, units: Option<&[u32]>, paid: &PortionAllowance, portion: u32) -> Vec<u32> {
    let unit = |row: usize| units.map_or(row as u64, |units| units[row].into());
    let rows = (0..rows).filter(|&row| paid.portion(unit(row)) == portion);
    rows.map(|row| row as u32).collect()
}

/// Scores of rows with what more trees say of them. The first trees of a chain bring the base.
fn plus(
    scores: &Private<Vec<f64>>,
    cells: &Private<Cells>,
    piece: &Ensemble,
    is_first: bool,
    plan: &OwnerPlan,
) -> Private<Vec<f64>> {
    let schema = plan.plan().schema();
    let more = cells.as_ref().map(|cells| said(piece, schema, cells));
    scores.as_ref().zip(more, |scores, mut more| {
        for (place, score) in more.iter_mut().enumerate() {
            *score += match is_first {
                true => piece.base[place % piece.base.len().max(1)],
                false => scores.get(place).copied().unwrap_or(0.0),
            };
        }
        more
    })
}

/// What an owner adds in a turn, on its way into the record and out of it.
struct AddedTrees {
    grown: Grown,
    measured: Vec<i64>,
}

impl Wire for AddedTrees {
    fn write(&self, to: &mut Writer) {
        self.grown.write(to);
        to.list(&self.measured, |count, to| to.long(count.cast_unsigned()));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            grown: Grown::read(from)?,
            measured: from.list(8, |from| Ok(from.long()?.cast_signed()))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::privacy::account::{Caps, Price};
    use crate::privacy::{AddRemove, Delta, Epsilon, Portions, Randomness};

    #[test]
    fn rows_of_one_unit_are_in_one_portion_and_every_row_is_in_one() -> Result<(), Error> {
        let three = NonZeroU32::MIN.saturating_add(2);
        let price = Price::Pure(Epsilon::new(1.0)?);
        let relation = AddRemove::unit(three).of("who");
        let random = Randomness::from_os()?;
        let mut ledger = Ledger::volatile(relation, Caps::from(price), Delta::ZERO, random)?;
        let portions = Portions {
            rounds: three,
            judges: true,
        };
        let paid = ledger.allow_portions_also_added("trees", price, 9, portions)?;
        // Fifty people whose rows are mixed.
        let units: Vec<u32> = (0..120).map(|row| row % 50).collect();
        let mut portion_of = vec![Vec::new(); 50];
        for portion in 0..portions.count().get() {
            for row in rows_of(units.len(), Some(&units), &paid, portion) {
                portion_of[units[row as usize] as usize].push(portion);
            }
        }
        assert_eq!(portion_of.iter().map(Vec::len).sum::<usize>(), units.len());
        let is_one = |own: &Vec<u32>| own.iter().all(|portion| *portion == own[0]);
        assert!(portion_of.iter().all(is_one));
        // All fifty in one portion: below 2⁻⁴⁹.
        assert!(portion_of.iter().any(|own| own[0] != portion_of[0][0]));
        Ok(())
    }
}
