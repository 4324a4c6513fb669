//! Sealed bytes: what one party relays between two others, and what a party stores for itself.
//!
//! ```text
//!  shared    X25519(own secret key, other's public key)
//!  key       HKDF-SHA-256(salt: digest of the agreement, shared, info: "privet sealed 1", sender, receiver, both public keys)
//!  envelope  AES-128-GCM(key, nonce: four zero bytes and the round in 8 bytes, little-endian)
//! ```
//!
//! Each direction has a key of its own, and a nonce is a round: nothing of it is sent. So an envelope opens only under the same agreement,
//! between the same two ends, in the same direction, in the same round.
//!
//! ```
//! use privet_mpc::sealed::{Channel, SealingKey};
//!
//! # fn main() -> Result<(), privet_mpc::Error> {
//! let (ann, bob) = (SealingKey::from_os()?, SealingKey::from_os()?);
//! let agreement = [7; 32];
//! let mut to_bob = Channel::new(&ann, 1, (2, &bob.public()), &agreement)?;
//! let from_ann = Channel::new(&bob, 2, (1, &ann.public()), &agreement)?;
//! let envelope = to_bob.seal(0, b"a share")?;
//! assert_eq!(from_ann.open(0, &envelope)?, b"a share");
//! assert!(from_ann.open(1, &envelope).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! # Privacy
//! Whoever relays an envelope learns its length, its two ends and its round. A key serves every round of one run: two different messages in
//! one round would show what both have in common and let envelopes be forged, so a [`Channel`] seals each round once. A [`SealingKey`]
//! is drawn for one run and is in the record of that run only: a party that is built again from its record seals the same message in the same
//! round, which the record compares, and a party that has lost its record has lost the key, too.

mod gcm;

use std::fmt;

use aes_gcm::Aes128Gcm;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use curve25519_dalek::MontgomeryPoint;
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::{Zeroize, Zeroizing};

use crate::Error;
use gcm::Gcm;
pub(crate) use gcm::KeyStream;

/// How many bytes an envelope is longer than its message.
pub const OVERHEAD: usize = 16;

/// The secret X25519 key of a party. Wiped when it goes.
pub struct SealingKey {
    secret: Zeroizing<[u8; 32]>,
    public: [u8; 32],
}

impl SealingKey {
    /// A key from the operating system.
    ///
    /// # Errors
    /// [`Error::Randomness`] if there is none.
    pub fn from_os() -> Result<Self, Error> {
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *key).map_err(|e| Error::Randomness(e.to_string()))?;
        Ok(Self::new(*key))
    }

    /// The key of these bytes.
    pub fn new(key: [u8; 32]) -> Self {
        Self {
            public: MontgomeryPoint::mul_base_clamped(key).to_bytes(),
            secret: Zeroizing::new(key),
        }
    }

    /// The key that others seal for.
    pub fn public(&self) -> [u8; 32] {
        self.public
    }

    /// The key, to be kept where nobody else reads.
    pub fn expose(&self) -> &[u8; 32] {
        &self.secret
    }
}

impl fmt::Debug for SealingKey {
    /// Does not print the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey(…)")
    }
}

/// Which of two parties seals for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ways {
    Both,
    Sending,
    Receiving,
}

/// Envelopes between two parties of an agreement, both ways or one.
pub struct Channel {
    /// None if nothing is sealed for the other.
    sending: Option<Gcm>,
    /// None if the other seals nothing for this party.
    receiving: Option<Gcm>,
    /// The first round that nothing was sealed in.
    next: u64,
}

impl Channel {
    /// The channel of the party `me`, which has `key`, with the party `other`: its number and its public key. `agreement` is the digest
    /// of what all agreed on.
    ///
    /// # Errors
    /// [`Error::Misuse`] if both ends are the same, which would have one key for both directions; [`Error::Peer`] if the other's public
    /// key is that of `me`, or is not one: everybody would know what is shared with it.
    pub fn new(
        key: &SealingKey,
        me: u16,
        other: (u16, &[u8; 32]),
        agreement: &[u8; 32],
    ) -> Result<Self, Error> {
        Self::with(key, me, other, agreement, Ways::Both)
    }

