//! All parties in one process, with ledgers that nobody keeps: for simulations, and for rows that are public.

use super::{FeatureHolder, LabelHolder, Outcome, Party, Plan};
use crate::Error;
use crate::data::Table;
use crate::model::{Model, Predictions};
use crate::party::{RunName, Simulated, Simulation};
use crate::privacy::account::Caps;
use crate::privacy::{Delta, Ledger, Randomness, Relation, Unprotected};
use crate::wire::RunId;

impl Plan {
    /// Trains over one label holder's table and those of feature holders, through the whole protocol: every message is encoded and
    /// decoded. Nothing is recorded.
    ///
    /// # Errors
    /// The error of the first party that fails.
    pub fn rehearse(&self, own: Table, others: Vec<Table>, permission: &Unprotected) -> Result<Model, Error> {
        let outcomes = self.rehearsed(own, others, permission)?.all()?;
        outcomes
            .into_iter()
            .find_map(Outcome::into_model)
            .ok_or_else(|| Error::internal("the label holder trains a model"))
    }

    /// Predicts new rows of the same parties through the whole protocol, by columns or by `branches`. Gives the numbers of the rows that
    /// all have, and what the model says of them. Nothing is recorded.
    ///
    /// # Errors
    /// The error of the first party that fails.
    pub fn rehearse_predicting(
        &self,
        (model, branches): (&Model, bool),
        own: Table,
        others: Vec<Table>,
        permission: &Unprotected,
    ) -> Result<(Vec<usize>, Predictions), Error> {
        let predictor = |table: Table| {
            let plan = self.label_holder.clone();
            LabelHolder::predicting(plan, table, model.clone(), branches, permission.clone())
        };
        let outcomes = self
            .played(own, others, |table, _: &RunName| predictor(table))?
            .all()?;
        let predicted = outcomes.into_iter().find_map(|outcome| match outcome {
            Outcome::Predicted { rows, predictions } => Some((rows, *predictions)),
            _ => None,
        });
        predicted.ok_or_else(|| Error::internal("the label holder predicts"))
    }

    /// As [`rehearse`](Self::rehearse), with all outcomes and the bytes that each party sent to each other.
    ///
    /// # Errors
    /// As [`rehearse`](Self::rehearse).
    pub fn rehearsed(
        &self,
        own: Table,
        others: Vec<Table>,
        permission: &Unprotected,
    ) -> Result<Simulated<Outcome>, Error> {
        let label_holder = &self.label_holder;
        self.played(own, others, |table, run| {
            let plan = label_holder.clone();
            if plan.vertical.label_epsilon.is_none() {
                return LabelHolder::party(plan, table, permission.clone());
            }
            let ledger = unrecorded(plan.relation())?;
            LabelHolder::with_noisy_labels(plan, table, ledger, run)
        })
    }

    /// All parties with their tables; `label_holder` makes the one that has labels or a model.
    fn played(
        &self,
        own: Table,
        others: Vec<Table>,
        label_holder: impl Fn(Table, &RunName) -> Result<Party, Error>,
    ) -> Result<Simulated<Outcome>, Error> {
        if others.len() != self.feature_holders.len() {
            return Err(Error::misuse(
                "there is one table for each feature holder of the plan",
            ));
        }
        let names = (1..=others.len()).map(|i| format!("feature holder {i}"));
        let names = ["label holder".to_owned()].into_iter().chain(names).collect();
        let mut tables: Vec<Option<Table>> = [own].into_iter().chain(others).map(Some).collect();
        // Nobody listens: the number need not be new.
        let agreement = self.label_holder.vertical.agreement(RunId([0x5e; 16]), names)?;
        let simulation = Simulation::of(agreement, |party, run| -> Result<Party, Error> {
            let place = usize::from(party.0);
            let table = tables[place].take();
            let table = table.ok_or_else(|| Error::internal("nobody is killed in a rehearsal"))?;
            match place.checked_sub(1).map(|place| &self.feature_holders[place]) {
                Some(plan) => {
                    let ledger = unrecorded(plan.columns.relation())?;
                    FeatureHolder::party(plan.clone(), table, ledger, &run)
                }
                None => label_holder(table, &run),
            }
        });
        simulation.run()
    }
}

/// A budget that nobody keeps.
fn unrecorded(relation: &Relation) -> Result<Ledger, Error> {
    let relation = match relation.clone() {
        // Nothing is private; a ledger is kept all the same.
        Relation::ReplacePrivate { rows, unit, columns } if columns.is_empty() => {
            Relation::Replace { rows, unit }
        }
        relation => relation,
    };
    Ledger::volatile(relation, Caps::ZERO, Delta::ZERO, Randomness::from_os()?)
}
