//! Boolean circuits, each written once for every backend.
//!
//! | backend | a wire is | what it is for |
//! | --- | --- | --- |
//! | [`Counted::compute`] | a bit | the cleartext twin: what the circuit gives |
//! | [`Counted::cost`] | nothing | the counting twin: gates, bytes and rounds, before anything is sent |
//! | [`Garbling`](crate::garble::Garbling), [`Evaluating`](crate::garble::Evaluating) | a label | two parties that do not show each other their inputs |
//!
//! | circuit | inputs of each side | output |
//! | --- | --- | --- |
//! | [`Orban`] | k bits | whether both have a one in the same place: the OR of the bitwise AND |
//! | [`Rendezvous`] | k bits, 48 coins | one random place where both have a one, or none |
//! | [`Argmin`] | a number for each candidate | the candidate whose two numbers have the smallest sum |
//! | [`Sum`], [`Less`] | a number | the sum; whether the garbler's number is smaller |
//!
//! ```
//! use privet_mpc::circuit::{Argmin, Counted};
//!
//! # fn main() -> Result<(), privet_mpc::Error> {
//! let circuit = Counted::new(Argmin::new(3, 8)?)?;
//! let (ann, bob) = (circuit.input(&[9, 1, 5])?, circuit.input(&[1, 7, 9])?);
//! assert_eq!(circuit.decode(&circuit.compute(&ann, &bob)?), Some(1)); // 10, 8 and 14
//! assert_eq!(circuit.cost().ands, 3 * 7 + 2 * 8 + 8 + 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Privacy
//! A circuit cannot branch on a wire, since a wire has no value that could be compared: what is done depends on the circuit alone.

mod argmin;
mod backend;
mod clear;
mod count;
mod number;
mod orban;
mod pair;
mod rendezvous;

pub use argmin::Argmin;
pub use backend::{Backend, Circuit, Shape, Wire, Wires, Workspace};
pub use count::{Cost, Counted};
pub use number::{Bit, Number};
pub use orban::Orban;
pub use pair::{Less, Sum};
pub use rendezvous::{COINS, Rendezvous};

pub(crate) use count::PART;

use crate::Error;

/// The most bits of a number.
pub const MOST_BITS: usize = 64;

/// The bits of numbers, lowest first, one number after the other.
fn bits_of(numbers: &[u64], bits: usize) -> Vec<bool> {
    let each = numbers.iter();
    each.flat_map(|number| (0..bits).map(move |at| number >> at & 1 == 1))
        .collect()
}

/// The number of some bits, lowest first.
fn number_of(bits: &[bool]) -> u64 {
    let high_first = bits.iter().rev();
    high_first.fold(0, |number, bit| number << 1 | u64::from(*bit))
}

/// How many bits a number below `count` takes.
fn bits_below(count: usize) -> usize {
    (usize::BITS - count.saturating_sub(1).leading_zeros()) as usize
}

fn size(is_right: bool, wrong: &'static str) -> Result<(), Error> {
    is_right.then_some(()).ok_or(Error::Misuse(wrong))
}
