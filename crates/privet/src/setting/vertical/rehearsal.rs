//! All parties in one process, with ledgers that nobody keeps: for simulations, and for rows that are public.

use super::{FeatureHolder, LabelHolder, Outcome, Party, Vertical};
use crate::Error;
use crate::data::Table;
use crate::model::Model;
use crate::party::{PartyId, RunName, Simulated, Simulation};
use crate::privacy::account::Caps;
use crate::privacy::{Delta, Ledger, Neighbours, Randomness, Relation, Typed, Unprotected};

impl Vertical {
    /// Trains over one label holder's table and those of feature holders, through the whole protocol: every message is encoded and
    /// decoded. Nothing is recorded.
    ///
    /// # Errors
    /// Whatever hinders one of the parties.
    pub fn rehearse(&self, own: Table, others: Vec<Table>, leave: &Unprotected) -> Result<Model, Error> {
        let outcomes = self.rehearsed(own, others, leave)?.all()?;
        outcomes
            .into_iter()
            .find_map(|outcome| match outcome {
                Outcome::Trained(model) => Some(*model),
                _ => None,
            })
            .ok_or_else(|| Error::internal("the label holder trains a model"))
    }

    /// As [`rehearse`](Self::rehearse), with all outcomes and what went from whom to whom.
    ///
    /// # Errors
    /// As [`rehearse`](Self::rehearse).
    pub fn rehearsed(
        &self,
        own: Table,
        others: Vec<Table>,
        leave: &Unprotected,
    ) -> Result<Simulated<Outcome>, Error> {
        let names = (1..=others.len()).map(|i| format!("feature holder {i}"));
        let names = ["label holder".to_owned()].into_iter().chain(names).collect();
        let mut tables: Vec<Option<Table>> = [own].into_iter().chain(others).map(Some).collect();
        let simulation = Simulation::new(names, |party, run| -> Result<Party, Error> {
            let table = tables[usize::from(party.0)].take();
            let table = table.ok_or_else(|| Error::internal("nobody is killed in a rehearsal"))?;
            let vertical = self.clone();
            if party == super::LABEL_HOLDER && self.label_epsilon.is_none() {
                return LabelHolder::party(vertical, table, leave.clone());
            }
            let relation = match table.schema().replaced() {
                // Nothing is private; a ledger is kept all the same.
                Relation::ReplacePrivate { rows, unit, columns } if columns.is_empty() => {
                    Relation::Replace { rows, unit }
                }
                relation => relation,
            };
            relation.typed(Rehearsing {
                vertical,
                party,
                table,
                run,
            })
        })?;
        simulation.run()
    }
}

/// A party with a ledger of its own, which nobody keeps.
struct Rehearsing {
    vertical: Vertical,
    party: PartyId,
    table: Table,
    run: RunName,
}

impl Typed for Rehearsing {
    type Output = Result<Party, Error>;

    fn under<N: Neighbours>(self, relation: N) -> Self::Output {
        let Self {
            vertical,
            party,
            table,
            run,
        } = self;
        let ledger = Ledger::volatile(relation, Caps::ZERO, Delta::ZERO, Randomness::from_os()?)?;
        if party == super::LABEL_HOLDER {
            LabelHolder::with_noisy_labels(vertical, table, ledger, &run)
        } else {
            FeatureHolder::party(vertical, table, ledger, &run)
        }
    }
}
