//! The curator's algorithms, looked at by somebody who wants them to leak: how far answers move, whole runs by record and
//! replay, samples, payments, and mutants that each of these must catch.

mod accuracy;
mod calibration;
pub(crate) mod curator;
mod inprivate;
mod laws;
mod lessons;
mod mutants;
mod numbers;
mod payments;
mod public;
mod reach;
mod replaying;
mod sampled;
mod samples;
mod sensitivities;
mod signals;
mod spikes;
mod sums;
mod supports;
mod tables;
mod trees;
mod weights;
mod window;
mod worst;
