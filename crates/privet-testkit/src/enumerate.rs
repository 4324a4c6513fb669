//! Every fault at every step of every party of a protocol.
//!
//! A setting says what its parties are and what it expects of each kind of fault. Each kind must have done something at least once, unless
//! the setting says that it cannot. A kind that a setting does not decide about does not compile ([`Expectations`]).

use std::collections::BTreeMap;

use privet::Error;
use privet::party::{Fault, PartyId, Role, Simulated, Simulation};

/// What a run comes to under a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// It never finds anything to happen to in this setting.
    Nothing,
    /// All parties have the result that they would have had.
    Same,
    /// Some party says which party is at fault, or all have their results.
    Named,
    /// Some party says which party is at fault.
    Ended,
}

/// What is expected of each kind of fault. A setting that leaves one out does not compile, nor does this file if a kind is added to
/// [`Fault`] and not here:
///
/// ```compile_fail,E0063
/// use privet_testkit::enumerate::{Expectations, Expected};
///
/// Expectations { drop: Expected::Ended, repeat: Expected::Ended, delay: Expected::Nothing };
/// ```
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Expectations {
    pub drop: Expected,
    pub repeat: Expected,
    pub delay: Expected,
    pub truncate: Expected,
    pub flip: Expected,
    pub foreign: Expected,
    pub future: Expected,
    pub forge: Expected,
    pub postpone: Expected,
    pub disconnect: Expected,
    pub restart: Expected,
    pub crash: Expected,
    pub leave: Expected,
    /// Of [`Fault::Return`].
    pub come_back: Expected,
    pub stall: Expected,
    pub hurry: Expected,
}

impl Expectations {
    /// What is expected of a fault.
    pub fn of(&self, fault: &Fault) -> Expected {
        match fault {
            Fault::Drop => self.drop,
            Fault::Repeat => self.repeat,
            Fault::Delay => self.delay,
            Fault::Truncate(_) => self.truncate,
            Fault::Flip(_) => self.flip,
            Fault::Foreign => self.foreign,
            Fault::Future => self.future,
            Fault::Forge(_) => self.forge,
            Fault::Postpone => self.postpone,
            Fault::Disconnect(_) => self.disconnect,
            Fault::Restart(_) => self.restart,
            Fault::Crash(_) => self.crash,
            Fault::Leave(_) => self.leave,
            Fault::Return(_) => self.come_back,
            Fault::Stall(_) => self.stall,
            Fault::Hurry(_) => self.hurry,
        }
    }
}

/// Parties of a protocol with their ledgers.
pub trait World {
    /// What they are.
    type Role: Role;

    /// The same parties with new ledgers.
    fn again(&self) -> Self;

    /// A run of them. A second one with the same ledgers and records is the same run, taken up again.
    fn simulation(&self) -> Simulation<'_, Self::Role>;

    /// What counts of a party's result: the same however often this run is taken up again.
    fn shown(&self, output: &<Self::Role as Role>::Output) -> Vec<u8>;

    /// What of it is the same in every run of these parties, with whatever ledgers.
    fn compared(&self, output: &<Self::Role as Role>::Output) -> Vec<u8> {
        self.shown(output)
    }

    /// What is expected of each kind of fault.
    fn expects(&self) -> Expectations;

    /// What must hold besides, such as that nothing was paid twice. `all_ended` if every party has its result.
    fn check(&self, all_ended: bool);

    /// What the ledgers hold.
    fn ledgers(&self) -> Vec<String>;

