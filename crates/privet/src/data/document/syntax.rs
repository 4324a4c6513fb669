//! From text to a document, and what to say where it is not TOML.

use toml::de::DeTable;

use super::Finding;
use super::tree::{DEEPEST, Lines, Table};

pub(super) fn parse(text: &str) -> Result<Table, Vec<Finding>> {
    // Some editors begin a file with a mark of no width.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = Lines::of(text);
    let too_deep = |line| Finding {
        line,
        column: None,
        text: format!("this is nested deeper than {DEEPEST} levels"),
    };
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Table::of(table.get_ref(), &lines, 0).map_err(|line| vec![too_deep(line)]);
    }
    let mut findings: Vec<Finding> = Vec::new();
    for error in errors {
        let place = error.span().unwrap_or(text.len()..text.len());
        let (line, column) = lines.line_and_column(place.start);
        // What follows on the same line is mostly an echo of the first.
        if findings.iter().any(|finding| finding.line == line) {
            continue;
        }
        findings.push(Finding {
            line,
            column: Some(column),
            text: plain(error.message(), lines.text(place)),
        });
    }
    Err(findings)
}

/// The parser's words, for people who do not write parsers.
fn plain(message: &str, text: &str) -> String {
    let text: String = text.chars().take(40).filter(|c| !c.is_control()).collect();
    let words = message.split(", expected ").next().unwrap_or(message);
    match words {
        "duplicate key" => format!("{text} is written twice; keep one"),
        "string values must be quoted" => format!("{text} needs quotes if it is a text: \"{text}\""),
        "missing value for key" | "missing value" | "key with no value" => {
            "there is no value after the name; write NAME = VALUE".into()
        }
        "missing comma between key-value pairs" => "a comma is missing between two entries of { … }".into(),
        "missing comma between array elements" => "a comma is missing between two entries of [ … ]".into(),
        "extra comma in array" | "extra comma in inline table" => "there is one comma too many".into(),
        "unclosed array" => "this list is not closed; a ] is missing".into(),
        "unclosed inline table" => "this { is not closed; a } is missing".into(),
        "unclosed table" => "this heading is not closed; a ] is missing".into(),
        "unclosed array table" => "this heading is not closed; ]] is missing".into(),
        "unexpected leading zero" => "a number cannot begin with 0; put it in quotes if it is a text".into(),
        "invalid unquoted key" => {
            format!("{text} cannot stand without quotes as a name; write \"{text}\"")
        }
        "cannot recurse further; max recursion depth met" | "recursion limit" => {
            format!("this is nested deeper than {DEEPEST} levels")
        }
        _ => match message.split_once(", expected ") {
            Some((what, wanted)) => format!("this is not TOML: {what}; wanted: {wanted}"),
            None => format!("this is not TOML: {message}"),
        },
    }
}
