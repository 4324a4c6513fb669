//! All parties in one process, with ledgers that nobody keeps: for simulations, and for rows that are public.

use super::{INITIATOR, Initiator, Outcome, Plan, Responder};
use crate::Error;
use crate::data::Table;
use crate::party::{Simulated, Simulation};
use crate::privacy::account::Caps;
use crate::privacy::signature::SigningKey;
use crate::privacy::{Delta, Ledger, Randomness};
use crate::wire::RunId;

impl Plan {
    /// Trains over the tables of all parties, the initiator's first, read with the plan's schema, through the whole protocol: circuits are garbled and
    /// evaluated, sums are shared, and every message is encoded and decoded. Nothing is recorded.
    ///
    /// # Errors
    /// [`Error::Misuse`] if a table was read otherwise; [`Error::Randomness`] if there is none.
    pub fn rehearsed(
        &self,
        tables: impl IntoIterator<Item = Table>,
        names: &[&str],
    ) -> Result<Simulated<Outcome>, Error> {
        let mut random = Randomness::from_os()?;
        let mut draw = || {
            let mut bytes = [0; 32];
            random.fill(&mut bytes);
            bytes
        };
        let identities: Vec<SigningKey> = names.iter().map(|_| SigningKey::from_bytes(&draw())).collect();
        let public: Vec<_> = identities.iter().map(|key| Some(key.public())).collect();
        // Public coins follow from it.
        let bytes = draw();
        let run = RunId(std::array::from_fn(|place| bytes[place]));
        let mut parts: Vec<_> = tables.into_iter().zip(identities).map(Some).collect();
        let simulation = Simulation::of(self.agreement(run, names, &public)?, |party, run| {
            let part = parts.get_mut(usize::from(party.0)).and_then(Option::take);
            let (table, identity) = part.ok_or_else(|| Error::internal("nobody is killed in a rehearsal"))?;
            let relation = self.relation().clone();
            let ledger = Ledger::volatile(relation, Caps::ZERO, Delta::ZERO, Randomness::from_os()?)?;
            match party == INITIATOR {
                true => Initiator::party(self.clone(), table, ledger, &run, Some(identity)),
                false => Responder::party(self.clone(), table, ledger, &run, Some(identity)),
            }
        });
        simulation.run()
    }
}
