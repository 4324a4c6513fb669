//! All parties in one process, with ledgers that nobody keeps: for simulations, and for rows that are public.

use super::{FeatureHolder, LabelHolder, Outcome, Party, Plan};
use crate::Error;
use crate::data::Table;
use crate::model::Model;
use crate::party::{Simulated, Simulation};
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
            let ledger = |relation: &Relation| {
                let relation = match relation.clone() {
                    // Nothing is private; a ledger is kept all the same.
                    Relation::ReplacePrivate { rows, unit, columns } if columns.is_empty() => {
                        Relation::Replace { rows, unit }
                    }
                    relation => relation,
                };
                Ledger::volatile(relation, Caps::ZERO, Delta::ZERO, Randomness::from_os()?)
            };
            let own = &self.label_holder;
            match place.checked_sub(1).map(|place| &self.feature_holders[place]) {
                Some(plan) => {
                    FeatureHolder::party(plan.clone(), table, ledger(plan.columns.relation())?, &run)
                }
                None if own.vertical.label_epsilon.is_none() => {
                    LabelHolder::party(own.clone(), table, permission.clone())
                }
                None => LabelHolder::with_noisy_labels(own.clone(), table, ledger(own.relation())?, &run),
            }
        });
        simulation.run()
    }
}
