//! Sums are exact, whoever is absent as far as was agreed on.

use privet_mpc::sum::{MODULUS, OwnerRound, Seed, SumFault, SumTerms};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use super::{Run, fault};

/// The sum modulo the prime, nearest to 0.
fn plain(numbers: &[Vec<i64>], set: u32, at: usize) -> i64 {
    let members = numbers
        .iter()
        .enumerate()
        .filter(|(owner, _)| set >> owner & 1 == 1);
    let sum: i128 = members.map(|(_, numbers)| i128::from(numbers[at])).sum();
    let modulus = i128::from(MODULUS);
    let rest = sum.rem_euclid(modulus);
    let centred = if rest > modulus / 2 { rest - modulus } else { rest };
    i64::try_from(centred).unwrap()
}

fn vectors(random: &mut ChaCha8Rng, owners: usize, length: usize) -> Vec<Vec<i64>> {
    let mut number = || {
        let any = random.next_u64() as i64;
        // Small ones, and any, which wrap around.
        if any.rem_euclid(2) == 0 { any >> 40 } else { any }
    };
    let vector = |_| (0..length).map(|_| number()).collect();
    (0..owners).map(vector).collect()
}

#[track_caller]
fn check(run: &mut Run, round: u32, numbers: &[Vec<i64>], set: u32, silent: u32) {
    let opened = run.sum(round, numbers, set, silent).unwrap();
    let expected: Vec<i64> = (0..run.terms.length())
        .map(|at| plain(numbers, set, at))
        .collect();
    assert_eq!(opened.numbers, expected, "{:?} {set:b} {silent:b}", run.terms);
    let holders = (1_u32 << run.terms.holders()) - 1;
    let answered = (set & !silent & holders).count_ones() as usize;
    assert_eq!(opened.checked, answered - run.terms.required());
}

#[test]
fn sums_are_exact_whoever_is_absent_or_silent() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for (owners, absent, colluding, length) in [
        (3, 0, 1, 1),
        (3, 0, 2, 5),
        (4, 1, 1, 2),
        (5, 1, 1, 3),
        (6, 1, 2, 7),
        (8, 2, 1, 4),
        (9, 1, 1, 2),
        (7, 0, 2, 3),
    ] {
        let mut run = Run::of(owners, absent, colluding, length);
        let all = (1_u32 << owners) - 1;
        let mut round = 0;
        for set in (0..=all).filter(|set| set.count_ones() as usize >= owners - absent) {
            let holders = set & ((1 << run.terms.holders()) - 1);
            // Everybody who can be silent after sharing, too: whether others could be told does not matter.
            for silent in (0..=all).filter(|silent| silent & !holders == 0) {
                let answering = (holders & !silent).count_ones() as usize;
                let numbers = vectors(&mut random, owners, length);
                if answering >= run.terms.required() {
                    check(&mut run, round, &numbers, set, silent);
                } else if answering + 1 == run.terms.required() {
                    let few = SumFault::FewAnswers {
                        answers: answering,
                        least: run.terms.required(),
                    };
                    assert_eq!(fault(run.sum(round, &numbers, set, silent)), few);
                } else {
                    continue;
                }
                round += 1;
            }
        }
        assert!(round as usize > absent);
    }
}

#[test]
fn sums_of_random_terms_are_exact() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut below = |most: usize| random.next_u64() as usize % most;
    let mut tried = 0;
    while tried < 25 {
        let (owners, absent, colluding, length) = (3 + below(24), below(6), 1 + below(6), 1 + below(60));
        let Ok(terms) = SumTerms::new(owners, absent, colluding, length) else {
            continue;
        };
        tried += 1;
        let mut run = Run::new(terms, 7);
        for round in [0, 1, 7] {
            let mut set = (1_u32 << owners) - 1;
            for _ in 0..below(absent + 1) {
                set &= !(1 << below(owners));
            }
            let holders = set & ((1 << run.terms.holders()) - 1);
            let spare = holders.count_ones() as usize - run.terms.required();
            let mut silent = 0;
            for _ in 0..below(spare + 1) {
                silent |= holders & 1 << below(owners);
            }
            let numbers = vectors(
                &mut ChaCha8Rng::seed_from_u64(below(1 << 30) as u64),
                owners,
                length,
            );
            check(&mut run, round, &numbers, set, silent);
        }
    }
}

