//! The keys of one section.

use super::tree::{Table, Value};
use super::wrong::{Expected, short, wrong};
use super::{Document, key as bare, similar};
use crate::privacy::getters;

/// A value, and where it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found<T> {
    /// The value.
    pub value: T,
    /// Its line, counted from one.
    pub line: usize,
}

/// One section of a document: the root, `[name]`, or `name = { … }`.
///
/// Every key that is asked for is known from then on; the others are findings when the document is finished. A value of
/// the wrong type is a finding and counts as absent.
#[derive(Debug, Clone, Copy)]
pub struct Section<'a> {
    document: &'a Document,
    table: &'a Table,
    name: &'a str,
    line: usize,
}

impl<'a> Section<'a> {
    pub(super) fn root(document: &'a Document, table: &'a Table) -> Self {
        Self::new(document, table, "", 1)
    }

    fn new(document: &'a Document, table: &'a Table, name: &'a str, line: usize) -> Self {
        table.seen.set(true);
        Self {
            document,
            table,
            name,
            line,
        }
    }

    getters! {
        /// Its name; nothing for the root.
        pub name(name) -> &'a str;
        /// The line where it begins.
        pub line(line) -> usize;
        /// How many findings the whole document has so far.
        pub findings(document.findings.borrow().len()) -> usize;
    }

    /// The line of a key, or of the section if it has no such key.
    pub fn line_of(&self, key: &str) -> usize {
        self.table.get(key).map_or(self.line, |item| item.line)
    }

    /// Whether it has such a key. The key does not become a known one by this.
    pub fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// Whether such a key was asked for, and so is known.
    pub fn knows(&self, key: &str) -> bool {
        self.table.asked.borrow().contains(key)
    }

    /// Whether the value of this key is a text.
    pub fn is_text(&self, key: &str) -> bool {
        let item = self.table.get(key);
        item.is_some_and(|item| matches!(item.value, Value::Text(_)))
    }

    /// Whether the value of this key is a list.
    pub fn is_list(&self, key: &str) -> bool {
        let item = self.table.get(key);
        item.is_some_and(|item| item.value.list().is_some())
    }

