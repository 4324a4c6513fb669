//! Decodes a peer's bytes, which may be invalid. The body of the fuzz target `sum`.

use std::sync::OnceLock;

use zeroize::Zeroizing;

use super::message::{self, Kind};
use super::{Collecting, MODULUS, Opening, OwnerRound, Seed, SumOwner, SumTerms};
use crate::sealed::{Channel, SealingKey};

const ROUND: u32 = 5;

/// Five owners of three numbers, four of which hold shares, and the first one's state when it has shared.
struct Ready {
    terms: SumTerms,
    keys: Vec<SealingKey>,
    owner: SumOwner,
    shared: Zeroizing<Vec<u8>>,
}

impl Ready {
    /// Made once: key agreement takes longer than a fuzzer wants to wait.
    fn get() -> &'static Self {
        static READY: OnceLock<Ready> = OnceLock::new();
        READY.get_or_init(|| {
            // Unwrap safety: terms, keys and numbers are ours.
            let terms = SumTerms::new(5, 1, 1, 3).expect("terms");
            let keys: Vec<SealingKey> = (1..=5).map(|byte| SealingKey::new([byte; 32])).collect();
            let publics: Vec<(u16, [u8; 32])> = (0..).zip(keys.iter().map(SealingKey::public)).collect();
            let owner = SumOwner::new(&terms, 0, &keys[0], &publics, &[7; 32], ROUND);
            let mut owner = owner.expect("an owner");
            let (round, _) = owner
                .share(ROUND, &[1, 2, 3], Seed::new([9; 32]))
                .expect("shares");
            Self {
                terms,
                keys,
                owner,
                shared: round.expect("a holder").save(),
            }
        })
    }
}

/// Receives `bytes` as shares, as what a miner relays and as an answer. If they begin with 0x31, 0x32 or 0x33, the rest is put under the
/// head of that message, and envelopes are sealed, for otherwise no changed byte would come further. Says whether they were taken.
pub fn decode(bytes: &[u8]) -> bool {
    let message = |kind: Kind| match bytes.split_first() {
        Some((first, body)) if *first == kind as u8 + 0x10 => {
            [message::head(kind, ROUND, 0), body.to_vec()].concat()
        }
        _ => bytes.to_vec(),
    };
    let ready = Ready::get();
    let terms = &ready.terms;

    let mut taken = false;
    // Of a holder, and of an owner that is none.
    for from in [1, 4] {
        let mut collecting = Collecting::new(terms, ROUND);
        if collecting.receive(from, message(Kind::Shares)).is_ok() {
            assert_eq!((collecting.received(), collecting.missing().len()), (1, 4));
            taken = true;
        }
    }

    // Unwrap safety: it was saved.
    let round = OwnerRound::restore(terms, &ready.shared).expect("a round");
    let relayed = match bytes.first() {
        Some(0x32) => ready.sealed(message(Kind::Relay)),
        _ => bytes.to_vec(),
    };
    if let Ok(answered) = round.answer(&ready.owner, &relayed) {
        assert_eq!(answered.message.len(), terms.answer_bytes());
        assert!(answered.survivors.len() >= 4 && answered.survivors.contains(&0));
        taken = true;
    }

    // Unwrap safety: everybody is a survivor, and zeros are numbers below the modulus.
    let mut opening = Opening::of(terms, ROUND, &[0, 1, 2, 3, 4]).expect("a survivor set");
    if opening.receive(2, &message(Kind::Answer)).is_ok() {
        let zeros = [message::head(Kind::Answer, ROUND, 0), vec![0; 8 * terms.pieces()]].concat();
        for from in [0, 1, 3] {
            opening.receive(from, &zeros).expect("zeros are an answer");
        }
        if let Ok(opened) = opening.open() {
            let most = MODULUS / 2;
            assert!(opened.numbers.iter().all(|number| number.unsigned_abs() <= most));
        }
        taken = true;
    }
    taken
}

impl Ready {
    /// What stands where envelopes should be, sealed by those whom the survivor set names, as far as it goes.
    fn sealed(&self, mut message: Vec<u8>) -> Vec<u8> {
        let set = message.get(message::HEAD).copied().unwrap_or_default();
        let senders = (1..5_u16).filter(|from| set >> from & 1 == 1);
        let start = (message::HEAD + 1).min(message.len());
        let envelopes = message[start..].chunks_exact_mut(self.terms.envelope_bytes());
        for (from, envelope) in senders.zip(envelopes) {
            let (key, to) = (&self.keys[usize::from(from)], self.keys[0].public());
            // Unwrap safety: the keys are ours, and each seals once.
            let mut channel = Channel::new(key, from, (0, &to), &[7; 32]).expect("a channel");
            channel
                .seal_in_place(ROUND.into(), b"", envelope)
                .expect("an envelope");
        }
        message
    }
}
