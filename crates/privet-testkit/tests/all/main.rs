//! Noise and prices of the library, measured with the test kit, in one program.

mod corpora;
mod laws;
mod licences;
mod mechanisms;
mod order;
mod ordered;
mod samplers;
mod shared;
