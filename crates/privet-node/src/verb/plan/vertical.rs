//! `privet plan` for the vertical setting.

use std::fmt::Write;

use privet::data::Schema;
use privet::privacy::mechanism::ordered::Distance;
use privet::privacy::{Account, Book, ColumnState};
use privet::setting::vertical::{Alignment, Protocol};
use serde_json::{Value, json};

use super::advice::advice;
use super::columns::{columns, loss};
use super::summary;
use crate::job::{FeatureHolderJob, Job, VerticalJob};
use crate::ledger::Store;
use crate::verb::exit::{Exit, Failure};
use crate::verb::parties::{refused, unlisted};
use crate::verb::request::LedgerFile;
use crate::verb::{Answer, output, permission, words};

pub(super) fn run(parties: &VerticalJob, job: &Job, ledger: &LedgerFile) -> Result<Answer, Failure> {
    let mut text = "WHO LEARNS WHAT\n".to_owned();
    let learns = learns(parties);
    for line in &learns {
        let _ = writeln!(text, "  -  {line}");
    }
    let mut told = Vec::new();
    for holder in &parties.feature_holders {
        text += &columns(holder, &parties.trainer());
        told.push(columns_json(holder));
    }
    let _ = writeln!(text, "\nWHAT HAPPENS");
    let _ = writeln!(
        text,
        "  reads      {}, at {}",
        parties.label_holder.source.data.display(),
        parties.trainer()
    );
    for holder in &parties.feature_holders {
        let _ = writeln!(
            text,
            "  reads      {}, at {}",
            holder.source.data.display(),
            holder.name
        );
        let _ = writeln!(
            text,
            "  keeps      {}'s released columns with the ledger, for other models too",
            holder.name
        );
    }
    let settings = parties.vertical.settings();
    let _ = writeln!(text, "  trains     {}", summary(&settings));
    let _ = writeln!(text, "  writes     {}", output::describe(&job.output));
    let path = ledger.path()?;
    let book = Store::read_only(path)
        .ok()
        .and_then(|mut store| store.book().ok());
    let before = released(parties, book.as_ref());
    let _ = writeln!(text, "\nWHAT WAS RELEASED BEFORE");
    for line in &before {
        let _ = writeln!(text, "  -  {line}");
    }
    let advice = advice(parties);
    if !advice.is_empty() {
        let _ = writeln!(text, "\nADVICE");
        for line in &advice {
            let _ = writeln!(text, "  -  {line}");
        }
    }
    let (cost, refused) = cost(parties, path, "train");
    text += &cost;
    let json = json!({
        "setting": "vertical",
        "protected": true,
        "output": job.output,
        "settings": settings,
        "learns": learns,
        "feature_holders": told,
        "left": before,
        "advice": advice,
        "needs_not_protected": needs_permission(parties),
        "refused": refused.as_ref().map(|failure| &failure.message),
    });
    let answer = Answer::new(words::wrapped(&text), json);
    let exit = refused.map_or(Exit::Ok, |failure| failure.exit);
    Ok(Answer { exit, ..answer })
}

pub(super) fn needs_permission(parties: &VerticalJob) -> bool {
    parties.vertical.label_epsilon().is_none() && parties.label_holder.source.schema.is_private()
}

/// The table of `setting::vertical`, with names.
pub(in crate::verb) fn learns(parties: &VerticalJob) -> Vec<String> {
    let own = parties.trainer();
    let names: Vec<&str> = parties.feature_holders.iter().map(|h| h.name.as_str()).collect();
    let mut lines = Vec::new();
    for name in &names {
        lines.push(format!(
            "{own} learns {name}'s columns of the rows that all have, with every value changed: how much that reveals about a person is printed \
             below."
        ));
    }
    lines.extend(matching(parties));
    lines.push(match parties.vertical.protocol() {
        Protocol::Columns => format!("Nobody learns anything about {own}'s labels from training: nothing is sent back."),
        Protocol::AsPublished => format!(
            "Each feature holder learns which splits the trees ask for, which depends on {own}'s labels: no bound. protocol = \
             \"columns\" reveals nothing about labels and sends less."
        ),
    });
    lines.push(match parties.vertical.label_epsilon() {
        None => format!(
            "Whoever sees the model, or asks it often, may learn about {own}'s rows and labels: no bound. Keep it to {own}, or write \
             label_epsilon."
        ),
        Some(epsilon) => format!(
            "Whoever sees the model learns {own}'s labels changed by randomised response: the odds between two labels of a person \
             change by a factor of at most {}. Its own columns are declared public.",
            words::odds(*epsilon)
        ),
    });
    lines
}

