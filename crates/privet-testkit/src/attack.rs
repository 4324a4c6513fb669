//! Attacks on releases, as code.

pub mod empty_cell;