    /// Whether these parties may have no result when a run that met these faults is taken up again, because the protocol lets the others go on
    /// without them.
    fn dispensable(&self, without: &[PartyId], faults: &[(u64, Fault)]) -> bool {
        let _ = faults;
        without.is_empty()
    }
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

/// Runs the parties with every fault at every step, and with every party leaving at every step before another is killed; returns how many
/// runs that were. Of every `each` such runs one is made, so that a few of them try every kind of fault at all parts of a run.
///
/// # Panics
/// If a run does not come to what is expected; if a kind of fault never did anything, or did where nothing is expected of it; if the
/// parties, taken up again from their records, do not all end well (but for [`World::dispensable`] ones), or have other results.
pub fn enumerate<W: World>(world: &W, records: Records, each: usize) -> u64 {
    let first = world.again();
    let whole = begun(&first, records).run().expect("a run without a fault");
    let (steps, parties) = (whole.steps, whole.outcomes.len() as u16);
    let outputs = whole.all().expect("without a fault all end well");
    let right: Vec<Vec<u8>> = outputs.iter().map(|output| first.compared(output)).collect();
    let mut happened = BTreeMap::new();
    let mut runs = 0;
    let mut place = 0;
    let mut is_tried = move || {
        place += 1;
        place % each == 0
    };
    for at in 0..steps {
        for fault in faults(parties) {
            if !is_tried() {
                continue;
            }
            let run = Run {
                world: &world.again(),
                records,
                right: &right,
                faults: vec![(at, fault.clone())],
            };
            let did = run.check(world.expects().of(&fault));
            *happened.entry(kind(&fault)).or_insert(false) |= did;
            runs += 1;
        }
        for (leaving, killed) in pairs(parties) {
            if !is_tried() {
                continue;
            }
            let run = Run {
                world: &world.again(),
                records,
                right: &right,
                faults: vec![(at, Fault::Leave(leaving)), (at + 1, Fault::Restart(killed))],
            };
            run.check(Expected::Named);
            runs += 1;
        }
    }
    for fault in faults(parties) {
        let expected = world.expects().of(&fault) != Expected::Nothing;
        let did = happened.get(&kind(&fault)).copied().unwrap_or(false);
        assert_eq!(did, expected, "{fault:?}, {records:?}");
    }
    runs
}

/// Faults of one kind do the same thing, in several ways or to several parties.
fn kind(fault: &Fault) -> String {
    let text = format!("{fault:?}");
    text.split('(').next().unwrap_or_default().into()
}

fn pairs(parties: u16) -> impl Iterator<Item = (PartyId, PartyId)> {
    let all = (0..parties).flat_map(move |one| (0..parties).map(move |other| (one, other)));
    all.filter(|(one, other)| one != other)
        .map(|(one, other)| (PartyId(one), PartyId(other)))
}

fn begun<W: World>(world: &W, records: Records) -> Simulation<'_, W::Role> {
    match records {
        Records::Checkpoints => world.simulation(),
        Records::Whole => world.simulation().without_checkpoints(),
    }
}

struct Run<'a, W> {
    world: &'a W,
    records: Records,
    /// The results without a fault.
    right: &'a [Vec<u8>],
    faults: Vec<(u64, Fault)>,
}

impl<W: World> Run<'_, W> {
    /// Whether the faults did anything.
    fn check(&self, expected: Expected) -> bool {
        let about = format!("{:?}, {:?}", self.faults, self.records);
        let mut simulation = begun(self.world, self.records);
        for (at, fault) in &self.faults {
            simulation = simulation.fault(*at, fault.clone());
        }
        let stored = simulation.records();
        let ended = simulation.run();
        let ended = ended.unwrap_or_else(|e| panic!("{about}: {e}"));
        let named = |e: &Error| matches!(e, Error::Peer(e) if !e.parties.is_empty());
        let wrong: Vec<&Error> = failures(&ended).chain(&ended.late).collect();
        let happened = ended.unused.is_empty();
        let all_ended = failures(&ended).next().is_none();
        let fine = match expected {
            _ if !happened => all_ended || self.faults.len() > 1,
            Expected::Same => all_ended,
            Expected::Named => true,
            Expected::Ended => !wrong.is_empty(),
            Expected::Nothing => false,
        };
        assert!(fine, "{about}: {expected:?}, and {wrong:?}");
        assert!(wrong.iter().all(|e| named(e)), "{about}: {wrong:?}");
        self.world.check(all_ended);
        let untouched = ended.unused.len() == self.faults.len();
        let same = matches!(expected, Expected::Same) || untouched;
        let first = self.shown(&ended, same, &about);
        // From the same records and ledgers all parties come to their results, the same if they had some. Nothing is paid twice.
        let before = self.world.ledgers();
        let again = self
            .world
            .simulation()
            .with_records(stored)
            .schedule([1; 32])
            .run();
        let again = again.unwrap_or_else(|e| panic!("{about}, taken up again: {e}"));
        let left: Vec<&Error> = failures(&again).collect();
        let without: Vec<PartyId> = (0..)
            .zip(&again.outcomes)
            .filter(|(_, outcome)| outcome.is_err())
            .map(|(party, _)| PartyId(party))
            .collect();
        let fine = self.world.dispensable(&without, &self.faults) && left.iter().all(|e| named(e));
        assert!(fine, "{about}, taken up again without {without:?}: {left:?}");
        let all_again = left.is_empty();
        let second = self.shown(&again, same, &about);
        for (first, second) in first.into_iter().zip(second) {
            assert!(first.is_none() || first == second, "{about}, taken up again");
        }
        self.world.check(all_again);
        if all_ended {
            assert_eq!(self.world.ledgers(), before, "{about}: a replay pays nothing");
        }
        happened
    }

    /// The results of those that have one; `same` if they must be as without a fault.
    fn shown(
        &self,
        ended: &Simulated<<W::Role as Role>::Output>,
        same: bool,
        about: &str,
    ) -> Vec<Option<Vec<u8>>> {
        let outcomes = ended.outcomes.iter().map(|outcome| outcome.as_ref().ok());
        let compared = |(output, right): (Option<&<W::Role as Role>::Output>, &Vec<u8>)| {
            let output = output?;
            if same {
                assert_eq!(&self.world.compared(output), right, "{about}: another result");
            }
            Some(self.world.shown(output))
        };
        outcomes.zip(self.right).map(compared).collect()
    }
}

