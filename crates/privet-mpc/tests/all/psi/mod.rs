//! Whole exchanges: who ends with which rows, and what is refused on the way.

mod agreeing;
mod refusing;
mod vectors;

use privet_mpc::psi::{self, Ids, Key, Run};

/// A run by number; the tests need no secret one.
fn run(number: u8) -> Run {
    Run::new([number; 32])
}

fn key(number: u8) -> Key {
    Key::new(&[number; 32])
}

/// What the label holder and each feature holder end with.
fn align(bank: &[Vec<u8>], shops: &[Vec<Vec<u8>>]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let bank = Ids::new(bank).unwrap();
    let (mut pairs, mut waiting) = (Vec::new(), Vec::new());
    for (number, shop) in (0..).zip(shops) {
        let run = run(number);
        let (expect_answer, offer) = psi::offer(&Key::from_os().unwrap(), run, &bank).unwrap();
        let shop = Ids::new(shop).unwrap();
        let (expect_common, answer) = psi::answer(&Key::from_os().unwrap(), run, &shop, &offer).unwrap();
        pairs.push(expect_answer.receive(&answer).unwrap());
        waiting.push(expect_common);
    }
    let (rows, messages) = psi::settle(pairs).unwrap();
    let told = waiting.into_iter().zip(messages);
    (
        rows,
        told.map(|(shop, message)| shop.receive(&message).unwrap())
            .collect(),
    )
}
