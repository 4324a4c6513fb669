//! Which party this is, and the canonical plan that all parties must have alike.

use std::fmt::Write;
use std::time::Duration;

use privet::data::Schema;
use privet::party::{Edges, PartyId, Terms};
use privet::privacy::signature::{Fingerprint, PublicKey};
use privet::wire::RunId;

use super::prediction;
use crate::job::{Job, MINER_NAME, Network, Setting};
use crate::net::{Identity, Plan, Seats, Trust};
use crate::verb::exit::Failure;
use crate::verb::request::Party;

/// A connection that says nothing for so long is lost, if patience is not short.
const MOST_SILENCE: Duration = Duration::from_secs(20);

/// One party of a job, and its plan.
pub(super) struct Site {
    pub(super) seats: Seats,
    roles: Vec<String>,
    pub(super) plan: Plan,
}

impl Site {
    pub(super) fn of(
        job: &Job,
        network: &Network,
        party: &Party,
        identity: &Identity,
        trust: &Trust,
    ) -> Result<Self, Failure> {
        let terms = terms(job)?;
        let names: Vec<String> = terms.parties.iter().map(|member| member.name.clone()).collect();
        let roles: Vec<String> = terms
            .parties
            .iter()
            .map(|member| member.role.replace(' ', "-"))
            .collect();
        let me = which(&names, &roles, party)?;
        let listens = names.iter().position(|name| *name == network.listens);
        let listens = PartyId(listens.unwrap_or_default() as u16);
        let mut fingerprints: Vec<Fingerprint> = Vec::new();
        for (place, name) in names.iter().enumerate() {
            fingerprints.push(match place == usize::from(me.0) {
                true => identity.public().fingerprint(),
                false => trust.fingerprint(name)?,
            });
        }
        let patience = Duration::from_secs(network.patience.into());
        let text = text(job, network, (&terms, &roles), &fingerprints);
        Ok(Self {
            seats: Seats {
                names,
                me,
                listens,
                silence: (patience / 3).min(MOST_SILENCE),
            },
            roles,
            plan: Plan {
                text,
                terms,
                fingerprints,
                patience,
                deadline: Duration::from_secs(network.deadline.into()),
            },
        })
    }

    pub(super) fn name(&self) -> &str {
        self.seats.name(self.seats.me)
    }

    pub(super) fn role(&self) -> &str {
        &self.roles[usize::from(self.seats.me.0)]
    }
}

/// The party that role and name say.
fn which(names: &[String], roles: &[String], party: &Party) -> Result<PartyId, Failure> {
    let fits = |place: &usize| {
        party.name.as_ref().is_none_or(|name| names[*place] == *name)
            && party.role.as_ref().is_none_or(|role| roles[*place] == *role)
    };
    let found: Vec<usize> = (0..names.len()).filter(fits).collect();
    if let ([place], true) = (&found[..], party.name.is_some() || party.role.is_some()) {
        return Ok(PartyId(*place as u16));
    }
    let all = names
        .iter()
        .zip(roles)
        .map(|(name, role)| format!("\n  --role {role} --name {name}"));
    let all: String = all.collect();
    Err(Failure::usage(match found.len() {
        0 => format!("the job has no such party; it has:{all}"),
        _ => format!("say which party of the job this is:{all}"),
    }))
}

/// The terms of a run of this job, without identities and number.
fn terms(job: &Job) -> Result<Terms, Failure> {
    let run = RunId([0; 16]);
    // Identities come with the agreement; these hold their places.
    let places = |count: usize| -> Vec<Option<PublicKey>> {
        let place = |place: u16| {
            let mut bytes = [0; 32];
            bytes[..2].copy_from_slice(&place.to_le_bytes());
            Some(PublicKey::from_bytes(bytes))
        };
        (0..count as u16).map(place).collect()
    };
    let agreement = match &job.setting {
        Setting::Vertical(parties) => parties.vertical.agreement(run, parties.names())?,
        Setting::Prediction(job) => job.parties.vertical.agreement(run, job.parties.names())?,
        Setting::Secure(parties) => {
            let names = parties.names();
            parties.plan().agreement(run, &names, &places(names.len()))?
        }
        Setting::Horizontal(owners) => {
            let places = places(owners.owners.len());
            owners.plan.agreement(run, MINER_NAME, &places)?
        }
        _ => return Err(Failure::usage("this job has one table and no parties")),
    };
    let mut terms = agreement.terms().clone();
    terms.parties.iter_mut().for_each(|member| member.identity = None);
    Ok(terms)
}

/// The canonical plan: everything that all parties must have alike, in one order, nothing left to defaults.
fn text(
    job: &Job,
    network: &Network,
    (terms, roles): (&Terms, &[String]),
    fingerprints: &[Fingerprint],
) -> String {
    let mut text = String::from("privet plan 1\n");
    let settings = match &job.setting {
        Setting::Vertical(parties) => parties.vertical.settings(),
        Setting::Prediction(job) => prediction::settings(job),
        Setting::Horizontal(owners) => owners.plan.shared(),
        Setting::Secure(parties) => parties.plan().settings(),
        _ => Vec::new(),
    };
    for (name, value) in settings {
        let _ = writeln!(text, "{name} = {value}");
    }
    for (place, ((member, role), fingerprint)) in
        terms.parties.iter().zip(roles).zip(fingerprints).enumerate()
    {
        let _ = writeln!(text, "party {place} = {}, {role}, {fingerprint}", member.name);
    }
    let _ = match terms.edges {
        Edges::All => writeln!(text, "speaks = all to all"),
        Edges::Hub(hub) => writeln!(text, "speaks = all to party {}", hub.0),
    };
    let _ = writeln!(text, "listens = {}", network.listens);
    let _ = writeln!(text, "patience = {}", network.patience);
    let _ = writeln!(text, "deadline = {}", network.deadline);
    let _ = writeln!(text, "most bytes of a message = {}", terms.limits.message_bytes);
    if let Some(most) = terms.limits.most_ids {
        let _ = writeln!(text, "most ids = {most}");
    }
    let mut schema = |name: &str, schema: &Schema| {
        for line in schema.to_toml().lines().filter(|line| !line.is_empty()) {
            let _ = writeln!(text, "schema of {name}: {line}");
        }
    };
    match &job.setting {
        Setting::Vertical(parties) => parties.sources().for_each(|(name, of)| schema(name, &of.schema)),
        Setting::Prediction(job) => job
            .parties
            .sources()
            .for_each(|(name, of)| schema(name, &of.schema)),
        Setting::Horizontal(owners) => {
            schema("all", owners.plan.schema());
            for owner in &owners.owners {
                let _ = writeln!(text, "data set of {} = {}", owner.name, owner.dataset());
            }
        }
        Setting::Secure(parties) => {
            for party in &parties.parties {
                schema(&party.name, &party.source.schema);
            }
        }
        _ => {}
    }
    text
}
