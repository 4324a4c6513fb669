//! What is saved and shown.

pub mod metrics;
