//! Owners of rows on this machine: whether their budgets pay, the run that they take part in, and its records in the ledger.

use std::fs::File;
use std::path::Path;

use privet::Error;
use privet::data::Table;
use privet::error::{JournalFault, Refusal};
use privet::party::{Agreement, PartyId, Record, RunName, Simulation};
use privet::privacy::account::{Caps, MuSquared, Price};
use privet::privacy::signature::{PublicKey, SigningKey};
use privet::privacy::{BudgetToSet, Delta, Epsilon, Ledger, Randomness};
use privet::setting::horizontal::{MINER, Miner, Outcome, Owner, Party};
use privet::wire::RunId;
use zeroize::Zeroizing;

use super::exit::{Exit, Failure};
use super::gathering::{Traffic, outcome};
use crate::job::{HorizontalJob, OwnerJob};
use crate::ledger::{CommitmentKey, RunRecord, Shared, Store};
use crate::progress::{Progress, going_on};

/// What an owner's budget says to a run.
pub(super) enum Charge {
    /// It pays: what remains before and after, at which δ it is stated.
    Paid { before: Caps, after: Caps, delta: Delta },
    /// There is no budget yet.
    NoBudget,
    /// It does not pay, for this reason.
    Refused(String),
}

/// What each owner's budget says to a run of this job. Nothing is written.
pub(super) fn charges(job: &HorizontalJob, path: &Path) -> Result<Vec<Charge>, Failure> {
    let is_there = std::fs::symlink_metadata(path).is_ok();
    let charge = |owner: &OwnerJob| match is_there {
        true => charge(job, owner, path),
        false => Ok(Charge::NoBudget),
    };
    job.owners.iter().map(charge).collect()
}

/// What one owner's budget says to it.
pub(super) fn charge(job: &HorizontalJob, owner: &OwnerJob, path: &Path) -> Result<Charge, Failure> {
    let plan = &job.plan;
    let (store, random) = (Store::read_only(path)?, Randomness::from_os()?);
    let asked = || -> Result<Charge, Error> {
        let mut ledger = Ledger::open(owner.dataset(), plan.relation().clone(), store, random)?;
        let before = ledger.remaining();
        ledger.promise(plan.price(), plan.delta())?;
        // A joint sum is paid for by all owners in one currency: a budget for Gaussian noise does not pay ε.
        let converts = before.pure == Epsilon::ZERO && before.mu_squared != MuSquared::ZERO;
        if plan.sharing().is_some() && matches!(plan.price(), Price::Pure(_)) && converts {
            return Err(Error::from(Refusal::OtherCurrency {
                dataset: owner.dataset().into(),
                needed: plan.price(),
                caps: before,
            }));
        }
        Ok(Charge::Paid {
            before,
            after: before.remaining(&ledger.remaining()),
            delta: ledger.delta(),
        })
    };
    match asked() {
        Ok(charge) => Ok(charge),
        Err(Error::Budget(refusal)) => Ok(match &*refusal {
            Refusal::NoBudget { other: None, .. } => Charge::NoBudget,
            refusal => Charge::Refused(refusal.reason_with(&budget(job))),
        }),
        Err(e) => Err(e.into()),
    }
}

/// The command by which an owner allows for one run of this job.
pub(super) fn limit_command(job: &HorizontalJob, owner: &OwnerJob) -> String {
    job.plan.relation().limit_command(owner.dataset(), &budget(job))
}

fn budget(job: &HorizontalJob) -> BudgetToSet {
    BudgetToSet::of(job.plan.epsilon(), job.plan.delta())
}

/// Why a run is refused before anybody pays, if it is: everything at once.
pub(super) fn refusal(job: &HorizontalJob, charges: &[Charge], path: &Path) -> Option<Failure> {
    let mut lines = Vec::new();
    let all = || job.owners.iter().zip(charges);
    let missing: Vec<&OwnerJob> = all()
        .filter(|(_, charge)| matches!(charge, Charge::NoBudget))
        .map(|(owner, _)| owner)
        .collect();
    if !missing.is_empty() {
        let what = match std::fs::symlink_metadata(path).is_ok() {
            true => {
                let names: Vec<String> = missing
                    .iter()
                    .map(|owner| format!("'{}'", owner.dataset()))
                    .collect();
                let names = names.join(", ");
                format!("the ledger {} has no budget for {names} yet", path.display())
            }
            false => format!("there is no ledger {} yet", path.display()),
        };
        let commands = missing
            .iter()
            .map(|owner| format!("\n  {}", limit_command(job, owner)));
        lines.push(format!(
            "{what}. Each owner sets its own:{}",
            commands.collect::<String>()
        ));
    }
    for (owner, charge) in all() {
        if let Charge::Refused(why) = charge {
            lines.push(format!("{}: {why}", owner.name));
        }
    }
    let message = lines.join("\n");
    (!lines.is_empty()).then(|| Failure::new(Exit::Budget, message))
}

/// A run of all parties in this process, with records in the ledger's file.
pub(super) struct OwnersRun<'a> {
    job: &'a HorizontalJob,
    shared: &'a Shared,
    path: &'a Path,
    /// What the ledger recognises each owner's file by.
    marks: Vec<String>,
    /// What each owner's identity follows from.
    seeds: Vec<Zeroizing<[u8; 32]>>,
    agreement: Agreement,
    /// Whether it was broken off before, and goes on.
    pub(super) is_resumed: bool,
}

/// What came of a run, and what was sent.
pub(super) struct OwnersPlayed {
    pub(super) outcome: Result<Outcome, Failure>,
    pub(super) traffic: Traffic,
}

