//! `privet train` for the local setting: the next campaign, or the model if all rounds were collected.

use std::fmt::Write;
use std::path::PathBuf;

use privet::setting::local::{Answer as Means, Campaign, Collected, Next, OwnRows};
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
        let text = draft.to_toml();
        let place = |ending: &str| -> PathBuf { local.campaigns.join(format!("round-{number}.{ending}")) };
        let (file, collected) = (place("toml"), place("collected"));
        let campaign = Campaign::read(&file.display().to_string(), &text)?;
        if !file.exists() {
            std::fs::create_dir_all(&local.campaigns).map_err(|e| {
                Failure::input(format!("{}: it cannot be made: {e}", local.campaigns.display()))
            })?;
            written(&file, text.as_bytes())?;
        }
        let there = std::fs::read_to_string(&file)
            .map_err(|e| Failure::input(format!("{}: it cannot be read: {e}", file.display())))?;
        if there != text {
            return Err(Failure::input(format!(
                "{}: it is not the campaign that follows from this job, its own rows and what was collected. Owners have answered the file that is there: go back to \
                 the job that it was written by, or name another folder in campaigns. Nothing was written.",
                file.display()
            )));
        }
        if !collected.exists() {
            let text = format!(
                "Round {number} of {}: publish {}, and collect the messages of about {} owners into {}:\n\n   privet collect {} MESSAGES --out {}\n\nThen run \
                 the same command again.\n",
                plan.algorithm().rounds(),
                file.display(),
                plan.owners_each(),
                collected.display(),
                file.display(),
                collected.display()
            );
            let json = json!({"round": number, "of": plan.algorithm().rounds(), "campaign": file, "collect_into": collected});
            return Ok(Answer::new(words::wrapped(&text), json));
        }
        let bytes = std::fs::read(&collected)
            .map_err(|e| Failure::input(format!("{}: it cannot be read: {e}", collected.display())))?;
        let found = Collected::from_file(&collected.display().to_string(), &bytes)?;
        found.check(&campaign)?;
        messages += found.messages();
        answers.push(Means::of(&campaign, found.sums(), found.messages()));
    }
}
