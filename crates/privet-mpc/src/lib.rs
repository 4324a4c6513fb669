//! Computations between parties that do not show each other their data.
//!
//! | room | what it computes |
//! | --- | --- |
//! | [`psi`] | which rows several parties have in common, and one order for them |
//! | [`sum`] | the sum of many owners' vectors, of which nobody sees another |
//! | [`garble`] | any [`circuit`] of two parties' inputs, set up by oblivious [`transfer`]s |
//! | [`sealed`] | nothing: bytes for one party that another relays, and bytes that a party stores |
//!
//! Cryptography has an audit surface of its own, below the library: nothing here knows of boosting, budgets or rows. Nothing
//! opens a socket, file or clock either: a step takes a message and gives the next state and a message, as bytes, and
//! invalid bytes of a peer are an error.
#![forbid(unsafe_code)]

pub mod circuit;
mod error;
pub mod garble;
pub mod psi;
pub mod sealed;
pub mod sum;
pub mod transfer;

pub use error::Error;
