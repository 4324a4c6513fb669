//! Parties on a network: one of them listens, all others dial it.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `identity` | the key of a party, and which keys of others are trusted |
//! | `trust` | the file of trusted keys |
//! | `tls` | TLS 1.3 between two parties that know each other's keys |
//! | `dial` | addresses, connections to them, and proxies |
//! | `record` | what travels over a connection: greetings of connections, control messages, frames, keep-alives |
//! | `control` | what parties tell each other before and beside the run: plans, signatures, who is done |
//! | `link` | a connection with its threads |
//! | `listener`, `dialer` | the two sides; the listener joins connections of two others and reads nothing of what they say |
//! | `plan`, `agree` | all parties come to one agreement, signed by all, or say what differs |
//! | `held` | what a ledger's file holds of an agreement until its run is over |
//! | `drive`, `running` | a seat on these connections: admission, back-pressure, deadlines, reconnection |
//! | `foreign` | a party that hears any bytes, for fuzzing |
//! | `report` | status, metrics, log and transcript |
//!
//! Threads and blocking sockets, no asynchronous runtime: a party has a few connections, and its role works on the calling thread, which no
//! socket can hold up (decision 0038). Whatever arrives is bounded before it is read, by the state of the role where it is a message of
//! the protocol. The wire is described in `docs/protocols/network.md`.

mod agree;
mod control;
mod dial;
mod dialer;
mod drive;
mod foreign;
mod held;
mod identity;
mod link;
mod listener;
mod plan;
mod record;
mod report;
mod running;
#[cfg(test)]
mod tests;
mod tls;
mod trust;

pub use agree::{Agreed, Signed, agree};
pub use control::{Bundle, Control, Opening};
pub use dial::{Address, Dial, Proxy};
pub use drive::{Drive, Driven, KeyCheck, KeyRefusal, Waits};
pub use foreign::handle;
pub use held::{Held, HeldRun};
pub use identity::Identity;
pub use plan::Plan;
pub use report::{PeerTraffic, Report, ReportFiles, Transcript};
pub use trust::{Trust, TrustedParty};

use std::time::Duration;

use privet::party::PartyId;

/// A connection is made, and its other end known by its key, within this time.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Foreign bytes as a connection brings them: the first byte says whether they are a control message or records. A control message that is read is
/// written again to the byte; records are read to their end, a hello first.
pub fn decode(bytes: &[u8]) {
    use privet::wire::Wire;
    let Some((kind, mut rest)) = bytes.split_first() else {
        return;
    };
    if kind % 2 == 0 {
        if let Ok(control) = Control::from_bytes(rest) {
            assert_eq!(control.to_bytes(), rest);
        }
        return;
    }
    if record::read_hello(&mut rest).is_err() {
        return;
    }
    while let Ok(next) = record::next(&mut rest) {
        match next {
            record::Next::Control(message) => drop(Control::from_bytes(&message)),
            record::Next::Short(_, bytes) => drop(privet::wire::Frame::from_bytes(bytes)),
            record::Next::Long(header, begun) => {
                let Ok(bytes) = record::rest(&mut rest, &header, begun) else {
                    return;
                };
                drop(privet::wire::Frame::from_bytes(bytes));
            }
        }
    }
}

/// The parties of a run: who is who, by name and number.
#[derive(Debug, Clone)]
pub struct Seats {
    /// The names, in the order of the numbers.
    pub names: Vec<String>,
    /// This party.
    pub me: PartyId,
    /// The party that listens.
    pub listens: PartyId,
    /// A connection that says nothing for so long is lost; one that is idle says four times as often that it is there.
    pub silence: Duration,
}

impl Seats {
    /// The name of a party.
    pub fn name(&self, party: PartyId) -> &str {
        let name = self.names.get(usize::from(party.0));
        name.map_or("a stranger", String::as_str)
    }

    /// All parties.
    pub fn all(&self) -> impl Iterator<Item = PartyId> + use<> {
        (0..self.names.len() as u16).map(PartyId)
    }

    /// Whether this party listens.
    pub fn is_listener(&self) -> bool {
        self.me == self.listens
    }
}
