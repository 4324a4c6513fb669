//! Messages as bytes. Numbers are little-endian.
//!
//! | bytes | what |
//! | --- | --- |
//! | 1 | version 1 in the high four bits; in the low four 4 offer, 5 points, 6 choices, 7 garbled, 8 outcome |
//! | 4 | the number of the circuit; 0 in the set-up |
//! | 4 | the part, from 0 |
//! | 8 | the exchange: the first bytes of a digest of all that both know so far |
//! | … | offer: a point (32); points: 128 points (32 each) |
//! | | choices: the evaluator's salt (16); of up to 8,192 bits 128 columns, each in whole bytes |
//! | | garbled, cut into parts of 131,072 bytes: the garbler's salt (16), a correction for each evaluator bit (16 each), a table for each AND (32 each), decoding bits |
//! | | outcome: output bits |
//!
//! Bits are packed eight to a byte, lowest first; bits beyond the last are zero. All lengths follow from the circuit.

use sha2::{Digest, Sha256};

use super::fault::{GarbleFault, GarbleMessageFault, GarbleParty};
use crate::Error;

/// Bytes of a head.
pub(crate) const HEAD: usize = 17;
/// Bytes of a salt.
pub(crate) const SALT: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Offer = 0x14,
    Points = 0x15,
    Choices = 0x16,
    Garbled = 0x17,
    Outcome = 0x18,
}

impl Kind {
    pub(crate) fn from(self) -> GarbleParty {
        match self {
            Self::Offer | Self::Choices | Self::Outcome => GarbleParty::Evaluator,
            Self::Points | Self::Garbled => GarbleParty::Garbler,
        }
    }

    pub(crate) fn wrong(self, fault: GarbleMessageFault) -> Error {
        let from = self.from();
        Error::Garble(GarbleFault { from, fault })
    }
}

/// The digest of all that both sides know of an exchange so far.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exchange([u8; 32]);

impl Exchange {
    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// What follows from this one and from more that both know.
    pub(crate) fn and(&self, what: &str, more: &[&[u8]]) -> Self {
        Self(derive(what, &self.0, more))
    }

    /// A key that both know.
    pub(crate) fn key(&self, what: &str) -> [u8; 16] {
        first(&derive(what, &self.0, &[]))
    }

    pub(crate) fn tag(&self) -> [u8; 8] {
        first(&self.0)
    }
}

/// SHA-256 of a purpose, a secret or digest, and more; each with its length before it.
pub(crate) fn derive(what: &str, from: &[u8; 32], more: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [what.as_bytes(), from].into_iter().chain(more.iter().copied()) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// The first bytes.
pub(crate) fn first<const N: usize>(digest: &[u8; 32]) -> [u8; N] {
    std::array::from_fn(|at| digest[at])
}

/// The head of a message, with room for its body.
pub(crate) fn head(kind: Kind, number: u32, part: u32, exchange: &Exchange, body: usize) -> Vec<u8> {
    let mut message = Vec::with_capacity(HEAD + body);
    message.push(kind as u8);
    message.extend(number.to_le_bytes());
    message.extend(part.to_le_bytes());
    message.extend(exchange.tag());
    message
}

/// The body of a message, which has the kind, number, part, exchange and length that are expected.
pub(crate) fn body<'a>(
    kind: Kind,
    number: u32,
    part: u32,
    exchange: &Exchange,
    length: usize,
    message: &'a [u8],
) -> Result<&'a [u8], Error> {
    let wrong = |fault| Err(kind.wrong(fault));
    let unequal = GarbleMessageFault::Length {
        bytes: message.len(),
        expected: HEAD + length,
    };
    let Some((head, body)) = message.split_first_chunk::<HEAD>() else {
        return wrong(unequal);
    };
    let [said_kind, n0, n1, n2, n3, p0, p1, p2, p3, tag @ ..] = *head;
    let (said_number, said_part) = (
        u32::from_le_bytes([n0, n1, n2, n3]),
        u32::from_le_bytes([p0, p1, p2, p3]),
    );
    if said_kind != kind as u8 {
        return wrong(GarbleMessageFault::Kind { kind: said_kind });
    }
    if said_number != number {
        return wrong(GarbleMessageFault::Number {
            number: said_number,
            expected: number,
        });
    }
    if said_part != part {
        return wrong(GarbleMessageFault::Part {
            part: said_part,
            expected: part,
        });
    }
    if tag != exchange.tag() {
        return wrong(GarbleMessageFault::Exchange);
    }
    if body.len() != length {
        return wrong(unequal);
    }
    Ok(body)
}

/// Bits, eight to a byte, lowest first.
pub(crate) fn pack(bits: &[bool]) -> Vec<u8> {
    let bytes = bits.chunks(8).map(|eight| {
        let high_first = eight.iter().rev();
        high_first.fold(0, |byte, bit| byte << 1 | u8::from(*bit))
    });
    bytes.collect()
}

/// So many bits; none if one beyond them is set.
pub(crate) fn unpack(bytes: &[u8], bits: usize) -> Option<Vec<bool>> {
    let mut unpacked = bytes
        .iter()
        .flat_map(|byte| (0..8).map(move |at| byte >> at & 1 == 1));
    let kept: Vec<bool> = unpacked.by_ref().take(bits).collect();
    (kept.len() == bits && !unpacked.any(|bit| bit)).then_some(kept)
}
