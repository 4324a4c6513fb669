//! `privet train` for the local setting: the next campaign, or the model if all rounds were collected.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use privet::setting::local::{Answer as Means, Campaign, Collected, Next, OwnRows, Plan};
use serde_json::json;

use super::save;
use crate::job::{Job, LocalJob};
use crate::verb::exit::Failure;
use crate::verb::request::Train;
use crate::verb::{Answer, permission, words, written};

const BECAUSE: &str = "a data user's own rows were used as they are to ask owners for local messages; their axes, lengths and labels show in campaigns and model";

pub(super) fn run(local: &LocalJob, job: &Job, train: &Train) -> Result<Answer, Failure> {
    let mut plan = local.plan()?;
    let mut key = None;
    if let Some(source) = &local.own {
        permission::ask(
            &source.schema,
            "using own rows in setting = \"local\"",
            train.not_protected,
        )?;
        let table = source.read(&local.reads())?;
        if source.schema.is_private() {
            key = Some(train.ledger.open_or_create()?.signing_key()?);
        }
        let permission = permission::take(source, BECAUSE, &train.ledger)?;
        plan = plan.with_own(OwnRows::new(table, &permission)?)?;
    }
    let (mut answers, mut messages) = (Vec::new(), 0);
    loop {
        let number = answers.len() + 1;
        let draft = match plan.next(&answers)? {
            Next::Ask(draft) => draft,
            Next::Done(learnt) => {
                let model = plan.model(*learnt)?;
                save(job, &model, key.as_ref())?;
                let mut text = format!("{}\n\n", model.certificate());
                let _ = writeln!(
                    text,
                    "trained    on {} in {}",
                    words::count(messages, "message", "messages"),
                    words::count(answers.len() as u64, "round", "rounds")
                );
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
                    "messages": messages,
                    "rounds": answers.len(),
                });
                return Ok(Answer::new(words::wrapped(&text), json));
            }
        };
        let drafts = plan.task().campaigns(&draft);
        let alone = drafts.len() == 1;
        other_campaigns(&local.campaigns, number, alone)?;
        let mut each = Vec::with_capacity(drafts.len());
        let mut open = Vec::new();
        for draft in &drafts {
            let name = match drafts.len() {
                1 => format!("round-{number}"),
                _ => format!("round-{number}-epsilon-{}", draft.epsilon),
            };
            let [file, collected] =
                ["toml", "collected"].map(|ending| local.campaigns.join(format!("{name}.{ending}")));
            let campaign = published(&file, &draft.to_toml())?;
            if !collected.exists() {
                open.push((file, collected));
                continue;
            }
            let bytes = std::fs::read(&collected)
                .map_err(|e| Failure::input(format!("{}: it cannot be read: {e}", collected.display())))?;
            let found = Collected::from_file(&collected.display().to_string(), &bytes)?;
            found.check(&campaign)?;
            messages += found.messages();
            each.push(Means::of(&campaign, found.sums(), found.messages()));
        }
        if !open.is_empty() {
            return Ok(asked(&plan, number, &open));
        }
        answers.push(Means::pooled(&each)?);
    }
}

/// That no campaigns of this round lie there for one ε where there are now several, or the other way round: an owner who has answered one of those could
/// answer again, and the model would claim too little.
fn other_campaigns(folder: &Path, number: usize, alone: bool) -> Result<(), Failure> {
    let is_other = |name: &str| match alone {
        true => name.starts_with(&format!("round-{number}-epsilon-")) && name.ends_with(".toml"),
        false => name == format!("round-{number}.toml"),
    };
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let other = files
        .into_iter()
        .find(|file| file.file_name().to_str().is_some_and(is_other));
    match other {
        None => Ok(()),
        Some(file) => Err(Failure::input(format!(
            "{}: a campaign of round {number} under another list of ε. Owners may have answered it, and would answer again: go back to the job that it was written \
             by, or name another folder in campaigns. Nothing was written.",
            file.path().display()
        ))),
    }
}

/// Writes a campaign's file, or finds it there as it would be written.
fn published(file: &Path, text: &str) -> Result<Campaign, Failure> {
    let campaign = Campaign::read(&file.display().to_string(), text)?;
    if !file.exists() {
        let folder = file.parent().unwrap_or(file);
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::input(format!("{}: it cannot be made: {e}", folder.display())))?;
        written(file, text.as_bytes())?;
    }
    let there = std::fs::read_to_string(file)
        .map_err(|e| Failure::input(format!("{}: it cannot be read: {e}", file.display())))?;
    if there != text {
        return Err(Failure::input(format!(
            "{}: it is not the campaign that follows from this job, its own rows and what was collected. Owners have answered the file that is there: go back to \
             the job that it was written by, or name another folder in campaigns. Nothing was written.",
            file.display()
        )));
    }
    Ok(campaign)
}

/// What is to be published and collected now.
fn asked(plan: &Plan, number: usize, open: &[(PathBuf, PathBuf)]) -> Answer {
    let rounds = plan.algorithm().rounds();
    let owners = plan.owners_each();
    let mut text = match open {
        [(file, collected)] => format!(
            "Round {number} of {rounds}: publish {}, and collect the messages of about {} owners into {}:\n\n",
            file.display(),
            owners / plan.messages().len() as u64,
            collected.display()
        ),
        _ => format!(
            "Round {number} of {rounds}: publish these {} campaigns side by side, and collect the messages of about {owners} owners. Each owner answers one of them, by the \
             ε that it accepts; where nobody did, collect an empty file.\n\n",
            open.len()
        ),
    };
    for (file, collected) in open {
        let _ = writeln!(
            text,
            "   privet collect {} MESSAGES --out {}",
            file.display(),
            collected.display()
        );
    }
    text += "\nThen run the same command again.\n";
    let mut json = json!({"round": number, "of": rounds});
    if let [(file, collected)] = open {
        json["campaign"] = json!(file);
        json["collect_into"] = json!(collected);
    }
    json["campaigns"] = open
        .iter()
        .map(|(file, collected)| json!({"campaign": file, "collect_into": collected}))
        .collect();
    Answer::new(words::wrapped(&text), json)
}
