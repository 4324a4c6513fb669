//! Owners that vanish: every sum that is opened is that of the owners who shared, to the last bit.

use std::any::Any;
use std::sync::{Arc, Mutex};

use privet::Error;
use privet::party::{Fault, Item, PartyId};
use privet::privacy::audit::{Auditor, Observed};
use privet::privacy::joint::{residue, signed};
use privet::setting::horizontal::{Horizontal, Message, OpenedSum, Protocol};
use privet::wire::Wire;
use privet_testkit::skipped::full;

use super::protocols::rows;
use super::world::{Labels, Noise, World, spending, trees};

/// What an owner added to each sum, in the order of the questions.
pub(crate) type Added = Arc<Mutex<Vec<Vec<i64>>>>;

/// Writes down what enters a joint sum, noise included.
pub(crate) struct Witness(pub(crate) Added);

impl Auditor for Witness {
    fn query(&mut self, _: Observed) -> Option<Box<dyn Any + Send>> {
        None
    }

    fn released(&mut self, output: Box<dyn Any + Send>) {
        if let Ok(output) = output.downcast::<Vec<i64>>() {
            self.0.lock().unwrap().push(*output);
        }
    }

    fn coins(&mut self, seed: [u8; 32]) -> [u8; 32] {
        seed
    }

    fn parts_begin(&mut self, _: usize, _: u64) {}

    fn part_ends(&mut self) {}

    fn parts_end(&mut self) {}
}

/// The sums that a party was told.
fn told(items: &[Item]) -> Vec<OpenedSum> {
    let mut all = Vec::new();
    for item in items {
        if let Item::Received { message, .. } = item
            && let Ok(Message::Opened { first, sums, .. }) = Message::from_bytes(message)
        {
            all.truncate(first as usize);
            all.extend(sums);
        }
    }
    all
}

pub(super) fn aggregated(count: u32, absent: u32) -> Horizontal {
    let trees = trees(count).calibrate(false).build().unwrap();
    let builder = Horizontal::builder().protocol(Protocol::Aggregated);
    builder.absent(absent).colluding(1).trees(trees).build().unwrap()
}

#[test]
fn whoever_vanishes_when_ever_sums_are_those_of_the_others_to_the_last_bit() {
    let horizontal = aggregated(3, 1);
    let spend = spending("4", "1e-6");
    let world = || {
        World::new(
            &horizontal,
            Labels::Two,
            spend,
            rows(Labels::Two, 5, 12),
            Noise::Drawn,
        )
    };
    let steps = world().simulation().run().unwrap().steps;
    let (mut whole, mut without) = (0, 0);
    // Every owner leaves at some step of every phase; at every step, if everything is tried.
    for at in (0..steps).step_by(if full() { 1 } else { 4 }) {
        let (world, leaver) = (world(), PartyId(1 + (at % 5) as u16));
        let added: Vec<Added> = (0..5).map(|_| Added::default()).collect();
        let simulation = world.witnessed(&added).without_checkpoints();
        let records = simulation.records();
        let ended = simulation.fault(at, Fault::Leave(leaver)).run().unwrap();
        for (party, outcome) in ended.outcomes.iter().enumerate() {
            let left = usize::from(leaver.0) == party;
            assert!(outcome.is_ok() || left, "{at}: {outcome:?}");
        }
        let other = usize::from(leaver.0 % 5) + 1;
        let sums = told(&records[other].items());
        assert_eq!(sums.len(), 3, "all trees were told, whoever left");
        for (question, sum) in sums.iter().enumerate() {
            let sum_of = |owners: &[usize]| -> Vec<i64> {
                let parts: Vec<Vec<i64>> = owners
                    .iter()
                    .map(|owner| added[*owner].lock().unwrap()[question].clone())
                    .collect();
                let total = |place: usize| -> i128 { parts.iter().map(|part| i128::from(part[place])).sum() };
                (0..sum.values.len())
                    .map(|place| signed(residue(total(place))))
                    .collect()
            };
            let all: Vec<usize> = (0..5).collect();
            let others: Vec<usize> = all
                .iter()
                .copied()
                .filter(|&o| o + 1 != usize::from(leaver.0))
                .collect();
            let expected = match sum.contributions {
                5 => sum_of(&all),
                4 => sum_of(&others),
                count => panic!("a sum of {count} owners"),
            };
            assert_eq!(sum.values, expected, "step {at}, question {question}");
            if sum.contributions == 5 {
                whole += 1
            } else {
                without += 1
            }
        }
    }
    assert!(whole > 10 && without > 10, "{whole} and {without}");
}

/// Beyond d the run ends, and names who is absent.
#[test]
fn too_many_who_are_absent_end_the_run() {
    let horizontal = aggregated(2, 1);
    let spend = spending("4", "1e-6");
    let world = || {
        World::new(
            &horizontal,
            Labels::Two,
            spend,
            rows(Labels::Two, 5, 12),
            Noise::Exact,
        )
    };
    let steps = world().simulation().run().unwrap().steps;
    let (one, other) = (PartyId(2), PartyId(4));
    for at in (0..steps).step_by(3) {
        let world = world();
        let simulation = world.simulation().fault(at, Fault::Leave(one));
        let ended = simulation.fault(at, Fault::Leave(other)).run().unwrap();
        match &ended.outcomes[0] {
            Err(Error::Peer(e)) => assert!(e.parties.contains(&"owner 2".to_owned()), "{e:?}"),
            // Both had certified before they left.
            outcome => assert!(
                outcome.is_ok() && at + 15 > steps,
                "step {at} of {steps}: {outcome:?}"
            ),
        }
    }
}
