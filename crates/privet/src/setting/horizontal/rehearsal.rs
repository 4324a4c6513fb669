//! All parties in one process, with ledgers that nobody keeps: for simulations, and for rows that are public.

use super::{MINER, Miner, Outcome, Owner, Plan};
use crate::Error;
use crate::data::Table;
use crate::party::{Simulated, Simulation};
use crate::privacy::account::Caps;
use crate::privacy::signature::SigningKey;
use crate::privacy::{Ledger, Randomness};
use crate::wire::RunId;

impl Plan {
    /// Trains over the tables of all owners, in their order and read with the plan's schema, through the whole protocol: every message is
    /// encoded and decoded. Gives all outcomes, the miner's first, and what was sent. Nothing is recorded.
    ///
    /// # Errors
    /// [`Error::Misuse`] if there is not one table for each owner; [`Error::Randomness`] if there is none.
    pub fn rehearsed(&self, tables: Vec<Table>) -> Result<Simulated<Outcome>, Error> {
        if tables.len() != self.owners().len() {
            return Err(Error::misuse("there is one table for each owner of the plan"));
        }
        let mut random = Randomness::from_os()?;
        let mut draw = || {
            let mut bytes = [0; 32];
            random.fill(&mut bytes);
            bytes
        };
        let identities: Vec<SigningKey> = tables.iter().map(|_| SigningKey::from_bytes(&draw())).collect();
        let public: Vec<_> = identities.iter().map(|key| Some(key.public())).collect();
        // Public coins follow from it.
        let bytes = draw();
        let run = RunId(std::array::from_fn(|place| bytes[place]));
        let mut parts: Vec<_> = tables.into_iter().zip(identities).map(Some).collect();
        let agreement = self.agreement(run, "miner", &public)?;
        let simulation = Simulation::of(agreement, |party, run| {
            if party == MINER {
                return Ok(Miner::party(&self.miner()));
            }
            let place = usize::from(party.0) - 1;
            let part = parts.get_mut(place).and_then(Option::take);
            let (table, identity) = part.ok_or_else(|| Error::internal("nobody is killed in a rehearsal"))?;
            let caps = Caps::from(self.price());
            let ledger = Ledger::volatile(
                self.relation().clone(),
                caps,
                self.delta(),
                Randomness::from_os()?,
            )?;
            Owner::party(self.owner(place)?, table, ledger, &run, Some(identity))
        });
        simulation.run()
    }
}
