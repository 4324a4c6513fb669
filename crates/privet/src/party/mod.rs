//! Parties of a protocol: roles that do no input or output, a seat that drives one, and a simulation that drives all.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `role` | [`Role`]: how a party handles a message; [`TurnOutcome`]: its state afterwards |
//! | `context` | what a role is called with: an outbox, its record, a progress callback |
//! | `record` | what a party stores to resume after a crash |
//! | `seat` | one party: frames in, frames out, over any transport |
//! | `simulate` | all parties in one process, with faults |
//!
//! The same role runs in a simulation, over a network and in a fuzzer. Nothing here knows a setting.
//!
//! # Restart
//! A record holds, in order, what was received and what a ledger has released: never private state. An interrupted
//! party is built again from its own table and replays its record; it sends the same frames, byte for byte. A value is paid for,
//! drawn, stored, and only then sent ([`Context::once`]). A value that was paid for but never stored was never sent, and is
//! drawn once more under the old payment (`docs/proofs/ordered.md#redraw`).
//!
//! # What a peer sees
//! A local failure is sent as one fixed frame, [`Body::Aborted`](crate::wire::Body), without a reason. A peer's violation of the
//! protocol is a local [`Error::Peer`](crate::Error) that names the peer.

mod context;
mod record;
mod role;
mod seat;
mod simulate;

pub use context::Context;
pub use record::{Item, MemoryRecord, Record, RunName};
pub use role::{Agreement, PartyId, Role, TurnOutcome};
pub use seat::{Seat, SeatState, Sent};
pub use simulate::{Edge, FrameFault, Simulated, Simulation};
