//! `privet schema`

use std::fmt::Write;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use privet::data::schema::{self, ColumnGuess, Schema};
use privet::data::{Intake, Keep};
use privet::privacy::texts::check_name;
use serde_json::json;

use super::exit::Failure;
use super::request::LedgerFile;
use super::{Answer, output, words};
use crate::job::Source;
use crate::table;

pub(super) fn draft(
    file: &Path,
    out: Option<&Path>,
    dataset: Option<&str>,
    ledger: &LedgerFile,
) -> Result<Answer, Failure> {
    if let Some(out) = out {
        output::check_ledger(ledger, out)?;
    }
    let look = table::peek(file)?;
    let columns: Vec<(String, ColumnGuess)> = look
        .columns
        .into_iter()
        .map(|(name, cells)| (name, ColumnGuess::of_cells(cells.iter().map(Vec::as_slice))))
        .collect();
    let named = file
        .file_name()
        .and_then(|name| name.to_str())
        .and_then(|name| name.split('.').next());
    let dataset = dataset
        .or(named)
        .filter(|name| check_name(name, 100).is_ok())
        .unwrap_or("table");
    let text = schema::draft(dataset, look.layout, &columns);
    let json = json!({"schema": text, "out": out});
    let Some(out) = out else {
        return Ok(Answer::new(text, json));
    };
    // Somebody's bounds are worth more than a draft.
    crate::ledger::write_new(out, text.as_bytes()).map_err(|e| {
        let why = match e.kind() {
            std::io::ErrorKind::AlreadyExists => "it exists already, and a draft would overwrite it".into(),
            _ => format!("it cannot be written: {e}"),
        };
        Failure::input(format!("{}: {why}", out.display()))
    })?;
    let said = format!(
        "Wrote {}: {} columns. Fill in the bounds and values from public knowledge, then run\n  privet schema check {}\n",
        out.display(),
        columns.len(),
        out.display()
    );
    Ok(Answer::new(said, json))
}

pub(super) fn check(file: &Path, data: Option<&Path>, diagnostics: bool) -> Result<Answer, Failure> {
    if diagnostics && !std::io::stdout().is_terminal() {
        return Err(Failure::usage(
            "--private-diagnostics counts cells of private rows: it is for your own terminal, not for a file or a pipe",
        ));
    }
    let schema = Arc::new(open(file)?);
    let mut text = schema.explain();
    if let Some(data) = data {
        let source = Source {
            schema: Arc::clone(&schema),
            data: data.to_owned(),
        };
        let table = source.read(&Intake::everything(Arc::clone(&schema), Keep::Bins))?;
        let _ = writeln!(
            text,
            "\n{} has these columns and reads to its end.",
            data.display()
        );
        if diagnostics {
            let _ = writeln!(text, "\n{}", super::diagnostics::of(table));
        }
    }
    let json = json!({"schema": schema.to_toml(), "dataset": schema.dataset(), "data": data, "sound": true});
    Ok(Answer::new(words::wrapped(&text), json))
}

/// Reads a schema.
pub(super) fn open(file: &Path) -> Result<Schema, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|e| Failure::input(format!("{}: it cannot be read: {e}", file.display())))?;
    Ok(Schema::from_toml(&file.display().to_string(), &text)?)
}
