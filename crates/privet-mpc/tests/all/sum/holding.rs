//! Owners that deal shares and hold none.

use privet_mpc::Error;
use privet_mpc::sum::{SumFault, SumOwner, SumTerms};

use super::{Run, fault, keys};

/// Owners 8 to 11 of twelve deal and hold nothing.
#[test]
fn an_owner_that_holds_no_shares_is_told_nothing_and_answers_nothing() {
    let mut run = Run::of(12, 2, 1, 2);
    assert_eq!(run.terms.holders(), 8);
    let shared = run.share(0, &vec![vec![1, 2]; 12]);
    for (owner, (round, message)) in (0..).zip(&shared) {
        assert_eq!(round.is_some(), run.terms.is_holder(owner));
        assert_eq!(message.len(), run.terms.share_bytes(owner));
    }
    let relaying = run.relay(0, &shared, 0xfff);
    assert_eq!(relaying.holders(), Vec::from_iter(0..8));
    assert_eq!(relaying.survivors().len(), 12);
    assert_eq!(fault(relaying.message(8)), SumFault::NoHolder { owner: 8 });
    assert_eq!(fault(relaying.message(12)), SumFault::NoSurvivor { owner: 12 });
    let told: Vec<Vec<u8>> = (0..8).map(|to| relaying.message(to).unwrap()).collect();
    let mut opening = relaying.sent();
    let mut answers = Vec::new();
    for ((round, _), (owner, relayed)) in shared.into_iter().zip(run.owners.iter().zip(&told)) {
        answers.push(round.unwrap().answer(owner, relayed).unwrap().message);
    }
    for owner in 8..12 {
        assert_eq!(
            fault(opening.receive(owner, &answers[0])),
            SumFault::NoHolder { owner }
        );
        // It has no answer that could be left out.
        opening.exclude(owner);
    }
    for (from, answer) in (0..).zip(&answers) {
        assert!(!opening.complete());
        opening.receive(from, answer).unwrap();
    }
    assert!(opening.complete());
    let opened = opening.open().unwrap();
    assert_eq!((opened.numbers, opened.checked), (vec![12, 24], 2));
    assert_eq!(opened.survivors.len(), 12);
}

/// Keys of owners that hold no shares are used by holders only, and need not be known to each other.
#[test]
fn an_owner_that_holds_no_shares_uses_the_keys_of_holders() {
    let terms = SumTerms::new(12, 2, 1, 2).unwrap();
    let (keys, mut publics) = keys(12);
    (publics[9].1, publics[10].1) = ([0; 32], [0; 32]);
    let owner =
        |me: u16, publics: &[_]| SumOwner::new(&terms, me, &keys[usize::from(me)], publics, &[7; 32], 0);
    assert!(owner(11, &publics).is_ok());
    assert!(matches!(owner(0, &publics), Err(Error::Misuse(_))));
    publics[10].1 = keys[10].public();
    assert!(matches!(owner(0, &publics), Err(Error::Peer(_))));
    publics[1].1 = publics[2].1;
    assert!(matches!(owner(11, &publics), Err(Error::Misuse(_))));
    publics[1].1 = keys[11].public();
    assert!(matches!(owner(11, &publics), Err(Error::Misuse(_))));
}
