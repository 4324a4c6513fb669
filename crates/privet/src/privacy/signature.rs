//! Who wrote a certificate or a model: Ed25519 signatures.
//!
//! A signature shows that the holder of the key wrote exactly these bytes. It does not show that the content is true: for that,
//! `privet ledger verify --against` compares a certificate with the entries of its runs.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::{Signer, VerifyingKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::journal::hexadecimal;
use crate::Error;

/// The purpose of a signature. A signature for one purpose is invalid for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A certificate on its own, as its [`to_json`](super::Certificate::to_json).
    Certificate,
    /// The body of a model's file.
    Model,
    /// The key that others seal messages for.
    SealingKey,
    /// The digest of an agreement and the number of the party that signs it.
    Agreement,
    /// The digest of a plan and the name of the party that accepts it.
    Plan,
    /// The key that signs certificates, by the identity of the same party.
    CertificateKey,
}

impl Purpose {
    /// The prefix of the signed bytes; no prefix is the beginning of another.
    fn prefix(self) -> &'static [u8] {
        match self {
            Self::Certificate => b"privet-certificate-1\0",
            Self::Model => b"privet-model-2\0",
            Self::SealingKey => b"privet-sealing-key-1\0",
            Self::Agreement => b"privet-agreement-1\0",
            Self::Plan => b"privet-plan-1\0",
            Self::CertificateKey => b"privet-certificate-key-1\0",
        }
    }

    fn message(self, bytes: &[u8]) -> Vec<u8> {
        [self.prefix(), bytes].concat()
    }
}

/// A key that signs. It is wiped when it is dropped. No `Debug` and no `Clone`, on purpose.
pub struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    /// The length of a key in bytes.
    pub const LENGTH: usize = 32;

    /// The key of these bytes.
    pub fn from_bytes(bytes: &[u8; Self::LENGTH]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(bytes))
    }

    /// The key that verifies its signatures.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }

    /// Signs bytes for one purpose.
    pub fn sign(&self, purpose: Purpose, bytes: &[u8]) -> Signature {
        Signature::from_bytes(self.public(), &self.sign_raw(purpose, bytes))
    }

    /// The signature alone, as bytes.
    pub fn sign_raw(&self, purpose: Purpose, bytes: &[u8]) -> [u8; 64] {
        self.0.sign(&purpose.message(bytes)).to_bytes()
    }
}

/// The public half of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// The key of these bytes. Whether it is one shows when a signature is verified.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub fn to_bytes(self) -> [u8; 32] {
        self.0
    }

    /// A short name for the key that can be read aloud and compared: SHA-256 of its bytes.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint(Sha256::digest(self.0).into())
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hexadecimal(&self.0))
    }
}

impl FromStr for PublicKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bytes = bytes_of(text);
        bytes
            .map(Self)
            .ok_or_else(|| Error::data("a public key is 64 hexadecimal digits"))
    }
}

/// SHA-256 of a public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl fmt::Display for Fingerprint {
    /// Eight groups of eight digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups: Vec<String> = self.0.chunks(4).map(hexadecimal).collect();
        f.write_str(&groups.join("-"))
    }
}

impl FromStr for Fingerprint {
    type Err = Error;

    /// All 64 digits; spaces, hyphens and colons are ignored.
    fn from_str(text: &str) -> Result<Self, Error> {
        let between = |c: &char| !matches!(c, '-' | ':' | ' ');
        let digits: String = text.chars().filter(between).collect();
        bytes_of(&digits.to_ascii_lowercase()).map(Self).ok_or_else(|| {
            Error::parameter("fingerprint", format!(
                "{text:?} is no fingerprint: it has 64 hexadecimal digits, as `privet ledger key` shows them"
            ))
        })
    }
}

/// A signature and the public key that verifies it. To know whose key it is, compare its fingerprint with one from a trusted source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// The public key in hexadecimal.
    key: String,
    /// The signature in hexadecimal.
    ed25519: String,
}

impl Signature {
    /// The signature of these bytes, by this key.
    pub fn from_bytes(key: PublicKey, ed25519: &[u8; 64]) -> Self {
        Self {
            key: key.to_string(),
            ed25519: hexadecimal(ed25519),
        }
    }

    /// The key, if it signed exactly these bytes for this purpose.
    ///
    /// # Errors
    /// [`Error::Data`] if it did not, or if the signature is malformed.
    pub fn verify(&self, purpose: Purpose, bytes: &[u8]) -> Result<PublicKey, Error> {
        let checked = || {
            let key: [u8; 32] = bytes_of(&self.key)?;
            let signature = ed25519_dalek::Signature::from_bytes(&bytes_of(&self.ed25519)?);
            // Strictly: neither weak keys nor a second signature made from a first are taken.
            let verifying = VerifyingKey::from_bytes(&key).ok()?;
            let message = purpose.message(bytes);
            verifying.verify_strict(&message, &signature).ok()?;
            Some(PublicKey(key))
        };
        checked().ok_or_else(|| {
            Error::data("its signature is bad: the file was changed after it was signed, or the signature is of another file")
        })
    }
}

/// What a key should have signed, and the signature alone.
pub(crate) struct Claimed {
    /// The key.
    pub(crate) key: PublicKey,
    /// The bytes, for one purpose.
    pub(crate) bytes: Vec<u8>,
    /// The signature.
    pub(crate) signature: [u8; 64],
}

