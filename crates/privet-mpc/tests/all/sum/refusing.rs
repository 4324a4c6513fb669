//! A miner or an owner that does not follow the protocol, and damaged messages.

use privet_mpc::Error;
use privet_mpc::sealed::SealingKey;
use privet_mpc::sum::{
    Collecting, MODULUS, Opening, OwnerRound, Seed, SumFault, SumMessageFault, SumOwner, SumSender, SumTerms,
};

use super::{Run, fault, keys, seed};

fn numbers(owners: usize) -> Vec<Vec<i64>> {
    (0..owners as i64).map(|owner| vec![owner, 100 * owner]).collect()
}

/// Owner 0 of six in round 3, as often as a test needs it, and what it should be relayed.
struct Asked {
    run: Run,
    saved: Vec<u8>,
    right: Vec<u8>,
}

impl Asked {
    fn new() -> Self {
        Self::under(7, 3, 0)
    }

    /// Under some agreement, in some round, and what this owner should be relayed.
    fn under(agreement: u8, round: u32, to: u16) -> Self {
        let mut run = Run::new(SumTerms::new(6, 1, 1, 2).unwrap(), agreement);
        let shared = run.share(round, &numbers(6));
        let right = run.relay(round, &shared, 0b111111).message(to).unwrap();
        let saved = shared[0].0.as_ref().unwrap().save().to_vec();
        Self { run, saved, right }
    }

    /// The fault when it is relayed something else.
    #[track_caller]
    fn refused(&self, relayed: impl Fn(Vec<u8>) -> Vec<u8>) -> SumFault {
        let round = OwnerRound::restore(&self.run.terms, &self.saved).unwrap();
        fault(round.answer(&self.run.owners[0], &relayed(self.right.clone())))
    }

    fn envelope(&self) -> usize {
        8 * self.run.terms.pieces() + 16
    }
}

#[test]
fn an_owner_answers_only_for_a_large_enough_set_that_it_is_in() {
    let asked = Asked::new();
    let envelope = asked.envelope();
    let set = |bits: u8, envelopes: usize| {
        move |mut relayed: Vec<u8>| {
            relayed[5] = bits;
            relayed.truncate(6 + envelopes * envelope);
            relayed
        }
    };
    let few = |survivors| SumFault::FewSurvivors { survivors, least: 5 };
    assert_eq!(asked.refused(set(0b001111, 3)), few(4));
    assert_eq!(asked.refused(set(0b000001, 0)), few(1));
    assert_eq!(asked.refused(set(0, 0)), few(0));
    assert_eq!(
        asked.refused(set(0b111110, 5)),
        wrong_length(6 + 5 * envelope, 6 + 4 * envelope)
    );
    assert_eq!(asked.refused(set(0b111110, 4)), SumFault::LeftOut);
    let stranger = SumFault::Message {
        from: SumSender::Miner,
        fault: SumMessageFault::Survivors,
    };
    assert_eq!(asked.refused(set(0b1111111, 5)), stranger);
    // A set of five with the envelopes of five: the first belongs to owner 1, not to owner 2.
    assert_eq!(asked.refused(set(0b111101, 4)), SumFault::Envelope { from: 2 });
}

fn wrong_length(bytes: usize, expected: usize) -> SumFault {
    SumFault::Message {
        from: SumSender::Miner,
        fault: SumMessageFault::Length { bytes, expected },
    }
}

#[test]
fn an_envelope_of_another_round_pair_or_agreement_names_its_sender() {
    let asked = Asked::new();
    let envelope = asked.envelope();
    let other_round = Asked::under(7, 2, 0).right;
    let other_agreement = Asked::under(8, 3, 0).right;
    let other_pair = Asked::under(7, 3, 1).right;
    for (other, place) in [(&other_round, 3), (&other_agreement, 0), (&other_pair, 4)] {
        let swapped = |mut relayed: Vec<u8>| {
            let at = 6 + place * envelope;
            relayed[at..at + envelope].copy_from_slice(&other[at..at + envelope]);
            relayed
        };
        let from = place as u16 + 1;
        assert_eq!(asked.refused(swapped), SumFault::Envelope { from });
    }
    // A whole message of another round says so.
    let replayed = SumFault::Message {
        from: SumSender::Miner,
        fault: SumMessageFault::Round {
            round: 2,
            expected: 3,
        },
    };
    assert_eq!(asked.refused(|_| other_round.clone()), replayed);
}

