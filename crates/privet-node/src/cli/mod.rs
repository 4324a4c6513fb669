//! The command line: [`low`] is what was typed, `high` is what is needed, and each verb has its file.

mod adopt;
mod demo;
mod exit;
mod export;
mod high;
mod limit;
pub mod low;
mod show;
mod verify;
mod words;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
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
            let error = json!({"error": {"exit": failure.exit.code(), "message": failure.message}});
            (
                if json {
                    format!("{error:#}\n")
                } else {
                    String::new()
                },
                failure.exit,
            )
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
        Command::Show { ledger, dataset } => show::run(&ledger, dataset.as_deref()),
        Command::Verify { ledger, against } => verify::run(&ledger, &against),
        Command::Limit { ledger, limit } => limit::run(&ledger, &limit),
        Command::Adopt { ledger, dataset, of } => adopt::run(&ledger, &dataset, &of),
        Command::Export { ledger, out } => export::run(&ledger, out.as_deref()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut low::LowArgs::command(), "privet", &mut script);
            let script = String::from_utf8_lossy(&script).into_owned();
            let json = json!({"shell": shell.to_string(), "script": script});
            Ok(Answer::new(script, json))
        }
    }
}
