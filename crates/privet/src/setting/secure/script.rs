//! What one party does, step by step, without messages: what it needs next of the other, and what it makes of that.

use privet_mpc::circuit::Counted;

use super::checkpoint::SavedScript;
use super::circuits::{Circuits, Comparing, JointCircuit};
use super::course::{Beginning, Course, Halves, Seen, compared, comparisons};
use super::joint::{self, Shown};
use super::side::Side;
use super::voter::Voter;
use super::weak::{Round, Weak};
use super::{AttributeChoice, Classifier, Plan};
use crate::Error;
use crate::boost::{Ensemble, TOTAL, WholeRates};

/// What is needed next.
pub(super) enum Need {
    /// A joint computation with these bits of one's own; where a place is chosen at random, coins come besides.
    Circuit(Counted<JointCircuit>, Vec<bool>),
    /// The other party's classifier, for one's own.
    Voter(Voter),
    /// The other party's rates, for one's own.
    Rates(WholeRates),
    /// Nothing: the run is over.
    End,
}

enum Phase {
    Begins,
    /// With the groups of attributes that this party can meet at.
    Meeting(Vec<bool>),
    Halving(Halves, Vec<bool>),
    Searching(Option<usize>),
    Voting(Voter),
    Weighing(Weak, WholeRates),
    Stopping,
}

/// One party's part of a run.
pub(super) struct Script {
    plan: Plan,
    course: Course,
    side: Side,
    /// The digest of the side's rows.
    rows: [u8; 32],
    circuits: Circuits,
    is_initiator: bool,
    phase: Phase,
}

impl Script {
    pub(super) fn new(plan: &Plan, seed: [u8; 32], side: Side, is_initiator: bool) -> Self {
        Self {
            plan: plan.clone(),
            course: Course::new(plan, seed),
            rows: side.digest(),
            side,
            circuits: Circuits::default(),
            is_initiator,
            phase: Phase::Begins,
        }
    }

    /// With all rows of the same weight: so many are the other party's.
    pub(super) fn weigh_rows(&mut self, others: u64) {
        let rows = others.saturating_add(self.side.rows() as u64);
        self.side.weigh(TOTAL, rows);
    }

    /// The digest of this party's rows.
    pub(super) fn rows(&self) -> &[u8; 32] {
        &self.rows
    }

    pub(super) fn rounds(&self) -> &[Round] {
        self.course.rounds()
    }

    pub(super) fn ensemble(&self) -> Ensemble {
        self.course.ensemble()
    }

    /// The state between two tries of rounds; nothing in the middle of one.
    pub(super) fn save(&self) -> Option<SavedScript> {
        matches!(self.phase, Phase::Begins).then(|| SavedScript {
            course: self.course.state(),
            rows: self.rows,
            start: self.side.start(),
            weights: self.side.weights().to_vec().into(),
        })
    }

    /// Goes on from such a state; nothing if it is one of other rows.
    pub(super) fn restored(mut self, saved: SavedScript) -> Option<Self> {
        let SavedScript {
            course,
            rows,
            start,
            weights,
        } = saved;
        if rows != self.rows || course.output >= self.plan.outputs() {
            return None;
        }
        self.side.turn_to(course.output);
        self.side = self.side.with_weights(start, weights.to_vec())?;
        let of_class = course.rounds.iter().filter(|round| round.output == course.output);
        of_class.for_each(|round| self.side.score(round));
        self.course = self.course.restored(course);
        Some(self)
    }

    /// What is needed next.
    pub(super) fn need(&mut self) -> Result<Need, Error> {
        if let Phase::Begins = self.phase
            && self.course.asks_to_stop()
        {
            self.phase = Phase::Stopping;
        }
        if let Phase::Begins = self.phase {
            let mut begins = self.course.begin();
            while let Beginning::Class(class) = begins {
                self.side.turn_to(class);
                begins = self.course.begin();
            }
            self.phase = match begins {
                Beginning::End | Beginning::Class(_) => return Ok(Need::End),
                Beginning::Stumps(group) => self.with(group),
                Beginning::Rendezvous => {
                    let free = self.course.free(&self.side);
                    match self.plan.secure().attribute {
                        AttributeChoice::RendezvousByHalves => Phase::Halving(self.course.halves(), free),
                        _ => Phase::Meeting(free),
                    }
                }
            };
        }
        Ok(match &self.phase {
            Phase::Begins => return Err(Error::internal("a round that has begun is at work")),
            Phase::Meeting(free) => Need::Circuit(self.circuits.meeting(free.len())?, free.clone()),
            Phase::Halving(halves, free) => {
                let asked = halves.asked(free);
                Need::Circuit(self.circuits.common(asked.len())?, asked)
            }
            Phase::Searching(group) => {
                let numbers = joint::inputs(&self.side, *group);
                let circuit = self.circuits.least(numbers.len())?;
                let JointCircuit::Least(argmin) = &*circuit else {
                    return Err(Error::internal("the circuit that was asked for"));
                };
                let bits = argmin.input(&numbers);
                let bits = bits.map_err(|e| Error::internal(format!("errors have 31 digits ({e})")))?;
                Need::Circuit(circuit, bits)
            }
            Phase::Voting(own) => Need::Voter(own.clone()),
            Phase::Stopping => {
                let number = [joint::stop_number(&self.plan, &self.side)];
                Need::Circuit(self.circuits.comparing(1)?, self.compared(&number))
            }
            Phase::Weighing(_, rates) => match joint::shown(&self.plan) {
                Shown::Rates => Need::Rates(*rates),
                _ => {
                    let numbers = comparisons(&self.plan, rates, self.is_initiator);
                    Need::Circuit(self.circuits.comparing(numbers.len())?, self.compared(&numbers))
                }
            },
        })
    }

