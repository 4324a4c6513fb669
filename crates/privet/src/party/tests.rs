//! Seats with small roles: what is recorded, replayed, cut, bounded and refused.

mod events;
mod leaving;
mod replaying;
mod streaming;
mod working;

use super::*;
use crate::Error;
use crate::wire::{Frame, RunId};

pub(super) fn quiet(_: &str, _: u64, _: u64) {}

pub(super) fn agreement(parties: usize) -> Agreement {
    let names = (0..parties).map(|n| format!("party {n}")).collect();
    Agreement::new(RunId([3; 16]), names).expect("an agreement")
}

/// All frames that a seat has to send.
pub(super) fn sent<R: Role>(seat: &mut Seat<R>) -> Vec<Frame> {
    let frames = std::iter::from_fn(|| seat.next_frame());
    frames
        .map(|sent| Frame::from_bytes(sent.bytes).expect("a frame"))
        .collect()
}

/// A frame from one party of an agreement to another.
pub(super) fn frame(
    agreement: &Agreement,
    from: u16,
    to: u16,
    number: u64,
    body: crate::wire::Body,
) -> Vec<u8> {
    let frame = Frame {
        agreement: agreement.digest(),
        from,
        to,
        number,
        acknowledged: 0,
        body,
    };
    frame.to_bytes()
}

pub(super) type Turn<R> = Result<TurnOutcome<R>, Error>;
