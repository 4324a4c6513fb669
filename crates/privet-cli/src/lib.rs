//! The command line: [`low`] is what was typed, `high` is what is needed. What is then done is `privet-node`'s.
#![forbid(unsafe_code)]

mod bars;
mod demo;
mod high;
pub mod low;

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use privet::privacy::texts::{is_hidden, shown_lines};
use privet_node::job::reference;
use privet_node::verb::{self, Answer, Command, Exit, Failure, PredictionSource};
use serde_json::json;

use high::Invocation;

/// Runs one command and says how it ended, to the operating system.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    exit(arguments).into()
}

/// Runs one command and says how it ended.
pub fn exit(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    privet_node::progress::show_with(bars::bar);
    let low = match low::LowArgs::try_parse_from(arguments) {
        Ok(low) => low,
        Err(e) => {
            // Nobody may be listening, as with `privet --help | head -1`.
            let _ = e.print();
            return if e.use_stderr() { Exit::Usage } else { Exit::Ok };
        }
    };
    let json = low.json;
    let mut is_paid = false;
    let (output, exit) = match high::command(low, &|name| std::env::var_os(name)).and_then(run) {
        Ok(answer) => {
            is_paid = answer.is_paid;
            let text = match json {
                true => visible_json(&answer.json),
                // A file goes to other programs as it is; people see what would otherwise be hidden.
                false if answer.is_data && !std::io::stdout().is_terminal() => answer.text,
                false => shown_lines(&answer.text).into_owned(),
            };
            (text, answer.exit)
        }
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "privet: {}", shown_lines(&failure.message));
            let output = if json {
                visible_json(&format!("{:#}\n", failure.json()))
            } else {
                String::new()
            };
            (output, failure.exit)
        }
    };
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(output.as_bytes()).and_then(|()| stdout.flush()) {
        // Whoever was reading has seen enough: `privet … | head`. What was paid for is kept all the same.
        Err(e) if is_paid || e.kind() != std::io::ErrorKind::BrokenPipe => {
            let kept = match is_paid {
                true => format!(". {}", verb::rescued(".txt", output.as_bytes())),
                false => String::new(),
            };
            let _ = writeln!(
                std::io::stderr(),
                "privet: the output could not be written: {e}{kept}"
            );
            Exit::Unexpected
        }
        _ => exit,
    }
}

/// Lets the first Ctrl-C stop the run at its next step, and the second one end the process.
fn stop_on_interrupt() {
    let handler = || {
        if privet_node::progress::stop() {
            std::process::exit(Exit::Stopped.code().into());
        }
        let _ = writeln!(
            std::io::stderr(),
            "privet: stopping after this step; press Ctrl-C again to stop at once"
        );
    };
    // Without a handler Ctrl-C ends the process, as it does everywhere.
    let _ = ctrlc::set_handler(handler);
}

/// The same JSON with escapes for characters that cannot be seen. These stand in texts only.
fn visible_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) && !c.is_control() {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out += &format!("\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// The help of a command, or the reference of jobs.
fn help(about: &[String]) -> Result<Answer, Failure> {
    let words: Vec<&str> = about.iter().map(String::as_str).collect();
    let text = match words[..] {
        ["jobs"] => reference::text(None),
        ["jobs", setting] => Some(reference::text(Some(setting)).ok_or_else(|| {
            Failure::usage(format!(
                "there is no setting {setting:?}; it can be plain, central, horizontal, secure, vertical or local"
            ))
        })?),
        _ => None,
    };
    if let Some(text) = text {
        let json = json!({"reference": text});
        return Ok(Answer::data(text, json));
    }
    let mut command = low::LowArgs::command();
    // So that each command knows its full name.
    command.build();
    let mut found = &mut command;
    for word in words {
        found = found.find_subcommand_mut(word).ok_or_else(|| {
            Failure::usage(format!(
                "there is no command {word:?}; `privet --help` lists all of them"
            ))
        })?;
    }
    let text = found.render_long_help().to_string();
    let json = json!({"help": text});
    Ok(Answer::data(text, json))
}

fn run(asked: Invocation) -> Result<Answer, Failure> {
    match asked {
        Invocation::Command(command) => {
            let stops = match &command {
                Command::Train(_)
                | Command::Simulate(_)
                | Command::Evaluate(_)
                | Command::Collect(_)
                | Command::Party(_) => true,
                Command::Predict(predict) => matches!(predict.from, PredictionSource::Job { .. }),
                _ => false,
            };
            if stops {
                stop_on_interrupt();
            }
            verb::run(&command)
        }
        Invocation::Demo { keep } => demo::run(keep.as_deref()),
        #[cfg(feature = "reproduce")]
        Invocation::Reproduce(reproduce) => privet_research::run(&reproduce),
        Invocation::Help { about } => help(&about),
        Invocation::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut low::LowArgs::command(), "privet", &mut script);
            let script = String::from_utf8_lossy(&script).into_owned();
            let json = json!({"shell": shell.to_string(), "script": script});
            Ok(Answer::data(script, json))
        }
    }
}
