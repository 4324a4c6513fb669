//! The document as it is kept: every key and value with its line.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use toml::de::{DeTable, DeValue};

/// Deeper than this nobody writes; a bound keeps hostile text from exhausting the stack.
pub(super) const DEEPEST: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) entries: Vec<Entry>,
    /// Known keys, whether they are there or not.
    pub(super) asked: RefCell<BTreeSet<String>>,
    /// Whether any key is welcome here.
    pub(super) open: Cell<bool>,
    /// Whether it was read.
    pub(super) seen: Cell<bool>,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) item: Item,
}

#[derive(Debug)]
pub(super) struct Item {
    pub(super) line: usize,
    pub(super) value: Value,
}

#[derive(Debug)]
pub(super) enum Value {
    Text(String),
    /// Digits and their base: it may not fit any machine integer.
    Integer(String, u32),
    /// As it was written.
    Number(String),
    Flag(bool),
    Date(String),
    List(Vec<Item>),
    Table(Table),
}

/// Where lines begin.
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        Self {
            text,
            starts: std::iter::once(0)
                .chain(breaks.map(|(place, _)| place + 1))
                .collect(),
        }
    }

    /// The line of a byte, counted from one.
    pub(super) fn line(&self, place: usize) -> usize {
        self.starts.partition_point(|&start| start <= place)
    }

    /// The column of a byte in characters, counted from one.
    pub(super) fn column(&self, place: usize) -> usize {
        let before = self.text.get(..place).unwrap_or(self.text);
        let start = self.starts[self.line(before.len()) - 1];
        before[start..].chars().count() + 1
    }
}

impl Table {
    /// Copies a parsed table; the error is the line of what is nested too deep.
    pub(super) fn of(table: &DeTable<'_>, lines: &Lines<'_>, depth: usize) -> Result<Self, usize> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let line = lines.line(key.span().start);
            if depth == DEEPEST {
                return Err(line);
            }
            entries.push(Entry {
                key: key.get_ref().to_string(),
                item: Item {
                    line,
                    value: Value::of(value.get_ref(), lines, depth + 1)?,
                },
            });
        }
        Ok(Self {
            entries,
            ..Self::default()
        })
    }

    pub(super) fn get(&self, key: &str) -> Option<&Item> {
        self.entries
            .iter()
            .find(|entry| entry.key == key)
            .map(|entry| &entry.item)
    }
}

impl Value {
    fn of(value: &DeValue<'_>, lines: &Lines<'_>, depth: usize) -> Result<Self, usize> {
        Ok(match value {
            DeValue::String(text) => Self::Text(text.to_string()),
            DeValue::Integer(digits) => Self::Integer(digits.as_str().into(), digits.radix()),
            DeValue::Float(digits) => Self::Number(digits.as_str().into()),
            DeValue::Boolean(flag) => Self::Flag(*flag),
            DeValue::Datetime(date) => Self::Date(date.to_string()),
            DeValue::Array(array) => {
                let mut list = Vec::with_capacity(array.len());
                for item in array.iter() {
                    let line = lines.line(item.span().start);
                    if depth == DEEPEST {
                        return Err(line);
                    }
                    list.push(Item {
                        line,
                        value: Self::of(item.get_ref(), lines, depth + 1)?,
                    });
                }
                Self::List(list)
            }
            DeValue::Table(table) => Self::Table(Table::of(table, lines, depth)?),
        })
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn flag(&self) -> Option<bool> {
        match self {
            Self::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(digits, radix) => i64::from_str_radix(digits, *radix).ok(),
            _ => None,
        }
    }

    /// A finite number.
    pub(super) fn number(&self) -> Option<f64> {
        let x: f64 = match self {
            Self::Integer(digits, 10) => digits.parse().ok()?,
            Self::Integer(digits, radix) => i64::from_str_radix(digits, *radix).ok()? as f64,
            Self::Number(digits) => digits.parse().ok()?,
            _ => return None,
        };
        x.is_finite().then_some(x)
    }

    /// A date, as a text or as TOML has it, or a number of days since 1970-01-01.
    pub(super) fn days(&self) -> Option<f64> {
        match self {
            Self::Text(text) | Self::Date(text) => crate::data::days(text.as_bytes()),
            value => value.number(),
        }
    }

    pub(super) fn list(&self) -> Option<&[Item]> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }
}
