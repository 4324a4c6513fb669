//! What is trained or measured with noise that a ledger pays for, and that several settings share.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`Budget`] | what a run may spend, and about how many rows there are |
//! | [`trees`] | differentially private boosted trees |
//! | [`evaluation`] | how good a model is, from noisy counts of labelled rows |
//!
//! A setting decides whose rows these are, and under which relation the ledger is charged.

mod budget;
pub(crate) mod calibration;
pub mod evaluation;
pub mod trees;

pub use budget::Budget;
