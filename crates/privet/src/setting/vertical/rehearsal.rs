//! All parties in one process, with ledgers that nobody keeps: for simulations, and for rows that are public.

use std::num::NonZeroU32;

use super::{FeatureHolder, LabelHolder, Outcome, Party, Vertical};
use crate::Error;
use crate::data::Table;
use crate::model::Model;
use crate::party::{Simulated, Simulation};
use crate::privacy::account::Caps;
use crate::privacy::{Delta, Ledger, Randomness, Replace, ReplacePrivate, Unprotected};

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
            .ok_or_else(|| Error::Misuse("the label holder trains a model".into()))
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
        let ledger = || Ledger::volatile(Replace::row(), Caps::ZERO, Delta::ZERO, Randomness::from_os()?);
        let simulation = Simulation::new(names, |party, run| -> Result<Party, Error> {
            let place = usize::from(party.0);
            let table = tables[place].take();
            let table = table.ok_or_else(|| Error::Misuse("nobody is killed in a rehearsal".into()))?;
            match (place, self.label_epsilon) {
                (0, None) => LabelHolder::party(self.clone(), table, leave.clone()),
                (0, Some(_)) => {
                    // Its own columns are public, as the schema was checked to say.
                    let columns = table.schema().columns().iter();
                    let private = columns.filter(|column| column.private || !column.kind.is_feature());
                    let private = private.map(|column| column.name.clone());
                    let relation = ReplacePrivate::unit(NonZeroU32::MIN, private);
                    let random = Randomness::from_os()?;
                    let ledger = Ledger::volatile(relation, Caps::ZERO, Delta::ZERO, random)?;
                    LabelHolder::with_noisy_labels(self.clone(), table, ledger, &run)
                }
                _ => FeatureHolder::party(self.clone(), table, ledger()?, &run),
            }
        })?;
        simulation.run()
    }
}
