//! Parties on this machine that compute jointly.

use privet::Error;
use privet::party::{PartyId, RunName, Simulation};
use privet::privacy::signature::SigningKey;
use privet::privacy::{Ledger, Randomness};
use privet::setting::secure::{INITIATOR, Initiator, Outcome, Party, Responder};
use privet::wire::RunId;
use zeroize::Zeroizing;

use super::exit::Failure;
use super::gathering::{Traffic, outcome};
use crate::job::{SecureJob, SecureParty};
use crate::ledger::Shared;
use crate::progress::{Progress, going_on};

/// Plays all parties, each with its own line in the ledger.
pub(super) fn play(
    job: &SecureJob,
    tables: Vec<privet::data::Table>,
    shared: &Shared,
) -> Result<(Outcome, Traffic), Failure> {
    let mut marks = Vec::new();
    for party in &job.parties {
        let data = &party.source.data;
        let unreadable = |e| Failure::input(format!("{}: it cannot be read: {e}", data.display()));
        let file = std::fs::File::open(data).map_err(unreadable)?;
        marks.push(shared.store().mark(file)?);
    }
    // All parties are here, and their keys are those of this run.
    let identity = |_: &SecureParty| {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *bytes).map_err(Error::randomness)?;
        Ok(Some(SigningKey::from_bytes(&bytes)))
    };
    let identities: Result<Vec<_>, Error> = job.parties.iter().map(identity).collect();
    let mut identities = identities?;
    let public = identities.iter().map(|key| key.as_ref().map(SigningKey::public));
    let public: Vec<_> = public.collect();
    let mut tables: Vec<Option<privet::data::Table>> = tables.into_iter().map(Some).collect();
    let make = |party: PartyId, run: RunName| -> Result<Party, Error> {
        let place = usize::from(party.0);
        let table = tables[place].take();
        let table = table.ok_or_else(|| Error::internal("each party is made once"))?;
        let own = &job.parties[place];
        let relation = own.relation.clone();
        let ledger = Ledger::open(own.dataset(), relation, shared.clone(), Randomness::from_os()?)?;
        let ledger = ledger.of_table(&marks[place]);
        let identity = identities[place].take();
        match party == INITIATOR {
            true => Initiator::party(own.plan.clone(), table, ledger, &run, identity),
            false => Responder::party(own.plan.clone(), table, ledger, &run, identity),
        }
    };
    // Public coins follow from the number of the run.
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(Error::randomness)?;
    let bar = Progress::steps("Training");
    let progress = |_: &str, done, of| bar.at(done, of);
    let ended = Simulation::of(job.plan().agreement(RunId(bytes), &job.names(), &public)?, make)
        .progress(&progress)
        .while_going_on(&going_on)
        .run()?;
    let names: Vec<String> = job.names().into_iter().map(str::to_owned).collect();
    let traffic = Traffic::of(&names, &ended);
    Ok((outcome(names, ended, |_| true)?, traffic))
}