    /// This party's bits of a comparison. The initiator evaluates.
    fn compared(&self, numbers: &[i64]) -> Vec<bool> {
        match self.is_initiator {
            true => Comparing::evaluator(numbers),
            false => Comparing::garbler(numbers),
        }
    }

    fn with(&self, group: Option<usize>) -> Phase {
        match self.plan.secure().classifier {
            Classifier::Joint => Phase::Searching(group),
            Classifier::Merged => Phase::Voting(self.side.voter(group)),
        }
    }

    /// Takes what came out of a joint computation; an error says what is wrong with it.
    pub(super) fn take_bits(&mut self, circuit: &JointCircuit, bits: &[bool]) -> Result<(), &'static str> {
        let phase = std::mem::replace(&mut self.phase, Phase::Begins);
        let (found, free) = match (phase, circuit) {
            (Phase::Meeting(free), JointCircuit::Meeting(rendezvous)) => (rendezvous.decode(bits), free),
            (Phase::Halving(mut halves, free), JointCircuit::Common(..)) => {
                let &[common] = bits else {
                    return Err("it says that a joint computation gave something else than one bit");
                };
                match halves.answer(common) {
                    Some(found) => (found, free),
                    None => {
                        self.phase = Phase::Halving(halves, free);
                        return Ok(());
                    }
                }
            }
            (Phase::Searching(group), JointCircuit::Least(argmin)) => {
                let mut candidates = self.plan.candidates(group);
                let place = argmin.decode(bits).filter(|place| *place < candidates.len());
                let place = place.ok_or("it says that a joint computation found no stump")?;
                self.merged(Weak::single(candidates.swap_remove(place)));
                return Ok(());
            }
            (Phase::Weighing(weak, _), JointCircuit::Comparing(_)) => {
                let compared = compared(&self.plan, bits);
                let compared = compared.ok_or("it says that a joint computation compared something else")?;
                self.settle(weak, Seen::Compared(compared));
                return Ok(());
            }
            (Phase::Stopping, JointCircuit::Comparing(_)) => {
                let &[good_enough] = bits else {
                    return Err("it says that a joint computation gave something else than one bit");
                };
                self.course.stops(good_enough);
                return Ok(());
            }
            _ => return Err("a joint computation that was not begun"),
        };
        // Else one who does not follow the protocol could have an attribute tried again and again.
        if let Some(group) = found
            && free.get(group) != Some(&true)
        {
            return Err(
                "it says that both meet at an attribute that was tried, or that has no good stump here",
            );
        }
        if let Beginning::Stumps(group) = self.course.found(found) {
            self.phase = self.with(group);
        }
        Ok(())
    }

    /// Takes the other party's classifier; an error says what is wrong with it.
    pub(super) fn take_voter(&mut self, other: Voter) -> Result<(), &'static str> {
        let Phase::Voting(own) = &self.phase else {
            return Err("a classifier that was not asked for");
        };
        self.plan.check_voter(&other, self.course.group())?;
        let (first, second) = match self.is_initiator {
            true => (own.clone(), other),
            false => (other, own.clone()),
        };
        self.merged(Weak::merged(first, second));
        Ok(())
    }

    /// Takes the other party's rates; an error says what is wrong with them.
    pub(super) fn take_rates(&mut self, other: WholeRates) -> Result<(), &'static str> {
        match std::mem::replace(&mut self.phase, Phase::Begins) {
            Phase::Weighing(weak, own) if other.is_sound() => {
                self.settle(weak, Seen::Rates(own.plus(other)));
                Ok(())
            }
            _ => Err("rates that cannot be"),
        }
    }

    /// Both have the classifier of this round. What always abstains is not weighed.
    fn merged(&mut self, weak: Weak) {
        if weak.is_opposite() || joint::shown(&self.plan) == Shown::Nothing {
            return self.settle(weak, Seen::Nothing);
        }
        let rates = self.side.rates(&weak);
        self.phase = Phase::Weighing(weak, rates);
    }

    fn settle(&mut self, weak: Weak, seen: Seen) {
        self.phase = Phase::Begins;
        if let Some(alpha) = self.course.settle(weak.clone(), seen) {
            self.course.reweigh(&mut self.side, &weak, alpha, seen);
        }
    }
}
