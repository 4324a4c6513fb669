//! What is refused: by whose fault, in which words, and never with a panic.

use privet_mpc::Error;
use privet_mpc::psi::{self, ExpectAnswer, ExpectCommon, Ids, Key, MOST_IDS};
use sha2::{Digest, Sha256};

use super::{key, run};

const BANK: [&str; 4] = ["ann", "bob", "cid", "dan"];
const SHOP: [&str; 3] = ["cid", "eve", "ann"];

/// One exchange with fixed keys.
struct Exchange {
    offer: Vec<u8>,
    answer: Vec<u8>,
    common: Vec<u8>,
}

fn label_holder() -> (ExpectAnswer, Vec<u8>) {
    psi::offer(&key(1), run(1), &Ids::new(BANK).unwrap()).unwrap()
}

fn feature_holder(offer: &[u8]) -> Result<(ExpectCommon, Vec<u8>), Error> {
    psi::answer(&key(2), run(1), &Ids::new(SHOP).unwrap(), offer)
}

fn exchange() -> Exchange {
    let (label, offer) = label_holder();
    let (feature, answer) = feature_holder(&offer).unwrap();
    let (rows, mut told) = psi::settle(vec![label.receive(&answer).unwrap()]).unwrap();
    let common = told.remove(0);
    assert_eq!((rows.len(), feature.receive(&common).unwrap().len()), (2, 2));
    Exchange {
        offer,
        answer,
        common,
    }
}

/// Its error, if a message is refused.
type Receiver<'a> = Box<dyn Fn(&[u8]) -> Option<Error> + 'a>;

/// Every message with whoever is to receive it.
fn receivers(all: &Exchange) -> [(Vec<u8>, Receiver<'_>); 3] {
    [
        (all.offer.clone(), Box::new(|bytes| feature_holder(bytes).err())),
        (
            all.answer.clone(),
            Box::new(|bytes| label_holder().0.receive(bytes).err()),
        ),
        (
            all.common.clone(),
            Box::new(|bytes| feature_holder(&all.offer).unwrap().0.receive(bytes).err()),
        ),
    ]
}

/// The message with a right seal over whatever it says now.
fn sealed(message: &[u8], before: &[u8]) -> Vec<u8> {
    let (rest, _) = message.split_last_chunk::<32>().unwrap();
    let seal = Sha256::new_with_prefix(before).chain_update(rest).finalize();
    [rest, seal.as_slice()].concat()
}

fn seal(message: &[u8]) -> &[u8] {
    &message[message.len() - 32..]
}

fn peer(error: Option<Error>, words: &str) {
    match error {
        Some(Error::Peer(text)) => assert!(text.contains(words), "{text:?} lacks {words:?}"),
        other => panic!("{other:?} where {words:?} was due"),
    }
}

#[test]
fn every_cut_every_flip_and_every_addition_is_an_error() {
    let all = exchange();
    for (message, receive) in receivers(&all) {
        assert_eq!(receive(&message), None);
        for length in 0..message.len() {
            peer(receive(&message[..length]), "");
        }
        for at in 0..message.len() {
            for bit in 0..8 {
                let mut changed = message.clone();
                changed[at] ^= 1 << bit;
                peer(receive(&changed), "");
            }
        }
        peer(receive(&[&message[..], &[0]].concat()), "damaged");
        peer(receive(&[&message[..], &message[..]].concat()), "damaged");
    }
}

#[test]
fn messages_out_of_turn_and_of_other_runs_are_told_apart() {
    let all = exchange();
    let messages = [&all.offer, &all.answer, &all.common];
    for (at, (_, receive)) in receivers(&all).iter().enumerate() {
        for (other, message) in messages.iter().enumerate() {
            if at != other {
                peer(receive(message), "another message came in its turn");
            }
        }
        let mut changed = messages[at].clone();
        changed[0] = b'P';
        peer(receive(&changed), "no message of this protocol");
        changed = messages[at].clone();
        changed[7] = 2;
        peer(receive(&changed), "version 2, and only 1");
        changed = messages[at].clone();
        changed[9] ^= 1;
        peer(receive(&changed), "from another run");
    }
    // The same run again, with other keys: the head is right, and the seal is not.
    let (_, offer) = psi::offer(&Key::from_os().unwrap(), run(1), &Ids::new(BANK).unwrap()).unwrap();
    let (_, foreign) = feature_holder(&offer).unwrap();
    peer(
        label_holder().0.receive(&foreign).err(),
        "part of another exchange",
    );
}

/// Messages that are sealed as they should be and say what they should not: only a peer that means it sends them.
#[test]
fn wrong_bodies_are_refused_though_their_seal_is_right() {
    let all = exchange();
    let offer = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut message = all.offer.clone();
        change(&mut message);
        feature_holder(&sealed(&message, &[0; 32])).err()
    };
    assert_eq!(offer(&|_| ()), None);
    peer(offer(&|m| m[41] = 3), "longer than its counts say");
    peer(offer(&|m| m[41] = 5), "shorter than its counts say");
    peer(offer(&|m| m[44] = 0xff), "at most");
    peer(offer(&|m| m.truncate(41 + 2 + 32)), "cut short");
    peer(offer(&|m| m[45..109].rotate_left(32)), "not sorted");
    peer(offer(&|m| m.copy_within(45..77, 77)), "one stands twice");
    peer(offer(&|m| m[45..77].fill(0)), "the identity");
    peer(offer(&|m| m[141..173].fill(0xff)), "not in the group");

    // 45: three points, then at 141 a count and four tags.
    let answer = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut message = all.answer.clone();
        change(&mut message);
        label_holder()
            .0
            .receive(&sealed(&message, seal(&all.offer)))
            .err()
    };
    assert_eq!(answer(&|_| ()), None);
    peer(
        answer(&|m| m[45..77].fill(0)),
        "the feature holder sent the identity",
    );
    peer(
        answer(&|m| m[109..141].fill(0xff)),
        "the feature holder sent a point that is not",
    );
    peer(answer(&|m| m[45..109].rotate_left(32)), "not sorted");
    peer(answer(&|m| m.copy_within(145..161, 161)), "two of its tags");
    peer(answer(&|m| m[141] = 3), "does not answer every point");
    peer(answer(&|m| m[141] = 5), "at most 4");
    peer(
        answer(&|m| drop(m.splice(193..209, []))),
        "shorter than its counts say",
    );
    peer(answer(&|m| m.insert(209, 0)), "longer than its counts say");

    let common = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut message = all.common.clone();
        change(&mut message);
        let (expect, answer) = feature_holder(&all.offer).unwrap();
        expect.receive(&sealed(&message, seal(&answer))).err()
    };
    assert_eq!(common(&|_| ()), None);
    peer(common(&|m| m.copy_within(45..49, 49)), "twice");
    peer(common(&|m| m[45] = 3), "does not exist");
    peer(common(&|m| m[41] = 4), "at most 3");
    peer(common(&|m| m[41] = 1), "longer than its counts say");
}