    /// Its keys, in the order in which they are written.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.table.entries.iter().map(|entry| entry.key.as_str())
    }

    /// Remembers that something is wrong with this section.
    pub fn finding(&self, text: impl Into<String>) {
        self.document.finding(self.line, text);
    }

    /// Remembers that something is wrong with a key, which is then not called unknown as well.
    pub fn finding_at(&self, key: &str, text: impl Into<String>) {
        self.ask(key);
        self.document.finding(self.line_of(key), text);
    }

    /// Makes keys known without reading them.
    pub fn allow(&self, keys: &[&str]) {
        keys.iter().for_each(|key| self.ask(key));
    }

    /// A text.
    pub fn text(&self, key: &str) -> Option<Found<String>> {
        self.get(key, Expected::Text, |value| value.text().map(str::to_owned))
    }

    /// A finite number, whole or not.
    pub fn number(&self, key: &str) -> Option<Found<f64>> {
        self.get(key, Expected::Number, Value::number)
    }

    /// A whole number.
    pub fn integer(&self, key: &str) -> Option<Found<i64>> {
        self.get(key, Expected::Integer, Value::integer)
    }

    /// A date, as days since 1970-01-01.
    pub fn date(&self, key: &str) -> Option<Found<f64>> {
        self.get(key, Expected::Date, Value::days)
    }

    /// True or false.
    pub fn flag(&self, key: &str) -> Option<Found<bool>> {
        self.get(key, Expected::Flag, Value::flag)
    }

    /// A list of texts.
    pub fn texts(&self, key: &str) -> Option<Found<Vec<String>>> {
        self.get(key, Expected::Texts, |value| {
            let texts = value.list()?.iter().map(|item| item.value.text());
            texts.map(|text| text.map(str::to_owned)).collect()
        })
    }

    /// A list of finite numbers.
    pub fn numbers(&self, key: &str) -> Option<Found<Vec<f64>>> {
        self.get(key, Expected::Numbers, |value| {
            value.list()?.iter().map(|item| item.value.number()).collect()
        })
    }

    /// A text that is one of `choices`, and what that one stands for.
    pub fn choice<T: Clone>(&self, key: &str, choices: &[(&str, T)]) -> Option<Found<T>> {
        let Found { value, line } = self.text(key)?;
        if let Some((_, chosen)) = choices.iter().find(|(name, _)| *name == value) {
            return Some(Found {
                value: chosen.clone(),
                line,
            });
        }
        let names = || choices.iter().map(|(name, _)| *name);
        let (key, is) = (bare(key), short(&super::quoted(&value)));
        self.document.finding(
            line,
            match similar(&value, names()) {
                Some(meant) => format!("{key} = {is} is not known; did you mean \"{meant}\"?"),
                None => format!(
                    "{key} = {is} is not known; it can be \"{}\"",
                    names().collect::<Vec<_>>().join("\", \"")
                ),
            },
        );
        None
    }

    /// A section within this one.
    pub fn section(&self, key: &str) -> Option<Section<'a>> {
        let document = self.document;
        let (name, item) = self.entry(key)?;
        match &item.value {
            Value::Table(table) => Some(Self::new(document, table, name, item.line)),
            value => {
                document.finding(item.line, wrong(key, value, Expected::Section));
                None
            }
        }
    }

    /// The sections below `[[key]]`, in order; none if the key is absent.
    pub fn list(&self, key: &str) -> Vec<Section<'a>> {
        let Some((name, item)) = self.entry(key) else {
            return Vec::new();
        };
        let mut sections = Vec::new();
        for item in item.value.list().unwrap_or(std::slice::from_ref(item)) {
            match &item.value {
                Value::Table(table) => sections.push(Self::new(self.document, table, name, item.line)),
                value => self
                    .document
                    .finding(item.line, wrong(key, value, Expected::Sections)),
            }
        }
        sections
    }

    /// All sections within this one, in order, where names are the writer's choice. What is no section becomes a finding
    /// that shows `example`, the value to write.
    pub fn sections(&self, example: &str) -> Vec<Section<'a>> {
        self.table.open.set(true);
        let mut sections = Vec::new();
        for entry in &self.table.entries {
            let line = entry.item.line;
            match &entry.item.value {
                Value::Table(table) => sections.push(Self::new(self.document, table, &entry.key, line)),
                value => {
                    let (key, is) = (bare(&entry.key), super::wrong::described(value));
                    let text = format!("{key} is {is}; write a section, such as {key} = {example}");
                    self.document.finding(line, text);
                }
            }
        }
        sections
    }

    /// A text that has to be there; if not, a finding shows `example`, the value to write in TOML.
    pub fn required_text(&self, key: &str, example: &str) -> Option<Found<String>> {
        self.require(key, example);
        self.text(key)
    }

    /// A number that has to be there; if not, a finding shows `example`.
    pub fn required_number(&self, key: &str, example: &str) -> Option<Found<f64>> {
        self.require(key, example);
        self.number(key)
    }

    /// A whole number that has to be there; if not, a finding shows `example`.
    pub fn required_integer(&self, key: &str, example: &str) -> Option<Found<i64>> {
        self.require(key, example);
        self.integer(key)
    }

    /// One of `choices`, which has to be there; if not, a finding shows the first.
    pub fn required_choice<T: Clone>(&self, key: &str, choices: &[(&str, T)]) -> Option<Found<T>> {
        let first = choices.first().map_or("", |(name, _)| name);
        self.require(key, &super::quoted(first));
        self.choice(key, choices)
    }

    /// A section that has to be there; if not, a finding shows `example`, the lines below its heading.
    pub fn required_section(&self, key: &str, example: &str) -> Option<Section<'a>> {
        if !self.has(key) {
            let text = format!(
                "[{}] is missing; add lines such as:\n    [{0}]\n    {}",
                bare(key),
                example.replace('\n', "\n    ")
            );
            self.document.finding(self.line, text);
        }
        self.section(key)
    }

    fn require(&self, key: &str, example: &str) {
        if self.has(key) {
            return;
        }
        let whose = match self.name {
            "" => String::new(),
            name => format!(" in {}", bare(name)),
        };
        let text = format!("{key} is missing{whose}; add: {key} = {example}", key = bare(key));
        self.document.finding(self.line, text);
    }

    fn ask(&self, key: &str) {
        let mut asked = self.table.asked.borrow_mut();
        if !asked.contains(key) {
            asked.insert(key.into());
        }
    }

    fn entry(&self, key: &str) -> Option<(&'a str, &'a super::tree::Item)> {
        self.ask(key);
        let mut entries = self.table.entries.iter();
        let entry = entries.find(|entry| entry.key == key)?;
        Some((&entry.key, &entry.item))
    }

    fn get<T>(&self, key: &str, wanted: Expected, read: impl Fn(&Value) -> Option<T>) -> Option<Found<T>> {
        let (_, item) = self.entry(key)?;
        let line = item.line;
        match read(&item.value) {
            Some(value) => Some(Found { value, line }),
            None => {
                self.document.finding(line, wrong(key, &item.value, wanted));
                None
            }
        }
    }

    /// The keys that were asked for, here and in the sections that were read.
    pub(super) fn list_known(&self, path: &str, all: &mut Vec<(String, Vec<String>)>) {
        all.push((
            path.to_owned(),
            self.table.asked.borrow().iter().cloned().collect(),
        ));
        for entry in &self.table.entries {
            let nested = match &entry.item.value {
                Value::List(list) => &list[..],
                _ => std::slice::from_ref(&entry.item),
            };
            for item in nested {
                if let Value::Table(table) = &item.value
                    && table.seen.get()
                {
                    let below = match path {
                        "" => entry.key.clone(),
                        path => format!("{path}.{}", entry.key),
                    };
                    Self::new(self.document, table, &entry.key, item.line).list_known(&below, all);
                }
            }
        }
    }

    /// Findings for all unknown keys, here and in the sections that were read.
    pub(super) fn report_unknown(&self) {
        const LISTED: usize = 20;
        let asked = self.table.asked.borrow();
        for entry in &self.table.entries {
            if !self.table.open.get() && !asked.contains(&entry.key) {
                let known = || asked.iter().map(String::as_str);
                let key = short(&bare(&entry.key));
                let hint = match similar(&entry.key, known()) {
                    Some(meant) => format!("; did you mean {}?", bare(meant)),
                    None if (1..=LISTED).contains(&asked.len()) => {
                        format!("; there can be: {}", known().collect::<Vec<_>>().join(", "))
                    }
                    None => String::new(),
                };
                self.document
                    .finding(entry.item.line, format!("{key} is not known here{hint}"));
            }
            let nested = match &entry.item.value {
                Value::List(list) => &list[..],
                _ => std::slice::from_ref(&entry.item),
            };
            for item in nested {
                if let Value::Table(table) = &item.value
                    && table.seen.get()
                {
                    Self::new(self.document, table, &entry.key, item.line).report_unknown();
                }
            }
        }
    }
}
