//! Parties with different columns of the same people.

mod faults;
mod foreign;
mod models;
mod people;
mod promises;
mod refusing;
mod replaying;
mod seats;
mod vectors;
