//! How much order remains in a column that was desensitised.
//!
//! | file | question |
//! | --- | --- |
//! | [`kendall`] | how much of the order of a whole column is kept |
//! | [`splits`] | how likely the two sides of a split keep apart |
//! | [`ranges`] | how many people lie between two values |
//!
//! Everything here is a function of public figures or of released values; nothing here draws or pays.
//!
//! # Paper
//! OpBoost, sections 4 to 6.

pub mod kendall;
pub mod ranges;
pub mod splits;
