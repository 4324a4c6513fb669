//! `privet plan` for a job that predicts rows whose columns lie apart.

use std::fmt::Write;

use privet::model::Model;
use serde_json::json;

use super::columns::columns;
use super::vertical::{columns_json, cost, matching, needs_permission, released};
use crate::job::{Job, PredictionJob};
use crate::ledger::Store;
use crate::verb::exit::{Exit, Failure};
use crate::verb::predict::unfit;
use crate::verb::request::LedgerFile;
use crate::verb::{Answer, open_model, words};

pub(super) fn run(prediction: &PredictionJob, job: &Job, ledger: &LedgerFile) -> Result<Answer, Failure> {
    let PredictionJob {
        parties, branches, ..
    } = prediction;
    let model = open_model(&prediction.model)?;
    let checked = parties.plan().check_model(&model, *branches);
    checked.map_err(|e| unfit(prediction, e))?;
    let learns = learns(prediction, Some(&model))?;
    let mut text = "WHO LEARNS WHAT\n".to_owned();
    for line in &learns {
        let _ = writeln!(text, "  -  {line}");
    }
    let own = parties.trainer();
    let mut told = Vec::new();
    for holder in &parties.feature_holders {
        text += &columns(holder, &own);
        told.push(columns_json(holder));
    }
    let _ = writeln!(text, "\nHOW GOOD PREDICTIONS ARE\n  {WORSE}");
    let _ = writeln!(text, "\nWHAT HAPPENS");
    let _ = writeln!(text, "  predicts   with {}", prediction.model.display());
    let data = parties.label_holder.source.data.display();
    let _ = writeln!(text, "  reads      {data}, at {own}");
    for holder in &parties.feature_holders {
        let (data, name) = (holder.source.data.display(), &holder.name);
        let _ = writeln!(text, "  reads      {data}, at {name}");
        let _ = writeln!(
            text,
            "  keeps      {name}'s released columns with the ledger, for other models too"
        );
    }
    let _ = writeln!(text, "  writes     {}, at {own}", job.output.display());
    let path = ledger.path()?;
    let book = Store::read_only(path)
        .ok()
        .and_then(|mut store| store.book().ok());
    let before = released(parties, book.as_ref());
    let _ = writeln!(text, "\nWHAT WAS RELEASED BEFORE");
    for line in &before {
        let _ = writeln!(text, "  -  {line}");
    }
    let (cost, refused) = cost(parties, path, "predict");
    text += &cost;
    let json = json!({
        "setting": "vertical",
        "protected": true,
        "model": prediction.model,
        "predict": if *branches { "branches" } else { "columns" },
        "output": job.output,
        "learns": learns,
        "feature_holders": told,
        "left": before,
        "needs_not_protected": needs_permission(parties),
        "refused": refused.as_ref().map(|failure| &failure.message),
    });
    let answer = Answer::new(words::wrapped(&text), json);
    let exit = refused.map_or(Exit::Ok, |failure| failure.exit);
    Ok(Answer { exit, ..answer })
}

const WORSE: &str = "Predictions from changed values are worse than from raw ones, and both ways use the same changed values. `privet simulate`, on rows \
                     whose label is known, prints how much worse.";

/// Who learns what, in the way that the job chooses. Only the label holder has the model, and knows before what it asks.
pub(in crate::verb) fn learns(
    prediction: &PredictionJob,
    model: Option<&Model>,
) -> Result<Vec<String>, Failure> {
    let parties = &prediction.parties;
    let own = parties.trainer();
    let mut lines = Vec::new();
    for holder in &parties.feature_holders {
        let name = &holder.name;
        lines.push(match prediction.branches {
            false => format!(
                "{own} learns {name}'s columns of the new rows that all have, with every value changed: how much that reveals about a person is \
                 printed below."
            ),
            true => format!(
                "{own} learns the answers to the model's questions about the new rows that all have, and no columns. {name} answers by values \
                 that it has changed: the answers reveal at most what is printed below about a person."
            ),
        });
    }
    if prediction.branches {
        let asked = model.map(|model| parties.plan().questions(model)).transpose()?;
        let asked = asked.map_or_else(String::new, |asked| {
            let asked = asked.iter().map(|(column, count)| {
                let questions = words::count(*count as u64, "question", "questions");
                format!("{questions} about '{column}'")
            });
            let asked = asked.collect::<Vec<_>>().join(", ");
            format!(" ({})", if asked.is_empty() { "nothing" } else { &asked })
        });
        for holder in &parties.feature_holders {
            lines.push(format!(
                "{} learns what the model asks about its columns{asked}. That follows from the labels that the model was trained on: no bound. It learns \
                 no prediction. predict = \"columns\" tells it nothing about the model.",
                holder.name
            ));
        }
    } else {
        for holder in &parties.feature_holders {
            lines.push(format!(
                "{} learns nothing about the model or its predictions: nothing is sent back. With predict = \"branches\" it would learn what the model \
                 asks about its columns, and {own} only the answers.",
                holder.name
            ));
        }
    }
    lines.extend(matching(parties));
    lines.push(format!(
        "Predictions are written for {own}. Whoever sees them learns about the rows that they are about: no bound."
    ));
    Ok(lines)
}
