//! `privet train` where columns lie apart: every party on this machine, each with its own table, ledger lines and kept columns.

use std::fmt::Write;

use privet::Error;
use privet::data::Table;
use privet::model::Model;
use privet::party::{Edge, Item, PartyId, Simulated, Simulation};
use privet::setting::vertical::{self, Message, Outcome, Party};
use privet::wire::Wire;
use serde_json::json;

use super::save;
use crate::job::{Apart, Job};
use crate::ledger::Shared;
use crate::progress::Progress;
use crate::verb::exit::Failure;
use crate::verb::parties::{Labelling, Leaving, Left, Seating, lines, open};
use crate::verb::request::Train;
use crate::verb::{Answer, leave, words};

pub(super) fn run(apart: &Apart, job: &Job, train: &Train) -> Result<Answer, Failure> {
    let own = &apart.label_holder;
    let noisy = apart.vertical.label_epsilon().is_some();
    if !noisy {
        let what = format!("training on the rows and labels of {} as they are", own.name);
        leave::ask(&own.source.schema, &what, train.not_protected)?;
    }
    let others = &apart.feature_holders;
    for kept in others.iter().map(|holder| &holder.kept).chain([&own.kept]) {
        leave::spare_kept(&train.ledger, kept)?;
    }
    let mut sets: Vec<_> = others.iter().map(|h| (&*h.source.schema, h.relation())).collect();
    sets.extend(noisy.then(|| (&*own.source.schema, own.source.schema.replaced())));
    let path = train.ledger.path()?;
    lines(path, &sets)?;
    let desensitisation = apart.vertical.desensitisation();
    let mine = own.table()?;
    let theirs = others
        .iter()
        .map(|holder| holder.table(Some(desensitisation.bins)))
        .collect::<Result<Vec<_>, _>>()?;
    apart.check_given(&mine, &theirs)?;
    let shared = open(path, &sets)?;
    let key = shared.store().signing_key()?;
    let leaving: Vec<Leaving<'_>> = others
        .iter()
        .zip(&theirs)
        .map(|(holder, table)| Leaving {
            desensitisation,
            source: &holder.source,
            table,
            kept: &holder.kept,
            relation: holder.relation(),
            meets: holder.id.is_some(),
        })
        .collect();
    let labelling = Labelling {
        vertical: &apart.vertical,
        own,
        table: &mine,
        shared: &shared,
    };
    // Whoever refuses does so before anything is written about anybody; only columns that are drawn by lot are known after the draw.
    for leaving in &leaving {
        leaving.check(&shared)?;
    }
    if noisy {
        labelling.check()?;
    }
    let mut sources: Vec<_> = others.iter().map(|h| &h.source).collect();
    if noisy || own.source.schema.is_private() {
        sources.push(&own.source);
    } else {
        leave::public(&own.source, &train.ledger)?;
    }
    leave::recognise(&mut shared.store(), &sources)?;
    for leaving in &leaving {
        leaving.check_ids(&shared)?;
    }
    let releases = leaving
        .iter()
        .map(|leaving| leaving.release(&shared))
        .collect::<Result<Vec<_>, _>>()?;
    let labels = noisy.then(|| labelling.labels()).transpose()?;
    // Last of all: what fails before uses nobody's rows without protection.
    let leave = match (noisy, own.source.schema.is_private()) {
        (true, _) => None,
        (false, true) => Some(leave::take_in(&mut shared.store(), &own.source, BECAUSE)?),
        (false, false) => Some(leave::take(&own.source, BECAUSE, &train.ledger)?),
    };

    let mut tables: Vec<Option<Table>> = [mine].into_iter().chain(theirs).map(Some).collect();
    let make = |party: PartyId, run| -> Result<Party, Error> {
        let place = usize::from(party.0);
        let table = tables[place].take();
        let table = table.ok_or_else(|| Error::misuse("nobody is made twice here"))?;
        let holder = place
            .checked_sub(1)
            .map(|place| (&others[place], &releases[place]));
        let seating = |schema, left, table| Seating {
            vertical: &apart.vertical,
            schema,
            table,
            left,
            shared: Shared::clone(&shared),
            run: &run,
        };
        match (holder, &leave, &labels) {
            (Some((holder, release)), ..) => {
                let left = Left::Columns(release.clone());
                seating(&holder.source.schema, left, table).seat(holder.relation())
            }
            (None, Some(leave), _) => {
                vertical::LabelHolder::party(apart.vertical.clone(), table, leave.clone())
            }
            (None, None, Some(labels)) => {
                let schema = &own.source.schema;
                seating(schema, Left::Labels(labels.clone()), table).seat(schema.replaced())
            }
            (None, None, None) => Err(Error::misuse("labels change, or there is leave")),
        }
    };
    let bar = Progress::steps("Training");
    let progress = |_: &str, done, of| bar.at(done, of);
    let simulation = Simulation::new(apart.names(), make)?.progress(&progress);
    let records = simulation.records();
    let ended = simulation.run()?;
    let common = records.first().and_then(|record| common(&record.items()));
    let traffic = Traffic::of(apart, &ended);
    let model = trained(apart, ended)?;
    save(job, &model, Some(&key))?;
    Ok(answer(apart, job, &model, &traffic, common))
}

