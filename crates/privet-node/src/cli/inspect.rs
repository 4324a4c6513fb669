//! `privet inspect`

use std::fmt::Write;
use std::path::Path;

use privet::model::Model;
use privet::privacy::Certificate;
use privet::privacy::signature::{Fingerprint, PublicKey};
use serde_json::json;

use super::exit::Failure;
use super::ledger::verify;
use super::protection::Protection;
use super::{Answer, signed_model, words};

pub(super) fn run(file: &Path, signed_by: Option<Fingerprint>) -> Result<Answer, Failure> {
    if let Some((certificate, signer)) = certificate(file)? {
        let signed = signed(file, signer, signed_by)?.unwrap_or_else(|| "by nobody".into());
        let text = format!("{certificate}\nsigned     {signed}\n");
        let json = json!({
            "certificate": certificate,
            "signed_by": signer.map(|key| key.fingerprint().to_string()),
            "compared": signed_by.is_some(),
        });
        return Ok(Answer::new(words::wrapped(&text), json));
    }
    let (model, origin) = signed_model(file)?;
    let nobody = match (origin.is_older(), model.certificate().recorded) {
        (true, _) => "by nobody: the file is older than signatures",
        (false, false) => "by nobody: the model was made without a ledger",
        (false, true) => "BY NOBODY: it was made with a ledger, which signs, so the signature was taken out",
    };
    let signed = signed(file, origin.signer, signed_by)?.unwrap_or_else(|| nobody.into());
    let weights = weights(&model);
    let mut text = String::new();
    let _ = writeln!(text, "{}\nsigned     {signed}\n", model.certificate());
    let protection = Protection::of(model.schema(), model.certificate());
    if let Some(protection) = &protection {
        let _ = writeln!(text, "{}", protection.text());
    }
    let (noise, settings): (Vec<_>, Vec<_>) = model
        .settings()
        .job()
        .iter()
        .partition(|(name, _)| name == "noise");
    if !noise.is_empty() {
        let _ = writeln!(text, "THE NOISE");
        for (_, line) in noise {
            let _ = writeln!(text, "  -  {line}");
        }
        text.push('\n');
    }
    let _ = writeln!(text, "model      {}", model.ensemble().summary());
    for (name, value) in settings {
        let _ = writeln!(text, "           {name} = {value}");
    }
    let _ = writeln!(text, "           made by privet {}", model.settings().version());
    let _ = writeln!(
        text,
        "\nWhat it has learnt from, by how far each column can move the result\n"
    );
    let widest = weights
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or(0);
    let largest = weights.first().map_or(0.0, |(_, weight)| *weight);
    for (name, weight) in weights.iter().take(20) {
        let bar = if largest > 0.0 {
            (weight / largest * 40.0).round() as usize
        } else {
            0
        };
        let line = format!("   {name:<widest$} {weight:>9.4} {}", "█".repeat(bar));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if weights.len() > 20 {
        let _ = writeln!(text, "   … and {} more columns", weights.len() - 20);
    }
    let _ = writeln!(text, "\n{}", model.schema().explain_as_read().trim_end());
    let json = json!({
        "certificate": model.certificate(),
        "signed_by": origin.signer.map(|key| key.fingerprint().to_string()),
        "compared": signed_by.is_some(),
        "protection": protection.as_ref().map(Protection::json),
        "ensemble": model.ensemble().summary(),
        "settings": model.settings().job(),
        "version": model.settings().version(),
        "weights": weights,
        "schema": model.schema().to_toml(),
    });
    Ok(Answer::new(words::wrapped(&text), json))
}

/// A certificate that stands in a file of its own, if this is one.
fn certificate(file: &Path) -> Result<Option<(Certificate, Option<PublicKey>)>, Failure> {
    let bytes = std::fs::read(file).unwrap_or_default();
    let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let is_one = value.get("claims").is_some() || value.pointer("/certificate/claims").is_some();
    is_one.then(|| verify::certificate(file)).transpose()
}

/// Who signed the file, in words; or why that is not who was asked for.
fn signed(
    file: &Path,
    signer: Option<PublicKey>,
    wanted: Option<Fingerprint>,
) -> Result<Option<String>, Failure> {
    let found = signer.map(|key| key.fingerprint());
    let not = |why: String| Failure::input(format!("{}: {why}", file.display()));
    match (found, wanted) {
        (Some(found), Some(wanted)) if found == wanted => Ok(Some(format!("by {found}, as asked for"))),
        (Some(found), Some(wanted)) => Err(not(format!("it is signed by {found}, not by {wanted}"))),
        (None, Some(wanted)) => Err(not(format!("it is not signed, so not by {wanted} either"))),
        (Some(found), None) => Ok(Some(format!("by {found}, not compared"))),
        (None, None) => Ok(None),
    }
}

/// Columns by how far they can move the result, the farthest first.
fn weights(model: &Model) -> Vec<(String, f64)> {
    let reach = model.ensemble().reach(model.schema().features().count());
    let mut weights: Vec<(String, f64)> = model
        .schema()
        .features()
        .map(|column| column.name.clone())
        .zip(reach)
        .collect();
    weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    weights
}
