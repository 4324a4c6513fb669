//! Circuits computed by two parties that do not show each other their inputs: half gates.
//!
//! ```text
//!  evaluator, input y                                  garbler, input x
//!  choices: y, masked                   ──────────►
//!                                       ◄──────────   corrections of y's labels, a table for each AND, decoding bits    garbled
//!  outcome: f(x, y)                     ──────────►
//! ```
//!
//! ```
//! use privet_mpc::circuit::{Counted, Rendezvous};
//! use privet_mpc::garble::{Evaluating, Garbling, Seed};
//! use privet_mpc::transfer;
//!
//! # fn main() -> Result<(), privet_mpc::Error> {
//! let agreement = [7; 32];
//! let (expect, offer) = transfer::offer(&agreement, Seed::from_os()?);
//! let (mut sender, answer) = transfer::answer(&agreement, Seed::from_os()?, &offer)?;
//! let mut receiver = expect.receive(&answer)?; // the set-up, once
//!
//! let circuit = Counted::new(Rendezvous::new(5)?)?;
//! let ann = circuit.input(&[true, false, true, false, false], 0x5eed)?; // coins are drawn
//! let bob = circuit.input(&[true, true, false, false, true], 0xc0de)?;
//! let mut garbling = Garbling::new(&mut sender, 0, &circuit, &ann, Seed::from_os()?)?;
//! let mut evaluating = Evaluating::new(&mut receiver, 0, &circuit, &bob, Seed::from_os()?)?;
//! while let Some(choices) = evaluating.next_message() {
//!     garbling.receive(&choices)?;
//! }
//! let mut outcome = None;
//! while let Some(garbled) = garbling.next_message() {
//!     outcome = evaluating.receive(&garbled)?;
//! }
//! let outcome = outcome.ok_or(privet_mpc::Error::Misuse("all parts have come"))?;
//! assert_eq!(circuit.decode(&outcome.bits), Some(0));
//! assert_eq!(garbling.open(&outcome.message)?, outcome.bits);
//! # Ok(())
//! # }
//! ```
//!
//! # Privacy
//! Each side learns the output and, of the other's input, nothing else, if both follow the protocol: `docs/proofs/garbling.md`. A side that
//! does not follow it can learn more, or make the output wrong: nothing here protects against that. Numbers of gates, lengths and their order follow from the
//! circuit alone. Hash keys, labels and Δ are fresh in each circuit: they follow from both sides' salts, which follow from both sides' seeds and inputs.

mod decode;
mod evaluating;
mod fault;
mod garbling;
mod gates;
pub(crate) mod hash;
pub(crate) mod label;
pub(crate) mod message;
mod seed;

#[doc(hidden)]
pub use decode::decode;
pub use evaluating::{Evaluated, Evaluating};
pub use fault::{GarbleFault, GarbleMessageFault, GarbleParty};
pub use garbling::Garbling;
pub(crate) use message::{HEAD, SALT};
pub use seed::{Seed, digest};

use crate::circuit::Circuit;
use message::Exchange;

/// What both know of a circuit before it begins.
fn begin(run: &Exchange, number: u32, circuit: &impl Circuit) -> Exchange {
    run.and(
        "privet garble 1",
        &[&number.to_le_bytes(), circuit.name().as_bytes()],
    )
}

/// The keys of a circuit: hashes of gates and of transfers, and the labels of the garbler's input.
struct Keys {
    gates: hash::Hash,
    transfers: hash::Hash,
    labels: hash::Hash,
}

impl Keys {
    fn new(exchange: &Exchange) -> Self {
        let hash = |what| hash::Hash::new(&exchange.key(what));
        Self {
            gates: hash("gates"),
            transfers: hash("transfers"),
            labels: hash("labels"),
        }
    }

    /// The labels that the evaluator has for the garbler's input, whatever it is: both know them, so nothing is sent.
    fn garbler_labels(&self, count: usize) -> crate::circuit::Wires<label::Label> {
        let each = (0..count as u64).map(|at| self.labels.permute(&[[label::Label::small(at)]])[0][0]);
        crate::circuit::Wires::new(each.collect())
    }
}