    /// The same, where perhaps only one of the two seals for the other: a key that nobody needs is not derived.
    pub(crate) fn with(
        key: &SealingKey,
        me: u16,
        other: (u16, &[u8; 32]),
        agreement: &[u8; 32],
        ways: Ways,
    ) -> Result<Self, Error> {
        let (other, theirs) = other;
        if me == other {
            return Err(Error::Misuse("a party seals nothing for itself"));
        }
        if key.public() == *theirs {
            return Err(Error::peer("its sealing key is ours"));
        }
        let shared = x25519(&key.secret, theirs);
        if *shared == [0; 32] {
            return Err(Error::peer("its sealing key is no public key"));
        }
        let hkdf = Hkdf::<Sha256>::new(Some(agreement), &*shared);
        let own = key.public();
        let direction = |from: (u16, &[u8; 32]), to: (u16, &[u8; 32])| {
            let ends = [from.0.to_le_bytes(), to.0.to_le_bytes()].concat();
            Gcm::new(&key_of(&hkdf, &[b"privet sealed 1", &ends, from.1, to.1]))
        };
        Ok(Self {
            sending: (ways != Ways::Receiving).then(|| direction((me, &own), (other, theirs))),
            receiving: (ways != Ways::Sending).then(|| direction((other, theirs), (me, &own))),
            next: 0,
        })
    }

    /// Seals the message of a round; rounds rise, and each has one message.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a round that is not after the last one.
    pub fn seal(&mut self, round: u64, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut envelope = Vec::with_capacity(message.len() + OVERHEAD);
        envelope.extend_from_slice(message);
        envelope.extend([0; OVERHEAD]);
        self.seal_in_place(round, b"", &mut envelope)?;
        Ok(envelope)
    }

    /// Seals the message of a round where it stands: its last [`OVERHEAD`] bytes are room for the seal. It opens only for who knows `under`.
    pub(crate) fn seal_in_place(
        &mut self,
        round: u64,
        under: &[u8],
        message: &mut [u8],
    ) -> Result<(), Error> {
        if round < self.next || round == u64::MAX {
            return Err(SEALED_ONCE);
        }
        self.next = round + 1;
        let bytes = message.len().saturating_sub(OVERHEAD);
        // Who seals in a round is about to open what the others sealed in it.
        self.prepare_to_open(round, bytes);
        let sending = self.sending.as_mut().ok_or(NOT_SENDING)?;
        let (message, seal) = message
            .split_last_chunk_mut::<OVERHEAD>()
            .ok_or(Error::Misuse("an envelope has room for its seal"))?;
        sending.prepare(round, message.len());
        let sealed = sending.seal(round, under, message);
        *seal = sealed.map_err(|_| TOO_LONG)?;
        Ok(())
    }

    /// Computes ahead what messages of so many bytes are opened with, in this round and perhaps some that follow. It only saves time.
    pub(crate) fn prepare_to_open(&mut self, round: u64, bytes: usize) {
        if let Some(receiving) = &mut self.receiving {
            receiving.prepare(round, bytes);
        }
    }

    /// Opens the other's envelope of a round where it stands, if it was sealed under the same, and gives the message.
    pub(crate) fn open_in_place<'a>(
        &self,
        round: u64,
        under: &[u8],
        envelope: &'a mut [u8],
    ) -> Result<&'a [u8], Error> {
        let (message, seal) = envelope.split_last_chunk_mut::<OVERHEAD>().ok_or_else(unopened)?;
        let receiving = self.receiving.as_ref().ok_or_else(unopened)?;
        let opened = receiving.open(round, under, message, seal);
        opened.map_err(|_| unopened())?;
        Ok(message)
    }

    /// Opens the other's envelope of a round.
    ///
    /// # Errors
    /// [`Error::Peer`] if it was changed, or is of another agreement, round, sender or receiver.
    pub fn open(&self, round: u64, envelope: &[u8]) -> Result<Vec<u8>, Error> {
        let mut opened = envelope.to_vec();
        let length = self.open_in_place(round, b"", &mut opened)?.len();
        opened.truncate(length);
        Ok(opened)
    }
}

const SEALED_ONCE: Error = Error::Misuse("a round is sealed once, and after those before it");
const NOT_SENDING: Error = Error::Misuse("only a channel that sends seals");
const TOO_LONG: Error = Error::Misuse("a message is shorter than 64 GiB");

/// What a secret key and a public key share. Where there are instructions for it, the multiplication is done on the Edwards form of the curve, which
/// has the same result in less time; a key that is no point of the curve has no such form. Only the public key decides which way is taken.
fn x25519(secret: &[u8; 32], public: &[u8; 32]) -> Zeroizing<[u8; 32]> {
    let public = MontgomeryPoint(*public);
    if is_edwards_faster()
        && let Some(point) = public.to_edwards(0)
    {
        let mut product = point.mul_clamped(*secret);
        let shared = Zeroizing::new(product.to_montgomery().to_bytes());
        product.zeroize();
        return shared;
    }
    Zeroizing::new(public.mul_clamped(*secret).to_bytes())
}

#[cfg(target_arch = "x86_64")]
fn is_edwards_faster() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn is_edwards_faster() -> bool {
    false
}

