//! Evaluation that is paid for: its claim against brute force and replay, its figures against those without noise.

mod claims;
mod figures;
mod laws;
mod tables;
