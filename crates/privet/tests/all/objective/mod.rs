//! Minima of perturbed losses: their density ratio by search, runs by record and replay, and what is said about their ε.

mod attack;
mod payments;
mod ratio;
mod runs;