const BECAUSE: &str = "a model was trained on its rows and labels as they are (setting = \"vertical\")";

/// The model, or why there is none: a party that says no more than that another gave up is asked last.
fn trained(apart: &Apart, ended: Simulated<Outcome>) -> Result<Model, Failure> {
    let mut why: Option<(String, Error)> = None;
    for (name, outcome) in apart.names().into_iter().zip(ended.outcomes) {
        match outcome {
            Ok(Outcome::Trained(model)) => return Ok(*model),
            Ok(_) => {}
            Err(e) if matches!(why, None | Some((_, Error::Peer(_)))) => why = Some((name, e)),
            Err(_) => {}
        }
    }
    let (name, e) = why.unwrap_or_else(|| ("nobody".into(), Error::misuse("a model is trained")));
    let failure = Failure::from(e);
    Err(Failure {
        message: format!("{name}: {}", failure.message),
        ..failure
    })
}

/// How many rows all parties have, as the label holder was told.
fn common(items: &[Item]) -> Option<usize> {
    items.iter().find_map(|item| match item {
        Item::Received { message, .. } => match Message::from_bytes(message).ok()? {
            Message::Columns(release) => Some(release.rows()),
            Message::Ordinals(ordinals) => Some(ordinals.rows()),
            _ => None,
        },
        _ => None,
    })
}

/// What went from whom to whom.
struct Traffic(Vec<(String, String, Edge)>);

impl Traffic {
    fn of(apart: &Apart, ended: &Simulated<Outcome>) -> Self {
        let names = apart.names();
        let name = |party: &PartyId| names.get(usize::from(party.0)).cloned().unwrap_or_default();
        let edges = ended.traffic.iter();
        Self(
            edges
                .map(|((from, to), edge)| (name(from), name(to), *edge))
                .collect(),
        )
    }
}

fn answer(apart: &Apart, job: &Job, model: &Model, traffic: &Traffic, common: Option<usize>) -> Answer {
    let mut text = format!("{}\n\n", model.certificate());
    for (from, to, edge) in &traffic.0 {
        let _ = writeln!(
            text,
            "sent       {from} to {to}: {} in {}",
            words::count(edge.bytes, "byte", "bytes"),
            words::count(edge.frames, "message", "messages")
        );
    }
    if let Some(rows) = common {
        let _ = writeln!(
            text,
            "met        {}, for {}'s own eyes",
            words::count(
                rows as u64,
                "row that all parties have",
                "rows that all parties have"
            ),
            apart.trainer()
        );
    }
    for holder in &apart.feature_holders {
        let _ = writeln!(
            text,
            "kept       {}'s columns in {}: other models can be trained on them, and nothing leaves again",
            holder.name,
            holder.kept.display()
        );
    }
    if apart.vertical.label_epsilon().is_some() {
        let own = &apart.label_holder;
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