/// Whether no secret can be shared with a public key: its order is small, so that everybody would know what is shared with it.
pub fn has_small_order(public: &[u8; 32]) -> bool {
    // Two points whose order is eight, in both encodings that X25519 takes: the highest bit does not count.
    const ORDER_EIGHT: [[u8; 32]; 2] = [
        [
            0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a,
            0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00,
        ],
        [
            0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef, 0x5b,
            0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57,
        ],
    ];
    let mut own = *public;
    own[31] &= 0x7f;
    // 0, 1 and -1, and the first two again with the prime added: 2^255 - 19 is 0xed, 0xff, ..., 0x7f.
    let near_prime =
        own[1..31].iter().all(|byte| *byte == 0xff) && own[31] == 0x7f && (0xec..=0xee).contains(&own[0]);
    let near_zero = own[0] <= 1 && own[1..].iter().all(|byte| *byte == 0);
    near_zero || near_prime || ORDER_EIGHT.contains(&own)
}

fn unopened() -> Error {
    Error::peer("an envelope that is not what was sealed for this party, by this sender, in this round")
}

impl fmt::Debug for Channel {
    /// Does not print keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Channel(…)")
    }
}

fn cipher(hkdf: &Hkdf<Sha256>, info: &[&[u8]]) -> Aes128Gcm {
    Aes128Gcm::new((&*key_of(hkdf, info)).into())
}

fn key_of(hkdf: &Hkdf<Sha256>, info: &[&[u8]]) -> Zeroizing<[u8; 16]> {
    let mut key = Zeroizing::new([0; 16]);
    // Unwrap safety: HKDF gives up to 8160 bytes, and these are 16.
    #[allow(clippy::unwrap_used)]
    hkdf.expand_multi_info(info, &mut *key).unwrap();
    key
}

/// A key stream whose key follows from a secret and from what it is for.
pub(crate) fn key_stream(secret: &[u8; 32], info: &[&[u8]]) -> KeyStream {
    KeyStream::new(&key_of(&Hkdf::<Sha256>::new(None, secret), info))
}

/// Bytes that a party stores for itself: sealed with a key of its own, each in a place.
pub struct AtRest(Aes128Gcm);

impl AtRest {
    /// Seals with a key that follows from a secret and from what the bytes are about.
    pub fn new(secret: &[u8; 32], about: &[u8]) -> Self {
        let hkdf = Hkdf::<Sha256>::new(None, secret);
        Self(cipher(&hkdf, &[b"privet at rest 1", about]))
    }

    /// Seals bytes for a place. The nonce is random and comes first: a place may be sealed again.
    ///
    /// # Errors
    /// [`Error::Randomness`] if there is no randomness.
    pub fn seal(&self, place: u64, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let mut nonce = [0; 12];
        getrandom::fill(&mut nonce).map_err(|e| Error::Randomness(e.to_string()))?;
        let payload = Payload {
            msg: bytes,
            aad: &place.to_le_bytes(),
        };
        let sealed = self.0.encrypt(&nonce.into(), payload);
        let sealed = sealed.map_err(|_| TOO_LONG)?;
        Ok([&nonce[..], &sealed].concat())
    }

    /// Opens the bytes of a place; none if they were changed, or sealed for another place or with another key.
    pub fn open(&self, place: u64, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (nonce, sealed) = sealed.split_first_chunk::<12>()?;
        let payload = Payload {
            msg: sealed,
            aad: &place.to_le_bytes(),
        };
        self.0.decrypt(&(*nonce).into(), payload).ok().map(Zeroizing::new)
    }
}

impl fmt::Debug for AtRest {
    /// Does not print the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AtRest(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whichever way it is computed: for points of the curve and of its twist, for those of small order, and for numbers that are not below the prime
    /// or have the bit that does not count.
    #[test]
    fn what_keys_share_is_the_same_on_both_forms_of_the_curve() {
        let small = |low: u8| {
            let mut point = [0; 32];
            point[0] = low;
            point
        };
        let large = |low: u8| {
            let mut point = [0xff; 32];
            (point[0], point[31]) = (low, 0x7f);
            point
        };
        let mut points: Vec<[u8; 32]> = (0..=255).flat_map(|low| [small(low), large(low)]).collect();
        for _ in 0..100 {
            let mut point = [0; 32];
            getrandom::fill(&mut point).expect("randomness");
            points.extend([point, SealingKey::new(point).public()]);
        }
        let on_curve = |point: &&[u8; 32]| MontgomeryPoint(**point).to_edwards(0).is_some();
        assert!((200..600).contains(&points.iter().filter(on_curve).count()));
        let mut secret = [0; 32];
        for mut point in points {
            getrandom::fill(&mut secret).expect("randomness");
            for _ in 0..2 {
                let expected = MontgomeryPoint(point).mul_clamped(secret).to_bytes();
                assert_eq!(*x25519(&secret, &point), expected, "{secret:?} {point:?}");
                point[31] ^= 0x80;
            }
        }
    }
}
