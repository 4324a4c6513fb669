//! A run with a budget of its own, which no ledger records: for simulations, and for rows that are public.

use super::Central;
use crate::Error;
use crate::data::Table;
use crate::model::Model;
use crate::privacy::account::Caps;
use crate::privacy::{Ledger, Randomness, Relation};

impl Central {
    /// Trains as [`fit`](Self::fit) does under `relation`, with as much budget as it takes. The certificate says that nothing was
    /// recorded.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and [`Error::Journal`] if there is no randomness.
    pub fn rehearse(&self, table: Table, relation: &Relation) -> Result<Model, Error> {
        let caps = Caps::from(self.price(table.schema(), relation)?);
        let ledger = Ledger::volatile(relation.clone(), caps, self.delta(), Randomness::from_os()?)?;
        self.fit(table, ledger, &|_, _| {})
    }
}
