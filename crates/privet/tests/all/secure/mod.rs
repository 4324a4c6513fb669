//! Parties with different rows of the same columns.

mod faults;
mod leakage;
mod lemma;
mod refusing;
mod relaying;
mod several;
mod twin;
mod world;
