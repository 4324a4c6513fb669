//! Errors, by who has to act, with the data that a program needs.
//!
//! A variant says who has to act; its value says about what: which parameter, which line of which file, what was needed and what
//! remains, which party. [`Display`](fmt::Display) gives the whole sentence for people. No code reads that sentence.

mod data;
mod journal;
mod parameter;

use std::fmt;

pub use data::{DataError, Finding};
pub use journal::{JournalError, JournalFault};
pub use parameter::{ParameterError, Subject};

pub use crate::privacy::Refusal;

/// What went wrong, sorted by who has to act.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A parameter has an invalid value. The caller has to change the call or the job file.
    Parameter(ParameterError),
    /// A schema, table or model cannot be read or is invalid. Its owner has to change it.
    Data(DataError),
    /// The budget does not allow it. Nothing more was charged or drawn; what was paid before stays paid.
    Budget(Box<Refusal>),
    /// The storage of a ledger or record failed or does not verify. Nothing was drawn.
    Journal(JournalError),
    /// The operating system gave no randomness, for this reason. Nothing more was drawn; what was paid stays paid.
    Randomness(String),
    /// Another party, which is named, violated the protocol or gave up.
    Peer(PeerError),
    /// The caller used the library against its rules. The calling program has to change.
    Misuse(String),
    /// An invariant of this library, which the text states, does not hold. The library has to change.
    Internal(String),
    /// The progress callback stopped the run. What was paid by then stays paid; there is no model.
    Stopped,
}

/// A violation of the protocol by other parties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerError {
    /// Who did it, by name.
    pub parties: Vec<String>,
    /// What they did.
    pub what: String,
}

impl Error {
    /// An invalid parameter: which one, and a sentence that says why and what to write instead.
    pub fn parameter(subject: impl Into<Subject>, text: impl Into<String>) -> Self {
        Self::Parameter(ParameterError::new(subject.into(), text.into()))
    }

    /// Invalid data, in a file that the caller knows.
    pub fn data(text: impl Into<String>) -> Self {
        Self::Data(DataError::new(text))
    }

    /// The same, where the file is known.
    pub fn data_in(file: impl fmt::Display, text: impl Into<String>) -> Self {
        Self::Data(DataError::new(text).in_file(file))
    }

    /// The same, where the line may be known too.
    pub fn data_at(file: impl fmt::Display, line: Option<u64>, text: impl Into<String>) -> Self {
        let e = DataError::new(text).in_file(file);
        Self::Data(line.into_iter().fold(e, DataError::at_line))
    }

    /// The same about a column, which the sentence names.
    pub fn data_of(column: &str, text: impl Into<String>) -> Self {
        Self::Data(DataError::new(text).of_column(column))
    }

    /// A ledger or record that cannot be used.
    pub fn journal(fault: JournalFault, text: impl Into<String>) -> Self {
        Self::Journal(JournalError::new(fault, text.into()))
    }

    /// What a party did.
    pub fn peer(party: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Peer(PeerError {
            parties: vec![party.into()],
            what: what.into(),
        })
    }

    /// The operating system gave no randomness.
    pub fn randomness(why: impl fmt::Display) -> Self {
        Self::Randomness(why.to_string())
    }

    /// The caller broke a rule of the library.
    pub fn misuse(text: impl Into<String>) -> Self {
        Self::Misuse(text.into())
    }

    /// The library broke a rule of its own: `text` says what should hold.
    pub fn internal(text: impl Into<String>) -> Self {
        Self::Internal(text.into())
    }
}

impl From<Box<Refusal>> for Error {
    fn from(refusal: Box<Refusal>) -> Self {
        Self::Budget(refusal)
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Budget(Box::new(refusal))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(e) => e.fmt(f),
            Self::Data(e) => e.fmt(f),
            Self::Budget(refusal) => refusal.fmt(f),
            Self::Journal(e) => e.fmt(f),
            Self::Peer(e) => e.fmt(f),
            Self::Randomness(why) => write!(f, "the operating system gave no randomness: {why}"),
            Self::Misuse(text) => f.write_str(text),
            Self::Stopped => {
                f.write_str("stopped, as asked: what was paid by then stays paid, and no model was made")
            }
            Self::Internal(text) => write!(
                f,
                "internal error: it should hold that {text}. This is a bug in Privet: please report it with this message"
            ),
        }
    }
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.parties.join(", "), self.what)
    }
}

impl std::error::Error for Error {}
