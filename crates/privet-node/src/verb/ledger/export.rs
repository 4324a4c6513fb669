//! `privet ledger export`

use std::path::Path;

use serde_json::json;

use crate::ledger::{Store, belongs_to, write_whole};
use crate::verb::exit::{Exit, Failure};
use crate::verb::words::count;
use crate::verb::{Answer, output};

pub(in crate::verb) fn run(path: &Path, out: Option<&Path>, overwrite: bool) -> Result<Answer, Failure> {
    let store = Store::read_only(path)?;
    let rows = store.rows()?;
    let mut lines = String::new();
    for row in &rows {
        lines += &serde_json::to_string(row).map_err(|e| {
            let why = format!("entry {} cannot be written as JSON: {e}", row.number);
            Failure::new(Exit::Unexpected, why)
        })?;
        lines.push('\n');
    }
    let Some(out) = out else {
        return Ok(Answer {
            json: lines.clone(),
            text: lines,
            exit: Exit::Ok,
            is_data: true,
            is_paid: false,
        });
    };
    if belongs_to(store.path(), out) {
        return Err(Failure::usage(format!(
            "{} is the ledger's own file: an export would destroy it. Choose another name for --out.",
            out.display()
        )));
    }
    output::check_paid(out)?;
    output::check_new(out, overwrite)?;
    write_whole(out, lines.as_bytes())
        .map_err(|e| Failure::input(format!("{} cannot be written: {e}", out.display())))?;
    let text = format!(
        "Wrote {} to {}\n",
        count(rows.len() as u64, "entry", "entries"),
        out.display()
    );
    Ok(Answer::new(text, json!({"entries": rows.len(), "out": out})))
}
