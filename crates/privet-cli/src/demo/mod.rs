//! `privet demo`: the verbs on made-up people, from a table to private trees beside the same without privacy, a refusal, and a run between parties.

mod people;

use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use clap::Parser;
use serde_json::{Value, json};

use privet_node::verb::{Answer, Exit, Failure, wrapped, written};

use super::{high, low};

/// What is typed, why, and how it should end.
struct DemoStep {
    why: &'static str,
    typed: &'static str,
    ends: Exit,
}

const STEPS: [DemoStep; 16] = [
    DemoStep {
        why: "A clinic wants a model of its patients, all of whose columns are private. It decides how much may ever be revealed about one of them",
        typed: "ledger limit patients --epsilon 1 --delta 1e-6",
        ends: Exit::Ok,
    },
    DemoStep {
        why: "What would the model mean for them?",
        typed: "plan job.toml",
        ends: Exit::Ok,
    },
    DemoStep {
        why: "Boosted trees with noise: the payment is recorded in the ledger before any noise is drawn",
        typed: "train job.toml",
        ends: Exit::Ok,
    },
    DemoStep {
        why: "It predicts raw rows, since the schema travels with it",
        typed: "predict model.privet --data volunteers.csv --out predictions.csv",
        ends: Exit::Ok,
    },
    DemoStep {
        why: "Volunteers have published their data, so how good the model is on them costs nothing",
        typed: "evaluate model.privet --schema volunteers.toml --data volunteers.csv",
        ends: Exit::Ok,
    },
    DemoStep {
        why: "What did privacy cost? The same kind of trees without it, from as many people of a public register",
        typed: "train open.toml",
        ends: Exit::Ok,
    },
    DemoStep {
        why: "These are as good as trees of so many people get",
        typed: "evaluate open.privet --schema volunteers.toml --data volunteers.csv",
        ends: Exit::Ok,
    },
    DemoStep {
        why: "The exact accuracy on the patients would reveal something about them",
        typed: "evaluate model.privet --data patients.csv",
        ends: Exit::Usage,
    },
    DemoStep {
        why: "A second model? The remaining budget is too small",
        typed: "train job.toml --out second.privet",
        ends: Exit::Budget,
    },
    DemoStep {
        why: "Three other clinics train together. None shows its rows to another, and each has a budget of its own",
        typed: "ledger limit clinics-north --epsilon 1 --delta 1e-6",
        ends: Exit::Ok,
    },
    DemoStep {
        why: "The second clinic",
        typed: "ledger limit clinics-east --epsilon 1 --delta 1e-6",
        ends: Exit::Ok,
    },
    DemoStep {
        why: "The third clinic",
        typed: "ledger limit clinics-south --epsilon 1 --delta 1e-6",
        ends: Exit::Ok,
    },
    DemoStep {
        why: "Every sum is added up over all three by a secure sum; each clinic adds a share of the noise, and only the noisy total is opened",
        typed: "train clinics-job.toml",
        ends: Exit::Ok,
    },
    DemoStep {
        why: "One model of all three, beside the one above",
        typed: "evaluate clinics.privet --schema volunteers.toml --data volunteers.csv",
        ends: Exit::Ok,
    },
    DemoStep {
        why: "The ledger shows what was spent",
        typed: "ledger show patients",
        ends: Exit::Ok,
    },
    DemoStep {
        why: "And the ledger can be checked",
        typed: "ledger verify",
        ends: Exit::Ok,
    },
];

pub(super) fn run(keep: Option<&Path>) -> Result<Answer, Failure> {
    let failed = |e: std::io::Error| {
        let why = format!("the demo needs a folder to work in: {e}");
        Failure::new(Exit::Unexpected, why)
    };
    match keep {
        Some(folder) => {
            fs::create_dir_all(folder).map_err(failed)?;
            for (name, what) in [("ledger.db", "ledger"), ("model.privet", "model")] {
                if fs::symlink_metadata(folder.join(name)).is_ok() {
                    return Err(Failure::usage(format!(
                        "{} has a {what} already: choose a new folder for --keep",
                        folder.display()
                    )));
                }
            }
            tell(folder, true)
        }
        None => {
            let folder = tempfile::tempdir().map_err(failed)?;
            tell(folder.path(), false)
        }
    }
}

/// Runs the steps as if they were typed in the folder.
fn tell(kept_in: &Path, kept: bool) -> Result<Answer, Failure> {
    let folder = &std::path::absolute(kept_in).unwrap_or_else(|_| kept_in.to_owned());
    for (name, text) in people::files() {
        let path = folder.join(name);
        written(&path, text.as_bytes())?;
    }
    let mut text = format!(
        "Made-up people: {} patients of one clinic and {} of three others, who are private; {} volunteers and {} people of a register, who are public.\n",
        people::PATIENTS,
        3 * people::CLINIC,
        people::VOLUNTEERS,
        people::PATIENTS
    );
    let mut answers = Vec::new();
    for (i, step) in STEPS.iter().enumerate() {
        let (exit, said, value) = play(folder, step.typed);
        // A refusal that does not come is worse than any other failure.
        if exit != step.ends {
            let typed = step.typed;
            let why = format!("the demo's step `privet {typed}` did not end as expected: {said}");
            return Err(Failure::new(Exit::Unexpected, why));
        }
        let _ = writeln!(text, "\n{}. {}\n   $ privet {}\n", i + 1, step.why, step.typed);
        indent(&mut text, &said);
        answers.push(json!({"typed": step.typed, "exit": exit.code(), "answer": value}));
    }
    if kept {
        let _ = writeln!(
            text,
            "\nThe files are in {}: there, with PRIVET_LEDGER=ledger.db, the commands above can be typed.",
            kept_in.display()
        );
    }
    Ok(Answer::new(text, json!({"steps": answers})))
}

/// One command, with the folder's files: how it ended, what it said, and what it says to machines.
fn play(folder: &Path, typed: &str) -> (Exit, String, Value) {
    let in_folder = |word: &str| -> OsString {
        if word.contains('.') && !word.starts_with(|c: char| c.is_ascii_digit()) {
            folder.join(word).into()
        } else {
            word.into()
        }
    };
    let arguments = std::iter::once("privet".into()).chain(typed.split(' ').map(in_folder));
    let env = |name: &str| (name == "PRIVET_LEDGER").then(|| folder.join("ledger.db").into());
    let answer = low::LowArgs::try_parse_from(arguments)
        .map_err(|e| Failure::usage(e.to_string()))
        .and_then(|low| high::command(low, &env))
        .and_then(super::run);
    // The folder may be gone when this is read.
    let bare = format!("{}{}", folder.display(), std::path::MAIN_SEPARATOR);
    match answer {
        Ok(answer) => {
            let value = serde_json::from_str(&answer.json).unwrap_or(Value::Null);
            (answer.exit, answer.text.replace(&bare, ""), value)
        }
        Err(failure) => {
            let message = failure.message.replace(&bare, "");
            let failure = Failure { message, ..failure };
            (
                failure.exit,
                format!("privet: {}", failure.message),
                failure.json(),
            )
        }
    }
}

fn indent(text: &mut String, block: &str) {
    for line in wrapped(block).trim_end().lines() {
        let _ = writeln!(text, "{}", format!("   {line}").trim_end());
    }
}