impl<'a> OwnersRun<'a> {
    /// The first run of this job on these tables that is not over. Rows are not looked at.
    pub(super) fn find(job: &'a HorizontalJob, shared: &'a Shared, path: &'a Path) -> Result<Self, Failure> {
        let key = shared.store().commitment_key();
        let key = key.ok_or_else(|| {
            let why = format!(
                "the key beside the ledger {} is missing: put it back from a backup",
                path.display()
            );
            Error::journal(JournalFault::Key, why)
        })?;
        let mut marks = Vec::new();
        for OwnerJob { source, .. } in &job.owners {
            let unreadable = |e| Failure::input(format!("{}: it cannot be read: {e}", source.data.display()));
            let file = File::open(&source.data).map_err(unreadable)?;
            marks.push(shared.store().mark(file)?);
        }
        // Each owner is known by a key that follows from the ledger's: the same whenever a run is taken up again.
        let identity = |owner: &OwnerJob| {
            let about = format!("privet identity of an owner 1\0{}", owner.dataset());
            Zeroizing::new(key.seal(about.as_bytes()))
        };
        let seeds: Vec<_> = job.owners.iter().map(identity).collect();
        let identities: Vec<_> = seeds
            .iter()
            .map(|seed| Some(SigningKey::from_bytes(seed).public()))
            .collect();
        let mut before = None;
        for number in 0_u64.. {
            let agreement = agreement(job, &key, &marks, &identities, number)?;
            let found = match RunRecord::open(path, &agreement, MINER, "") {
                // That run is over.
                Err(Error::Journal(e)) if e.fault() == JournalFault::OtherJob => {
                    before = Some(agreement);
                    continue;
                }
                found => found?.read(0)?,
            };
            let run = Self {
                job,
                shared,
                path,
                marks,
                seeds,
                agreement,
                is_resumed: found.is_some(),
            };
            // The process may have been killed while the records of the run before were removed.
            before.map_or(Ok(()), |before| run.wipe(&before))?;
            return Ok(run);
        }
        Err(Error::internal("some run is not over").into())
    }

    /// Plays all parties. If it is stopped, or the process is killed, it goes on from its records another time.
    pub(super) fn play(&self, tables: Vec<Table>) -> Result<OwnersPlayed, Failure> {
        let mut tables: Vec<Option<Table>> = tables.into_iter().map(Some).collect();
        let make = |party: PartyId, run: RunName| -> Result<Party, Error> {
            let Some(place) = usize::from(party.0).checked_sub(1) else {
                return Ok(Miner::party(&self.job.plan.miner()));
            };
            let table = tables[place].take();
            let table = table.ok_or_else(|| Error::internal("each party is made once"))?;
            let owner = &self.job.owners[place];
            let relation = self.job.plan.relation().clone();
            let ledger = Ledger::open(
                owner.dataset(),
                relation,
                self.shared.clone(),
                Randomness::from_os()?,
            )?;
            let ledger = ledger.of_table(&self.marks[place]);
            let identity = SigningKey::from_bytes(&self.seeds[place]);
            Owner::party(owner.plan.clone(), table, ledger, &run, Some(identity))
        };
        let bar = Progress::steps("Training");
        let progress = |_: &str, done, of| bar.at(done, of);
        let ended = Simulation::of(self.agreement.clone(), make)
            .progress(&progress)
            .stored(|party| Ok(Box::new(self.record(&self.agreement, party)?)))
            .while_going_on(&going_on)
            .run();
        let ended = ended.map_err(|e| match e {
            Error::Stopped => Failure::new(
                Exit::Stopped,
                format!("{e}. The ledger has a record of the run: the same command goes on with it, and pays nothing twice"),
            ),
            e => e.into(),
        })?;
        let names = self.job.names();
        Ok(OwnersPlayed {
            traffic: Traffic::of(&names, &ended),
            outcome: outcome(names, ended, |outcome| matches!(outcome, Outcome::Trained { .. })),
        })
    }

    /// Removes the records of all parties: the run is over.
    pub(super) fn end(&self) -> Result<(), Failure> {
        self.wipe(&self.agreement)
    }

    /// The miner's record comes first: as long as it is there, the run is not over.
    fn wipe(&self, agreement: &Agreement) -> Result<(), Failure> {
        for party in agreement.parties() {
            match self.record(agreement, party) {
                Ok(mut record) => record.wipe()?,
                Err(Error::Journal(e)) if e.fault() == JournalFault::OtherJob => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok(())
    }

    fn record(&self, agreement: &Agreement, party: PartyId) -> Result<RunRecord, Error> {
        let mark = usize::from(party.0)
            .checked_sub(1)
            .map(|place| &self.marks[place]);
        RunRecord::open(self.path, agreement, party, mark.map_or("", String::as_str))
    }
}

/// The agreement of the run of this number, of this job on these tables.
fn agreement(
    job: &HorizontalJob,
    key: &CommitmentKey,
    marks: &[String],
    identities: &[Option<PublicKey>],
    number: u64,
) -> Result<Agreement, Error> {
    let mut about = format!("privet run of owners 1\0{number}\0");
    let said = job
        .plan
        .shared()
        .into_iter()
        .map(|(name, value)| format!("{name} = {value}\0"));
    about.extend(said);
    let tables = job.owners.iter().zip(marks);
    about.extend(tables.map(|(owner, mark)| format!("{}\0{mark}\0", owner.dataset())));
    let hash = key.seal(about.as_bytes());
    let run = RunId(std::array::from_fn(|place| hash[place]));
    job.plan.agreement(run, crate::job::MINER_NAME, identities)
}
