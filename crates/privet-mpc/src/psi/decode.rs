//! Decodes a peer's bytes, which may be invalid. The body of the fuzz target `psi`.

use super::message::{Kind, Seal, Writer};
use super::{Ids, Key, Run, answer, offer, settle};

/// Receives `bytes` as an offer, an answer and a list of common rows. If they begin with 1, 2 or 3, the rest is put under
/// the head and seal of that message, for otherwise no changed byte would come further than the seal. Says whether they were taken.
pub fn decode(bytes: &[u8]) -> bool {
    let run = Run::new([0; 32]).with_at_most(8);
    let message = |kind: Kind, before: Seal| match bytes.split_first() {
        Some((&first, body)) if first == kind as u8 => Writer::new(kind, &run).raw(body).seal(before).0,
        _ => bytes.to_vec(),
    };
    // Unwrap safety: these ids are ours.
    let ids = |ids: [&str; 3]| Ids::new(ids).expect("ids");
    let (bank, shop) = (ids(["ann", "bob", "cid"]), ids(["bob", "cid", "dan"]));
    let (label, feature) = (Key::new(&[1; 32]), Key::new(&[2; 32]));

    let mut taken = false;
    if let Ok((_, answer)) = answer(&feature, run, &shop, &message(Kind::Offer, Seal::NONE)) {
        assert!(
            answer.len() >= 9 + 32 + (4 + 3 * 32) + 4 + 32,
            "points of our own, and tags"
        );
        taken = true;
    }
    // Unwrap safety: three ids are not more than eight.
    let (expect_answer, offered) = offer(&label, run, &bank).expect("three ids");
    let answered = message(Kind::Answer, expect_answer.seal);
    if let Ok(pair) = expect_answer.receive(&answered) {
        // Unwrap safety: one pair is of one table.
        let (rows, _) = settle(vec![pair]).expect("one pair");
        assert!(distinct(&rows), "rows of our own, once each");
        taken = true;
    }
    // Unwrap safety: the offer is ours.
    let (expect_common, _) = answer(&feature, run, &shop, &offered).expect("an answer");
    let common = message(Kind::Common, expect_common.seal);
    if let Ok(rows) = expect_common.receive(&common) {
        assert!(distinct(&rows), "rows of our own, once each");
        taken = true;
    }
    taken
}

fn distinct(rows: &[usize]) -> bool {
    rows.iter()
        .enumerate()
        .all(|(at, row)| *row < 3 && !rows[..at].contains(row))
}
