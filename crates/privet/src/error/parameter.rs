//! Invalid parameters: which one, and why.

use std::borrow::Cow;
use std::fmt;

/// An invalid parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterError {
    subject: Subject,
    text: String,
}

/// What has to be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// A parameter by its name: the key of a job, or the argument of a function.
    Key(Cow<'static, str>),
    /// A flag of the command line, such as `--data`.
    Flag(&'static str),
    /// The algorithm as a whole: another one has to be chosen.
    Algorithm,
    /// The schema as a whole does not fit its use.
    Schema,
}

impl ParameterError {
    pub(super) fn new(subject: Subject, text: String) -> Self {
        Self { subject, text }
    }

    /// What has to be changed.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// The parameter's name, if it is one parameter.
    pub fn key(&self) -> Option<&str> {
        match &self.subject {
            Subject::Key(key) => Some(key),
            _ => None,
        }
    }
}

impl From<&'static str> for Subject {
    fn from(key: &'static str) -> Self {
        Self::Key(Cow::Borrowed(key))
    }
}

impl From<String> for Subject {
    fn from(key: String) -> Self {
        Self::Key(Cow::Owned(key))
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
