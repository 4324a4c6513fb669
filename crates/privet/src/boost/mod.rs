//! Coefficients, weight updates and votes: the arithmetic of boosting.

pub mod gradient;
