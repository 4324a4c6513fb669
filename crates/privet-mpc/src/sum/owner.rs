//! What an owner of numbers does in a sum.

use std::collections::BTreeSet;
use std::fmt;

use rayon::prelude::*;
use zeroize::Zeroizing;

use super::field::{self, Mersenne61};
use super::message::{self, Kind};
use super::{Seed, SumFault, SumTerms};
use crate::Error;
use crate::sealed::{Channel, SealingKey, Ways};

/// An owner's set-up for all rounds of a run: its envelopes with holders and, if it holds shares itself, with all other owners.
pub struct SumOwner {
    terms: SumTerms,
    me: u16,
    /// By owner; none for oneself, and between two that hold no shares.
    channels: Vec<Option<Channel>>,
    /// The first round that was not shared.
    next: u32,
    /// What an envelope is sealed under besides, in the rounds that follow.
    under: Vec<u8>,
}

impl SumOwner {
    /// The owner at the place `me` of `owners`, all owners in an order that is the same for everybody: each by its number in the agreement
    /// and its public key. Who holds no shares uses its own key and those of holders, and may know no others. `agreement` is the digest of what
    /// all agreed on. Rounds before `first` are not shared any more.
    ///
    /// # Errors
    /// [`Error::Misuse`] if there are not as many owners as in the terms, `me` is none of them or has another key, or two have the same number or,
    /// of the keys that are used, the same key; [`Error::Peer`] for a key that is none.
    pub fn new(
        terms: &SumTerms,
        me: u16,
        key: &SealingKey,
        owners: &[(u16, [u8; 32])],
        agreement: &[u8; 32],
        first: u32,
    ) -> Result<Self, Error> {
        if owners.len() != terms.owners() {
            return Err(Error::Misuse("there are as many owners as the terms say"));
        }
        let Some((number, public)) = owners.get(usize::from(me)) else {
            return Err(Error::Misuse("an owner of a sum is one of its owners"));
        };
        if *public != key.public() {
            return Err(Error::Misuse("an owner has the key that the others know of it"));
        }
        // The same owner in two places would have two envelopes under one key in a round.
        let numbers = owners.iter().map(|(number, _)| *number).collect::<BTreeSet<_>>();
        let used = || {
            let owners = (0_u16..).zip(owners);
            owners.filter(|(place, _)| *place == me || terms.are_partners(me, *place))
        };
        let publics = used().map(|(_, (_, public))| public).collect::<BTreeSet<_>>();
        if numbers.len() != owners.len() || publics.len() != used().count() {
            return Err(Error::Misuse("no two owners have the same number or key"));
        }
        let channel = |(place, (other, theirs)): (usize, &(u16, [u8; 32]))| {
            let place = place as u16;
            if !terms.are_partners(me, place) {
                return Ok(None);
            }
            let ways = match (terms.is_holder(me), terms.is_holder(place)) {
                (true, true) => Ways::Both,
                (true, false) => Ways::Receiving,
                (false, _) => Ways::Sending,
            };
            Channel::with(key, *number, (*other, theirs), agreement, ways).map(Some)
        };
        let channels: Result<Vec<_>, Error> = owners.par_iter().enumerate().map(channel).collect();
        Ok(Self {
            terms: terms.clone(),
            me,
            channels: channels?,
            next: first,
            under: Vec::new(),
        })
    }

    /// From the next round on, envelopes open only between owners that were told the same, of which `digest` is the digest: who relays cannot have two
    /// of them share their numbers about different things.
    pub fn told(&mut self, digest: &[u8; 32]) {
        self.under = digest.to_vec();
    }

    /// What was agreed on.
    pub fn terms(&self) -> &SumTerms {
        &self.terms
    }

    /// The first round that was not shared.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Shares numbers with all holders: the state that can answer once, if this owner is a holder, and the message for the miner. Numbers are
    /// taken modulo [`MODULUS`](super::MODULUS). What is to be hidden in the sum, noise that is, must have been added to them.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a round that is not after the last one; [`Error::Sum`] if there are not as many numbers as agreed on.
    pub fn share(
        &mut self,
        round: u32,
        numbers: &[i64],
        seed: Seed,
    ) -> Result<(Option<OwnerRound>, Vec<u8>), Error> {
        if numbers.len() != self.terms.length() {
            return Err(Error::Sum(SumFault::Length {
                length: numbers.len(),
                most: self.terms.length(),
            }));
        }
        if round < self.next || round == u32::MAX {
            return Err(Error::Misuse("a round is shared once, and after those before it"));
        }
        self.next = round + 1;
        let pieces = self.terms.pieces();
        let wiped = |length| Zeroizing::new(vec![0_u64; length]);
        let mut elements = wiped(numbers.len());
        for (element, number) in elements.iter_mut().zip(numbers) {
            *element = field::from_signed::<Mersenne61>(*number);
        }
        let mut stream = seed.stream(self.me, round, &elements);
        let (mut nodes, mut shares) = (wiped(self.terms.required()), wiped(self.terms.holders() * pieces));
        let random = |values: &mut [u64]| stream.fill::<Mersenne61>(values);
        self.terms
            .scheme()
            .share(&elements, random, &mut nodes, &mut shares);

        let bytes = self.terms.share_bytes(self.me);
        let mut message = message::head(Kind::Shares, round, bytes);
        message.resize(bytes, 0);
        let mut envelopes = message[message::HEAD..].chunks_exact_mut(self.terms.envelope_bytes());
        let mut own = None;
        let (holders, others) = self.channels.split_at_mut(self.terms.holders());
        for (shares, channel) in shares.chunks_exact(pieces).zip(holders) {
            let Some(channel) = channel else {
                own = Some(Zeroizing::new(shares.to_vec()));
                continue;
            };
            let envelope = envelopes.next().unwrap_or_default();
            for (bytes, share) in envelope.as_chunks_mut().0.iter_mut().zip(shares) {
                *bytes = share.to_le_bytes();
            }
            channel.seal_in_place(round.into(), &self.under, envelope)?;
        }
        others
            .iter_mut()
            .flatten()
            .for_each(|channel| channel.prepare_to_open(round.into(), 8 * pieces));
        let me = self.me;
        Ok((own.map(|own| OwnerRound { me, round, own }), message))
    }
}

