//! Everything about the library that is tested from outside, in one program: `cargo test -p privet --test all central::`.
#![allow(clippy::unwrap_used, reason = "tests")]

mod accounts;
mod allocations;
mod central;
mod engine;
mod errors;
mod evaluation;
mod export;
mod home;
mod horizontal;
mod learners;
mod ledger;
mod metrics;
mod models;
mod objective;
mod plain;
mod replay;
mod schemas;
mod secure;
mod vertical;
