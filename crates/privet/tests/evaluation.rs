//! Evaluation that is paid for: its claim against brute force and replay, its figures against those without noise.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "evaluation/claims.rs"]
mod claims;
#[path = "evaluation/figures.rs"]
mod figures;
#[path = "evaluation/tables.rs"]
mod tables;
