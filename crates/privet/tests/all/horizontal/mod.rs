//! Owners with different rows of the same columns.

mod accuracy;
mod drops;
mod evaluation;
mod faults;
mod held_out;
mod holders;
mod joining;
mod judges;
mod net;
mod noise;
mod protocols;
mod refusing;
mod rounds;
mod twins;
mod world;
