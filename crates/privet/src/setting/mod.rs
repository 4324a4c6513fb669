//! Where rooms meet.

pub mod evaluation;
