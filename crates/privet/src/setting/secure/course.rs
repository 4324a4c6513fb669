//! The public course of a run: what both parties know and decide alike, round by round.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::side::Side;
use super::weak::{Round, Weak, ensemble};
use super::{AttributeChoice, CoefficientRule, Plan};
use crate::boost::{Alpha, Ensemble, TOTAL, WholeFactors, WholeRates};
use crate::privacy::Coins;

/// How a round begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    /// With the next class against all others: weights begin anew, and so does the round.
    Class(usize),
    /// With classifiers about this group of attributes, or about any.
    Stumps(Option<usize>),
    /// With a rendezvous.
    Rendezvous,
    /// There is none: the run is over.
    End,
}

/// What both parties were shown of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// The rates of both together.
    Rates(WholeRates),
    /// What was compared in a joint computation.
    Compared(Compared),
    /// Nothing: each party brings its own weights back to one half.
    Nothing,
}

impl Seen {
    /// Whether weights are multiplied by a power of two whatever the coefficient is.
    fn changes_scale(self) -> bool {
        matches!(self, Self::Compared(compared) if compared.doublings != 0)
    }
}

/// The result of comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Compared {
    /// The coefficient in eighths, if that was asked for.
    steps: u32,
    /// The power of two that weights are multiplied by.
    doublings: i32,
}

/// How many binary digits of a rounded coefficient are behind the point: eighths.
const STEP_DIGITS: u32 = 3;
/// The largest rounded coefficient, in eighths.
const MOST_STEPS: u32 = 32;
/// Weights are compared in units of 2^16: then a product with a ratio has less than 62 digits.
const UNIT_DIGITS: u32 = 16;
/// How many binary digits of a ratio are behind the point.
const RATIO_DIGITS: u32 = 12;
/// The sums of weights, as powers of two, that the scale is compared with: above the first it is halved, below the second it is doubled, and so on.
const SCALES: [u32; 9] = [49, 47, 46, 45, 44, 43, 42, 41, 40];

/// The course of one run.
#[derive(Debug)]
pub(super) struct Course {
    plan: Plan,
    /// The seed of public coins.
    seed: [u8; 32],
    /// How many rounds were begun, and tries of rounds, of all classes: each has coins of its own.
    tries: u64,
    /// The score that rounds add to now: of more than two classes, that of the class which is told from all others.
    output: usize,
    /// The rounds of all classes.
    rounds: Vec<Round>,
    /// How many of them are of classes before this one.
    before: usize,
    /// Groups of attributes that were tried in this round, and given up.
    tried: BTreeSet<usize>,
    group: Option<usize>,
    /// After how many rounds of this class it was asked last whether to stop.
    asked: usize,
    /// Whether this class, or the only pair of classes, needs no more rounds.
    ended: bool,
}

impl Course {
    pub(super) fn new(plan: &Plan, seed: [u8; 32]) -> Self {
        Self {
            plan: plan.clone(),
            seed,
            tries: 0,
            output: 0,
            rounds: Vec::new(),
            before: 0,
            tried: BTreeSet::new(),
            group: None,
            asked: 0,
            ended: false,
        }
    }

    /// Goes on from the state between two tries of rounds.
    pub(super) fn restored(mut self, state: CourseState) -> Self {
        (self.tries, self.tried) = (state.tries, state.tried);
        (self.asked, self.ended) = (state.asked, state.ended);
        self.before = state
            .rounds
            .iter()
            .filter(|round| round.output != state.output)
            .count();
        (self.output, self.rounds) = (state.output, state.rounds);
        self
    }

    /// The state between two tries of rounds.
    pub(super) fn state(&self) -> CourseState {
        CourseState {
            tries: self.tries,
            output: self.output,
            rounds: self.rounds.clone(),
            tried: self.tried.clone(),
            asked: self.asked,
            ended: self.ended,
        }
    }

    /// How many rounds this class had.
    fn done(&self) -> usize {
        self.rounds.len() - self.before
    }

    /// The score that rounds add to now.
    pub(super) fn output(&self) -> usize {
        self.output
    }

    /// Whether it is time to ask if the model is good enough: once after each round of a class but the last.
    ///
    /// # Paper
    /// MABoost, section 4, after step 5: the number of rounds may be chosen adaptively.
    pub(super) fn asks_to_stop(&self) -> bool {
        let secure = self.plan.secure();
        let is_new = self.done() > self.asked && self.done() < secure.rounds as usize;
        secure.stop_at.is_some() && is_new && !self.ended
    }

    /// Takes the answer.
    pub(super) fn stops(&mut self, good_enough: bool) {
        self.asked = self.done();
        self.ended |= good_enough;
    }

    /// The group of attributes of this round, if one was chosen.
    pub(super) fn group(&self) -> Option<usize> {
        self.group
    }

    pub(super) fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    pub(super) fn into_rounds(self) -> Vec<Round> {
        self.rounds
    }

