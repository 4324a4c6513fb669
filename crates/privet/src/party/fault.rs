//! What can go wrong in a simulation.

use super::PartyId;
use crate::wire::{Body, Frame};

/// A fault to inject at one step: into the next frame that is carried, or into a party.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The frame never arrives, and later ones do.
    Drop,
    /// The frame arrives twice.
    Repeat,
    /// The next frame from the same sender to the same receiver overtakes it, if there is one.
    Delay,
    /// Only this many bytes of the frame arrive.
    Truncate(usize),
    /// One bit of the byte at this place of the frame is turned, counted around its end.
    Flip(usize),
    /// The frame belongs to another agreement.
    Foreign,
    /// The frame claims to be a later one.
    Future,
    /// The frame's message is replaced, in a valid envelope.
    Forge(Vec<u8>),
    /// Frames from this sender to this receiver wait until there are no others.
    Postpone,
    /// All connections of the party are lost, with the frames on their way, and made again.
    Disconnect(PartyId),
    /// The party is killed between two turns, and built again from its table and its record.
    Restart(PartyId),
    /// The party is killed in a turn, before that is written down, and built again.
    Crash(PartyId),
    /// The party is gone for good, and the others are told so.
    Leave(PartyId),
    /// The party is gone, the others are told so, and it is back when nothing else happens and all deadlines have passed.
    Return(PartyId),
    /// The party is gone and back in the same way, and nobody is told.
    Stall(PartyId),
    /// A deadline that the party asked for passes now.
    Hurry(PartyId),
}

impl Fault {
    /// Whether it happens to a frame, and not to a party.
    pub(super) fn is_of_frame(&self) -> bool {
        match self {
            Self::Drop
            | Self::Repeat
            | Self::Delay
            | Self::Truncate(_)
            | Self::Flip(_)
            | Self::Foreign
            | Self::Future
            | Self::Forge(_)
            | Self::Postpone => true,
            Self::Disconnect(_)
            | Self::Restart(_)
            | Self::Crash(_)
            | Self::Leave(_)
            | Self::Return(_)
            | Self::Stall(_)
            | Self::Hurry(_) => false,
        }
    }

    /// The frames that arrive instead of one.
    pub(super) fn tamper(self, mut bytes: Vec<u8>) -> Vec<Vec<u8>> {
        match self {
            Self::Drop => Vec::new(),
            Self::Repeat => vec![bytes.clone(), bytes],
            Self::Truncate(length) => {
                bytes.truncate(length);
                vec![bytes]
            }
            Self::Flip(at) => {
                let length = bytes.len().max(1);
                if let Some(byte) = bytes.get_mut(at % length) {
                    *byte ^= 1 << (at % 8);
                }
                vec![bytes]
            }
            Self::Foreign => vec![reframed(bytes, |frame| frame.agreement = [0xf0; 32])],
            Self::Future => vec![reframed(bytes, |frame| frame.number += 1)],
            Self::Forge(message) => vec![reframed(bytes, |frame| frame.body = Body::message(message))],
            _ => vec![bytes],
        }
    }
}

fn reframed(bytes: Vec<u8>, change: impl FnOnce(&mut Frame)) -> Vec<u8> {
    match Frame::from_bytes(bytes.clone()) {
        Err(_) => bytes,
        Ok(mut frame) => {
            change(&mut frame);
            frame.to_bytes()
        }
    }
}
