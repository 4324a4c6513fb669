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
    sides: [Side; 2],
    /// The rates of both together in the last round.
    rates: WholeRates,
}

impl InTheClear {
    /// The rows of the initiator and of the responder, and public coins.
    pub fn new(plan: &Plan, mut sides: [Side; 2], coins: &Coins) -> Self {
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

    /// Both parties' rows.
    pub fn sides(&self) -> &[Side; 2] {
        &self.sides
    }

    /// All rounds so far.
    pub fn rounds(&self) -> &[Round] {
        self.course.rounds()
    }

    /// The rates of both parties together in the last round, before weights were changed.
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

    /// Does one try of a round; whether there may be another.
    pub fn round(&mut self, meeting: Meeting<'_>) -> bool {
        let begins = match self.course.begin() {
            Beginning::Rendezvous => {
                let found = self.meet(meeting);
                self.course.found(found)
            }
            begins => begins,
        };
        let attribute = match begins {
            Beginning::Stumps(attribute) => attribute,
            Beginning::Rendezvous | Beginning::End => return false,
        };
        let weak = self.weak(attribute);
        let [first, second] = [&self.sides[0], &self.sides[1]].map(|side| side.rates(&weak));
        self.rates = first.plus(second);
        let seen = self.seen(first, second);
        if let Some(alpha) = self.course.settle(weak.clone(), seen) {
            for side in &mut self.sides {
                self.course.reweigh(side, &weak, alpha, seen);
            }
        }
        true
    }

    fn meet(&mut self, meeting: Meeting<'_>) -> Option<usize> {
        let [first, second] = [&self.sides[0], &self.sides[1]].map(|side| self.course.free(side));
        if *self.plan.secure().attribute() == AttributeChoice::Rendezvous {
            return meeting(&first, &second);
        }
        let mut halves = self.course.halves();
        loop {
            let (own, other) = (halves.asked(&first), halves.asked(&second));
            let common = own.iter().zip(other).any(|(own, other)| *own && other);
            if let Some(found) = halves.answer(common) {
                return found;
            }
        }
    }

    fn weak(&self, attribute: Option<usize>) -> Weak {
        let [first, second] = &self.sides;
        match (self.plan.secure().classifier(), attribute) {
            (Classifier::Joint, attribute) => {
                let place = joint::least(
                    &joint::inputs(first, attribute),
                    &joint::inputs(second, attribute),
                );
                Weak::single(self.plan.candidates(attribute).swap_remove(place))
            }
            (Classifier::Merged, Some(attribute)) => {
                Weak::merged(first.best(attribute).0, second.best(attribute).0)
            }
            (Classifier::Merged, None) => Weak::merged(first.best_of_all(), second.best_of_all()),
        }
    }

    fn seen(&self, first: WholeRates, second: WholeRates) -> Seen {
        match joint::shown(&self.plan) {
            joint::Shown::Rates => Seen::Rates(first.plus(second)),
            joint::Shown::Nothing => Seen::Nothing,
            joint::Shown::Comparisons => {
                let first = comparisons(&self.plan, &first, true);
                let second = comparisons(&self.plan, &second, false);
                let answers: Vec<bool> = first.iter().zip(second).map(|(a, b)| a + b >= 0).collect();
                // As many answers as there are questions.
                compared(&self.plan, &answers).map_or(Seen::Nothing, Seen::Compared)
            }
        }
    }
}
