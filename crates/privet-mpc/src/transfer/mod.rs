//! Oblivious transfers: the evaluator gets one of two labels for each of its bits, and the garbler does not learn which.
//!
//! ```text
//!  evaluator, secret a                                garbler, secrets b_i, choices s_i, 128 of them
//!  offer       A = a·G                  ──────────►
//!                                       ◄──────────   2·(b_i·G + s_i·A)                                    answer
//!  receive     two keys for each i                    one of the two keys for each i: that of s_i
//! ```
//!
//! From these 128 base transfers (Chou and Orlandi 2015, for parties that follow the protocol) follow as many as are needed, with the roles
//! exchanged: Ishai, Kilian, Nissim and Petrank (2003) with the correlation of Asharov, Lindell, Schneider and Zohner (2013). Of each bit the
//! evaluator sends 16 bytes, the garbler 16 bytes. [`crate::garble`] does that; this is what is made once for each run.
//!
//! # Privacy
//! For parties that follow the protocol: `docs/proofs/garbling.md`. A garbler that does not can learn bits of the evaluator's, and the reverse.

mod base;
mod extension;
mod keys;

pub use base::{ExpectAnswer, answer, offer};
pub(crate) use extension::{BLOCK_BYTES, BLOCK_ROWS, COLUMNS, Rows, correct, receive, send};
pub use keys::{ReceiverKeys, SenderKeys};
pub(crate) use keys::{ReceiverSecret, SenderSecret};
