//! Attacks that were carried out, for whoever wants to try them on a release.

pub mod empty_cell;
