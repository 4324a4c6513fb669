//! Envelopes: as another implementation makes them, and opened only by whom they are for, in their round.

use std::path::Path;

use privet_mpc::Error;
use privet_mpc::sealed::{AtRest, Channel, OVERHEAD, SealingKey, has_small_order};
use serde_json::Value;

fn hex(text: &Value) -> Vec<u8> {
    let text = text.as_str().unwrap();
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

fn array(text: &Value) -> [u8; 32] {
    hex(text).try_into().unwrap()
}

fn vectors() -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/sealed/envelopes.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn envelopes_are_what_another_implementation_makes_them() {
    let vectors = vectors();
    let rows = vectors["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for row in rows {
        let end = |name: &str| {
            let key = SealingKey::new(array(&row[format!("{name}_secret").as_str()]));
            let public = array(&row[format!("{name}_public").as_str()]);
            assert_eq!(key.public(), public);
            (row[name].as_u64().unwrap() as u16, key, public)
        };
        let (sender, receiver) = (end("sender"), end("receiver"));
        let (agreement, message) = (array(&row["agreement"]), hex(&row["message"]));
        let round: u64 = row["round"].as_str().unwrap().parse().unwrap();
        let mut to = Channel::new(&sender.1, sender.0, (receiver.0, &receiver.2), &agreement).unwrap();
        let from = Channel::new(&receiver.1, receiver.0, (sender.0, &sender.2), &agreement).unwrap();
        let envelope = to.seal(round, &message).unwrap();
        assert_eq!(envelope, hex(&row["envelope"]));
        assert_eq!(envelope.len(), message.len() + OVERHEAD);
        assert_eq!(from.open(round, &envelope).unwrap(), message);
    }
    let chest = AtRest::new(&array(&vectors["secret"]), b"a run");
    assert_eq!(*chest.open(5, &hex(&vectors["stored"])).unwrap(), b"an item");
}

#[test]
fn an_envelope_opens_between_its_ends_in_its_round_under_its_agreement_only() {
    let keys: Vec<SealingKey> = (0..3).map(|n| SealingKey::new([n + 1; 32])).collect();
    let channel = |me: usize, other: usize, agreement: u8| {
        Channel::new(
            &keys[me],
            me as u16,
            (other as u16, &keys[other].public()),
            &[agreement; 32],
        )
        .unwrap()
    };
    let envelope = channel(0, 1, 7).seal(5, b"for party 1").unwrap();
    assert_eq!(channel(1, 0, 7).open(5, &envelope).unwrap(), b"for party 1");
    let refused = |channel: Channel, round, envelope: &[u8]| {
        assert!(matches!(channel.open(round, envelope), Err(Error::Peer(_))));
    };
    for round in [0, 4, 6, u64::MAX] {
        refused(channel(1, 0, 7), round, &envelope);
    }
    refused(channel(1, 0, 8), 5, &envelope);
    // Back to its sender; to and from a third party; the same keys under other numbers.
    refused(channel(0, 1, 7), 5, &envelope);
    refused(channel(2, 0, 7), 5, &envelope);
    refused(channel(1, 2, 7), 5, &envelope);
    let renamed =
        |me: u16, other: u16| Channel::new(&keys[1], me, (other, &keys[0].public()), &[7; 32]).unwrap();
    refused(renamed(2, 0), 5, &envelope);
    refused(renamed(1, 2), 5, &envelope);
    refused(renamed(0, 1), 5, &envelope);
    for place in 0..envelope.len() {
        let mut changed = envelope.clone();
        changed[place] ^= 0x10;
        refused(channel(1, 0, 7), 5, &changed);
        refused(channel(1, 0, 7), 5, &envelope[..place]);
    }
    refused(channel(1, 0, 7), 5, &[&envelope[..], &[0]].concat());
}

/// Two messages under one nonce would show their difference.
#[test]
fn a_round_is_sealed_once() {
    let key = SealingKey::new([1; 32]);
    let other = SealingKey::new([2; 32]).public();
    let mut channel = Channel::new(&key, 0, (1, &other), &[0; 32]).unwrap();
    channel.seal(3, b"one").unwrap();
    for round in [0, 2, 3, u64::MAX] {
        assert!(
            matches!(channel.seal(round, b"two"), Err(Error::Misuse(_))),
            "{round}"
        );
    }
    channel.seal(4, b"three").unwrap();
}

/// Points of small order share the same zero with everybody.
#[test]
fn a_key_of_small_order_is_refused() {
    let key = SealingKey::new([1; 32]);
    let mut one = [0; 32];
    one[0] = 1;
    // The prime and its neighbours, the two points of order eight; and all of them with the bit that does not count.
    let prime = |low: u8| {
        let mut point = [0xff; 32];
        (point[0], point[31]) = (low, 0x7f);
        point
    };
    let eight = [
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    ];
    let eight = eight.map(|text| array(&Value::from(text)));
    let weak = [
        [0; 32],
        one,
        prime(0xec),
        prime(0xed),
        prime(0xee),
        eight[0],
        eight[1],
    ];
    let other_bit = |mut point: [u8; 32]| {
        point[31] ^= 0x80;
        point
    };
    for weak in weak.into_iter().flat_map(|point| [point, other_bit(point)]) {
        let channel = Channel::new(&key, 0, (1, &weak), &[0; 32]);
        assert!(matches!(channel, Err(Error::Peer(_))), "{weak:?}");
        assert!(has_small_order(&weak));
    }
    // Their neighbours are not, and neither are keys.
    let mut two = [0; 32];
    two[0] = 2;
    let keys = (0..100).map(|byte| SealingKey::new([byte; 32]).public());
    for point in [two, prime(0xeb), prime(0xef)].into_iter().chain(keys) {
        let channel = Channel::new(&key, 0, (1, &point), &[0; 32]);
        assert!(channel.is_ok() || point == key.public(), "{point:?}");
        assert!(!has_small_order(&point));
    }
}

/// With itself it would have one key for both directions, and its own key would open what it seals.
#[test]
fn a_party_seals_nothing_for_itself() {
    let (key, other) = (SealingKey::new([1; 32]), SealingKey::new([2; 32]));
    let channel = |me, to, public: [u8; 32]| Channel::new(&key, me, (to, &public), &[0; 32]);
    assert!(matches!(channel(3, 3, other.public()), Err(Error::Misuse(_))));
    assert!(matches!(channel(3, 3, key.public()), Err(Error::Misuse(_))));
    assert!(matches!(channel(3, 4, key.public()), Err(Error::Peer(_))));
    assert!(channel(3, 4, other.public()).is_ok());
}

#[test]
fn stored_bytes_open_in_their_place_with_their_key_only() {
    let chest = AtRest::new(&[1; 32], b"a run");
    let stored = chest.seal(3, b"a secret").unwrap();
    assert_ne!(stored, chest.seal(3, b"a secret").unwrap(), "nonces are new");
    assert_eq!(*chest.open(3, &stored).unwrap(), b"a secret");
    assert_eq!(chest.open(4, &stored), None);
    assert_eq!(AtRest::new(&[2; 32], b"a run").open(3, &stored), None);
    assert_eq!(AtRest::new(&[1; 32], b"another").open(3, &stored), None);
    for place in 0..stored.len() {
        let mut changed = stored.clone();
        changed[place] ^= 1;
        assert_eq!(chest.open(3, &changed), None);
        assert_eq!(chest.open(3, &stored[..place]), None);
    }
}

#[test]
fn keys_are_not_printed() {
    let key = SealingKey::new([0xab; 32]);
    assert_eq!(format!("{key:?}"), "SealingKey(…)");
    assert_eq!(format!("{:?}", AtRest::new(&[1; 32], b"")), "AtRest(…)");
}
