//! TOML files that people write: all errors are reported at once, each with its line.
//!
//! A [`Document`] is asked for the keys that it may have. Whatever is wrong becomes a finding with its line: a value of the
//! wrong type, an unknown key, or what the caller adds. [`Document::finish`] then gives all of them at once, in
//! the order of the file, each with what to write instead.
//!
//! ```
//! let document = privet::data::Document::parse("job.toml", "rows = \"17\"\nseeed = 3\n")?;
//! let root = document.root();
//! let rows = root.required_integer("rows", "17");
//! let seed = root.integer("seed");
//! assert!(rows.is_none() && seed.is_none());
//! let error = document.finish().expect_err("two findings");
//! assert_eq!(
//!     error.to_string(),
//!     "job.toml has 2 errors:\n  \
//!        line 1: rows is a text (\"17\"); write a whole number, such as rows = 17\n  \
//!        line 2: seeed is not known here; did you mean seed?"
//! );
//! # Ok::<(), privet::Error>(())
//! ```
//!
//! It does not open files, and knows nothing of what a schema or a job needs.

mod section;
mod similar;
mod syntax;
mod tree;
mod wrong;

use std::cell::RefCell;

pub use section::{Found, Section};
pub use similar::similar;
use tree::Table;

use crate::Error;
use crate::error::{DataError, Finding};
use crate::privacy::texts::{hidden, is_hidden, shown, shown_lines};

/// A TOML file, and what was found to be wrong with it.
#[derive(Debug)]
pub struct Document {
    name: String,
    root: Table,
    findings: RefCell<Vec<Finding>>,
}

impl Document {
    /// The longest text that is read, in bytes. Nobody writes more by hand, and a parser of hostile text needs a bound.
    pub const LONGEST: usize = 32 << 20;

    /// Parses TOML that somebody wrote; `name` stands for it in messages. A character that cannot be seen is an error, since such a text
    /// says something else than what a reader sees; TOML has a visible form for it.
    ///
    /// # Errors
    /// [`Error::Data`] with every place that is not TOML, or cannot be seen.
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        let document = Self::stored(name, text)?;
        let findings = hidden_characters(text);
        match findings.is_empty() {
            true => Ok(document),
            false => Err(all(name, findings)),
        }
    }

    /// The same of a text that was accepted before, such as the schema in a model.
    pub(crate) fn stored(name: &str, text: &str) -> Result<Self, Error> {
        if text.len() > Self::LONGEST {
            let why = format!(
                "it has {} bytes; a file written by hand has at most {} (is it a table of data?)",
                text.len(),
                Self::LONGEST
            );
            return Err(Error::data_in(name, why));
        }
        match syntax::parse(text) {
            Ok(root) => Ok(Self {
                name: name.into(),
                root,
                findings: RefCell::default(),
            }),
            Err(findings) => Err(all(name, findings)),
        }
    }

    /// The keys outside of any section, and the sections.
    pub fn root(&self) -> Section<'_> {
        Section::root(self, &self.root)
    }

    /// Remembers that something is wrong at a line.
    pub fn finding(&self, line: usize, text: impl Into<String>) {
        self.findings.borrow_mut().push(Finding::at(line, None, text));
    }

    /// The keys that were asked for so far, by the section that they belong to (`""` is the root): what a reader of such documents knows.
    pub fn known(&self) -> Vec<(String, Vec<String>)> {
        let mut all = Vec::new();
        self.root().list_known("", &mut all);
        all
    }

    /// Ends the reading: unknown keys are findings, too.
    ///
    /// # Errors
    /// [`Error::Data`] with all findings, if there is one.
    pub fn finish(self) -> Result<(), Error> {
        self.root().report_unknown();
        let findings = self.findings.into_inner();
        if findings.is_empty() {
            Ok(())
        } else {
            Err(all(&self.name, findings))
        }
    }
}

/// All findings as one error, in the order of the file.
fn all(name: &str, mut findings: Vec<Finding>) -> Error {
    findings.sort_by_key(|finding| (finding.line, finding.character));
    findings.dedup();
    for finding in &mut findings {
        finding.text = shown_lines(&finding.text).into_owned();
    }
    Error::Data(DataError::all(name, findings))
}

/// Every character of a text that cannot be seen, the first of each line, with what to write instead. Control characters are no TOML.
fn hidden_characters(text: &str) -> Vec<Finding> {
    // A byte order mark before everything else says how the file is encoded.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate();
    let findings = lines.filter_map(|(line, text)| {
        let character = text.chars().position(|c| is_hidden(c) && !c.is_control())?;
        let hidden = hidden(text.get(text.char_indices().nth(character)?.0..)?)?;
        let why = format!(
            "here is the character {}, which cannot be seen: remove it, or, if it is really part of a name, write \"{}\" for it",
            hidden.name(),
            hidden.escaped()
        );
        Some(Finding::at(line + 1, Some(character + 1), why))
    });
    findings.collect()
}

/// The finding for a number's `fill` that is a text.
pub(in crate::data) fn wrong_fill(text: String) -> String {
    wrong::wrong("fill", &tree::Value::Text(text), wrong::Expected::Number)
}

/// A text as TOML writes it, in quotes.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\t' => out += "\\t",
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            c => out += &shown(c.encode_utf8(&mut [0; 4])),
        }
    }
    out.push('"');
    out
}

/// A key as TOML writes it: in quotes only where it needs them.
pub fn key(text: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !text.is_empty() && text.chars().all(is_bare) {
        text.into()
    } else {
        quoted(text)
    }
}

/// A number as TOML writes it, so that reading gives the same one again.
pub fn number(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e15 {
        format!("{x:.0}")
    } else {
        format!("{x:?}")
    }
}

#[cfg(test)]
mod tests;
