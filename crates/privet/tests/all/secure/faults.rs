//! Parties that are killed, and messages that are lost, repeated, reordered, cut, foreign or too early.

use std::collections::BTreeSet;

use privet::Error;
use privet::error::JournalFault;
use privet::party::{Fault, Item, MemoryRecord, PartyId, Seat, Simulation};
use privet::privacy::journal::Event;
use privet::setting::secure::{
    AttributeChoice, Classifier, CoefficientRule, INITIATOR, Message, Outcome, Party, RESPONDER, Secure,
    StartWeights,
};
use privet_testkit::enumerate::{self, Expectations, Expected, Records};
use privet_testkit::skipped::full;

use super::world::{Net, World, journal, lines, lines_of, schema_of};

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

/// With three classes.
#[test]
fn no_fault_of_three_classes_makes_another_model() {
    let secure = Secure::builder().rounds(1).bins(4).build().unwrap();
    let lines = [lines_of(3, 8, 1), lines_of(3, 6, 2)];
    let world = World::of(&schema_of(3), &secure, lines);
    let every = if full() { 1 } else { 5 };
    assert!(enumerate::enumerate(&world, Records::Whole, every) > 50);
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

/// The same with three classes: a checkpoint may lie where one class is over, early or late, and the next begins with weights of the beginning.
#[test]
fn a_party_that_is_killed_goes_on_with_its_class() {
    let rounded = || {
        Secure::builder()
            .rounds(2)
            .bins(4)
            .coefficient(CoefficientRule::Rounded)
    };
    let joint = || rounded().classifier(Classifier::Joint).start(StartWeights::Rows);
    let each = [
        rounded().stop_at(0.3),
        joint().attribute(AttributeChoice::All).stop_at(0.4),
        rounded().attribute(AttributeChoice::RendezvousByHalves),
    ];
    let mut early = 0;
    for (number, secure) in each.into_iter().enumerate() {
        let lines = [lines_of(3, 8, 1), lines_of(3, 6, 2)];
        let world = World::of(&schema_of(3), &secure.build().unwrap(), lines);
        let simulation = world.simulation();
        let records = simulation.records();
        let ended = simulation.run().unwrap();
        let steps = ended.steps;
        let whole = ended.all().unwrap().remove(0).rounds;
        let outputs: BTreeSet<usize> = whole.iter().map(|round| round.output).collect();
        assert_eq!(outputs.len(), 3, "{number}");
        early += usize::from(whole.len() < 6);
        let is_checkpoint = |item: &Item| matches!(item, Item::Checkpoint(_));
        assert!(
            records
                .iter()
                .any(|record| record.items().iter().any(is_checkpoint)),
            "{number}"
        );
        // The short form kills the two in turns.
        for step in 0..steps {
            for party in [INITIATOR, RESPONDER] {
                if !full() && step % 2 != u64::from(party.0) {
                    continue;
                }
                let killed = world
                    .simulation()
                    .fault(step, Fault::Restart(party))
                    .run()
                    .unwrap();
                for outcome in killed.all().unwrap() {
                    assert_eq!(outcome.rounds, whole, "{number} {step} {party:?}");
                }
            }
        }
    }
    assert!(early > 0);
}

/// What was said for one class says nothing in another: choices, circuits and outcomes are of circuits with numbers of their own.
#[test]
fn messages_of_one_class_are_refused_in_another() {
    let secure = Secure::builder()
        .rounds(1)
        .bins(4)
        .coefficient(CoefficientRule::Rounded);
    let lines = || [lines_of(3, 8, 1), lines_of(3, 6, 2)];
    let world = World::of(&schema_of(3), &secure.build().unwrap(), lines());
    let is_kind = |kind: usize, message: &Message| match kind {
        0 => matches!(message, Message::Choices(_)),
        1 => matches!(message, Message::Garbled(_)),
        _ => matches!(message, Message::Outcome(_)),
    };
    for kind in 0..3 {
        let mut net = Net::new(&world);
        let (mut first, mut replayed) = (None, 0);
        net.carry(|_, message| {
            if !is_kind(kind, &message) {
                return Some(message);
            }
            match &first {
                None => {
                    first = Some(message.clone());
                    Some(message)
                }
                Some(first) => {
                    replayed += 1;
                    Some(first.clone())
                }
            }
        });
        assert_eq!(replayed, 1, "{kind}");
        let (liar, hears) = if kind == 1 { ("bob", 0) } else { ("ann", 1) };
        let outcome = &net.finish()[hears];
        assert!(
            matches!(outcome, Err(Error::Peer(e)) if e.parties == [liar]),
            "{kind}: {outcome:?}"
        );
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
