//! The command line: [`low`] is what was typed, `high` is what is needed, and each verb has its file.

mod demo;
mod desensitise;
mod diagnostics;
mod evaluate;
mod exit;
mod export_model;
mod high;
mod inspect;
mod leave;
mod ledger;
pub mod low;
mod parties;
mod plan;
mod predict;
mod protection;
mod reproduce;
mod schema;
mod simulate;
mod train;
mod words;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use privet::model::{Model, Origin};
use serde_json::json;

pub use exit::Exit;
use exit::Failure;
use high::Command;

/// What a verb answers: for people, and for machines.
struct Answer {
    text: String,
    json: String,
    exit: Exit,
}

impl Answer {
    fn new(text: String, json: serde_json::Value) -> Self {
        Self {
            text,
            json: format!("{json:#}\n"),
            exit: Exit::Ok,
        }
    }
}

/// Runs one command and says how it ended.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let low = match low::LowArgs::try_parse_from(arguments) {
        Ok(low) => low,
        Err(e) => {
            // Nobody may be listening, as with `privet --help | head -1`.
            let _ = e.print();
            let exit = if e.use_stderr() { Exit::Usage } else { Exit::Ok };
            return exit.into();
        }
    };
    let json = low.json;
    let (output, exit) = match high::command(low, &|name| std::env::var_os(name)).and_then(run) {
        Ok(answer) => (if json { answer.json } else { answer.text }, answer.exit),
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "privet: {}", failure.message);
            let output = if json {
                format!("{:#}\n", failure.json())
            } else {
                String::new()
            };
            (output, failure.exit)
        }
    };
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(output.as_bytes()).and_then(|()| stdout.flush()) {
        // Whoever was reading has seen enough: `privet … | head`.
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            let _ = writeln!(std::io::stderr(), "privet: the output could not be written: {e}");
            Exit::Unexpected.into()
        }
        _ => exit.into(),
    }
}

fn run(command: Command) -> Result<Answer, Failure> {
    match command {
        Command::Demo { keep } => demo::run(keep.as_deref()),
        Command::Draft { file, out, dataset } => schema::draft(&file, out.as_deref(), dataset.as_deref()),
        Command::Check {
            schema,
            data,
            diagnostics,
        } => schema::check(&schema, data.as_deref(), diagnostics),
        Command::Plan { job, ledger } => plan::run(&job, &ledger),
        Command::Train(train) => train::run(&train),
        Command::Predict {
            model,
            data,
            out,
            what,
            ledger,
        } => {
            if let Some(out) = &out {
                leave::spare(&ledger, out)?;
            }
            predict::run(&model, &data, out.as_deref(), what)
        }
        Command::Evaluate(evaluate) => evaluate::run(&evaluate),
        Command::Inspect { model, signed_by } => inspect::run(&model, signed_by),
        Command::Export {
            model,
            format,
            out,
            ledger,
        } => export_model::run(&model, format, &out, &ledger),
        Command::Desensitise(desensitise) => desensitise::run(&desensitise),
        Command::Simulate(simulate) => simulate::run(&simulate),
        Command::Reproduce(reproduce) => reproduce::run(&reproduce),
        Command::Ledger { path, verb } => ledger::run(&path, &verb),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut low::LowArgs::command(), "privet", &mut script);
            let script = String::from_utf8_lossy(&script).into_owned();
            let json = json!({"shell": shell.to_string(), "script": script});
            Ok(Answer::new(script, json))
        }
    }
}

/// Reads a model file. A signature in it that is bad is an error.
fn open_model(file: &Path) -> Result<Model, Failure> {
    signed_model(file).map(|(model, _)| model)
}

/// A model, and who signed it.
fn signed_model(file: &Path) -> Result<(Model, Origin), Failure> {
    let bad = |why: String| Failure::input(format!("{}: {why}", file.display()));
    let bytes = std::fs::read(file).map_err(|e| bad(format!("it cannot be read: {e}")))?;
    Model::from_file(&bytes).map_err(|e| bad(e.to_string()))
}
