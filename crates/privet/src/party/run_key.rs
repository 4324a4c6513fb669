//! The keys that parties of one run seal for each other with.

use std::collections::BTreeMap;

use privet_mpc::sealed::has_small_order;

use super::{Agreement, PartyId};
use crate::Error;
use crate::privacy::signature::{Claimed, Purpose, Signature, SigningKey, all_signed};
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
pub struct RunKeys {
    keys: BTreeMap<PartyId, [u8; 32]>,
    parties: BTreeMap<[u8; 32], PartyId>,
}

fn wrong(agreement: &Agreement, from: PartyId, why: &str) -> Error {
    Error::peer(agreement.name(from), why)
}

/// What a party says with its key, if it has an identity.
fn claimed(agreement: &Agreement, from: PartyId, key: &RunKey) -> Result<Claimed, Error> {
    let identity = agreement.member(from).and_then(|member| member.identity);
    let why = "it has no identity in the agreement, and cannot sign a key";
    Ok(Claimed {
        key: identity.ok_or_else(|| wrong(agreement, from, why))?,
        bytes: signed(agreement, from, &key.sealing),
        signature: key.signature,
    })
}

impl RunKeys {
    /// Adds the key of a party.
    ///
    /// # Errors
    /// [`Error::Peer`] if the party has no identity in the agreement, did not sign this key for this run, has said another before, or
    /// says the key of another party or one that shares no secrets.
    pub fn insert(&mut self, agreement: &Agreement, from: PartyId, key: &RunKey) -> Result<(), Error> {
        let claimed = claimed(agreement, from, key)?;
        let signature = Signature::from_bytes(claimed.key, &key.signature);
        if signature.verify(Purpose::SealingKey, &claimed.bytes).is_err() {
            return Err(wrong(agreement, from, "it did not sign its key for this run"));
        }
        self.know(agreement, from, key)
    }

    /// Adds the keys of several parties. Signatures are looked at together: a party may get along with one that [`insert`](Self::insert) refuses, but only
    /// if it made it itself. If they are not all valid, the first party is named whose key `insert` refuses.
    ///
    /// # Errors
    /// As of [`insert`](Self::insert), about one of the parties.
    pub fn insert_all<'a>(
        &mut self,
        agreement: &Agreement,
        keys: impl Iterator<Item = (PartyId, &'a RunKey)> + Clone,
    ) -> Result<(), Error> {
        let all = keys.clone().map(|(from, key)| claimed(agreement, from, key));
        let together = all
            .collect::<Result<Vec<_>, _>>()
            .is_ok_and(|all| all_signed(Purpose::SealingKey, &all));
        for (from, key) in keys {
            match together {
                true => self.know(agreement, from, key)?,
                false => self.insert(agreement, from, key)?,
            }
        }
        Ok(())
    }

    /// Adds a key that its party signed.
    fn know(&mut self, agreement: &Agreement, from: PartyId, key: &RunKey) -> Result<(), Error> {
        if has_small_order(&key.sealing) {
            return Err(wrong(
                agreement,
                from,
                "its key is one with which nothing can be shared in secret",
            ));
        }
        let same_party = self.keys.get(&from);
        let same_key = self.parties.get(&key.sealing);
        if same_party.is_some_and(|known| *known != key.sealing)
            || same_key.is_some_and(|known| *known != from)
        {
            let why = "a party has one key in a run, and no two parties have the same";
            return Err(wrong(agreement, from, why));
        }
        self.keys.insert(from, key.sealing);
        self.parties.insert(key.sealing, from);
        Ok(())
    }

    /// The public key of a party, if it has said one.
    pub fn get(&self, party: PartyId) -> Option<&[u8; 32]> {
        self.keys.get(&party)
    }
}
