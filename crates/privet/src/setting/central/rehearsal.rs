//! A run with a budget of its own, which no ledger records: for simulations, and for rows that are public.

use super::Central;
use crate::Error;
use crate::data::Table;
use crate::model::Model;
use crate::privacy::account::Caps;
use crate::privacy::{Ledger, Neighbours, Randomness, Relation, Typed};

impl Central {
    /// Trains as [`fit`](Self::fit) does under `relation`, with as much budget as it takes. The certificate says that nothing was
    /// recorded.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and [`Error::Journal`] if there is no randomness.
    pub fn rehearse(&self, table: Table, relation: &Relation) -> Result<Model, Error> {
        let central = self;
        relation.clone().typed(Rehearsal { central, table })
    }
}

struct Rehearsal<'a> {
    central: &'a Central,
    table: Table,
}

impl Typed for Rehearsal<'_> {
    type Output = Result<Model, Error>;

    fn under<N: Neighbours>(self, relation: N) -> Self::Output {
        let Self { central, table } = self;
        let caps = Caps::from(central.price(table.schema(), &relation.relation())?);
        let ledger = Ledger::volatile(relation, caps, central.delta(), Randomness::from_os()?)?;
        central.fit(table, ledger, &|_, _| {})
    }
}
