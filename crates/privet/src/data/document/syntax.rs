//! From text to a document, and what to say where it is not TOML.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::de::DeTable;

use super::quoted;
use super::tree::{DEEPEST, Lines, Table};
use crate::error::Finding;

pub(super) fn parse(text: &str) -> Result<Table, Vec<Finding>> {
    // Some editors begin a file with a mark of no width.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = Lines::of(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Table::of(table.get_ref(), &lines, 0)
            .map_err(|line| vec![Finding::at(line, None, too_deep())]);
    }
    // What follows on the same line is mostly an echo of the first.
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for error in errors {
        let place = error.span().unwrap_or(text.len()..text.len());
        let line = lines.line(place.start);
        if seen.insert(line) {
            let character = Some(lines.column(place.start));
            findings.push(Finding::at(line, character, plain(error.message(), text, place)));
        }
    }
    Err(findings)
}

fn too_deep() -> String {
    format!("this is nested deeper than {DEEPEST} levels")
}

/// The parser's words, for people who do not write parsers.
fn plain(message: &str, text: &str, place: Range<usize>) -> String {
    let ends_line = text
        .get(place.end..)
        .is_none_or(|rest| rest.is_empty() || rest.starts_with(['\n', '\r']));
    let here: String = text
        .get(place.clone())
        .unwrap_or_default()
        .chars()
        .take(40)
        .collect();
    let here = here.trim();
    let (what, wanted) = message.split_once(", expected ").unwrap_or((message, ""));
    match what {
        "duplicate key" => format!("{here} is written twice; keep one"),
        "string values must be quoted" | "missing value" | "missing value for key" if here.is_empty() => {
            "there is no value after the =".into()
        }
        "string values must be quoted" | "invalid float" if here.contains(' ') => {
            format!(
                "{} needs quotes if it is one text, or a comma if it is two values",
                quoted(here)
            )
        }
        "string values must be quoted" | "invalid float" if here.starts_with(char::is_alphabetic) => {
            format!("{here} needs quotes if it is a text: {}", quoted(here))
        }
        "string values must be quoted" => format!("{} is not a number; a text needs quotes", quoted(here)),
        "key with no value" => "there is a name without a value; write NAME = VALUE".into(),
        "invalid literal string" if !ends_line => {
            "there is a name without a value; write NAME = VALUE".into()
        }
        "invalid basic string" | "invalid literal string" if ends_line => {
            format!("a text is not closed; a {} is missing", wanted.trim_matches('`'))
        }
        "missing comma between key-value pairs" | "extra assignment between key-value pairs" => {
            "a comma is missing between two entries of { … }".into()
        }
        "missing comma between array elements" => {
            "a comma is missing between two entries of a list, or the ] that closes it".into()
        }
        "extra comma in array" | "extra comma in inline table" => {
            "there is a comma where a value should be".into()
        }
        "unclosed array" => "a list is not closed; a ] is missing".into(),
        "unclosed inline table" => "a { is not closed; a } is missing".into(),
        "unclosed table" | "unclosed array table" => "a heading is not closed; a ] is missing".into(),
        "unexpected key or value" => {
            "there is more after the value; the next entry begins on a new line".into()
        }
        "unexpected leading zero" => "a number cannot begin with 0; a text needs quotes".into(),
        "unquoted keys cannot be empty" => "there is no name before the =".into(),
        "invalid unquoted key" => {
            let name = word_around(text, place);
            format!("the name {} needs quotes", quoted(name))
        }
        "cannot recurse further; max recursion depth met" | "recursion limit" => too_deep(),
        _ if wanted.is_empty() => format!("this is not TOML: {what}"),
        _ => format!("this is not TOML: {what}; wanted: {wanted}"),
    }
}

/// The whole of a name of which the parser shows a part.
fn word_around(text: &str, place: Range<usize>) -> &str {
    const ENDS: [char; 10] = ['\n', '=', '.', '[', ']', '{', '}', ',', '"', '\''];
    let before = text.get(..place.start).unwrap_or_default();
    let start = before.rfind(ENDS).map_or(0, |end| end + 1);
    let after = text.get(place.start..).unwrap_or_default();
    let end = after.find(ENDS).map_or(text.len(), |end| place.start + end);
    let word = text.get(start..end).unwrap_or_default().trim();
    word.char_indices().nth(40).map_or(word, |(end, _)| &word[..end])
}