#[test]
fn every_cut_every_flip_and_every_addition_to_a_relay_is_an_error() {
    let asked = Asked::new();
    let length = asked.run.terms.relay_bytes(6);
    for at in 0..length {
        asked.refused(|relayed| relayed[..at].to_vec());
        asked.refused(|mut relayed| {
            relayed[at] ^= 0x10;
            relayed
        });
    }
    asked.refused(|relayed| [&relayed[..], &[0]].concat());
}

/// A miner shows everybody to some owners, and all but one to others. Nothing can be opened.
#[test]
fn two_survivor_sets_of_one_round_open_nothing() {
    // All owners hold shares; then eight of twelve do, and the owner that is left out is a holder or not.
    for (owners, length, left_out) in [(10, 3, 7), (12, 2, 5), (12, 2, 9)] {
        let mut run = Run::of(owners, 2, 1, length);
        let vectors: Vec<Vec<i64>> = (0..owners as i64).map(|owner| vec![owner; length]).collect();
        let shared = run.share(0, &vectors);
        let everybody = (1_u32 << owners) - 1;
        let (all, without) = (
            run.relay(0, &shared, everybody),
            run.relay(0, &shared, everybody & !(1 << left_out)),
        );
        let holders = all.holders().to_vec();
        assert_eq!(holders.len(), run.terms.holders());
        let half = |owner: u16| usize::from(owner) < holders.len() / 2;
        let told: Vec<Vec<u8>> = holders
            .iter()
            .map(|owner| {
                if half(*owner) { &without } else { &all }
                    .message(*owner)
                    .unwrap()
            })
            .collect();
        let (mut opening, mut other) = (all.sent(), without.sent());
        for ((me, (round, _)), relayed) in (0..).zip(shared).zip(&told) {
            let answer = round
                .unwrap()
                .answer(&run.owners[usize::from(me)], relayed)
                .unwrap();
            let to = if half(me) { &mut other } else { &mut opening };
            to.receive(me, &answer.message).unwrap();
        }
        let (answers, least) = (holders.len() / 2, run.terms.required());
        assert_eq!(fault(opening.open()), SumFault::FewAnswers { answers, least });
        assert_eq!(fault(other.open()), SumFault::FewAnswers { answers, least });
        assert!(least > answers + run.terms.colluding());
    }
}

#[test]
fn a_round_is_shared_once_and_by_its_owner() {
    let mut run = Run::of(4, 1, 1, 2);
    let shared = run.share(3, &numbers(4));
    for round in [0, 2, 3, u32::MAX] {
        let again = run.owners[0].share(round, &[1, 2], seed(0, round));
        assert!(matches!(again, Err(Error::Misuse(_))), "{round}");
    }
    assert_eq!(run.owners[0].next(), 4);
    let few = run.owners[0].share(4, &[1], seed(0, 4));
    assert_eq!(fault(few), SumFault::Length { length: 1, most: 2 });
    assert!(run.owners[0].share(4, &[1, 2], seed(0, 4)).is_ok());
    // Another owner's state.
    let relaying = run.relay(3, &shared, 0b1111);
    let relayed = relaying.message(1).unwrap();
    let first = shared.into_iter().next().unwrap().0.unwrap();
    assert!(matches!(
        first.answer(&run.owners[1], &relayed),
        Err(Error::Misuse(_))
    ));
}