/// The lengths that the terms tell are those of the messages.
#[test]
fn messages_are_as_long_as_the_terms_say() {
    for (owners, absent, colluding, length, pieces) in [
        (10, 2, 1, 3, 1),
        (20, 2, 2, 7, 2),
        (20, 2, 2, 24, 4),
        (30, 3, 3, 7, 2),
    ] {
        let mut run = Run::of(owners, absent, colluding, length);
        assert_eq!(run.terms.pieces(), pieces);
        let shared = run.share(0, &vec![vec![1; length]; owners]);
        assert!(
            shared
                .iter()
                .zip(0..)
                .all(|((_, shares), owner)| shares.len() == run.terms.share_bytes(owner))
        );
        let set = (1 << owners) - 1 - ((1 << absent) - 1);
        let relaying = run.relay(0, &shared, set);
        let to = relaying.holders()[0];
        let relayed = relaying.message(to).unwrap();
        assert_eq!(relayed.len(), run.terms.relay_bytes(owners - absent));
        let round: OwnerRound = shared.into_iter().nth(to.into()).unwrap().0.unwrap();
        let answered = round.answer(&run.owners[usize::from(to)], &relayed).unwrap();
        assert_eq!(answered.message.len(), run.terms.answer_bytes());
        // On average, for each other owner at most 60 bytes in both directions together, and for each further piece at most 9 in each.
        let all: usize = (0..owners as u16).map(|owner| run.terms.round_bytes(owner)).sum();
        let each = all as f64 / (owners * (owners - 1)) as f64;
        assert!(each <= (60 + 18 * (pieces - 1)) as f64, "{owners}: {each}");
    }
}

/// A saved round goes on, and says the same.
#[test]
fn a_round_that_was_saved_goes_on() {
    let mut run = Run::of(5, 1, 1, 3);
    let numbers = vec![vec![1, -2, 3]; 5];
    let mut shared = run.share(4, &numbers);
    let relaying = run.relay(4, &shared, 0b11111);
    let relayed = relaying.message(2).unwrap();
    let saved = shared[2].0.as_ref().unwrap().save();
    let restored = OwnerRound::restore(&run.terms, &saved).unwrap();
    assert_eq!(restored.round(), 4);
    let answer = |round: OwnerRound| round.answer(&run.owners[2], &relayed).unwrap();
    assert_eq!(answer(restored), answer(shared.remove(2).0.unwrap()));
    for wrong in [
        &saved[..saved.len() - 1],
        &[],
        &[&saved[..], &[0; 8]].concat(),
        &[255; 30],
    ] {
        assert!(OwnerRound::restore(&run.terms, wrong).is_err());
    }
}

/// An owner that is built again from the same seed says the same; other numbers are shared with other polynomials.
#[test]
fn the_same_seed_round_and_numbers_say_the_same() {
    let shares = |round, numbers: &[i64], seed: u8| {
        let mut run = Run::of(4, 1, 1, 1);
        let (state, message) = run.owners[3]
            .share(round, numbers, Seed::new([seed; 32]))
            .unwrap();
        (state.unwrap().save(), message)
    };
    let one = shares(0, &[5], 1);
    assert_eq!(one, shares(0, &[5], 1));
    for other in [shares(1, &[5], 1), shares(0, &[6], 1), shares(0, &[5], 2)] {
        assert_ne!(one.0[6..], other.0[6..]);
        assert_ne!(one.1[5..], other.1[5..]);
    }
}

#[test]
fn secrets_are_not_printed() {
    let mut run = Run::of(3, 0, 1, 1);
    let (round, _) = run.owners[1].share(0, &[77], Seed::new([1; 32])).unwrap();
    assert_eq!(format!("{:?}", Seed::new([1; 32])), "Seed(…)");
    assert_eq!(format!("{:?}", round.unwrap()), "OwnerRound(1, 0, …)");
    assert_eq!(format!("{:?}", run.owners[1]), "SumOwner(1, …)");
}
