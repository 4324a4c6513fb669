//! Parties that are killed, and messages that are lost, repeated, reordered, cut, foreign or too early.

use std::collections::BTreeSet;

use privet::party::{Fault, PartyId, Simulation};
use privet::privacy::journal::Event;
use privet::setting::horizontal::{Horizontal, MINER, Outcome, Party, Protocol, Splits, Trees};
use privet_testkit::enumerate::{self, Expectations, Expected, Records};
use privet_testkit::skipped::full;

use super::judges::held_out;
use super::protocols::rows;
use super::world::{Drawn, Labels, Noise, World, journal, paid, spending, trees, units};

fn world(protocol: Protocol, owners: usize, count: u32) -> World {
    let trees = trees(count).calibrate(false).build().unwrap();
    let builder = Horizontal::builder().protocol(protocol).absent(1).trees(trees);
    let builder = match protocol {
        Protocol::Aggregated => builder.colluding(1),
        Protocol::Averaged | Protocol::Chain => builder,
    };
    // A chain ends with its model, the others with a report on held-out rows.
    let builder = match protocol {
        Protocol::Chain => builder,
        Protocol::Aggregated | Protocol::Averaged => builder.evaluation(held_out("1", 40)),
    };
    World::new(
        &builder.build().unwrap(),
        Labels::Two,
        spending("4", "1e-6"),
        rows(Labels::Two, owners, 6),
        Noise::Exact,
    )
}

impl enumerate::World for World {
    type Role = Party;

    fn again(&self) -> Self {
        Self {
            plan: self.plan.clone(),
            agreement: self.agreement.clone(),
            rows: self.rows.clone(),
            noise: self.noise,
            journals: self.journals.iter().map(|_| journal(&self.plan)).collect(),
            drawn: self.journals.iter().map(|_| Drawn::default()).collect(),
        }
    }

    fn simulation(&self) -> Simulation<'_, Party> {
        World::simulation(self)
    }

    fn shown(&self, output: &Outcome) -> Vec<u8> {
        match output {
            Outcome::Trained {
                model,
                owners,
                report,
            } => format!("{owners} {:?} {report:?}", model.ensemble()).into_bytes(),
            Outcome::Contributed(_) => Vec::new(),
        }
    }

    fn expects(&self) -> Expectations {
        Expectations {
            // One owner may be absent, and the miner may not.
            drop: Expected::Named,
            repeat: Expected::Named,
            truncate: Expected::Named,
            flip: Expected::Named,
            foreign: Expected::Named,
            future: Expected::Named,
            forge: Expected::Named,
            leave: Expected::Named,
            come_back: Expected::Named,
            stall: Expected::Named,
            hurry: Expected::Named,
            // A party waits for an answer before it says more.
            delay: match self.plan.horizontal().broadcast() {
                false => Expected::Nothing,
                // Who waits is sent trees, and then its turn: the second is not to overtake the first.
                true => Expected::Named,
            },
            postpone: Expected::Same,
            disconnect: Expected::Same,
            restart: Expected::Same,
            crash: Expected::Same,
        }
    }

    /// Nothing is paid twice: no ledger has two payments for the same purpose. What was drawn is compared with them at every draw.
    fn check(&self, all_ended: bool) {
        for (journal, drawn) in self.journals.iter().zip(&self.drawn) {
            let mut purposes = BTreeSet::new();
            for entry in journal.entries() {
                if let Event::Spend { what, .. } = entry.event() {
                    assert!(purposes.insert(what.clone()), "{what} is paid for twice");
                }
            }
            if all_ended {
                // A price that is split over several trees is rounded down for each.
                let (paid, price) = (paid(journal), units(self.plan.price()));
                assert!(paid <= price && price - paid < 16, "{paid} of {price}");
                assert!(!drawn.lock().unwrap().is_empty());
            }
        }
    }

    fn ledgers(&self) -> Vec<String> {
        let entries = self.journals.iter().map(|journal| journal.entries());
        // Every opened ledger of an audited run says that it is void.
        entries
            .map(|entries| {
                let text = entries.iter().map(|entry| format!("{:?}", entry.event()));
                let paid = text.filter(|text| !text.contains("Void"));
                paid.collect::<Vec<_>>().join("\n")
            })
            .collect()
    }

    /// As many owners as may be absent: those that the miner has left out. The miner itself comes to its result, unless it was away: then all
    /// owners end, and it may have noted of too many that they are gone.
    fn dispensable(&self, without: &[PartyId], faults: &[(u64, Fault)]) -> bool {
        let away = [Fault::Leave(MINER), Fault::Return(MINER), Fault::Stall(MINER)];
        let was_away = faults.iter().any(|(_, fault)| away.contains(fault));
        was_away || without.len() <= self.plan.absent() as usize && !without.contains(&MINER)
    }
}

/// One of so many faults is tried, unless everything is.
fn each(count: usize) -> usize {
    if full() { 1 } else { count }
}

#[test]
fn no_fault_of_joint_sums_makes_another_model_or_a_second_payment() {
    let world = world(Protocol::Aggregated, 4, if full() { 3 } else { 1 });
    // A run has hundreds of steps, and all faults at all of them would take a quarter of an hour.
    let tried = enumerate::enumerate(&world, Records::Checkpoints, if full() { 9 } else { 31 });
    assert!(tried > if full() { 200 } else { 60 }, "{tried}");
    if full() {
        assert!(enumerate::enumerate(&world, Records::Whole, 11) > 200);
    }
}

#[test]
fn no_fault_of_models_trained_apart_makes_another_model_or_a_second_payment() {
    for protocol in [Protocol::Averaged, Protocol::Chain] {
        let world = world(protocol, 3, 2);
        assert!(enumerate::enumerate(&world, Records::Whole, each(9)) > 50);
    }
}

/// The paper's trees in two rounds, measured and broadcast: what was drawn before a crash is found again, in the same portion.
#[test]
fn no_fault_of_rounds_makes_another_model_or_a_second_payment() {
    let horizontal = super::rounds::greedy().rounds(2).quality(0.5).broadcast(true);
    let horizontal = horizontal.trees(
        Trees::builder()
            .splits(Splits::NoisyGreedy)
            .depth(1)
            .calibrate(false)
            .build()
            .unwrap(),
    );
    let world = World::new(
        &horizontal.build().unwrap(),
        Labels::Two,
        spending("4", "1e-6"),
        rows(Labels::Two, if full() { 3 } else { 2 }, 6),
        Noise::Exact,
    );
    assert!(enumerate::enumerate(&world, Records::Whole, each(5)) > 50);
}
