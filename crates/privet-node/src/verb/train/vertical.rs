//! `privet train` where columns lie apart: every party on this machine, each with its own table, ledger lines and kept columns.

use std::fmt::Write;
use std::path::Path;

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
    parties.check_rows(&mine, &theirs)?;
    let shared = open(&train.ledger, &sets)?;
    let key = shared.store().signing_key()?;
    let columns = others
        .iter()
        .map(|holder| {
            let plan = holder.plan.columns();
            Ok((Outgoing::of(holder, plan.relation(), &shared)?, plan))
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    let labels = noisy.then(|| Outgoing::of(own, own.plan.relation(), &shared));
    let labels = labels.transpose()?;
    // Whoever refuses does so before anything is written about anybody; only columns that are drawn by lot are known after the draw.
    for ((outgoing, plan), table) in columns.iter().zip(&theirs) {
        outgoing.check(
            |ledger| Release::check_keep(plan, table, ledger),
            |ledger, earlier| Release::import(plan, table, ledger, earlier, false),
        )?;
    }
    if let Some(labels) = &labels {
        labels.check(
            |ledger| NoisyLabels::check_keep(&own.plan, &mine, ledger),
            |ledger, earlier| NoisyLabels::import(&own.plan, &mine, ledger, earlier, false),
        )?;
    }
    let mut sources: Vec<_> = others.iter().map(|h| &h.source).collect();
    if noisy || own.source.schema.is_private() {
        sources.push(&own.source);
    } else {
        permission::public(&own.source, &train.ledger)?;
    }
    permission::recognise(&mut shared.store(), &sources)?;
    for (((outgoing, plan), table), holder) in columns.iter().zip(&theirs).zip(others) {
        if holder.id.is_some() {
            outgoing.check_ids(table, plan.distances())?;
        }
    }
    // Each party's ledger keeps what it releases; its role finds it there.
    for ((outgoing, plan), table) in columns.iter().zip(&theirs) {
        outgoing.release(
            |ledger| Release::keep(plan, table, ledger),
            |ledger, earlier| Release::import(plan, table, ledger, earlier, true),
        )?;
    }
    if let Some(labels) = &labels {
        labels.release(
            |ledger| NoisyLabels::keep(&own.plan, &mine, ledger),
            |ledger, earlier| NoisyLabels::import(&own.plan, &mine, ledger, earlier, true),
        )?;
    }
    // Last of all: what fails before uses nobody's rows without protection.
    let permission = match (noisy, own.source.schema.is_private()) {
        (true, _) => None,
        (false, true) => {
            let mut store = shared.store();
            let permission = permission::take_in(&mut store, &own.source, BECAUSE)?;
            Some(permission.showing(&own.plan.leaks(), &mut *store)?)
        }
        (false, false) => Some(permission::take(&own.source, BECAUSE, &train.ledger)?),
    };

    let mut tables: Vec<Option<Table>> = [mine].into_iter().chain(theirs).map(Some).collect();
    let make = |party: PartyId, run| -> Result<Party, Error> {
        let place = usize::from(party.0);
        let table = tables[place].take();
        let table = table.ok_or_else(|| Error::internal("each party is made once"))?;
        if let Some(place) = place.checked_sub(1) {
            let (plan, ledger) = (others[place].plan.clone(), columns[place].0.ledger()?);
            return vertical::FeatureHolder::party(plan, table, ledger, &run);
        }
        let plan = own.plan.clone();
        match (&permission, &labels) {
            (Some(permission), _) => vertical::LabelHolder::party(plan, table, permission.clone()),
            (None, Some(labels)) => {
                vertical::LabelHolder::with_noisy_labels(plan, table, labels.ledger()?, &run)
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
    Ok(answer((parties, job), path, &model, &traffic, common))
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

fn answer(
    (parties, job): (&VerticalJob, &Job),
    ledger: &Path,
    model: &Model,
    traffic: &Traffic,
    common: usize,
) -> Answer {
    let mut text = format!("{}\n\n", model.certificate());
    for (from, to, edge) in &traffic.0 {
        let _ = writeln!(
            text,
            "sent       {from} to {to}: {} in {}",
            words::count(edge.bytes, "byte", "bytes"),
            words::count(edge.messages, "message", "messages")
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
            "kept       {}'s columns in the ledger {}: other models can be trained on them, and nothing is released again",
            holder.name,
            ledger.display()
        );
    }
    if parties.vertical.label_epsilon().is_some() {
        let own = &parties.label_holder;
        let _ = writeln!(text, "kept       {}'s labels in the ledger, likewise", own.name,);
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
        .map(|(from, to, edge)| json!({"from": from, "to": to, "bytes": edge.bytes, "messages": edge.messages}))
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
