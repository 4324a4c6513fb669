//! Parameters in words: what a job can write, from the same declarations that read it.

use std::fmt::Display;
use std::ops::RangeInclusive;

use super::Parameters;

/// What a job writes for a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it has parameters of its own, in a section of the job.
    Section,
    /// True or false.
    Flag,
    /// A number.
    Number,
    /// A whole number.
    Whole,
    /// An ε above zero.
    Epsilon,
    /// An ε above zero, which has no default.
    NeededEpsilon,
    /// A list of columns.
    Columns,
    /// One of these names.
    Names(Vec<&'static str>),
    /// One of these names, some of which take other keys of the same section; the first is the default.
    NamesWith(&'static [(&'static str, &'static [&'static str])]),
    /// Something else, in words.
    Words(&'static str),
}

impl Takes {
    fn words(&self) -> String {
        let names = |names: Vec<String>| names.join(", ");
        match self {
            Self::Section => String::new(),
            Self::Flag => "true or false".into(),
            Self::Number => "a number".into(),
            Self::Whole => "a whole number".into(),
            Self::Epsilon | Self::NeededEpsilon => "a number above 0".into(),
            Self::Columns => "a list of columns".into(),
            Self::Names(all) => names(all.iter().map(|name| format!("`\"{name}\"`")).collect()),
            Self::NamesWith(all) => names(
                all.iter()
                    .map(|(name, keys)| match keys {
                        [] => format!("`\"{name}\"`"),
                        keys => format!("`\"{name}\"` (takes {})", keys.join(", ")),
                    })
                    .collect(),
            ),
            Self::Words(words) => (*words).into(),
        }
    }
}

/// One key of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyReference {
    /// The key.
    pub name: &'static str,
    /// What it means.
    pub about: String,
    /// What is written for it.
    pub takes: Takes,
    /// The smallest and the largest number.
    pub range: Option<(String, String)>,
    /// What counts if it is not given; nothing if it must be, or if a rule decides.
    pub default: Option<String>,
}

impl KeyReference {
    /// The key in one line of Markdown, without the line's beginning.
    pub fn line(&self) -> String {
        let range = self
            .range
            .as_ref()
            .map_or_else(String::new, |(low, high)| format!(" from {low} to {high}"));
        let missing = match (&self.takes, &self.default) {
            (Takes::NeededEpsilon | Takes::Words(_), None) => String::new(),
            (Takes::NamesWith([(first, _), ..]), None) => format!("; if not given, {first}"),
            (_, None) => "; need not be given".into(),
            (Takes::NeededEpsilon, Some(_)) => "; it must be given".into(),
            (_, Some(default)) => format!("; if not given, {default}"),
        };
        format!(
            "`{}`: {} *{}{range}{missing}.*",
            self.name,
            self.about,
            capital(&self.takes.words())
        )
    }
}

/// One algorithm that a job can name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlgorithmReference {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: String,
    /// Its parameters.
    pub keys: Vec<KeyReference>,
}

impl AlgorithmReference {
    /// The algorithm, with these parameters as defaults.
    pub fn of<P: Parameters>(parameters: &P) -> Self {
        Self {
            name: P::NAME,
            about: sentence(P::ABOUT),
            keys: parameters.reference(),
        }
    }
}

/// Lines of a comment as one text.
pub(crate) fn sentence(lines: &[&str]) -> String {
    let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
    // What is a link in the documentation of the library is a name here.
    words.join(" ").replace("[`", "`").replace("`]", "`")
}

/// Both ends of a range, as text.
pub(crate) fn ends<T: Display>(range: &RangeInclusive<T>) -> (String, String) {
    (range.start().to_string(), range.end().to_string())
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
