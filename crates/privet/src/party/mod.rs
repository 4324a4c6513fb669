//! Parties of a protocol: roles that do no input or output, a seat that drives one, and a simulation that drives all.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `role` | [`Role`]: what a party does with a message; [`Step`]: what it does next |
//! | `context` | what a role is given: an outbox, its record, progress |
//! | `record` | what a party must remember to go on after a crash |
//! | `seat` | one party: frames in, frames out, whatever carries them |
//! | `simulate` | all parties in one process, with faults |
//!
//! The same role runs in a simulation, over a network and in a fuzzer. Nothing here knows a setting.
//!
//! # Restart
//! A record holds, in order, what was received and what a ledger has released: never private state. A party that was
//! interrupted is made again from its own table and fed from its record; it says the same, byte for byte. A value is paid for,
//! drawn, written down, and only then sent ([`Context::once`]). What was paid for and never written down nobody has seen, and
//! it is drawn once more under the old payment (`docs/proofs/ordered.md#redraw`).
//!
//! # What a peer sees
//! A local failure is one fixed frame, [`Body::Aborted`](crate::wire::Body), whatever its reason. What a peer did wrong is an
//! [`Error::Peer`](crate::Error) that names it, here and nowhere else.

mod context;
mod record;
mod role;
mod seat;
mod simulate;

pub use context::Context;
pub use record::{Item, Keeper, Record, RunName, Volatile};
pub use role::{Agreement, PartyId, Role, Step};
pub use seat::{Seat, Sent, State};
pub use simulate::{Edge, Fault, Simulated, Simulation};