#[test]
fn neither_side_may_have_more_ids_than_agreed() {
    let (bank, shop) = (Ids::new(BANK).unwrap(), Ids::new(SHOP).unwrap());
    let offer = |most| psi::offer(&key(1), run(1).with_at_most(most), &bank);
    assert_eq!(offer(3).err(), Some(Error::TooManyIds { most: 3 }));
    let (_, offered) = offer(4).unwrap();
    let answer = |most| psi::answer(&key(2), run(1).with_at_most(most), &shop, &offered);
    peer(answer(3).err(), "4 items where at most 3 were agreed to");
    assert_eq!(answer(2).err(), Some(Error::TooManyIds { most: 2 }), "one's own");
    // A feature holder that agreed to more has more.
    let two = Ids::new(&BANK[..2]).unwrap();
    let (label, offered) = psi::offer(&key(1), run(1).with_at_most(2), &two).unwrap();
    let (_, answer) = psi::answer(&key(2), run(1), &shop, &offered).unwrap();
    peer(label.receive(&answer).err(), "3 items where at most 2");
    assert_eq!(run(1).with_at_most(usize::MAX), run(1).with_at_most(MOST_IDS));
}

/// A list that is too long is told by its count: nothing after it is looked at, neither a seal nor a point.
#[test]
fn a_long_offer_is_refused_by_its_first_bytes() {
    let run = run(1).with_at_most(2);
    let mut offer = exchange().offer[..45].to_vec();
    offer[41..45].copy_from_slice(&67_000_000_u32.to_le_bytes());
    offer.extend([7; 32]);
    let long = "67000000 items where at most 2 were agreed to";
    peer(psi::check_offer(&run, &offer).err(), long);
    peer(
        psi::answer(&key(2), run, &Ids::new(["cid"]).unwrap(), &offer).err(),
        long,
    );
    // The count is small, and what follows is not.
    offer[41..45].copy_from_slice(&2_u32.to_le_bytes());
    offer.extend([7; 200]);
    peer(psi::check_offer(&run, &offer).err(), "longer than was agreed to");
}

#[test]
fn rows_without_an_id_of_their_own_are_named_to_their_owner() {
    assert_eq!(
        Ids::new(["ann", "", "bob", ""]).unwrap_err(),
        Error::EmptyIds(vec![1, 3])
    );
    let error = Ids::new(["ann", "bob", "ann", "ann"]).unwrap_err();
    assert_eq!(error, Error::RepeatedIds(vec![(0, 2), (0, 3)]));
    let text = error.to_string();
    assert!(
        text.contains("row 2 that of row 0") && !text.contains("ann"),
        "{text}"
    );
    // Bytes, as they are: nothing is folded, trimmed or decoded.
    assert_eq!(Ids::new(["ann", "Ann", "ann ", "ann\0"]).unwrap().len(), 4);
    assert!(Ids::new([[0xff, 0xfe], [0xfe, 0xff]]).is_ok());
    assert!(Ids::new(Vec::<&str>::new()).unwrap().is_empty());
}

#[test]
fn secrets_do_not_print() {
    let shown = format!("{:?} {:?}", Ids::new(["ann"]).unwrap(), Key::new(&[171; 32]));
    assert!(
        !shown.contains("ann") && !shown.contains("171") && !shown.contains("ab"),
        "{shown}"
    );
}

#[test]
fn settling_needs_pairs_of_one_list() {
    let pair = |bank: &[&str]| {
        let (label, offer) = psi::offer(&key(1), run(1), &Ids::new(bank).unwrap()).unwrap();
        let (_, answer) = feature_holder(&offer).unwrap();
        label.receive(&answer).unwrap()
    };
    assert!(matches!(psi::settle(Vec::new()), Err(Error::Misuse(_))));
    assert!(matches!(
        psi::settle(vec![pair(&BANK), pair(&SHOP)]),
        Err(Error::Misuse(_))
    ));
}