#[test]
fn owners_have_the_keys_that_others_know() {
    let run = Run::of(4, 1, 1, 2);
    let (keys, publics) = keys(4);
    let owner =
        |me, key: &SealingKey, publics: &[_]| SumOwner::new(&run.terms, me, key, publics, &[7; 32], 0);
    assert!(owner(1, &keys[1], &publics).is_ok());
    assert!(matches!(owner(1, &keys[2], &publics), Err(Error::Misuse(_))));
    assert!(matches!(owner(4, &keys[1], &publics), Err(Error::Misuse(_))));
    assert!(matches!(owner(1, &keys[1], &publics[..3]), Err(Error::Misuse(_))));
    for (one, other) in [(1, 2), (2, 3)] {
        let (mut same_number, mut same_key) = (publics.clone(), publics.clone());
        same_number[other].0 = publics[one].0;
        same_key[other].1 = publics[one].1;
        for twice in [same_number, same_key] {
            assert!(matches!(owner(1, &keys[1], &twice), Err(Error::Misuse(_))));
        }
    }
    let mut none = publics;
    none[2].1 = [0; 32];
    assert!(matches!(owner(1, &keys[1], &none), Err(Error::Peer(_))));
}

#[test]
fn the_miner_names_the_owner_whose_message_is_wrong() {
    let mut run = Run::of(4, 1, 1, 2);
    let mut shared = run.share(3, &numbers(4));
    let mut collecting = Collecting::new(&run.terms, 3);
    let shares = shared[0].1.clone();
    let message = |fault| SumFault::Message {
        from: SumSender::Owner(1),
        fault,
    };
    let length = |bytes| {
        message(SumMessageFault::Length {
            bytes,
            expected: shares.len(),
        })
    };
    let mut receive = |from, message: &[u8]| fault(collecting.receive(from, message.to_vec()));
    assert_eq!(receive(1, &shares[..shares.len() - 1]), length(shares.len() - 1));
    assert_eq!(
        receive(1, &[&shares[..], &[0]].concat()),
        length(shares.len() + 1)
    );
    assert_eq!(
        receive(1, &shares[..4]),
        message(SumMessageFault::Length {
            bytes: 4,
            expected: 5
        })
    );
    let kind = [&[0x11], &shares[1..]].concat();
    assert_eq!(receive(1, &kind), message(SumMessageFault::Kind { kind: 0x11 }));
    let round = [&[shares[0], 2], &shares[2..]].concat();
    let other = SumMessageFault::Round {
        round: 2,
        expected: 3,
    };
    assert_eq!(receive(1, &round), message(other));
    assert_eq!(receive(4, &shares), SumFault::NoOwner { owner: 4 });

    collecting.receive(0, shares.clone()).unwrap();
    assert_eq!(fault(collecting.receive(0, shares)), SumFault::Twice { owner: 0 });
    let (mut collecting, why) = collecting.fix().err().unwrap();
    let few = SumFault::FewSurvivors {
        survivors: 1,
        least: 3,
    };
    assert_eq!(why, Error::Sum(few));
    assert_eq!(
        (collecting.missing(), collecting.complete()),
        (vec![1, 2, 3], false)
    );
    for owner in [1, 3] {
        let shares = std::mem::take(&mut shared[usize::from(owner)].1);
        collecting.receive(owner, shares).unwrap();
    }
    let relaying = collecting.fix().map_err(|(_, why)| why).unwrap();
    assert_eq!(fault(relaying.message(2)), SumFault::NoSurvivor { owner: 2 });
}

#[test]
fn answers_are_taken_once_of_survivors_in_their_round() {
    let run = Run::of(4, 1, 1, 2);
    let mut opening = Opening::of(&run.terms, 3, &[0, 1, 3]).unwrap();
    let pieces = run.terms.pieces();
    let answer = |first: u64| {
        let mut bytes = vec![0x23, 3, 0, 0, 0];
        bytes.extend(first.to_le_bytes());
        bytes.resize(5 + 8 * pieces, 0);
        bytes
    };
    assert_eq!(
        fault(opening.receive(2, &answer(0))),
        SumFault::NoSurvivor { owner: 2 }
    );
    for large in [MODULUS, u64::MAX] {
        let wrong = SumFault::Message {
            from: SumSender::Owner(1),
            fault: SumMessageFault::NoFieldElement,
        };
        assert_eq!(fault(opening.receive(1, &answer(large))), wrong);
    }
    fault(opening.receive(1, &answer(0)[..5 + 8 * pieces - 1]));
    fault(opening.receive(1, &[]));
    opening.receive(1, &answer(MODULUS - 1)).unwrap();
    assert_eq!(
        fault(opening.receive(1, &answer(0))),
        SumFault::Twice { owner: 1 }
    );
    assert!(!opening.enough() && !opening.complete());
    for (survivors, wrong) in [
        (
            vec![0, 1],
            SumFault::FewSurvivors {
                survivors: 2,
                least: 3,
            },
        ),
        (vec![0, 1, 1], SumFault::NoSurvivor { owner: 1 }),
        (vec![0, 1, 4], SumFault::NoOwner { owner: 4 }),
    ] {
        assert_eq!(fault(Opening::of(&run.terms, 3, &survivors)), wrong);
    }
}

