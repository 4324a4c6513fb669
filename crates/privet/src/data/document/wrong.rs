//! What to say about a value of the wrong type: what it is, and what to write.

use super::tree::{Item, Value};
use super::{key as bare, quoted};

/// The type that a key must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Text,
    Number,
    Integer,
    Flag,
    Texts,
    Numbers,
    Date,
    Section,
    Sections,
}

impl Expected {
    fn words(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Number => "a number",
            Self::Integer => "a whole number",
            Self::Flag => "true or false",
            Self::Texts => "a list of texts",
            Self::Numbers => "a list of numbers",
            Self::Date => "a date",
            Self::Section => "a section",
            Self::Sections => "one or more sections",
        }
    }
}

/// The finding for a value of the wrong type.
pub(super) fn wrong(key: &str, value: &Value, wanted: Expected) -> String {
    let key = bare(key);
    if let (Value::List(list), Expected::Texts | Expected::Numbers) = (value, wanted) {
        return wrong_list(&key, list, wanted);
    }
    let is = described(value);
    let write = wanted.words();
    match wanted {
        Expected::Section => format!("{key} is {is}; write {write}: {key} = {{ … }}, or a line [{key}]"),
        Expected::Sections => format!("{key} is {is}; write {write}, each below a line [[{key}]]"),
        _ => format!(
            "{key} is {is}; write {write}, such as {key} = {}",
            example(value, wanted)
        ),
    }
}

fn wrong_list(key: &str, list: &[Item], wanted: Expected) -> String {
    const SHOWN: usize = 8;
    let (write, one) = match wanted {
        Expected::Texts => ("texts", Expected::Text),
        _ => ("numbers", Expected::Number),
    };
    let fits = |value: &Value| match wanted {
        Expected::Texts => value.text().is_some(),
        _ => value.number().is_some(),
    };
    let misfit = list.iter().find(|item| !fits(&item.value));
    let is = misfit.map_or_else(String::new, |item| described(&item.value));
    let mut items: Vec<String> = list
        .iter()
        .take(SHOWN)
        .map(|item| example(&item.value, one))
        .collect();
    if list.len() > SHOWN {
        items.push("…".into());
    }
    format!("{key} lists {is}; write {write}: {key} = [{}]", items.join(", "))
}

/// What a value is, in words.
pub(super) fn described(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("a text ({})", short(&quoted(text))),
        Value::Integer(digits, 10) if value.integer().is_none() => {
            format!("a number ({}) that is out of range", short(digits))
        }
        Value::Integer(digits, 10) => format!("a number ({})", short(digits)),
        Value::Integer(digits, radix) => format!("a number ({} to the base {radix})", short(digits)),
        Value::Number(digits) if value.number().is_none() => {
            format!("not a finite number ({})", short(digits))
        }
        Value::Number(digits) => format!("a number ({})", short(digits)),
        Value::Flag(flag) => flag.to_string(),
        Value::Date(date) => format!("a date ({date})"),
        Value::List(_) => "a list".into(),
        Value::Table(_) => "a section".into(),
    }
}

/// The value as it should be written, as far as one can tell.
fn example(value: &Value, wanted: Expected) -> String {
    let as_number = match value {
        Value::Text(text) => text.trim().replace(',', ".").parse::<f64>().ok(),
        Value::Flag(flag) => Some(f64::from(u8::from(*flag))),
        value => value.number(),
    };
    let as_number = as_number.filter(|x| x.is_finite());
    match wanted {
        Expected::Text => match value {
            Value::Text(text) => quoted(text),
            Value::Integer(text, 10) | Value::Number(text) | Value::Date(text) => short(&quoted(text)),
            Value::Flag(flag) => quoted(&flag.to_string()),
            _ => "\"…\"".into(),
        },
        Expected::Number => super::number(as_number.unwrap_or(10.0)),
        Expected::Integer => super::number(as_number.map_or(10.0, |x| x.clamp(-1e9, 1e9).round())),
        Expected::Flag => {
            let no = |text: &str| matches!(text.to_lowercase().as_str(), "false" | "no" | "0" | "n" | "off");
            let is_no = as_number == Some(0.0) || value.text().is_some_and(no);
            (!is_no).to_string()
        }
        Expected::Texts => match value {
            Value::Table(_) => "[\"a\", \"b\"]".into(),
            value => format!("[{}]", example(value, Expected::Text)),
        },
        Expected::Numbers => match as_number {
            None => "[1, 5, 20]".into(),
            Some(x) => format!("[{}]", super::number(x)),
        },
        Expected::Date => "\"2024-12-31\"".into(),
        Expected::Section | Expected::Sections => "{ … }".into(),
    }
}

/// Shortens long texts.
pub(super) fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() <= LONGEST {
        return text.into();
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}
