//! Parties that are killed, and messages that are lost, repeated, reordered, cut, foreign or too early.

use privet::party::Simulation;
use privet::privacy::journal::Event;
use privet::setting::secure::{AttributeChoice, CoefficientRule, Outcome, Party, Secure};
use privet_testkit::enumerate::{self, Expectations, Expected, Records};
use privet_testkit::skipped::full;

use super::world::{World, journal, lines};

impl enumerate::World for World {
    type Role = Party;

    fn again(&self) -> Self {
        Self {
            plan: self.plan.clone(),
            agreement: self.agreement.clone(),
            rows: self.rows.clone(),
            journals: [journal(&self.plan), journal(&self.plan)],
        }
    }

    fn simulation(&self) -> Simulation<'_, Party> {
        World::simulation(self)
    }

    fn shown(&self, output: &Outcome) -> Vec<u8> {
        format!("{:?}", output.model.ensemble()).into_bytes()
    }

    /// Where both meet is chosen by chance.
    fn compared(&self, output: &Outcome) -> Vec<u8> {
        match self.plan.secure().attribute() {
            AttributeChoice::Rendezvous => Vec::new(),
            _ => self.shown(output),
        }
    }

    fn expects(&self) -> Expectations {
        Expectations {
            drop: Expected::Named,
            repeat: Expected::Named,
            truncate: Expected::Named,
            flip: Expected::Named,
            foreign: Expected::Named,
            future: Expected::Named,
            forge: Expected::Named,
            leave: Expected::Named,
            come_back: Expected::Named,
            stall: Expected::Nothing,
            hurry: Expected::Nothing,
            delay: Expected::Nothing,
            postpone: Expected::Same,
            disconnect: Expected::Same,
            restart: Expected::Same,
            crash: Expected::Same,
        }
    }

    /// Nothing is written down twice.
    fn check(&self, _: bool) {
        for journal in &self.journals {
            let entries = journal.entries();
            let leaks = entries
                .iter()
                .filter(|entry| matches!(entry.event(), Event::Leak { .. }));
            assert!(leaks.count() <= self.plan.items().len());
        }
    }

    fn ledgers(&self) -> Vec<String> {
        let entries = self.journals.iter().map(|journal| journal.entries());
        entries
            .map(|entries| {
                let text = entries.iter().map(|entry| format!("{:?}", entry.event()));
                text.collect::<Vec<_>>().join("\n")
            })
            .collect()
    }

    fn dispensable(&self) -> usize {
        2
    }
}

#[test]
fn no_fault_makes_another_model_or_a_second_entry() {
    let secure = Secure::builder().rounds(1).bins(4).build().unwrap();
    let world = World::new(&secure, [lines(8, 1), lines(6, 2)]);
    assert!(enumerate::enumerate(&world, Records::Whole) > 100);
}

/// With joint computations: the seeds of their circuits come from the record.
#[test]
fn no_fault_of_a_joint_computation_makes_another_model() {
    if !full() {
        return;
    }
    let secure = Secure::builder()
        .rounds(1)
        .bins(4)
        .coefficient(CoefficientRule::Rounded);
    let secure = secure.attribute(AttributeChoice::Rendezvous).build().unwrap();
    let world = World::new(&secure, [lines(8, 1), lines(6, 2)]);
    assert!(enumerate::enumerate(&world, Records::Whole) > 100);
}