impl fmt::Debug for SumOwner {
    /// Does not print keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SumOwner({}, …)", self.me)
    }
}

/// A holder that has shared its numbers in a round, and has not answered.
///
/// Whatever comes of its answer, there is no second one: two answers of one owner for two survivor sets would help a miner to open two sums.
pub struct OwnerRound {
    me: u16,
    round: u32,
    /// The share of one's own numbers, of each piece.
    own: Zeroizing<Vec<u64>>,
}

/// A holder's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The message for the miner.
    pub message: Vec<u8>,
    /// Whose numbers are in the sum that it helps to open, in ascending order.
    pub survivors: Vec<u16>,
}

impl OwnerRound {
    /// The round.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The sum of the shares of all survivors, as the miner's message names them.
    ///
    /// # Errors
    /// [`Error::Sum`] if the message is not as agreed on, there are too few survivors or this owner is none, or an envelope does not open.
    /// [`Error::Misuse`] if `owner` is another one.
    pub fn answer(self, owner: &SumOwner, relayed: &[u8]) -> Result<Answered, Error> {
        if owner.me != self.me || owner.terms.pieces() != self.own.len() {
            return Err(Error::Misuse("an owner answers for itself"));
        }
        let terms = &owner.terms;
        let (survivors, envelopes) = message::read_relay(terms, self.round, relayed)?;
        if !survivors.contains(self.me) {
            return Err(Error::Sum(SumFault::LeftOut));
        }
        let mut sum = self.own;
        let mut opened = Zeroizing::new(vec![0; terms.envelope_bytes()]);
        let others = survivors.as_slice().iter().filter(|other| **other != self.me);
        for (other, envelope) in others.zip(envelopes.chunks_exact(terms.envelope_bytes())) {
            let wrong = || Error::Sum(SumFault::Envelope { from: *other });
            let channel = owner.channels[usize::from(*other)].as_ref().ok_or_else(wrong)?;
            opened.copy_from_slice(envelope);
            let shares = channel
                .open_in_place(self.round.into(), &owner.under, &mut opened)
                .map_err(|_| wrong())?;
            for (sum, share) in sum.iter_mut().zip(shares.as_chunks::<8>().0) {
                let share = field::from_bytes::<Mersenne61>(*share).ok_or_else(wrong)?;
                *sum = field::add::<Mersenne61>(*sum, share);
            }
        }
        let mut message = message::head(Kind::Answer, self.round, terms.answer_bytes());
        sum.iter().for_each(|sum| message.extend(sum.to_le_bytes()));
        Ok(Answered {
            message,
            survivors: survivors.into_vec(),
        })
    }

    /// The state as bytes, for a record that nobody else reads: the owner (2), the round (4), its shares (8 for each piece).
    pub fn save(&self) -> Zeroizing<Vec<u8>> {
        let mut saved = Vec::with_capacity(6 + 8 * self.own.len());
        saved.extend(self.me.to_le_bytes());
        saved.extend(self.round.to_le_bytes());
        self.own
            .iter()
            .for_each(|share| saved.extend(share.to_le_bytes()));
        Zeroizing::new(saved)
    }

    /// The state that was saved. Only a record that knows whether it has answered may restore it.
    ///
    /// # Errors
    /// [`Error::Misuse`] if these are no such bytes.
    pub fn restore(terms: &SumTerms, saved: &[u8]) -> Result<Self, Error> {
        let wrong = Error::Misuse("the saved state of a round is as it was saved");
        let Some((&[me_low, me_high, ref round @ ..], shares)) = saved.split_first_chunk::<6>() else {
            return Err(wrong);
        };
        if shares.len() != 8 * terms.pieces() {
            return Err(wrong);
        }
        Ok(Self {
            me: u16::from_le_bytes([me_low, me_high]),
            round: u32::from_le_bytes(*round),
            own: Zeroizing::new(message::elements(shares).ok_or(wrong)?),
        })
    }
}

impl fmt::Debug for OwnerRound {
    /// Does not print shares.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnerRound({}, {}, …)", self.me, self.round)
    }
}
