//! `privet export`

use std::path::Path;

use privet::model::Format;
use serde_json::json;

use super::exit::Failure;
use super::request::LedgerFile;
use super::words::{self, count};
use super::{Answer, open_model, output, written};

pub(super) fn run(
    file: &Path,
    format: Format,
    (out, overwrite): (&Path, bool),
    ledger: &LedgerFile,
) -> Result<Answer, Failure> {
    let beside = crate::ledger::beside(out, ".features.json");
    for path in [out, &beside] {
        if output::clash(&[path], &[file]).is_some() {
            return Err(Failure::usage(format!(
                "--out would overwrite {}, which is the model to export: choose another name",
                path.display()
            )));
        }
        output::check(ledger, path)?;
    }
    let model = open_model(file)?;
    let exported = model.export(format)?;
    for path in [out, &beside] {
        output::check_new(path, overwrite)?;
    }
    // The description first: a model without it could be given the wrong codes. Without the model it is of no use.
    let earlier = std::fs::read(&beside).ok();
    written(&beside, exported.features.as_bytes())?;
    if let Err(failure) = written(out, &exported.model) {
        match earlier {
            Some(bytes) => written(&beside, &bytes)?,
            // If that fails, too, the first failure is the one to tell.
            None => drop(std::fs::remove_file(&beside)),
        }
        return Err(failure);
    }
    let trees = count(exported.trees as u64, "tree", "trees");
    let text = format!(
        "{}\n\nWrote {}: {trees} as {}\nWrote {}: how cells become the numbers that it is given\n",
        model.certificate(),
        out.display(),
        format.name(),
        beside.display()
    );
    let json = json!({
        "certificate": model.certificate(),
        "features": beside,
        "format": format.name(),
        "out": out,
        "trees": exported.trees,
    });
    Ok(Answer::new(words::wrapped(&text), json))
}