    pub(super) fn ensemble(&self) -> Ensemble {
        ensemble(&self.rounds, self.plan.shapes(), self.plan.outputs())
    }

    /// How the next round begins, or the next try of this one. Tries are counted on through all classes, so that none has the coins of another.
    pub(super) fn begin(&mut self) -> Beginning {
        let secure = self.plan.secure();
        let groups = self.plan.groups();
        if self.ended || self.done() >= secure.rounds as usize || self.tried.len() >= groups {
            self.ended = true;
            return self.next_class();
        }
        self.tries += 1;
        match secure.attribute {
            AttributeChoice::All => Beginning::Stumps(None),
            AttributeChoice::Seed => {
                let left = (0..groups).filter(|group| !self.tried.contains(group));
                let left: Vec<usize> = left.collect();
                // Below the length.
                let place = self.coins().below(left.len() as u64) as usize;
                self.found(left.get(place).copied())
            }
            AttributeChoice::Rendezvous | AttributeChoice::RendezvousByHalves => Beginning::Rendezvous,
        }
    }

    /// Whether no class follows.
    pub(super) fn is_last_class(&self) -> bool {
        self.output + 1 >= self.plan.outputs()
    }

    /// The next class in the order of the schema, if there is one.
    fn next_class(&mut self) -> Beginning {
        if self.is_last_class() {
            return Beginning::End;
        }
        self.output += 1;
        self.before = self.rounds.len();
        self.tried.clear();
        (self.group, self.asked, self.ended) = (None, 0, false);
        Beginning::Class(self.output)
    }

    /// What a rendezvous found. Where there is nothing in common, this class is over.
    ///
    /// # Paper
    /// MABoost, figure 1, lines 12 and 13.
    pub(super) fn found(&mut self, group: Option<usize>) -> Beginning {
        self.group = group;
        match group {
            Some(group) => Beginning::Stumps(Some(group)),
            None => {
                self.ended = true;
                Beginning::End
            }
        }
    }

    /// The groups of attributes that a party can meet at: those with a good stump that were not given up in this round.
    pub(super) fn free(&self, side: &Side) -> Vec<bool> {
        let free = side.free().into_iter().enumerate();
        free.map(|(group, free)| free && !self.tried.contains(&group))
            .collect()
    }

    /// The permutation of a rendezvous by halves.
    pub(super) fn halves(&self) -> Halves {
        Halves::new(self.plan.groups(), &mut self.coins())
    }

    /// Public coins of this try.
    fn coins(&self) -> Coins {
        let hash = Sha256::new_with_prefix(b"privet secure round 1\0").chain_update(self.seed);
        Coins::from_seed(hash.chain_update(self.tries.to_le_bytes()).finalize().into())
    }

    /// The coefficient of a classifier, by what was shown.
    fn coefficient(&self, seen: Seen) -> Alpha {
        match (self.plan.secure().coefficient, seen) {
            (CoefficientRule::Exact, Seen::Rates(rates)) => rates.coefficient(self.plan.smoothing()),
            (CoefficientRule::Rounded, Seen::Compared(compared)) => Alpha::steps(compared.steps, STEP_DIGITS),
            _ => self.plan.constant(),
        }
    }

    /// Adds a classifier, if it counts; gives the coefficient that weights are changed by.
    ///
    /// # Paper
    /// MABoost, figure 1, lines 14 to 18; remark 1.
    pub(super) fn settle(&mut self, weak: Weak, seen: Seen) -> Option<Alpha> {
        let secure = self.plan.secure();
        let is_all = secure.attribute == AttributeChoice::All;
        if weak.is_opposite() {
            match self.group {
                Some(group) if secure.retry => {
                    self.tried.insert(group);
                }
                // It would be the same in every round.
                _ if is_all => self.ended = true,
                // A round that changes nothing.
                _ => self.rounds.push(Round {
                    output: self.output,
                    weak,
                    alpha: Alpha(0),
                }),
            }
            return None;
        }
        let alpha = self.coefficient(seen);
        // A round that leaves all weights as they are would be the same again.
        if alpha == Alpha(0) && is_all && !seen.changes_scale() {
            self.ended = true;
            return None;
        }
        self.tried.clear();
        self.rounds.push(Round {
            output: self.output,
            weak,
            alpha,
        });
        Some(alpha)
    }

    /// Changes the weights of one party's rows after a round that was settled.
    pub(super) fn reweigh(&self, side: &mut Side, weak: &Weak, alpha: Alpha, seen: Seen) {
        let factors = match seen {
            Seen::Rates(rates) => rates.factors(alpha),
            Seen::Compared(compared) => WholeFactors::unscaled(alpha, compared.doublings),
            Seen::Nothing => side.rates(weak).factors_to(alpha, TOTAL / 2),
        };
        side.reweigh(weak, &factors);
        if let Some(round) = self
            .rounds
            .last()
            .filter(|_| self.plan.secure().stop_at.is_some())
        {
            side.score(round);
        }
    }
}