fn failures<T>(ended: &Simulated<T>) -> impl Iterator<Item = &Error> {
    ended.outcomes.iter().filter_map(|outcome| outcome.as_ref().err())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use privet::party::{Context, PartyEvent, TurnOutcome};
    use privet::wire::Wire;

    use super::*;

    /// A hub that waits for two words of each of two others, but not longer than its deadline; they say both at once.
    enum Toy {
        Hub(BTreeMap<PartyId, u8>),
        Other,
    }

    type Turn = Result<TurnOutcome<Toy>, Error>;
    const HUB: PartyId = PartyId(0);

    impl Role for Toy {
        type Message = Vec<u8>;
        type Output = u8;

        fn start(self, context: &mut Context<'_, Vec<u8>>) -> Turn {
            if let Self::Hub(_) = self {
                context.deadline(1, Duration::from_secs(1));
                return Ok(TurnOutcome::Continue(self));
            }
            Ok(TurnOutcome::Working(self))
        }

        fn handle(mut self, event: PartyEvent<Vec<u8>>, context: &mut Context<'_, Vec<u8>>) -> Turn {
            let Self::Hub(words) = &mut self else {
                let (_, message) = event.message(context)?;
                return Ok(TurnOutcome::Finished(message[0]));
            };
            match event {
                PartyEvent::Deadline(_) => {}
                other => {
                    let (from, message) = other.message(context)?;
                    let word = words.entry(from).or_default();
                    if message != [*word] {
                        return Err(context.complain(from, "not its next word"));
                    }
                    *word += 1;
                    if words.values().sum::<u8>() < 4 {
                        let state = [1, 2].map(|n| words.get(&PartyId(n)).copied().unwrap_or(0));
                        context.checkpoint(&state.to_vec());
                        return Ok(TurnOutcome::Continue(self));
                    }
                }
            }
            let count = words.values().sum();
            for party in context.others() {
                context.send(party, &vec![count])?;
            }
            Ok(TurnOutcome::Finished(count))
        }

        fn resume(self, context: &mut Context<'_, Vec<u8>>) -> Turn {
            for word in [0, 1] {
                context.send(HUB, &vec![word])?;
            }
            Ok(TurnOutcome::Continue(self))
        }

        fn restore(self, state: &[u8], _: &mut Context<'_, Vec<u8>>) -> Turn {
            let state = Vec::from_bytes(state).expect("a state");
            let words = [(PartyId(1), state[0]), (PartyId(2), state[1])];
            Ok(TurnOutcome::Continue(Self::Hub(words.into())))
        }

        fn waits_for(&self) -> Vec<PartyId> {
            vec![HUB]
        }

        fn most_bytes(&self, _: PartyId) -> Option<u64> {
            Some(20)
        }
    }

    struct Three;

    impl World for Three {
        type Role = Toy;

        fn again(&self) -> Self {
            Self
        }

        fn simulation(&self) -> Simulation<'_, Toy> {
            let names = ["hub", "one", "other"].map(String::from).into();
            let make = |party, _| {
                Ok(if party == HUB {
                    Toy::Hub(BTreeMap::new())
                } else {
                    Toy::Other
                })
            };
            Simulation::new(names, make).expect("names")
        }

        fn shown(&self, output: &u8) -> Vec<u8> {
            vec![*output]
        }

        fn expects(&self) -> Expectations {
            Expectations {
                // The deadline passes, and those that wait for the lost words are told the count.
                drop: Expected::Named,
                repeat: Expected::Named,
                delay: Expected::Named,
                truncate: Expected::Ended,
                flip: Expected::Ended,
                foreign: Expected::Ended,
                future: Expected::Ended,
                forge: Expected::Ended,
                postpone: Expected::Same,
                disconnect: Expected::Same,
                restart: Expected::Same,
                crash: Expected::Same,
                leave: Expected::Named,
                come_back: Expected::Named,
                stall: Expected::Named,
                hurry: Expected::Named,
            }
        }

        fn check(&self, _: bool) {}

        fn ledgers(&self) -> Vec<String> {
            Vec::new()
        }
    }

    /// Frames that overtake each other and deadlines, which settings have not yet.
    #[test]
    fn every_kind_of_fault_happens_to_a_toy() {
        for records in [Records::Checkpoints, Records::Whole] {
            assert!(enumerate(&Three, records, 1) > 100);
        }
    }

    #[test]
    fn every_kind_is_listed_once_for_each_party() {
        let all = faults(3);
        assert_eq!(all.len(), 6 + 9 + 7 * 3);
        for (place, fault) in all.iter().enumerate() {
            assert!(!all[..place].contains(fault), "{fault:?}");
        }
    }
}
