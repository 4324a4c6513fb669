//! A party of the secure setting on a network.

use privet::party::PartyId;
use privet::setting::secure::{INITIATOR, Initiator, Responder};

use super::Gained;
use super::play::{Playing, there};
use crate::job::{SecureJob, SecureParty};
use crate::verb::exit::Failure;
use crate::verb::parties::{refused, unlisted_for};
use crate::verb::plan::{SHOWN, secure::shown};
use crate::verb::request::Party;
use crate::verb::{permission, words};

fn own(job: &SecureJob, me: PartyId) -> &SecureParty {
    &job.parties[usize::from(me.0)]
}

pub(super) fn check(job: &SecureJob, me: PartyId, party: &Party) -> Result<(), Failure> {
    let own = own(job, me);
    let set = [(&*own.source.schema, &own.relation)];
    if let Some(why) = unlisted_for(party.ledger.path()?, &set, SHOWN)? {
        return Err(refused(&why));
    }
    there(&own.source)
}

pub(super) fn told(job: &SecureJob, me: PartyId) -> (Vec<String>, Vec<String>) {
    let plan = job.plan();
    let [peer, reader] = shown(plan);
    let each = |who: &str, lines: Vec<String>| {
        lines
            .into_iter()
            .map(move |line| format!("{who} learns: {line}"))
            .collect::<Vec<_>>()
    };
    let mut learns = each("Each party", peer);
    learns.extend(each("Whoever sees the model", reader));
    let own = own(job, me);
    let costs = vec![
        format!("reads {}", own.source.data.display()),
        format!(
            "no ε: the ledger lists what '{}' shows, at most {:.0} bits to {}",
            own.dataset(),
            plan.most_bits(),
            if job.parties.len() == 2 {
                "the other party"
            } else {
                "the other parties"
            }
        ),
    ];
    (learns, costs)
}

pub(super) fn play(job: &SecureJob, playing: &mut Playing<'_>) -> Result<Gained, Failure> {
    let own = own(job, playing.me);
    let table = own.read()?;
    permission::recognise(&mut playing.shared.store(), &[&own.source])?;
    let mark = playing.mark(&own.source)?;
    let ledger = playing.budget(own.dataset(), &own.relation, &mark)?;
    let is_initiator = playing.me == INITIATOR;
    let identity = Some(playing.identity.key());
    let outcome = playing.role(&mark, |run| match is_initiator {
        true => Initiator::party(own.plan.clone(), table, ledger, &run, identity),
        false => Responder::party(own.plan.clone(), table, ledger, &run, identity),
    })?;
    let rounds = words::count(outcome.rounds.len() as u64, "round", "rounds");
    Ok(Gained::Model {
        model: outcome.model,
        told: format!("trained    {rounds}; all parties have the same model\n"),
    })
}
