//! Two parties with different rows of the same columns.

mod faults;
mod leakage;
mod lemma;
mod refusing;
mod twin;
mod world;
