//! Every fault at every step of every party of a protocol.
//!
//! A setting says what its parties are and what it expects of each kind of fault, by a `match` without a wildcard: a kind of fault
//! that is added later does not compile until every setting has said what it comes to.

use privet::Error;
use privet::party::{Fault, PartyId, Role, Simulated, Simulation};

/// What a run comes to under a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// All parties have the result that they would have had.
    Same,
    /// Some party says which party is at fault, or all have their results.
    Named,
    /// Some party says which party is at fault.
    Ended,
}

/// Parties of a protocol with their ledgers.
pub trait World {
    /// What they are.
    type Role: Role;

    /// The same parties with new ledgers.
    fn again(&self) -> Self;

    /// A run of them. A second one with the same ledgers and records is the same run, taken up again.
    fn simulation(&self) -> Simulation<'_, Self::Role>;

    /// What counts of a party's result.
    fn shown(&self, output: <Self::Role as Role>::Output) -> Vec<u8>;

    /// What is expected; a `match` over all faults without a wildcard.
    fn expects(&self, fault: &Fault) -> Expected;

    /// What must hold besides, such as that nothing was paid twice. `all_ended` if every party has its result.
    fn check(&self, all_ended: bool);

    /// What the ledgers hold.
    fn ledgers(&self) -> Vec<String>;
}

/// All kinds of faults, to all parties; with those of a frame in several ways.
pub fn faults(parties: u16) -> Vec<Fault> {
    let mut all = vec![Fault::Drop];
    let mut next = Some(Fault::Drop);
    while let Some(fault) = next {
        next = after(&fault);
        all.extend(next.clone());
    }
    let each = all.into_iter().flat_map(|fault| variants(fault, parties));
    each.collect()
}

/// The kind of fault after this one: adding a kind means adding it here.
fn after(fault: &Fault) -> Option<Fault> {
    let party = PartyId(0);
    Some(match fault {
        Fault::Drop => Fault::Repeat,
        Fault::Repeat => Fault::Delay,
        Fault::Delay => Fault::Truncate(0),
        Fault::Truncate(_) => Fault::Flip(0),
        Fault::Flip(_) => Fault::Foreign,
        Fault::Foreign => Fault::Future,
        Fault::Future => Fault::Forge(vec![]),
        Fault::Forge(_) => Fault::Postpone,
        Fault::Postpone => Fault::Disconnect(party),
        Fault::Disconnect(_) => Fault::Restart(party),
        Fault::Restart(_) => Fault::Crash(party),
        Fault::Crash(_) => Fault::Leave(party),
        Fault::Leave(_) => Fault::Return(party),
        Fault::Return(_) => Fault::Stall(party),
        Fault::Stall(_) => Fault::Hurry(party),
        Fault::Hurry(_) => return None,
    })
}

fn variants(fault: Fault, parties: u16) -> Vec<Fault> {
    let each = |of: fn(PartyId) -> Fault| (0..parties).map(|n| of(PartyId(n))).collect();
    match fault {
        Fault::Truncate(_) => [0, 30, 91].map(Fault::Truncate).into(),
        Fault::Flip(_) => [0, 50, 80].map(Fault::Flip).into(),
        Fault::Forge(_) => [vec![], vec![9, 9, 9], vec![2, 0, 0, 0, 0, 0, 0, 0, 0]]
            .map(Fault::Forge)
            .into(),
        Fault::Disconnect(_) => each(Fault::Disconnect),
        Fault::Restart(_) => each(Fault::Restart),
        Fault::Crash(_) => each(Fault::Crash),
        Fault::Leave(_) => each(Fault::Leave),
        Fault::Return(_) => each(Fault::Return),
        Fault::Stall(_) => each(Fault::Stall),
        Fault::Hurry(_) => each(Fault::Hurry),
        once @ (Fault::Drop
        | Fault::Repeat
        | Fault::Delay
        | Fault::Foreign
        | Fault::Future
        | Fault::Postpone) => {
            vec![once]
        }
    }
}

/// How a party's record is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Records {
    /// Checkpoints are taken, and earlier items dropped.
    Checkpoints,
    /// Everything is replayed.
    Whole,
}

/// Runs the parties with every fault at every step; returns how many runs that were.
///
/// # Panics
/// If a run does not come to what is expected, or its parties, taken up again from their records, have other results.
pub fn enumerate<W: World>(world: &W, records: Records) -> u64 {
    let whole = begun(&world.again(), records)
        .run()
        .expect("a run without a fault");
    let (steps, parties) = (whole.steps, whole.outcomes.len() as u16);
    whole.all().expect("without a fault all end well");
    let mut runs = 0;
    for at in 0..steps {
        for fault in faults(parties) {
            one(&world.again(), records, at, &fault);
            runs += 1;
        }
    }
    runs
}

fn begun<W: World>(world: &W, records: Records) -> Simulation<'_, W::Role> {
    match records {
        Records::Checkpoints => world.simulation(),
        Records::Whole => world.simulation().without_checkpoints(),
    }
}

fn one<W: World>(world: &W, records: Records, at: u64, fault: &Fault) {
    let simulation = begun(world, records).fault(at, fault.clone());
    let stored = simulation.records();
    let ended = simulation.run();
    let ended = ended.unwrap_or_else(|e| panic!("{fault:?} at {at}, {records:?}: {e}"));
    let named = |e: &Error| matches!(e, Error::Peer(e) if !e.parties.is_empty());
    let wrong: Vec<&Error> = failures(&ended).chain(&ended.late).collect();
    // After the last frame nothing can happen to one.
    let expected = if ended.unused.is_empty() {
        world.expects(fault)
    } else {
        Expected::Same
    };
    let fine = match expected {
        Expected::Same => failures(&ended).next().is_none(),
        Expected::Named => true,
        Expected::Ended => !wrong.is_empty(),
    };
    assert!(
        fine,
        "{fault:?} at {at}, {records:?}: {expected:?}, and {wrong:?}"
    );
    assert!(
        wrong.iter().all(|e| named(e)),
        "{fault:?} at {at}, {records:?}: {wrong:?}"
    );
    let all_ended = failures(&ended).next().is_none();
    world.check(all_ended);
    if !all_ended {
        return;
    }
    // From the same records and ledgers, all parties come to the same result, and nothing is paid.
    let before = world.ledgers();
    let again = world.simulation().with_records(stored).schedule([1; 32]).run();
    let again = again.unwrap_or_else(|e| panic!("{fault:?} at {at}, taken up again: {e}"));
    let shown = |ended: Simulated<<W::Role as Role>::Output>| {
        let outputs = ended
            .all()
            .unwrap_or_else(|e| panic!("{fault:?} at {at}, taken up again: {e}"));
        outputs.into_iter().map(|o| world.shown(o)).collect::<Vec<_>>()
    };
    assert_eq!(shown(again), shown(ended), "{fault:?} at {at}, {records:?}");
    assert_eq!(
        world.ledgers(),
        before,
        "{fault:?} at {at}: a replay pays nothing"
    );
}

fn failures<T>(ended: &Simulated<T>) -> impl Iterator<Item = &Error> {
    ended.outcomes.iter().filter_map(|outcome| outcome.as_ref().err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_listed_once_for_each_party() {
        let all = faults(3);
        assert_eq!(all.len(), 6 + 9 + 7 * 3);
        for (place, fault) in all.iter().enumerate() {
            assert!(!all[..place].contains(fault), "{fault:?}");
        }
    }
}
