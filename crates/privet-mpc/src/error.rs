//! Errors, by who has to act.

use std::fmt;

use crate::garble::GarbleFault;
use crate::sum::SumFault;

/// What went wrong, sorted by who has to act. Rows are one's own, counted from 0: they are for the owner and never for a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Rows without an id.
    EmptyIds(Vec<usize>),
    /// Rows whose id stood in an earlier row: the earlier one, and the one that repeats it.
    RepeatedIds(Vec<(usize, usize)>),
    /// More ids than were agreed on, or than a message can hold.
    TooManyIds {
        /// How many there may be.
        most: usize,
    },
    /// A secure sum: its terms, a message of the miner or an owner, or what the answers say together.
    Sum(SumFault),
    /// A message of a garbled circuit or of its set-up is not what was expected.
    Garble(GarbleFault),
    /// The peer violated the protocol. The text depends on nothing of one's own data.
    Peer(String),
    /// The operating system gave no randomness. Nothing was sent.
    Randomness(String),
    /// The library was used against its rules.
    Misuse(&'static str),
}

impl Error {
    pub(crate) fn peer(what: impl Into<String>) -> Self {
        Self::Peer(what.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyIds(rows) => {
                write!(f, "every row needs an id, and {} have none: ", rows.len())?;
                some(f, rows, |f, row| write!(f, "row {row}"))
            }
            Self::RepeatedIds(pairs) => {
                write!(
                    f,
                    "an id may stand in one row only, and {} repeat one: ",
                    pairs.len()
                )?;
                some(f, pairs, |f, (first, again)| {
                    write!(f, "row {again} that of row {first}")
                })
            }
            Self::TooManyIds { most } => write!(f, "there are more ids than the {most} that a list may hold"),
            Self::Sum(fault) => fault.fmt(f),
            Self::Garble(fault) => fault.fmt(f),
            Self::Peer(text) => f.write_str(text),
            Self::Randomness(why) => write!(f, "the operating system gave no randomness: {why}"),
            Self::Misuse(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}

/// The first few items.
fn some<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    show: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (at, item) in items.iter().take(3).enumerate() {
        f.write_str(if at == 0 { "" } else { ", " })?;
        show(f, item)?;
    }
    f.write_str(if items.len() > 3 {
        ", … (counted from 0)"
    } else {
        " (counted from 0)"
    })
}
