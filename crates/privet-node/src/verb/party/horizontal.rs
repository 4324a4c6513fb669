//! The miner or an owner of the horizontal setting on a network.

use privet::party::PartyId;
use privet::setting::horizontal::{Miner, Outcome, Owner};

use super::Gained;
use super::play::{Playing, there};
use crate::job::{HorizontalJob, OwnerJob};
use crate::verb::exit::{Exit, Failure};
use crate::verb::owners::{Charge, charge, limit_command};
use crate::verb::plan::horizontal::{learns, protection};
use crate::verb::request::Party;
use crate::verb::{permission, words};

fn own(job: &HorizontalJob, me: PartyId) -> Option<&OwnerJob> {
    job.owners.get(usize::from(me.0).checked_sub(1)?)
}

fn own_charge(job: &HorizontalJob, owner: &OwnerJob, party: &Party) -> Result<Charge, Failure> {
    let path = party.ledger.path()?;
    match std::fs::symlink_metadata(path).is_ok() {
        true => charge(job, owner, path),
        false => Ok(Charge::NoBudget),
    }
}

/// A run that goes on may have paid already: what was not paid for is checked by the ledger when it pays.
pub(super) fn check(job: &HorizontalJob, me: PartyId, party: &Party) -> Result<(), Failure> {
    let Some(owner) = own(job, me) else { return Ok(()) };
    there(&owner.source)?;
    let path = party.ledger.path()?;
    match own_charge(job, owner, party)? {
        Charge::Paid { .. } => Ok(()),
        Charge::NoBudget => Err(Failure::new(
            Exit::Budget,
            format!(
                "refused: the ledger {} has no budget for '{}' yet. Run `{}`. Nothing was read.",
                path.display(),
                owner.dataset(),
                limit_command(job, owner)
            ),
        )),
        Charge::Refused(_) if has_begun(party) => Ok(()),
        Charge::Refused(why) => Err(Failure::new(Exit::Budget, format!("refused: {why}"))),
    }
}

/// Whether the ledger holds a run that is not over: whose it is shows later.
fn has_begun(party: &Party) -> bool {
    party.ledger.path().is_ok_and(crate::ledger::has_agreed)
}

pub(super) fn told(
    job: &HorizontalJob,
    me: PartyId,
    party: &Party,
) -> Result<(Vec<String>, Vec<String>), Failure> {
    let plan = &job.plan;
    let mut costs = Vec::new();
    match own(job, me) {
        None => costs.push("nothing: the miner has no rows".to_owned()),
        Some(owner) => {
            costs.push(format!("reads {}", owner.source.data.display()));
            costs.push(format!(
                "pays {} from the budget of '{}'",
                plan.price(),
                owner.dataset()
            ));
            if let Charge::Paid { before, after, delta } = own_charge(job, owner, party)? {
                let [before, after] =
                    [before, after].map(|caps| words::budget(&caps, delta, words::Round::Down));
                costs.push(format!("available {before}; remaining afterwards {after}"));
            }
            let json = protection(plan).json();
            let lines = json["meaning"].as_array().into_iter().flatten();
            costs.extend(lines.filter_map(|line| line.as_str().map(str::to_owned)));
        }
    }
    Ok((learns(plan), costs))
}

pub(super) fn play(job: &HorizontalJob, playing: &mut Playing<'_>) -> Result<Gained, Failure> {
    let outcome = match own(job, playing.me) {
        None => playing.role("", |_| Ok(Miner::party(&job.plan.miner())))?,
        Some(owner) => {
            let table = owner.read()?;
            permission::recognise(&mut playing.shared.store(), &[&owner.source])?;
            let mark = playing.mark(&owner.source)?;
            let ledger = playing.budget(owner.dataset(), job.plan.relation(), &mark)?;
            let identity = playing.identity.key();
            playing.role(&mark, |run| {
                Owner::party(owner.plan.clone(), table, ledger, &run, Some(identity))
            })?
        }
    };
    Ok(match outcome {
        Outcome::Contributed(certificate) => Gained::Contributed(certificate),
        Outcome::Trained {
            model,
            owners,
            report,
        } => {
            let mut told = format!(
                "trained    on the rows of {owners} of {} owners\n",
                job.owners.len()
            );
            if let Some(report) = report {
                told += &format!("\nHOW GOOD THE MODEL IS ON HELD-OUT ROWS\n{report}\n");
            }
            Gained::Model { model, told }
        }
    })
}
