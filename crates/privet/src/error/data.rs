//! What is wrong with data, and where.

use crate::privacy::getters;
use std::fmt;

/// A schema, table, job or model that cannot be read or is invalid: all findings, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataError {
    file: Option<String>,
    findings: Vec<Finding>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// At which line, counted from 1.
    pub line: Option<u64>,
    /// At which character of the line, counted from 1.
    pub character: Option<u64>,
    /// In which column of a table, by its name.
    pub column: Option<String>,
    /// What is wrong, and what to write instead.
    pub text: String,
}

impl DataError {
    /// Invalid data at a place that the caller knows.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            file: None,
            findings: vec![Finding::somewhere(text.into())],
        }
    }

    /// Everything that was found in a file.
    pub(crate) fn all(file: &str, findings: Vec<Finding>) -> Self {
        Self {
            file: Some(file.into()),
            findings,
        }
    }

    /// The same with a file name, unless it has one.
    #[must_use]
    pub fn in_file(mut self, file: impl fmt::Display) -> Self {
        self.file.get_or_insert_with(|| file.to_string());
        self
    }

    /// The same, at a line of the file.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        for finding in &mut self.findings {
            finding.line.get_or_insert(line);
        }
        self
    }

    /// The same, about a column of the table. The sentence names it already.
    #[must_use]
    pub fn of_column(mut self, name: &str) -> Self {
        for finding in &mut self.findings {
            finding.column.get_or_insert_with(|| name.into());
        }
        self
    }

    getters! {
        /// The file, if it is known.
        pub file(file.as_deref()) -> Option<&str>;
        /// What was found.
        pub findings(&findings) -> &[Finding];
    }
}

impl Finding {
    /// An error without a line.
    pub(crate) fn somewhere(text: String) -> Self {
        Self {
            line: None,
            character: None,
            column: None,
            text,
        }
    }

    pub(crate) fn at(line: usize, character: Option<usize>, text: impl Into<String>) -> Self {
        Self {
            line: Some(line as u64),
            character: character.map(|character| character as u64),
            column: None,
            text: text.into(),
        }
    }

    fn place(&self) -> Option<String> {
        let line = self.line?;
        Some(match self.character {
            None => format!("line {line}"),
            Some(character) => format!("line {line}, column {character}"),
        })
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 20;
        if let [only] = &self.findings[..] {
            let places = self.file.iter().cloned().chain(only.place());
            let places = places.collect::<Vec<_>>().join(", ");
            return match places.is_empty() {
                true => f.write_str(&only.text),
                false => write!(f, "{places}: {}", only.text),
            };
        }
        let file = self.file.as_deref().unwrap_or("the file");
        write!(f, "{file} has {} errors:", self.findings.len())?;
        for finding in self.findings.iter().take(SHOWN) {
            let place = finding
                .place()
                .map_or_else(String::new, |place| format!("{place}: "));
            write!(f, "\n  {place}{}", finding.text.replace('\n', "\n  "))?;
        }
        match self.findings.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}
