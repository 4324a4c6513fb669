//! Minima of perturbed losses: their density ratio by search, runs by record and replay, and what is said about their ε.
#![allow(clippy::unwrap_used, reason = "a test")]

mod attack;
#[path = "../home/mod.rs"]
mod home;
mod payments;
mod ratio;
mod runs;
