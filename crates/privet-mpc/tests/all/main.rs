//! Everything about the computations between parties that is tested from outside, in one program.
#![allow(clippy::unwrap_used, reason = "tests")]

mod corpora;
mod garble;
mod psi;
mod sealed;
mod sum;
