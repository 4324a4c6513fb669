//! Parties with different columns of the same people.
#![allow(clippy::unwrap_used, reason = "a test")]

mod faults;
mod hostile;
mod models;
mod people;
mod refusing;
mod replaying;
mod vectors;
