//! How good the model is on rows that were held out: what is fixed about it before rows are read, and what is asked.

use super::HeldOut;
use super::message::OpenedSum;
use crate::Error;
use crate::boost::Ensemble;
use crate::data::{Cells, Schema, Table};
use crate::noisy::Budget;
use crate::noisy::evaluation::{Evaluation, PaidReport};
use crate::noisy::trees::{Law, PaidTrees};
use crate::privacy::account::Price;
use crate::privacy::{Allowance, Delta, Ledger, Private, Query, Relation};

/// What an owner that adds all of its noise itself pays for.
const PURPOSE: &str = "evaluation of the model on this owner's held-out rows";
/// The name of its only draw.
const COUNTS: &str = "counts";

/// What is fixed about the evaluation.
#[derive(Debug)]
pub(super) struct Judging {
    evaluation: Evaluation,
    law: Law,
    relation: Relation,
    /// What it costs each owner, besides the trees.
    budget: Budget,
    percent: u32,
}

impl Judging {
    /// # Errors
    /// [`Error::Parameter`] or [`Error::Misuse`] with what does not fit.
    pub(super) fn new(
        own: &HeldOut,
        schema: &Schema,
        relation: &Relation,
        (delta, rows): (Delta, u64),
    ) -> Result<Self, Error> {
        let budget = Budget::with_delta(*own.epsilon.get(), delta, rows)?;
        let evaluation = Evaluation::of(schema)?;
        Ok(Self {
            law: evaluation.law(schema, relation, budget.price)?,
            evaluation,
            relation: relation.clone(),
            budget,
            percent: own.held_out,
        })
    }

    pub(super) fn law(&self) -> &Law {
        &self.law
    }

    pub(super) fn price(&self) -> Price {
        self.budget.price
    }

    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    pub(super) fn percent(&self) -> u32 {
        self.percent
    }

    /// How many numbers are counted.
    pub(super) fn dimension(&self) -> usize {
        self.evaluation.dimension()
    }

    /// About how many of so many rows trees learn from.
    pub(super) fn learnt(&self, rows: u64) -> u64 {
        rows.saturating_sub(rows / 100 * u64::from(self.percent) + rows % 100 * u64::from(self.percent) / 100)
            .max(1)
    }

    /// The rows that trees learn from, and those that judge.
    pub(super) fn cut(&self, table: &Table, seed: [u8; 32]) -> (Table, Private<Cells>) {
        let (learnt, held_out) = table.held_out(self.percent, seed);
        (learnt, held_out.into_cells())
    }

    /// The counts of held-out rows, without noise.
    pub(super) fn counts(
        &self,
        ensemble: &Ensemble,
        schema: &Schema,
        held_out: &Private<Cells>,
    ) -> Private<Vec<i64>> {
        self.evaluation.counts_of(ensemble, schema, held_out)
    }

    /// What the noisy counts say; `deviation` is that of the noise in each.
    pub(super) fn report(&self, counts: &[i64], deviation: f64) -> PaidReport {
        let spent = (self.budget.epsilon(), self.budget.delta());
        self.evaluation
            .report(counts, deviation.powi(2), spent, &self.relation)
    }

    /// Pays for one evaluation by an owner that adds all of its noise itself, or finds that it was paid for.
    ///
    /// # Errors
    /// As [`Ledger::allow`].
    pub(super) fn pay(&self, ledger: &mut Ledger) -> Result<Allowance, Error> {
        ledger.allow_also_added(PURPOSE, self.price(), 1)
    }

    /// An owner's counts with noise that it adds itself: the same whenever it is asked again.
    ///
    /// # Privacy
    /// What was paid for; `docs/proofs/horizontal.md#evaluation`.
    ///
    /// # Errors
    /// As [`Ledger::draw`].
    pub(super) fn released(
        &self,
        (ensemble, schema): (&Ensemble, &Schema),
        held_out: &Private<Cells>,
        ledger: &mut Ledger,
    ) -> Result<Vec<i64>, Error> {
        let paid = self.pay(ledger)?;
        let claim = self.law.claim().clone();
        let query = Query::new(self.dimension(), claim, || {
            self.counts(ensemble, schema, held_out)
        });
        self.law
            .mechanism()?
            .draw(ledger, (&PaidTrees::Whole(&paid), COUNTS), query)
    }

    /// The report that follows from counts to which each of so many owners has added all of its noise.
    pub(super) fn added_up(&self, sum: &OpenedSum) -> Result<PaidReport, Error> {
        Ok(self.report(&sum.values, self.own_deviation(sum.contributions)?))
    }

    /// The deviation of the noise in each of these counts.
    pub(super) fn own_deviation(&self, contributions: u32) -> Result<f64, Error> {
        Ok(self.law.mechanism()?.deviation() * f64::from(contributions).sqrt())
    }
}
