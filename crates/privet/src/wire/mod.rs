//! What parties send each other, as bytes.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `codec` | values as bytes and back: little-endian, lengths first, one way to write each value |
//! | `frame` | an envelope: agreement, sender, receiver, sequence number, what was received, a part of a message, and seal |
//!
//! Bytes come from other parties. Reading them never panics and never allocates more than they can fill; the error says what is
//! wrong, and the caller adds which party sent them.

mod codec;
mod frame;

pub(crate) use codec::Shared;
pub use codec::{Malformed, Reader, Wire, Writer};
pub use frame::{Body, Frame, Header, MOST_BYTES, PART, RunId, frames};
