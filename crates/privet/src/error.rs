//! Errors, by whose fault they are.

use std::fmt;

/// What went wrong, sorted by who has to act.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A parameter cannot be what it is. The caller mends the call or the job file.
    Parameter(String),
    /// A schema, table or model cannot be read or makes no sense. Whoever owns it mends it.
    Data(String),
    /// The budget does not allow it. Nothing was charged and no data was looked at.
    Budget(String),
    /// The ledger's storage failed or does not verify. Nothing was drawn.
    Journal(String),
    /// The operating system gave no randomness. Nothing was drawn.
    Randomness(String),
    /// Another party sent what nobody who follows the protocol sends, or gave up. It is named.
    Peer(String),
    /// The library was used against its rules.
    Misuse(String),
    /// The progress callback asked to stop. What was paid by then stays paid; nothing came of it.
    Stopped,
}

impl Error {
    pub fn parameter(_: &'static str, why: impl Into<String>) -> Self {
        Self::Parameter(why.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::Stopped {
            return f.write_str(STOPPED);
        }
        let (Self::Parameter(text)
        | Self::Data(text)
        | Self::Budget(text)
        | Self::Journal(text)
        | Self::Randomness(text)
        | Self::Peer(text)
        | Self::Misuse(text)) = self
        else {
            return Ok(());
        };
        f.write_str(text)
    }
}

impl std::error::Error for Error {}

const STOPPED: &str = "stopped: what was paid by then stays paid, and no model was made";
