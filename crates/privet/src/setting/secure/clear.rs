//! The same algorithm in the clear, with the rows of both parties in one place: what the protocol must give to the last bit. It is for figures, for
//! simulations and for tests.

use super::course::{Beginning, Course, Seen, compared, comparisons};
use super::side::Side;
use super::weak::{Round, Weak};
use super::{AttributeChoice, Classifier, Plan, StartWeights, joint};
use crate::boost::{Ensemble, TOTAL, WholeRates};
use crate::privacy::Coins;

/// Finds an attribute at which both are free, at random, or none. It stands for the joint computation.
pub type Meeting<'a> = &'a mut dyn FnMut(&[bool], &[bool]) -> Option<usize>;

/// A run in the clear, round by round.
pub struct InTheClear {
    plan: Plan,
    course: Course,
    sides: Vec<Side>,
    /// The rates of all together in the last round.
    rates: WholeRates,
}

impl InTheClear {
    /// The rows of all parties, the initiator's first, and public coins.
    pub fn new(plan: &Plan, sides: impl IntoIterator<Item = Side>, coins: &Coins) -> Self {
        let mut sides: Vec<Side> = sides.into_iter().collect();
        if *plan.secure().start() == StartWeights::Rows {
            let rows = sides.iter().map(|side| side.rows() as u64).sum();
            sides.iter_mut().for_each(|side| side.weigh(TOTAL, rows));
        }
        Self {
            plan: plan.clone(),
            course: Course::new(plan, coins.seed()),
            sides,
            rates: WholeRates::default(),
        }
    }

    /// The rows of all parties.
    pub fn sides(&self) -> &[Side] {
        &self.sides
    }

    /// All rounds so far.
    pub fn rounds(&self) -> &[Round] {
        self.course.rounds()
    }

    /// The rates of all parties together in the last round, before weights were changed.
    pub fn rates(&self) -> WholeRates {
        self.rates
    }

    /// The model so far.
    pub fn ensemble(&self) -> Ensemble {
        self.course.ensemble()
    }

    /// Does all rounds.
    pub fn finish(mut self, meeting: Meeting<'_>) -> Vec<Round> {
        while self.round(meeting) {}
        self.course.into_rounds()
    }

    /// The score that rounds add to now: of more than two classes, that of the class which is told from all others.
    pub fn output(&self) -> usize {
        self.course.output()
    }

    /// Does one try of a round, or turns to the next class; whether there may be another.
    pub fn round(&mut self, meeting: Meeting<'_>) -> bool {
        if self.course.asks_to_stop() {
            let numbers = self.sides.iter().map(|side| joint::stop_number(&self.plan, side));
            self.course.stops(numbers.sum::<i64>() >= 0);
        }
        let begins = self.course.begin();
        let met = begins == Beginning::Rendezvous;
        let begins = match met {
            true => {
                let found = self.meet(meeting);
                self.course.found(found)
            }
            false => begins,
        };
        let group = match begins {
            Beginning::Stumps(group) => group,
            Beginning::Class(class) => {
                self.sides.iter_mut().for_each(|side| side.turn_to(class));
                return true;
            }
            // Nothing was found in common: there may be another class.
            Beginning::End => return met && !self.course.is_last_class(),
            Beginning::Rendezvous => return false,
        };
        let weak = self.weak(group);
        let rates: Vec<WholeRates> = self.sides.iter().map(|side| side.rates(&weak)).collect();
        self.rates = rates
            .iter()
            .fold(WholeRates::default(), |sum, own| sum.plus(*own));
        let seen = self.seen(&rates);
        if let Some(alpha) = self.course.settle(weak.clone(), seen) {
            for side in &mut self.sides {
                self.course.reweigh(side, &weak, alpha, seen);
            }
        }
        true
    }

    fn meet(&mut self, meeting: Meeting<'_>) -> Option<usize> {
        let free: Vec<Vec<bool>> = self.sides.iter().map(|side| self.course.free(side)).collect();
        let [first, second] = free.as_slice() else {
            return None;
        };
        if *self.plan.secure().attribute() == AttributeChoice::Rendezvous {
            return meeting(first, second);
        }
        let mut halves = self.course.halves();
        loop {
            let (own, other) = (halves.asked(first), halves.asked(second));
            let common = own.iter().zip(other).any(|(own, other)| *own && other);
            if let Some(found) = halves.answer(common) {
                return found;
            }
        }
    }

    fn weak(&self, group: Option<usize>) -> Weak {
        if *self.plan.secure().classifier() == Classifier::Joint {
            let inputs: Vec<Vec<u64>> = self.sides.iter().map(|side| joint::inputs(side, group)).collect();
            let place = match inputs.as_slice() {
                [first, second] => joint::least(first, second),
                _ => 0,
            };
            return Weak::single(self.plan.candidates(group).swap_remove(place));
        }
        let voters = self.sides.iter().map(|side| side.voter(group));
        Weak::of(voters.collect(), self.plan.needed())
    }

    fn seen(&self, rates: &[WholeRates]) -> Seen {
        let [first, second] = rates else {
            let sums = rates.iter().map(joint::summands);
            let sums = sums.fold([0; 3], |sums: [u64; 3], own| {
                std::array::from_fn(|at| sums[at] + own[at])
            });
            return joint::summed(sums).map_or(Seen::Nothing, Seen::Rates);
        };
        match joint::shown(&self.plan) {
            joint::Shown::Rates => Seen::Rates(first.plus(*second)),
            joint::Shown::Nothing => Seen::Nothing,
            joint::Shown::Comparisons => {
                let first = comparisons(&self.plan, first, true);
                let second = comparisons(&self.plan, second, false);
                let answers: Vec<bool> = first.iter().zip(second).map(|(a, b)| a + b >= 0).collect();
                // As many answers as there are questions.
                compared(&self.plan, &answers).map_or(Seen::Nothing, Seen::Compared)
            }
        }
    }
}
