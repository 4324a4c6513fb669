//! What the paper compares with and what protects nobody.
//!
//! Nothing here takes a ledger: a leave that says why ([`Unprotected`](crate::privacy::Unprotected)) is asked for, and whatever
//! comes of it is void.

mod pate;

pub use pate::{Pate, Students};