/// Adds to an answer of each owner in turn, or of several.
#[test]
fn wrong_answers_are_noticed_and_named_as_far_as_possible() {
    let mut run = Run::of(12, 2, 1, 5);
    let holders = run.terms.holders();
    let spare = holders - run.terms.required();
    assert!(
        run.terms.pieces() > 1 && spare >= 2 && holders < 12,
        "{:?}",
        run.terms
    );
    let shared = run.share(0, &vec![vec![1, 2, 3, 4, 5]; 12]);
    let relaying = run.relay(0, &shared, 0xfff);
    let told = relaying.holders().iter().map(|to| relaying.message(*to).unwrap());
    let told: Vec<Vec<u8>> = told.collect();
    let answers: Vec<Vec<u8>> = shared
        .into_iter()
        .zip(&run.owners)
        .zip(&told)
        .map(|(((round, _), owner), relayed)| round.unwrap().answer(owner, relayed).unwrap().message)
        .collect();
    let opening = |wrong: &[u16], of: usize| {
        let mut opening = Opening::of(&run.terms, 0, &Vec::from_iter(0..12)).unwrap();
        for (from, answer) in (0..).zip(&answers).take(of) {
            let mut answer = answer.clone();
            answer[6 + 8 * usize::from(from % 2)] ^= u8::from(wrong.contains(&from));
            opening.receive(from, &answer).unwrap();
        }
        opening
    };
    let right = vec![12, 24, 36, 48, 60];
    assert_eq!(opening(&[], holders).open().unwrap().numbers, right);
    for owner in 0..holders as u16 {
        let mut opening = opening(&[owner], holders);
        let owners = vec![owner];
        assert_eq!(fault(opening.open()), SumFault::Inconsistent { owners });
        assert_eq!(opening.unanswered().count(), 0);
        opening.exclude(owner);
        assert!(
            opening.unanswered().eq([owner]),
            "an answer that was left out is missing"
        );
        assert_eq!(opening.open().unwrap().numbers, right);
    }
    // One answer more than required shows that something is wrong, and none more shows nothing.
    let required = run.terms.required();
    let unknown = SumFault::Inconsistent { owners: vec![] };
    assert_eq!(fault(opening(&[3], required + 1).open()), unknown);
    assert_ne!(opening(&[3], required).open().unwrap().numbers, right);
    let many: Vec<u16> = (0..=spare as u16 / 2).map(|owner| 2 * owner).collect();
    assert_eq!(fault(opening(&many, holders).open()), unknown);
}

/// What is shared wrongly with one owner makes that one's answer unfit.
#[test]
fn an_owner_that_shares_wrongly_with_one_spoils_the_answer_of_that_one() {
    let mut run = Run::of(12, 2, 1, 2);
    let mut shared = run.share(0, &vec![vec![1, 2]; 12]);
    // Owner 0 seals the shares of another vector for owner 5: of a run with the same keys.
    let mut other = Run::new(run.terms.clone(), 7);
    let (_, wrong) = other.owners[0].share(0, &[9, 9], Seed::new([1; 32])).unwrap();
    let bytes = 8 * run.terms.pieces() + 16;
    let at = 5 + 4 * bytes;
    shared[0].1[at..at + bytes].copy_from_slice(&wrong[at..at + bytes]);
    let relaying = run.relay(0, &shared, 0xfff);
    let mut opening = run.answers(shared, relaying, 0);
    assert_eq!(fault(opening.open()), SumFault::Inconsistent { owners: vec![5] });
    opening.exclude(5);
    assert_eq!(opening.open().unwrap().numbers, [12, 24]);
}