/// The state of a course between two tries of rounds.
#[derive(Debug, Default)]
pub(super) struct CourseState {
    pub(super) tries: u64,
    pub(super) output: usize,
    pub(super) rounds: Vec<Round>,
    pub(super) tried: BTreeSet<usize>,
    pub(super) asked: usize,
    /// A class may be over where the run is not.
    pub(super) ended: bool,
}

/// A party's numbers for the comparisons of a round: where the sum of both parties' is not below zero, the answer is yes.
///
/// First whether α is at least (k - ½)/8, for each k: whether ε₊ + δ is at least exp((2k - 1)/8) times ε₋ + δ. The answers are yes up to some k, so
/// that they say no more than α does. Then whether the weights of both sum to a power of two.
pub(super) fn comparisons(plan: &Plan, rates: &WholeRates, is_initiator: bool) -> Vec<i64> {
    // Below 2^50, so that nothing here has more than 62 digits.
    let in_units = |weight: u64| (weight.min(crate::boost::LARGEST) >> UNIT_DIGITS).cast_signed();
    let smoothing = if is_initiator {
        in_units(plan.smoothing())
    } else {
        0
    };
    let (right, wrong) = (
        in_units(rates.right) + smoothing,
        in_units(rates.wrong) + smoothing,
    );
    let steps = match plan.secure().coefficient {
        CoefficientRule::Rounded => MOST_STEPS,
        CoefficientRule::Exact | CoefficientRule::Constant => 0,
    };
    let mut all: Vec<i64> = (1..=steps)
        .map(|k| (right << RATIO_DIGITS) - ratio(k) * wrong)
        .collect();
    let total = rates.total().min(crate::boost::LARGEST).cast_signed();
    let compared = |power: u32| if is_initiator { total - (1 << power) } else { total };
    all.extend(SCALES.map(compared));
    all
}

/// exp((2k - 1)/8), with 12 digits behind the point.
fn ratio(k: u32) -> i64 {
    let exponential = WholeFactors::unscaled(Alpha::steps(2 * k - 1, STEP_DIGITS), 0);
    exponential.rise(RATIO_DIGITS).cast_signed()
}

/// How many comparisons a round has.
pub(super) fn count_comparisons(plan: &Plan) -> usize {
    comparisons(plan, &WholeRates::default(), true).len()
}

/// What the answers say; nothing if there are not as many as were asked for.
pub(super) fn compared(plan: &Plan, answers: &[bool]) -> Option<Compared> {
    let (steps, scales) = answers.split_at_checked(answers.len().checked_sub(SCALES.len())?)?;
    if answers.len() != count_comparisons(plan) {
        return None;
    }
    let small = scales[1..].iter().filter(|is_at_least| !**is_at_least).count();
    Some(Compared {
        // 32 and 9 at most.
        steps: steps.iter().filter(|is_at_least| **is_at_least).count() as u32,
        doublings: if scales[0] { -1 } else { small as i32 },
    })
}

/// A rendezvous by halves, as published: which attributes are asked about next, by what was answered.
///
/// # Paper
/// MABoost, figure 2. The text calls ORBAN at most lg k times: it is 1 + lg k.
#[derive(Debug, Clone)]
pub(super) struct Halves {
    /// Attributes in a random order, and slots at which nobody is free.
    order: Vec<Option<usize>>,
    first: usize,
    /// How many are asked about.
    half: usize,
    is_whole: bool,
}

impl Halves {
    fn new(attributes: usize, coins: &mut Coins) -> Self {
        let slots = attributes.max(1).next_power_of_two();
        let mut order: Vec<Option<usize>> = (0..slots)
            .map(|slot| (slot < attributes).then_some(slot))
            .collect();
        // line 5: the same permutation for both
        for last in (1..slots).rev() {
            // At most `last`.
            let place = coins.below(last as u64 + 1) as usize;
            order.swap(last, place);
        }
        Self {
            order,
            first: 0,
            half: slots,
            is_whole: true,
        }
    }

    /// This party's bits of the part that is asked about.
    pub(super) fn asked(&self, free: &[bool]) -> Vec<bool> {
        let part = &self.order[self.first..self.first + self.half];
        let is_free =
            |slot: &Option<usize>| slot.is_some_and(|slot| free.get(slot).copied().unwrap_or(false));
        part.iter().map(is_free).collect()
    }

    /// Takes whether both have an attribute in that part; gives the attribute in the end, or that there is none.
    pub(super) fn answer(&mut self, common: bool) -> Option<Option<usize>> {
        match (self.is_whole, common) {
            // lines 2 and 3
            (true, false) => return Some(None),
            (true, true) => self.is_whole = false,
            // line 11: it is in the other half
            (false, false) => self.first += self.half,
            (false, true) => {}
        }
        if self.half == 1 {
            return Some(self.order[self.first]);
        }
        self.half /= 2;
        None
    }
}
