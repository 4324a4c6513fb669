//! Parties with different columns of the same people.

mod faults;
mod foreign;
mod limits;
mod models;
mod partners;
mod people;
mod promises;
mod refusing;
mod replaying;
mod seats;
mod vectors;