/// Whether all of them are signatures for this purpose, looked at together, which is faster. If it is true, the holder of each key signed. Of keys and
/// signatures that were made as they should be it is true if and only if each is valid by [`Signature::verify`]; a key's own holder can make ones on which
/// the two differ, either way: see decision 0066.
pub(crate) fn all_signed(purpose: Purpose, claimed: &[Claimed]) -> bool {
    let keys = claimed.iter().map(|one| {
        let key = VerifyingKey::from_bytes(&one.key.0).ok();
        key.filter(|key| !key.is_weak())
    });
    let Some(keys) = keys.collect::<Option<Vec<_>>>() else {
        return false;
    };
    let messages: Vec<Vec<u8>> = claimed.iter().map(|one| purpose.message(&one.bytes)).collect();
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let signatures = claimed
        .iter()
        .map(|one| ed25519_dalek::Signature::from_bytes(&one.signature));
    let signatures: Vec<ed25519_dalek::Signature> = signatures.collect();
    ed25519_dalek::verify_batch(&messages, &signatures, &keys).is_ok()
}

/// Bytes from lowercase hexadecimal, exactly so many.
fn bytes_of<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |c: u8| match c {
        b'0'..=b'9' => Some(c - b'0'),
        b'a'..=b'f' => Some(c - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> SigningKey {
        SigningKey::from_bytes(&[byte; 32])
    }

    #[test]
    fn signatures_together_are_valid_if_each_is() {
        let claims = || -> Vec<Claimed> {
            let claim = |number: u8| Claimed {
                key: key(number).public(),
                bytes: vec![number; 5],
                signature: key(number).sign_raw(Purpose::SealingKey, &[number; 5]),
            };
            (0..40).map(claim).collect()
        };
        assert!(all_signed(Purpose::SealingKey, &claims()));
        assert!(all_signed(Purpose::SealingKey, &[]));
        assert!(!all_signed(Purpose::Model, &claims()));
        for place in 0..40 {
            let changes: [fn(&mut Claimed); 5] = [
                |one| one.bytes[0] ^= 1,
                |one| one.signature[3] ^= 1,
                |one| one.signature[40] ^= 1,
                |one| one.key = key(99).public(),
                // A key of small order, which takes any number of signatures.
                |one| one.key = PublicKey([0; 32]),
            ];
            for change in changes {
                let mut claims = claims();
                change(&mut claims[place]);
                assert!(!all_signed(Purpose::SealingKey, &claims), "{place}");
            }
        }
        // Two that make up for each other do not pass.
        let mut claims = claims();
        let (one, other) = (claims[1].signature, claims[2].signature);
        claims[1].signature[32..].copy_from_slice(&other[32..]);
        claims[2].signature[32..].copy_from_slice(&one[32..]);
        assert!(!all_signed(Purpose::SealingKey, &claims));
    }

    #[test]
    fn a_signature_is_of_these_bytes_for_this_purpose_by_this_key() {
        let signed = key(7).sign(Purpose::Model, b"a model");
        assert_eq!(
            signed.verify(Purpose::Model, b"a model").ok(),
            Some(key(7).public())
        );
        assert!(signed.verify(Purpose::Model, b"a modem").is_err());
        assert!(signed.verify(Purpose::Certificate, b"a model").is_err());
        let other = Signature {
            key: key(8).public().to_string(),
            ..signed.clone()
        };
        assert!(other.verify(Purpose::Model, b"a model").is_err(), "another's key");
        for place in (0..128).step_by(7) {
            let mut text = signed.ed25519.clone().into_bytes();
            text[place] = if text[place] == b'0' { b'1' } else { b'0' };
            let changed = Signature {
                ed25519: String::from_utf8(text).expect("digits"),
                ..signed.clone()
            };
            assert!(
                changed.verify(Purpose::Model, b"a model").is_err(),
                "digit {place}"
            );
        }
        for bad in ["", "0", &"0".repeat(127), &"G".repeat(128), &"é".repeat(64)] {
            let cut = Signature {
                ed25519: bad.into(),
                ..signed.clone()
            };
            assert!(cut.verify(Purpose::Model, b"a model").is_err(), "{bad:?}");
        }
    }

    /// Under the neutral element as a key, one signature holds for every message: checks that are not strict take it.
    #[test]
    fn a_weak_key_signs_nothing() {
        use ed25519_dalek::Verifier;
        let neutral = {
            let mut bytes = [0; 32];
            bytes[0] = 1;
            bytes
        };
        let mut signature = [0; 64];
        signature[0] = 1;
        let weak = Signature {
            key: hexadecimal(&neutral),
            ed25519: hexadecimal(&signature),
        };
        let verifying = VerifyingKey::from_bytes(&neutral).expect("a point");
        let lax = ed25519_dalek::Signature::from_bytes(&signature);
        assert!(
            verifying.verify(b"anything", &lax).is_ok(),
            "what is guarded against"
        );
        assert!(weak.verify(Purpose::Model, b"anything").is_err());
        assert!(weak.verify(Purpose::Certificate, b"anything else").is_err());
    }

    #[test]
    fn a_fingerprint_is_read_as_it_is_shown_and_a_part_of_it_is_none() {
        let fingerprint = key(7).public().fingerprint();
        let shown = fingerprint.to_string();
        assert_eq!((shown.len(), shown.split('-').count()), (71, 8));
        for text in [
            shown.clone(),
            shown.replace('-', ""),
            shown.replace('-', ":"),
            shown.replace('-', " ").to_ascii_uppercase(),
        ] {
            assert_eq!(text.parse().ok(), Some(fingerprint), "{text}");
        }
        assert!(shown[..62].parse::<Fingerprint>().is_err());
        assert!("".parse::<Fingerprint>().is_err());
        assert_ne!(key(8).public().fingerprint(), fingerprint);
    }

    /// RFC 8032, section 7.1, test 1: the key, without our prefix.
    #[test]
    fn the_public_key_is_that_of_the_standard() {
        let secret = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        let key = SigningKey::from_bytes(&bytes_of(secret).expect("32 bytes"));
        assert_eq!(key.public().to_string(), public);
    }
}
