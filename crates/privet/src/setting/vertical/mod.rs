//! Parties with different columns of the same people.

pub mod order;
