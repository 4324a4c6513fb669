//! `privet train` where columns lie apart: every party on this machine, each with its own table, ledger lines and kept columns.

use std::fmt::Write;
use std::path::Path;

use privet::Error;
use privet::model::Model;
use privet::setting::vertical::{LabelHolder, NoisyLabels, Outcome};
use serde_json::json;

use super::save;
use crate::job::{Job, VerticalJob};
use crate::verb::exit::Failure;
use crate::verb::gathering::{Columns, Played, Tables, Traffic, recognise};
use crate::verb::parties::{Outgoing, open};
use crate::verb::request::Train;
use crate::verb::{Answer, output, permission, words};

pub(super) fn run(parties: &VerticalJob, job: &Job, train: &Train) -> Result<Answer, Failure> {
    let own = &parties.label_holder;
    let noisy = parties.vertical.label_epsilon().is_some();
    if !noisy {
        let what = format!("training on the rows and labels of {} as they are", own.name);
        permission::ask(&own.source.schema, &what, train.not_protected)?;
    }
    let tables = Tables::read(parties, own.plan.reads(), &train.ledger)?;
    let shared = open(&train.ledger, &parties.data_sets())?;
    let key = shared.store().signing_key()?;
    output::check_set_back(&mut shared.store(), &key, &job.output)?;
    let columns = Columns::of(parties, &shared)?;
    let labels = noisy.then(|| Outgoing::of(own, own.plan.relation(), &shared));
    let labels = labels.transpose()?;
    columns.check(&tables.theirs)?;
    if let Some(labels) = &labels {
        labels.check(
            |ledger| NoisyLabels::check_keep(&own.plan, &tables.mine, ledger),
            |ledger, earlier| NoisyLabels::import(&own.plan, &tables.mine, ledger, earlier, false),
        )?;
    }
    recognise(parties, &shared, &train.ledger)?;
    columns.release(&tables.theirs)?;
    if let Some(labels) = &labels {
        labels.release(
            |ledger| NoisyLabels::keep(&own.plan, &tables.mine, ledger),
            |ledger, earlier| NoisyLabels::import(&own.plan, &tables.mine, ledger, earlier, true),
        )?;
    }
    let permission = match noisy {
        true => None,
        false => Some(permission::take_showing(
            &own.source,
            (&own.plan.leaks(), BECAUSE),
            &shared,
            &train.ledger,
        )?),
    };
    let Played { outcome, traffic } = columns.play("Training", tables, |table, run| {
        let plan = own.plan.clone();
        match (&permission, &labels) {
            (Some(permission), _) => LabelHolder::party(plan, table, permission.clone()),
            (None, Some(labels)) => LabelHolder::with_noisy_labels(plan, table, labels.ledger()?, run),
            (None, None) => Err(Error::internal("labels change, or there is permission")),
        }
    })?;
    let Outcome::Trained { model, rows } = outcome else {
        return Err(Error::internal("a label holder that trains has a model").into());
    };
    save(job, &model, Some(&key))?;
    Ok(answer(
        (parties, job),
        train.ledger.path()?,
        &model,
        &traffic,
        rows,
    ))
}

/// Why rows are used as they are.
pub(in crate::verb) const BECAUSE: &str =
    "a model was trained on its rows and labels as they are (setting = \"vertical\")";

fn answer(
    (parties, job): (&VerticalJob, &Job),
    ledger: &Path,
    model: &Model,
    traffic: &Traffic,
    common: usize,
) -> Answer {
    let mut text = format!("{}\n\n", model.certificate());
    text += &traffic.text();
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
    let json = json!({
        "model": job.output,
        "certificate": model.certificate(),
        "ensemble": model.ensemble().summary(),
        "sent": traffic.json(),
        "rows_in_common": common,
    });
    Answer::new(words::wrapped(&text), json)
}
