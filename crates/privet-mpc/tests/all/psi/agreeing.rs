//! All parties end with the same ids in the same order, and these are the plain intersection.

use std::collections::BTreeSet;

use privet_mpc::psi::{self, Ids, Key};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use super::{align, key, run};

/// Fails unless the protocol gives what a plain intersection gives.
fn check(bank: &[Vec<u8>], shops: &[Vec<Vec<u8>>]) {
    let (rows, theirs) = align(bank, shops);
    let common: Vec<&Vec<u8>> = rows.iter().map(|row| &bank[*row]).collect();
    for (shop, rows) in shops.iter().zip(&theirs) {
        let told: Vec<&Vec<u8>> = rows.iter().map(|row| &shop[*row]).collect();
        assert_eq!(told, common, "the same ids in the same order");
    }
    let plain = bank
        .iter()
        .filter(|id| shops.iter().all(|shop| shop.contains(id)));
    assert_eq!(common.len(), rows.len());
    assert_eq!(BTreeSet::from_iter(common), BTreeSet::from_iter(plain));
}

fn ids(range: std::ops::Range<u32>) -> Vec<Vec<u8>> {
    range.map(|id| format!("person {id}").into_bytes()).collect()
}

#[test]
fn small_and_extreme_sets_meet_as_they_should() {
    for (bank, shop) in [
        (0..0, 0..0),
        (0..1, 0..0),
        (0..0, 0..1),
        (0..1, 0..1),
        (0..1, 1..2),
        (0..9, 9..20),
        (0..20, 0..20),
        (0..300, 7..8),
        (5..6, 0..300),
        (0..700, 200..900),
    ] {
        check(&ids(bank), &[ids(shop)]);
    }
}

#[test]
fn random_sets_of_random_bytes_meet_as_plain_ones_do() {
    let mut random = ChaCha20Rng::seed_from_u64(7);
    let mut below = |n: u32| random.next_u32() % n;
    for _ in 0..150 {
        // Short ids of few bytes, so that prefixes, repeats and text that is not valid UTF-8 abound.
        let universe = 1 + below(60);
        let everybody: BTreeSet<Vec<u8>> = (0..universe)
            .map(|_| (0..=below(3)).map(|_| below(7) as u8 * 42).collect())
            .collect();
        let mut draw = |odds: u32| -> Vec<Vec<u8>> {
            let mut drawn: Vec<_> = everybody.iter().filter(|_| below(4) < odds).cloned().collect();
            for at in (1..drawn.len()).rev() {
                drawn.swap(at, below(at as u32 + 1) as usize);
            }
            drawn
        };
        let bank = draw(3);
        let shops: Vec<_> = [1, 2, 3].iter().map(|odds| draw(*odds)).collect();
        check(&bank, &shops[1..2]);
        check(&bank, &shops);
    }
}

#[test]
fn a_feature_holder_is_not_told_what_only_it_shares() {
    let bank = Ids::new(ids(0..10)).unwrap();
    let [few, many] = [ids(0..3), ids(0..9)].map(|shop| Ids::new(shop).unwrap());
    let (label, offer) = psi::offer(&key(1), run(1), &bank).unwrap();
    let (_, answer) = psi::answer(&key(2), run(1), &few, &offer).unwrap();
    let (other, offer) = psi::offer(&key(1), run(2), &bank).unwrap();
    let (expect, answered) = psi::answer(&key(3), run(2), &many, &offer).unwrap();
    let pairs = vec![label.receive(&answer).unwrap(), other.receive(&answered).unwrap()];
    assert_eq!((pairs[0].len(), pairs[1].len()), (3, 9));
    assert!(!pairs[0].is_empty());
    let (_, told) = psi::settle(pairs).unwrap();
    // Head, run, count, three places, seal: nothing of the other six.
    assert_eq!(told[1].len(), 9 + 32 + 4 + 3 * 4 + 32);
    let mut rows = expect.receive(&told[1]).unwrap();
    rows.sort_unstable();
    assert_eq!(rows, [0, 1, 2]);
}

#[test]
fn only_the_same_key_run_and_ids_say_the_same() {
    let bank = Ids::new(ids(0..5)).unwrap();
    let (_, offer) = psi::offer(&key(1), run(1), &bank).unwrap();
    assert_eq!(psi::offer(&key(1), run(1), &bank).unwrap().1, offer);
    let points = |message: &[u8]| -> BTreeSet<[u8; 32]> {
        let (points, _) = message[45..message.len() - 32].as_chunks();
        points.iter().copied().collect()
    };
    let (_, answer) = psi::answer(&key(1), run(1), &bank, &offer).unwrap();
    let (_, fresh) = psi::offer(&Key::from_os().unwrap(), run(1), &bank).unwrap();
    for other in [
        psi::offer(&key(2), run(1), &bank).unwrap().1,
        psi::offer(&key(1), run(2), &bank).unwrap().1,
        psi::offer(&key(1), run(1), &Ids::new(ids(0..6)).unwrap())
            .unwrap()
            .1,
        fresh,
        // The roles of one key have different exponents, too.
        answer[..offer.len()].to_vec(),
    ] {
        assert!(points(&offer).is_disjoint(&points(&other)));
    }
    // Another offer gets another exponent, also under the same key.
    let shop = |offer: &[u8]| psi::answer(&key(2), run(1), &bank, offer).unwrap().1;
    let (_, other) = psi::offer(&key(3), run(1), &bank).unwrap();
    assert_eq!(shop(&offer), shop(&offer));
    assert_ne!(shop(&offer)[45..45 + 32], shop(&other)[45..45 + 32]);
}
