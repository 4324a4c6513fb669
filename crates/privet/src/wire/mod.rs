//! What parties send each other, as bytes.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `codec` | values as bytes and back: little-endian, lengths first, one way to write each value |
//! | `frame` | an envelope: which run, from whom, to whom, the how-manieth, and a seal |
//!
//! Bytes come from somebody else. Reading them never panics, makes no room for what is not there, and says what is wrong; who is at
//! fault is the reader's to say.

mod codec;
mod frame;

pub use codec::{Malformed, Reader, Wire, Writer};
pub use frame::{Body, Frame, Header, MOST_BYTES, RunId};
