//! The side file: how raw cells become the numbers that another program is given, and what it gives back.

use serde::{Serialize, Serializer};

use super::super::Model;
use super::Format;
use crate::boost::Link;
use crate::data::TRUTHS;
use crate::data::schema::{Declared, Kind, Label, Schema};

/// The version of the side file; it changes when older readers would misread it.
const VERSION: u64 = 1;

/// What a date becomes.
const DAYS: &str = "days since 1970-01-01, the time of day as a fraction";

#[derive(Serialize)]
struct File<'a> {
    #[serde(rename = "privet-features")]
    version: u64,
    format: &'static str,
    /// Cells are trimmed; those that are one of these texts are missing, and missing is NaN.
    missing: &'a [String],
    features: Vec<Feature<'a>>,
    scores: Scores<'a>,
}

/// One feature; they come in this order.
#[derive(Serialize)]
struct Feature<'a> {
    column: &'a str,
    kind: &'static str,
    /// What the number counts, where the cell is not a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    meaning: Option<&'static str>,
    /// Texts with their codes; nothing for numbers, which are given as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    codes: Option<Codes<'a>>,
    /// The code of all other texts that are not missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    undeclared: Option<u16>,
}

/// Written as a map, in this order.
struct Codes<'a>(Vec<(&'a str, u16)>);

impl Serialize for Codes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

#[derive(Serialize)]
struct Scores<'a> {
    label: &'a str,
    meaning: &'static str,
    /// What privet's own scores were multiplied by.
    times: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<&'a [String]>,
    /// Privet keeps numbers between these; XGBoost does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<[f64; 2]>,
}

/// The side file of a model, in JSON.
pub(super) fn describe(model: &Model, format: Format) -> String {
    let schema = model.schema();
    let file = File {
        version: VERSION,
        format: format.name(),
        missing: schema.missing(),
        features: features(schema),
        scores: scores(model),
    };
    // Unwrap safety: plain structs with text keys always serialise.
    let mut text = serde_json::to_string_pretty(&file).expect("plain data");
    text.push('\n');
    text
}

fn features(schema: &Schema) -> Vec<Feature<'_>> {
    schema
        .features()
        .map(|column| {
            let declared = match &column.kind {
                Kind::Ordinal(declared) | Kind::Category(declared) | Kind::Flag(declared) => Some(declared),
                _ => None,
            };
            Feature {
                column: &column.name,
                kind: column.kind.name(),
                meaning: matches!(&column.kind, Kind::Number(number) if number.is_date()).then_some(DAYS),
                codes: declared.map(codes),
                undeclared: declared.map(Declared::other),
            }
        })
        .collect()
}

/// The texts of declared values, and the other words for truths.
fn codes(declared: &Declared) -> Codes<'_> {
    let values = declared.values().iter().map(String::as_str).zip(0..);
    let mut all: Vec<(&str, u16)> = values.collect();
    if declared.values() == ["false", "true"] {
        for (words, code) in TRUTHS.iter().zip(0..) {
            all.extend(words.iter().map(|word| (*word, code)));
        }
    }
    Codes(all)
}

fn scores(model: &Model) -> Scores<'_> {
    let (label, classes, bounds) = match model.schema().label() {
        Some((column, Label::Classes(declared))) => (column.name.as_str(), Some(declared.values()), None),
        Some((column, Label::Number { min, max })) => (column.name.as_str(), None, Some([*min, *max])),
        None => ("label", None, None),
    };
    let (meaning, times) = match model.ensemble().link {
        Link::Identity => ("the number", 1.0),
        Link::Logistic => ("log-odds of the second class", 1.0),
        Link::Vote => ("log-odds of the second class", 2.0),
        Link::Softmax => ("logarithm of the odds of each class, up to a constant", 1.0),
    };
    Scores {
        label,
        meaning,
        times,
        classes,
        bounds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::schema::{date, flag, label};

    #[test]
    fn a_date_says_what_it_counts() {
        let columns = [
            date("since", ["2015-01-01", "2024-12-31"]),
            flag("smokes"),
            label("ill", ["no", "yes"]),
        ];
        let schema = Schema::builder("d").columns(columns).build().expect("a schema");
        let json = serde_json::to_value(features(&schema)).expect("JSON");
        assert_eq!(json[0]["kind"], "date");
        assert_eq!(json[0]["meaning"], DAYS);
        assert_eq!(json[1].get("meaning"), None);
    }
}
