//! Trees and gradient boosting: against small cases worked out by hand, against slow and plain code, and against
//! themselves with more threads.
#![allow(clippy::unwrap_used, reason = "a test")]

mod boosting;
mod brute;
mod growing;
mod models;
mod refusing;
mod table;
mod walking;
