//! Owners with different rows of the same columns.

mod accuracy;
mod drops;
mod evaluation;
mod faults;
mod joining;
mod net;
mod noise;
mod protocols;
mod refusing;
mod rounds;
mod twins;
mod world;
