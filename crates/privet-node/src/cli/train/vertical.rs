//! `privet train` where columns lie apart: every party on this machine, each with its own table, ledger lines and kept columns.

use std::fmt::Write;

use privet::Error;
use privet::data::Table;
use privet::model::Model;
use privet::party::{Edge, Item, PartyId, Simulated, Simulation};
use privet::setting::vertical::{LabelHolder, Message, Outcome, Party, Release};
use privet::wire::Wire;
use serde_json::json;

use super::save;
use crate::cli::exit::Failure;
use crate::cli::high::Train;
use crate::cli::parties::{Leaving, Seating, open};
use crate::cli::{Answer, leave, words};
use crate::job::{Apart, Job, replaced};
use crate::ledger::Shared;
use crate::progress::Progress;

pub(super) fn run(apart: &Apart, job: &Job, train: &Train) -> Result<Answer, Failure> {
    let own = &apart.label_holder;
    let noisy = apart.vertical.label_epsilon().is_some();
    if !noisy {
        let what = format!("the label holder '{}' of setting = \"vertical\"", own.name);
        leave::ask(&own.source.schema, &what, train.not_protected)?;
    }
    let others = &apart.feature_holders;
    for holder in others {
        leave::spare(&train.ledger, &holder.kept)?;
    }
    let mut sets: Vec<_> = others.iter().map(|h| (&*h.source.schema, h.relation())).collect();
    sets.extend(noisy.then(|| (&*own.source.schema, replaced(&own.source.schema))));
    let path = train.ledger.path()?;
    let shared = open(path, &sets)?;
    let desensitisation = apart.vertical.desensitisation();
    let mine = own.table()?;
    let theirs = others
        .iter()
        .map(|holder| holder.table(Some(desensitisation.bins)))
        .collect::<Result<Vec<_>, _>>()?;
    if noisy {
        leave::recognise(&mut shared.store(), &leave::Rows::of(&own.source))?;
    }
    let releases = others
        .iter()
        .zip(&theirs)
        .map(|(holder, table)| {
            let leaving = Leaving {
                desensitisation,
                source: &holder.source,
                table,
                kept: &holder.kept,
                relation: holder.relation(),
            };
            leaving.release(&shared)
        })
        .collect::<Result<Vec<_>, _>>()?;
    drop(shared);

    let because = "a model was trained on its rows and labels as they are (setting = \"vertical\")";
    let leave = match noisy {
        true => None,
        false => Some(leave::take(
            &leave::Rows::of(&own.source),
            because,
            &train.ledger,
        )?),
    };
    let shared = open(path, &sets)?;
    let mut tables: Vec<Option<Table>> = [mine].into_iter().chain(theirs).map(Some).collect();
    let make = |party: PartyId, run| -> Result<Party, Error> {
        let place = usize::from(party.0);
        let table = tables[place].take();
        let table = table.ok_or_else(|| Error::Misuse("nobody is made twice here".into()))?;
        let holder = place.checked_sub(1).map(|place| (&others[place], &releases[place]));
        let seating = |schema, release: Option<&Release>, table| Seating {
            vertical: &apart.vertical,
            schema,
            table,
            release: release.cloned(),
            shared: Shared::clone(&shared),
            run: &run,
        };
        match (holder, &leave) {
            (Some((holder, release)), _) => holder
                .relation()
                .typed(seating(&holder.source.schema, Some(release), table)),
            (None, Some(leave)) => LabelHolder::party(apart.vertical.clone(), table, leave.clone()),
            (None, None) => {
                let schema = &own.source.schema;
                replaced(schema).typed(seating(schema, None, table))
            }
        }
    };
    let bar = Progress::steps("Training");
    let progress = |_: &str, done, of| bar.at(done, of);
    let simulation = Simulation::new(apart.names(), make)?.progress(&progress);
    let records = simulation.records();
    let ended = simulation.run()?;
    let common = records.first().and_then(|record| common(&record.items()));
    let traffic = Traffic::of(apart, &ended);
    let model = trained(ended)?;
    save(job, &model)?;
    Ok(answer(apart, job, &model, &traffic, common))
}

fn trained(ended: Simulated<Outcome>) -> Result<Model, Error> {
    let trained = ended.all()?.into_iter().find_map(|outcome| match outcome {
        Outcome::Trained(model) => Some(*model),
        _ => None,
    });
    trained.ok_or_else(|| Error::Misuse("the label holder trains a model".into()))
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
            words::count(rows as u64, "row that all parties have", "rows that all parties have"),
            apart.label_holder.name
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
