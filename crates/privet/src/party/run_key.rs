//! The keys that parties of one run seal for each other with.

use std::collections::BTreeMap;

use super::{Agreement, PartyId};
use crate::Error;
use crate::privacy::signature::{Purpose, Signature, SigningKey};
use crate::wire::{Malformed, Reader, Wire, Writer};

/// The public X25519 key of a party in one run, signed by its identity: what it says before anybody seals anything for it.
///
/// Its secret half is drawn in the run, by [`Context::once`](super::Context::once), and is in the record of the run only. So whoever
/// has lost its record draws another, and never seals two messages under one key and round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunKey {
    sealing: [u8; 32],
    signature: [u8; 64],
}

impl RunKey {
    /// The key of the party `me`, which has `identity`, in the run of this agreement.
    pub fn sign(identity: &SigningKey, agreement: &Agreement, me: PartyId, sealing: [u8; 32]) -> Self {
        Self {
            sealing,
            signature: identity.sign_raw(Purpose::SealingKey, &signed(agreement, me, &sealing)),
        }
    }
}

/// What is signed: the agreement, and with it the run; whose key it is; the key.
fn signed(agreement: &Agreement, party: PartyId, sealing: &[u8; 32]) -> Vec<u8> {
    [&agreement.digest()[..], &party.0.to_le_bytes(), sealing].concat()
}

impl Wire for RunKey {
    fn write(&self, to: &mut Writer) {
        to.fixed(&self.sealing);
        to.fixed(&self.signature);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            sealing: from.array()?,
            signature: from.array()?,
        })
    }
}

/// The keys of all parties of a run that have said theirs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunKeys(BTreeMap<PartyId, [u8; 32]>);

impl RunKeys {
    /// Adds the key of a party.
    ///
    /// # Errors
    /// [`Error::Peer`] if the party has no identity in the agreement, did not sign this key for this run, has said another before, or
    /// says the key of another party.
    pub fn insert(&mut self, agreement: &Agreement, from: PartyId, key: &RunKey) -> Result<(), Error> {
        let wrong = |why: &str| Err(Error::peer(agreement.name(from), why));
        let Some(identity) = agreement.member(from).and_then(|member| member.identity) else {
            return wrong("it has no identity in the agreement, and cannot sign a key");
        };
        let signature = Signature::from_bytes(identity, &key.signature);
        let bytes = signed(agreement, from, &key.sealing);
        if signature.verify(Purpose::SealingKey, &bytes).is_err() {
            return wrong("it did not sign its key for this run");
        }
        if self
            .0
            .iter()
            .any(|(party, other)| (*party == from) != (*other == key.sealing))
        {
            return wrong("a party has one key in a run, and no two parties have the same");
        }
        self.0.insert(from, key.sealing);
        Ok(())
    }

    /// The public key of a party, if it has said one.
    pub fn get(&self, party: PartyId) -> Option<&[u8; 32]> {
        self.0.get(&party)
    }
}
