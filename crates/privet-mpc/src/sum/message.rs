//! Messages as bytes. Numbers are little-endian.
//!
//! | bytes | what |
//! | --- | --- |
//! | 1 | version 2 in the high four bits; in the low four 1 shares, 2 relay, 3 answer |
//! | 4 | the round |
//! | … | shares: an envelope for each other holder, in their order |
//! | | relay, for a holder: the survivor set, a bit for each owner, lowest first (⌈P / 8⌉); an envelope of each other survivor, in their order |
//! | | answer: the sum of shares of each piece (8 each) |
//!
//! An envelope is the share of each piece (8 each) and 16 bytes of its seal. All lengths follow from the terms and, for a relay, from
//! the number of survivors: they are compared before anything is allocated.

use super::field::{self, Mersenne61};
use super::{SumFault, SumMessageFault, SumSender, SumTerms};
use crate::Error;

pub(super) const HEAD: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Shares = 0x21,
    Relay = 0x22,
    Answer = 0x23,
}

pub(super) fn wrong(from: SumSender, fault: SumMessageFault) -> Error {
    Error::Sum(SumFault::Message { from, fault })
}

/// The head of a message, with room for its body.
pub(super) fn head(kind: Kind, round: u32, bytes: usize) -> Vec<u8> {
    let mut message = Vec::with_capacity(bytes);
    message.push(kind as u8);
    message.extend(round.to_le_bytes());
    message
}

/// The body of a message of this kind and round.
pub(super) fn body(kind: Kind, round: u32, from: SumSender, message: &[u8]) -> Result<&[u8], Error> {
    let Some((head, body)) = message.split_first_chunk::<HEAD>() else {
        let fault = SumMessageFault::Length {
            bytes: message.len(),
            expected: HEAD,
        };
        return Err(wrong(from, fault));
    };
    let [first, said @ ..] = *head;
    if first != kind as u8 {
        return Err(wrong(from, SumMessageFault::Kind { kind: first }));
    }
    let said = u32::from_le_bytes(said);
    if said != round {
        let fault = SumMessageFault::Round {
            round: said,
            expected: round,
        };
        return Err(wrong(from, fault));
    }
    Ok(body)
}

/// That a message has the length that its terms say.
pub(super) fn exactly(expected: usize, from: SumSender, message: &[u8]) -> Result<(), Error> {
    match message.len() {
        bytes if bytes == expected => Ok(()),
        bytes => Err(wrong(from, SumMessageFault::Length { bytes, expected })),
    }
}

/// The envelopes of a message of shares, whole.
pub(super) fn check_shares(terms: &SumTerms, round: u32, from: u16, message: &[u8]) -> Result<(), Error> {
    let sender = SumSender::Owner(from);
    body(Kind::Shares, round, sender, message)?;
    exactly(terms.share_bytes(from), sender, message)
}

/// The survivor set as bits, and the envelopes.
pub(super) fn read_relay<'a>(
    terms: &SumTerms,
    round: u32,
    message: &'a [u8],
) -> Result<(Survivors, &'a [u8]), Error> {
    let body = body(Kind::Relay, round, SumSender::Miner, message)?;
    let bits = terms.owners().div_ceil(8);
    let Some((set, envelopes)) = body.split_at_checked(bits) else {
        let fault = SumMessageFault::Length {
            bytes: message.len(),
            expected: HEAD + bits,
        };
        return Err(wrong(SumSender::Miner, fault));
    };
    let survivors = Survivors::from_bits(terms.owners(), set)
        .ok_or_else(|| wrong(SumSender::Miner, SumMessageFault::Survivors))?;
    let least = terms.least_survivors();
    if survivors.len() < least {
        return Err(Error::Sum(SumFault::FewSurvivors {
            survivors: survivors.len(),
            least,
        }));
    }
    exactly(terms.relay_bytes(survivors.len()), SumSender::Miner, message)?;
    Ok((survivors, envelopes))
}

/// The answer of a holder: an element for each piece.
pub(super) fn read_answer(
    terms: &SumTerms,
    round: u32,
    from: u16,
    message: &[u8],
) -> Result<Vec<u64>, Error> {
    let from = SumSender::Owner(from);
    let body = body(Kind::Answer, round, from, message)?;
    exactly(terms.answer_bytes(), from, message)?;
    elements(body).ok_or_else(|| wrong(from, SumMessageFault::NoFieldElement))
}

/// Elements of the field, one after the other; none if one is not below the modulus.
pub(super) fn elements(bytes: &[u8]) -> Option<Vec<u64>> {
    let (elements, _) = bytes.as_chunks::<8>();
    let elements = elements.iter();
    elements
        .map(|bytes| field::from_bytes::<Mersenne61>(*bytes))
        .collect()
}

/// Some owners, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Survivors(Vec<u16>);

impl Survivors {
    /// Of numbers that ascend and are below 2¹⁶.
    pub(super) fn new(ascending: Vec<u16>) -> Self {
        Self(ascending)
    }

    fn from_bits(owners: usize, bits: &[u8]) -> Option<Self> {
        let set = |owner: &usize| bits[owner / 8] >> (owner % 8) & 1 == 1;
        let beyond = (owners..8 * bits.len()).any(|owner| set(&owner));
        let owners = (0..owners).filter(set).map(|owner| owner as u16);
        (!beyond).then(|| Self(owners.collect()))
    }

    pub(super) fn bits(&self, owners: usize) -> Vec<u8> {
        let mut bits = vec![0; owners.div_ceil(8)];
        for owner in self.0.iter().map(|owner| usize::from(*owner)) {
            bits[owner / 8] |= 1 << (owner % 8);
        }
        bits
    }

    pub(super) fn as_slice(&self) -> &[u16] {
        &self.0
    }

    pub(super) fn into_vec(self) -> Vec<u16> {
        self.0
    }

    /// Those that hold shares: the first ones.
    pub(super) fn holders(&self, terms: &SumTerms) -> &[u16] {
        let count = self.0.partition_point(|owner| terms.is_holder(*owner));
        &self.0[..count]
    }

    /// The place of an owner among these.
    pub(super) fn place_of_holder(&self, terms: &SumTerms, owner: u16) -> Result<usize, Error> {
        let place = self.0.binary_search(&owner);
        let place = place.map_err(|_| Error::Sum(SumFault::NoSurvivor { owner }))?;
        match terms.is_holder(owner) {
            true => Ok(place),
            false => Err(Error::Sum(SumFault::NoHolder { owner })),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn contains(&self, owner: u16) -> bool {
        self.0.binary_search(&owner).is_ok()
    }
}
