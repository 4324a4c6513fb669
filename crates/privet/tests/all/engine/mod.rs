//! Trees and gradient boosting: against small cases worked out by hand, against slow and plain code, and against
//! themselves with more threads.

mod boosting;
mod brute;
mod growing;
mod models;
mod refusing;
pub(crate) mod table;
mod walking;
