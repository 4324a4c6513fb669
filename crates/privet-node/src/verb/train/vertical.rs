//! `privet train` where columns lie apart: every party on this machine, each with its own table, ledger lines and kept columns.

use std::fmt::Write;

use privet::Error;
use privet::data::Table;
use privet::model::Model;
use privet::party::{Edge, PartyId, Simulated, Simulation};
use privet::setting::vertical::{self, NoisyLabels, Outcome, Party, Release};
use serde_json::json;

use super::save;
use crate::job::{Job, VerticalJob};
use crate::progress::{Progress, going_on};
use crate::verb::exit::Failure;
use crate::verb::parties::{Outgoing, lines, open};
use crate::verb::request::Train;
use crate::verb::{Answer, output, permission, words};

pub(super) fn run(parties: &VerticalJob, job: &Job, train: &Train) -> Result<Answer, Failure> {
    let (own, others) = (&parties.label_holder, &parties.feature_holders);
    let noisy = parties.vertical.label_epsilon().is_some();
    if !noisy {
        let what = format!("training on the rows and labels of {} as they are", own.name);
        permission::ask(&own.source.schema, &what, train.not_protected)?;
    }
    for kept in others.iter().map(|holder| &holder.kept).chain([&own.kept]) {
        output::check_record(&train.ledger, kept)?;
    }
    let sets = parties.data_sets();
    let path = train.ledger.path()?;
    lines(path, &sets)?;
    let mine = own.read(own.plan.reads())?;
    let theirs = others
        .iter()
        .map(|holder| holder.read(holder.plan.columns().reads()))
        .collect::<Result<Vec<_>, _>>()?;
    parties.check_given(&mine, &theirs)?;
    let shared = open(path, &sets)?;
    let key = shared.store().signing_key()?;
    let columns: Vec<_> = others
        .iter()
        .map(|holder| {
            let plan = holder.plan.columns();
            (Outgoing::of(holder, plan.relation(), &shared), plan)
        })
        .collect();
    let labels = Outgoing::of(own, own.plan.relation(), &shared);
    // Whoever refuses does so before anything is written about anybody; only columns that are drawn by lot are known after the draw.
    for ((outgoing, plan), table) in columns.iter().zip(&theirs) {
        outgoing.check(|ledger, record| Release::check_keep(plan, table, ledger, record))?;
    }
    if noisy {
        labels.check(|ledger, record| NoisyLabels::check_keep(&own.plan, &mine, ledger, record))?;
    }
    let mut sources: Vec<_> = others.iter().map(|h| &h.source).collect();
    if noisy || own.source.schema.is_private() {
        sources.push(&own.source);
    } else {
        permission::public(&own.source, &train.ledger)?;
    }
    permission::recognise(&mut shared.store(), &sources)?;
    for (((outgoing, _), table), holder) in columns.iter().zip(&theirs).zip(others) {
        if holder.id.is_some() {
            outgoing.check_ids(table)?;
        }
    }
    let releases = columns
        .iter()
        .zip(&theirs)
        .map(|((outgoing, plan), table)| {
            outgoing.release(|ledger, record| Release::keep(plan, table, ledger, record))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let noisy_labels = noisy
        .then(|| labels.release(|ledger, record| NoisyLabels::keep(&own.plan, &mine, ledger, record)))
        .transpose()?;
    // Last of all: what fails before uses nobody's rows without protection.
    let permission = match (noisy, own.source.schema.is_private()) {
        (true, _) => None,
        (false, true) => Some(permission::take_in(&mut shared.store(), &own.source, BECAUSE)?),
        (false, false) => Some(permission::take(&own.source, BECAUSE, &train.ledger)?),
    };

    let mut tables: Vec<Option<Table>> = [mine].into_iter().chain(theirs).map(Some).collect();
    let make = |party: PartyId, run| -> Result<Party, Error> {
        let place = usize::from(party.0);
        let table = tables[place].take();
        let table = table.ok_or_else(|| Error::internal("each party is made once"))?;
        if let Some(place) = place.checked_sub(1) {
            let (plan, release) = (others[place].plan.clone(), releases[place].clone());
            let ledger = columns[place].0.ledger()?;
            return vertical::FeatureHolder::kept(plan, release, table, ledger, &run);
        }
        let plan = own.plan.clone();
        match (&permission, &noisy_labels) {
            (Some(permission), _) => vertical::LabelHolder::party(plan, table, permission.clone()),
            (None, Some(kept)) => {
                let ledger = labels.ledger()?;
                vertical::LabelHolder::with_kept_labels(plan, table, kept.clone(), ledger, &run)
            }
            (None, None) => Err(Error::internal("labels change, or there is permission")),
        }
    };
    let bar = Progress::steps("Training");
    let progress = |_: &str, done, of| bar.at(done, of);
    let ended = Simulation::new(parties.names(), make)?
        .progress(&progress)
        .run()?;
    going_on()?;
    let traffic = Traffic::of(parties, &ended);
    let (model, common) = trained(parties, ended)?;
    save(job, &model, Some(&key))?;
    Ok(answer(parties, job, &model, &traffic, common))
}

const BECAUSE: &str = "a model was trained on its rows and labels as they are (setting = \"vertical\")";

/// The model and the number of common rows, or why there is none: a party that says no more than that another gave up is asked last.
fn trained(parties: &VerticalJob, ended: Simulated<Outcome>) -> Result<(Model, usize), Failure> {
    let mut why: Option<(String, Error)> = None;
    for (name, outcome) in parties.names().into_iter().zip(ended.outcomes) {
        match outcome {
            Ok(Outcome::Trained { model, rows }) => return Ok((*model, rows)),
            Ok(_) => {}
            Err(e) if matches!(why, None | Some((_, Error::Peer(_)))) => why = Some((name, e)),
            Err(_) => {}
        }
    }
    let (name, e) = why.unwrap_or_else(|| {
        (
            "nobody".into(),
            Error::internal("a model is trained, or a party says why not"),
        )
    });
    let failure = Failure::from(e);
    Err(Failure {
        message: format!("{name}: {}", failure.message),
        ..failure
    })
}

/// How much each party sent to each other.
struct Traffic(Vec<(String, String, Edge)>);

impl Traffic {
    fn of(parties: &VerticalJob, ended: &Simulated<Outcome>) -> Self {
        let names = parties.names();
        let name = |party: &PartyId| names.get(usize::from(party.0)).cloned().unwrap_or_default();
        let edges = ended.traffic.iter();
        Self(
            edges
                .map(|((from, to), edge)| (name(from), name(to), *edge))
                .collect(),
        )
    }
}

fn answer(parties: &VerticalJob, job: &Job, model: &Model, traffic: &Traffic, common: usize) -> Answer {
    let mut text = format!("{}\n\n", model.certificate());
    for (from, to, edge) in &traffic.0 {
        let _ = writeln!(
            text,
            "sent       {from} to {to}: {} in {}",
            words::count(edge.bytes, "byte", "bytes"),
            words::count(edge.frames, "message", "messages")
        );
    }
    let _ = writeln!(
        text,
        "matched    {} (shown to {} only)",
        words::count(
            common as u64,
            "row that all parties have",
            "rows that all parties have"
        ),
        parties.trainer()
    );
    for holder in &parties.feature_holders {
        let _ = writeln!(
            text,
            "kept       {}'s columns in {}: other models can be trained on them, and nothing is released again",
            holder.name,
            holder.kept.display()
        );
    }
    if parties.vertical.label_epsilon().is_some() {
        let own = &parties.label_holder;
        let _ = writeln!(
            text,
            "kept       {}'s labels in {}, likewise",
            own.name,
            own.kept.display()
        );
    }
    let _ = writeln!(
        text,
        "\nWrote {}: {}",
        job.output.display(),
        model.ensemble().summary()
    );
    let sent: Vec<_> = traffic
        .0
        .iter()
        .map(|(from, to, edge)| json!({"from": from, "to": to, "bytes": edge.bytes, "messages": edge.frames}))
        .collect();
    let json = json!({
        "model": job.output,
        "certificate": model.certificate(),
        "ensemble": model.ensemble().summary(),
        "sent": sent,
        "rows_in_common": common,
    });
    Answer::new(words::wrapped(&text), json)
}
