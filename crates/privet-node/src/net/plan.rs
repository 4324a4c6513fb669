//! What a party brings to an agreement, and what it takes for one.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use privet::Error;
use privet::party::{Agreement, PartyId, Terms};
use privet::privacy::signature::{Fingerprint, PublicKey, Purpose, Signature};
use privet::wire::RunId;
use sha2::{Digest, Sha256};

use super::Seats;
use super::control::Bundle;

/// What a party brings to an agreement: the canonical plan, and who takes part.
pub struct Plan {
    /// The canonical plan, line by line: settings, schemas, parties, keys, limits.
    pub text: String,
    /// The terms without identities, of a run of number zero.
    pub terms: Terms,
    /// The fingerprints by which the parties are known here, in the order of their numbers.
    pub fingerprints: Vec<Fingerprint>,
    /// How long to wait for somebody who is not there.
    pub patience: Duration,
    /// After so long there is no agreement, whatever others say.
    pub deadline: Duration,
}

impl Plan {
    /// What is signed and compared first.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::new_with_prefix(b"privet plan 1\0")
            .chain_update(&self.text)
            .finalize()
            .into()
    }

    /// The terms of a run: every identity is one that is trusted here.
    pub(super) fn terms(&self, run: RunId, keys: &[PublicKey]) -> Result<Terms, Error> {
        let wrong = |name: &str| Error::peer(name, "its key is not the one that it is trusted by here");
        let mut terms = self.terms.clone();
        if keys.len() != terms.parties.len() {
            return Err(Error::internal("every party has a key"));
        }
        for ((member, key), trusted) in terms.parties.iter_mut().zip(keys).zip(&self.fingerprints) {
            if key.fingerprint() != *trusted {
                return Err(wrong(&member.name));
            }
            member.identity = Some(*key);
        }
        (terms.run, terms.job) = (run, self.digest());
        Ok(terms)
    }

    /// Whether these are the terms of a run of this plan.
    pub(super) fn admits(&self, terms: &Terms, seats: &Seats) -> Result<(), Error> {
        let other = || {
            Error::peer(
                seats.name(seats.listens),
                "it proposes terms that do not follow from the plan",
            )
        };
        let keys: Option<Vec<PublicKey>> = terms.parties.iter().map(|member| member.identity).collect();
        let keys = keys.filter(|keys| keys.len() == self.terms.parties.len());
        let own = self.terms(terms.run, &keys.ok_or_else(other)?)?;
        if own == *terms { Ok(()) } else { Err(other()) }
    }

    /// The agreement, if everybody has signed it.
    pub(super) fn verified(&self, bundle: &Bundle, seats: &Seats) -> Result<Agreement, Error> {
        self.admits(&bundle.terms, seats)?;
        let agreement = Agreement::of(bundle.terms.clone())?;
        let parties = agreement.terms().parties.iter();
        if bundle.signatures.len() != parties.len() {
            return Err(Error::peer(
                seats.name(seats.listens),
                "it shows signatures of others than the parties",
            ));
        }
        for ((party, member), signature) in seats.all().zip(parties).zip(&bundle.signatures) {
            let key = member
                .identity
                .ok_or_else(|| Error::internal("every party has a key"))?;
            let signature = Signature::from_bytes(key, signature);
            if signature
                .verify(Purpose::Agreement, &signed(&agreement, party))
                .is_err()
            {
                return Err(Error::peer(&member.name, "it did not sign this agreement"));
            }
        }
        Ok(agreement)
    }

    /// Why a plan is not this one, line by line.
    pub fn differences(&self, theirs: &str, who: &str) -> String {
        let [here, there]: [BTreeSet<&str>; 2] = [self.text.lines().collect(), theirs.lines().collect()];
        let mut text = format!("the plan of '{who}' is another one, so nothing was begun. What differs:");
        for (place, lines, other) in [("here", &self.text[..], &there), (who, theirs, &here)] {
            for line in lines.lines().filter(|line| !other.contains(line)).take(40) {
                let shown: String = line.chars().take(300).collect();
                let _ = write!(text, "\n  {place}: {shown}");
            }
        }
        text
    }
}

/// What a party signs: the agreement and its own number.
pub(super) fn signed(agreement: &Agreement, party: PartyId) -> Vec<u8> {
    [&agreement.digest()[..], &party.0.to_le_bytes()].concat()
}
