//! The body of the fuzz target `handler`, which includes this file.

use privet::Error;
use privet::party::{MemoryRecord, PartyId};
use privet::setting::horizontal::{MINER, Protocol};
use privet_testkit::{owners, parties, secure};

/// Foreign bytes to the handler of a party's connections. The first byte says which role of which setting it has; it ends well, still waits or says
/// who is at fault.
pub(crate) fn handler(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else {
        return;
    };
    let kind = kind % 24;
    let place = PartyId(u16::from(kind % 2));
    let ended = match kind {
        0..6 => {
            let party = parties::party(kind, &MemoryRecord::default(), &parties::journal());
            privet_node::net::handle(party.expect("a party"), place, bytes)
        }
        6..12 => {
            let protocol =
                [Protocol::Aggregated, Protocol::Averaged, Protocol::Chain][usize::from(kind / 2 - 3)];
            let me = if place == PartyId(0) { MINER } else { PartyId(1) };
            privet_node::net::handle(owners::owner(protocol, me), me, bytes)
        }
        _ => privet_node::net::handle(secure::party(usize::from(kind / 2 - 6), place), place, bytes),
    };
    if let Err(e) = ended {
        let fine = matches!(
            e,
            Error::Peer(_) | Error::Parameter(_) | Error::Data(_) | Error::Budget(_)
        );
        assert!(fine, "{e:?}");
    }
}
