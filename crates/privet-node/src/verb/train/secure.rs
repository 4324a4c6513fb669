//! `privet train` where parties compute jointly: all on this machine, each with its own table and its own line in the ledger.

use std::fmt::Write;

use serde_json::json;

use super::save;
use crate::job::{Job, SecureJob, SecureParty};
use crate::ledger::Shared;
use crate::verb::exit::Failure;
use crate::verb::parties::{refused, unlisted_for};
use crate::verb::request::Train;
use crate::verb::secure::play;
use crate::verb::{Answer, permission, words};

pub(super) fn run(parties: &SecureJob, job: &Job, train: &Train) -> Result<Answer, Failure> {
    let path = train.ledger.path()?;
    if let Some(why) = unlisted_for(path, &parties.data_sets(), crate::verb::plan::SHOWN)? {
        return Err(refused(&why));
    }
    let shared = Shared::new(train.ledger.open()?);
    let key = shared.store().signing_key()?;
    let tables = parties.parties.iter().map(SecureParty::read);
    let tables = tables.collect::<Result<Vec<_>, _>>()?;
    permission::recognise(&mut shared.store(), &parties.sources())?;
    let (outcome, traffic) = play(parties, tables, &shared)?;
    let model = outcome.model;
    save(job, &model, Some(&key))?;
    let mut text = format!("{}\n\n", model.certificate());
    text += &traffic.text();
    let rounds = words::count(outcome.rounds.len() as u64, "round", "rounds");
    let all = match parties.parties.len() {
        2 => "both",
        _ => "all",
    };
    let _ = writeln!(text, "trained    {rounds}; {all} parties have the same model");
    let _ = writeln!(
        text,
        "\nWrote {}: {}",
        job.output.display(),
        model.ensemble().summary()
    );
    let json = json!({
        "model": job.output,
        "certificate": model.certificate(),
        "ensemble": model.ensemble().summary(),
        "sent": traffic.json(),
        "rounds": outcome.rounds.len(),
    });
    Ok(Answer::new(words::wrapped(&text), json))
}