/// What parties learn when rows are matched.
pub(super) fn matching(parties: &VerticalJob) -> Vec<String> {
    let own = parties.trainer();
    let names: Vec<&str> = parties.feature_holders.iter().map(|h| h.name.as_str()).collect();
    let mut lines = Vec::new();
    match parties.vertical.alignment() {
        Alignment::Private => {
            for name in &names {
                lines.push(format!(
                    "{own} learns in full which of its people {name} knows, and how many rows {name} has. Ids of other people stay hidden."
                ));
            }
            for name in &names {
                lines.push(format!(
                    "{name} learns in full which of its people all parties know, and how many rows {own} has."
                ));
            }
            let most = parties.vertical.most_ids().unwrap_or_default();
            lines.push(format!(
                "Every party can add ids of its own choice to the matching: parties are trusted to follow the protocol. One that does not can ask \
                 about at most {most} people of its choice in a run (most_ids)."
            ));
        }
        Alignment::Given => {
            lines.push("Rows are in the same order already, so all parties know whose rows they are.".into());
        }
    }
    lines
}

pub(super) fn columns_json(holder: &FeatureHolderJob) -> Value {
    let plan = holder.plan.columns();
    json!({
        "name": holder.name,
        "dataset": holder.source.schema.dataset(),
        "data": holder.source.data,
        "kept": holder.kept,
        "change": plan.relation(),
        "record": plan.distance(),
        "columns": plan.distances(),
    })
}

/// What was released of each party's table, as the ledger knows.
pub(super) fn released(parties: &VerticalJob, book: Option<&Book>) -> Vec<String> {
    let account = |dataset: &str| book.and_then(|book| book.account(dataset));
    let labels = parties.vertical.label_epsilon().map(|_| {
        let holder = &parties.label_holder;
        let schema = &holder.source.schema;
        let label = schema.label().map_or("", |(column, _)| &column.name);
        let state = account(schema.dataset()).map_or(ColumnState::Free, |account| account.column(label));
        let what = match state {
            ColumnState::Free => "nothing".to_owned(),
            _ => "its labels".into(),
        };
        format!(
            "{}: {what}{}",
            parties.trainer(),
            rest(state, &holder.kept, "Labels are")
        )
    });
    let others = parties.feature_holders.iter().map(|holder| {
        let dataset = holder.source.schema.dataset();
        let account = account(dataset);
        let state =
            |column: &Distance| account.map_or(ColumnState::Free, |account| account.column(&column.column));
        let mut states = holder.plan.columns().distances().iter().map(state);
        let state = states.find(|state| *state != ColumnState::Free);
        let state = state.unwrap_or(ColumnState::Free);
        let what = match account.and_then(Account::desensitised) {
            Some(columns) if state != ColumnState::Free => format!(
                "{} of '{dataset}', by which two rows can be told apart by {}",
                words::count(columns.columns, "column", "columns"),
                loss(columns.record)
            ),
            _ => "nothing".into(),
        };
        format!(
            "{}: {what}{}",
            holder.name,
            rest(state, &holder.kept, "A column is")
        )
    });
    others.chain(labels).collect()
}

/// Where released values are, and what becomes of them.
fn rest(state: ColumnState, file: &std::path::Path, what: &str) -> String {
    let file_is = file.display();
    match state {
        ColumnState::Free => ".".into(),
        ColumnState::Kept => {
            ". The ledger has kept them and they are used again: nothing more is released.".into()
        }
        ColumnState::Unseen => ", which were paid for and never kept or seen: they will be drawn.".into(),
        ColumnState::Elsewhere if file.exists() => {
            format!(
                ". They are in {file_is}, and will be taken into the ledger and used again: nothing more is released."
            )
        }
        ColumnState::Elsewhere => format!(
            ", and {file_is} is not there. {what} released once: put that file back, or write in the job where it is (kept = …)."
        ),
    }
}

/// What is written to the ledger, and why a verb would be refused, if it would.
pub(super) fn cost(parties: &VerticalJob, path: &std::path::Path, verb: &str) -> (String, Option<Failure>) {
    let mut text = format!("\nWHAT IT COSTS\n  ledger     {}: ", path.display());
    text += "each released column, once, and what the matching of rows shows. No ε is charged: the promise about \
             released columns is by distance, and no ε covers it\n";
    if needs_permission(parties) {
        let schema: &Schema = &parties.label_holder.source.schema;
        let _ = writeln!(
            text,
            "             and, permanently, that '{}' was used without protection: its schema marks {} as private, so `privet {verb}` will refuse \
             without --not-protected",
            schema.dataset(),
            permission::private_columns(schema)
        );
    }
    let (why, failure) = match unlisted(path, &parties.data_sets()) {
        Ok(None) => return (text, None),
        Ok(Some(why)) => (why.clone(), refused(&why)),
        Err(failure) => (failure.message.clone(), failure),
    };
    let _ = writeln!(text, "\n`privet {verb}` would be refused: {why}");
    (text, Some(failure))
}
