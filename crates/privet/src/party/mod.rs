//! Parties of a protocol: roles that do no input or output, a seat that drives one, and a simulation that drives all.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `agreement` | who takes part, who speaks to whom, and within which limits; its digest is in every frame |
//! | `run_key` | the keys that parties of one run seal for each other with |
//! | `role` | [`Role`]: how a party handles an event; [`TurnOutcome`]: its state afterwards |
//! | `context` | what a role is called with: an outbox, its record, deadlines, a progress callback |
//! | `record`, `recorder`, `wiped` | what a party stores to resume after a crash; how that is replayed; states that are wiped |
//! | `seat`, `edge` | one party: frames in, frames out, over any transport; the messages between two parties |
//! | `simulate`, `fault`, `post` | all parties in one process, with faults |
//!
//! The same role runs in a simulation, over a network and in a fuzzer. Nothing here knows a setting.
//!
//! # Restart
//! A record holds, in order, the events of a party, the secrets it drew ([`Context::once`]) and digests of what it sent. An
//! interrupted party is built again from its own table and replays its record; it sends the same messages, byte for byte, which
//! is compared. A role may hand over its state ([`Context::checkpoint`]); then earlier items are dropped, and a restart
//! goes on from there ([`Role::restore`]).
//!
//! # Large messages
//! A message is cut into frames of at most 1 MiB. Its sender holds it until the receiver has acknowledged that it is stored; on a new
//! connection each side says what it has received ([`Seat::greeting`]) and is sent what it lacks. The length of a message
//! is compared with what the role expects before the message is read ([`Seat::admits`]). A role that sends much is
//! resumed only while less than [`WINDOW`] bytes are unacknowledged; it must send to one that waits, since a role that works takes
//! no messages.
//!
//! # What a peer sees
//! A local failure is sent as one fixed frame, [`Body::Aborted`](crate::wire::Body), without a reason. A peer's violation of the
//! protocol is an event that names the peer, and ends the run unless the role decides otherwise.

mod agreement;
mod context;
mod edge;
mod fault;
mod post;
mod record;
mod recorder;
mod role;
mod run_key;
mod seat;
mod simulate;
#[cfg(test)]
mod tests;
mod wiped;

pub use agreement::{Agreement, Edges, Limits, MOST_PARTIES, Member, Terms};
pub use context::{Context, PartyProgress};
pub use edge::{UNHELD, WINDOW};
pub use fault::Fault;
pub use record::{Checkpoint, Item, MemoryRecord, Record, RunName};
pub use role::{PartyEvent, PartyId, Role, TurnOutcome};
pub use run_key::{RunKey, RunKeys};
pub use seat::{Seat, SeatState, Sent};
pub use simulate::{Edge, Simulated, Simulation};
