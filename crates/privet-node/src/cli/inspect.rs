//! `privet inspect`

use std::fmt::Write;
use std::path::Path;

use privet::model::Model;
use serde_json::json;

use super::exit::Failure;
use super::protection::Protection;
use super::{Answer, open_model, words};

pub(super) fn run(file: &Path) -> Result<Answer, Failure> {
    let model = open_model(file)?;
    let weights = weights(&model);
    let mut text = String::new();
    let _ = writeln!(text, "{}\n", model.certificate());
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
        "protection": protection.as_ref().map(Protection::json),
        "ensemble": model.ensemble().summary(),
        "settings": model.settings().job(),
        "version": model.settings().version(),
        "weights": weights,
        "schema": model.schema().to_toml(),
    });
    Ok(Answer::new(words::wrapped(&text), json))
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
