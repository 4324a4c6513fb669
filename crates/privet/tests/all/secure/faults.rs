//! Parties that are killed, and messages that are lost, repeated, reordered, cut, foreign or too early.

use privet::Error;
use privet::error::JournalFault;
use privet::party::{Fault, Item, MemoryRecord, PartyId, Seat, Simulation};
use privet::privacy::journal::Event;
use privet::setting::secure::{
    AttributeChoice, CoefficientRule, INITIATOR, Outcome, Party, RESPONDER, Secure,
};
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
            journals: self.rows.iter().map(|_| journal(&self.plan)).collect(),
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
            drop: Expected::Ended,
            repeat: Expected::Ended,
            truncate: Expected::Ended,
            flip: Expected::Ended,
            foreign: Expected::Ended,
            future: Expected::Ended,
            forge: Expected::Ended,
            // A party waits for an answer before it says more; but an outcome needs none. Nobody has a deadline.
            delay: match self.plan.has_circuits() {
                true => Expected::Ended,
                false => Expected::Nothing,
            },
            hurry: Expected::Nothing,
            // Between two parties nothing can overtake anything else.
            postpone: match self.rows.len() {
                2 => Expected::Nothing,
                _ => Expected::Same,
            },
            disconnect: Expected::Same,
            restart: Expected::Same,
            crash: Expected::Same,
            stall: Expected::Same,
            // A party that is no longer needed may go.
            leave: Expected::Named,
            come_back: Expected::Named,
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

    /// Whoever has the model first may go before the other has it.
    fn dispensable(&self, without: &[PartyId], _: &[(u64, Fault)]) -> bool {
        without.len() < self.rows.len()
    }
}

#[test]
fn no_fault_makes_another_model_or_a_second_entry() {
    let secure = Secure::builder().rounds(1).bins(4).build().unwrap();
    let world = World::new(&secure, [lines(8, 1), lines(6, 2)]);
    assert!(enumerate::enumerate(&world, Records::Whole, 1) > 100);
}

/// With joint computations: the seeds of their circuits come from the record.
#[test]
fn no_fault_of_a_joint_computation_makes_another_model() {
    if !full() {
        return;
    }
    let secure = Secure::builder()
        .rounds(2)
        .bins(4)
        .coefficient(CoefficientRule::Rounded);
    let secure = secure.attribute(AttributeChoice::Rendezvous).build().unwrap();
    let world = World::new(&secure, [lines(8, 1), lines(6, 2)]);
    assert!(enumerate::enumerate(&world, Records::Whole, 1) > 100);
    assert!(enumerate::enumerate(&world, Records::Checkpoints, 1) > 100);
}

/// Killed at any step, a party goes on from its record or its checkpoint, and says the same again.
#[test]
fn a_party_that_is_killed_goes_on_with_its_circuits() {
    let secure = Secure::builder()
        .rounds(3)
        .bins(4)
        .coefficient(CoefficientRule::Rounded);
    let world = World::new(&secure.build().unwrap(), [lines(8, 1), lines(6, 2)]);
    let ended = world.simulation().run().unwrap();
    let steps = ended.steps;
    let whole = ended.all().unwrap().remove(0).rounds;
    assert_eq!(whole.len(), 3);
    for step in 0..steps {
        for party in [INITIATOR, RESPONDER] {
            let killed = world
                .simulation()
                .fault(step, Fault::Restart(party))
                .run()
                .unwrap();
            for outcome in killed.all().unwrap() {
                assert_eq!(outcome.rounds, whole, "{step} {party:?}");
            }
        }
    }
}

/// After a checkpoint a run goes on with the rows that it was begun with, and not with one changed cell.
#[test]
fn a_checkpoint_of_other_rows_is_refused() {
    let secure = Secure::builder()
        .rounds(3)
        .bins(4)
        .coefficient(CoefficientRule::Rounded);
    let world = World::new(&secure.build().unwrap(), [lines(8, 1), lines(6, 2)]);
    let simulation = world.simulation();
    let records = simulation.records();
    simulation.run().unwrap().all().unwrap();
    let mut other = enumerate::World::again(&world);
    other.journals = world.journals.clone();
    for rows in &mut other.rows {
        rows[0][3] = if rows[0][3] == "true" { "false" } else { "true" }.into();
    }
    for party in [INITIATOR, RESPONDER] {
        let items = records[usize::from(party.0)].items();
        let is_checkpoint = |item: &Item| matches!(item, Item::Checkpoint(_));
        assert!(items.iter().any(is_checkpoint), "{party:?}");
        let again = |world: &World| {
            let record = Box::new(MemoryRecord::of(items.clone()));
            let make = |run| world.make(party, &run);
            Seat::take(world.agreement.clone(), party, record, &|_, _, _| {}, make)
                .unwrap()
                .finish()
        };
        again(&world).unwrap();
        let refused = again(&other).unwrap_err();
        assert!(
            matches!(&refused, Error::Journal(e) if e.fault() == JournalFault::Damaged),
            "{refused:?}"
        );
    }
}
