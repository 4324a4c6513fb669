//! What a round adds: one classifier, or the vote of several, which abstains without a majority.

use crate::boost::{Alpha, Ensemble, Link, Member};
use crate::data::Feature;
use crate::learner::{Call, Learner, Shape, Stump, StumpRule};

use super::voter::Voter;

/// The weak classifier of one round.
#[derive(Debug, Clone, PartialEq)]
pub struct Weak {
    voters: Vec<Voter>,
    /// How many votes for a class make it the classifier's: more than half of all.
    needed: usize,
}

impl Weak {
    /// The classifiers of two parties, the initiator's first: it abstains where they differ.
    ///
    /// # Paper
    /// MABoost, equation 6.
    pub fn merged(first: impl Into<Voter>, second: impl Into<Voter>) -> Self {
        Self::of(vec![first.into(), second.into()], 2)
    }

    /// One classifier.
    pub fn single(voter: impl Into<Voter>) -> Self {
        Self::of(vec![voter.into()], 1)
    }

    /// The classifiers of all parties in their order; without `needed` votes for one class it abstains.
    ///
    /// # Paper
    /// MABoost, section 8: the majority of m parties, if it is above one half plus a constant.
    pub(super) fn of(voters: Vec<Voter>, needed: usize) -> Self {
        let needed = needed.max(voters.len() / 2 + 1);
        Self { voters, needed }
    }

    /// Each party's classifier, or the only one.
    pub fn voters(&self) -> &[Voter] {
        &self.voters
    }

    /// How many votes a class needs.
    pub(super) fn needed(&self) -> usize {
        self.needed
    }

    /// -1 or 1 for the class that is called for a row, 0 if it abstains.
    #[inline]
    pub fn vote(&self, features: &[Feature], row: usize) -> i8 {
        self.counted(|voter| voter.class(features, row))
    }

    #[inline]
    fn counted(&self, class: impl Fn(&Voter) -> u16) -> i8 {
        let second = self.voters.iter().filter(|voter| class(voter) != 0).count();
        if second >= self.needed {
            1
        } else if self.voters.len() - second >= self.needed {
            -1
        } else {
            0
        }
    }

    /// 1 where it is right about a row of this class, -1 where it is wrong.
    #[inline]
    pub fn margin(&self, features: &[Feature], row: usize, class: u16) -> i8 {
        self.vote(features, row) * sign(class)
    }

    /// Whether it is of two that ask the same and answer the opposite: it abstains everywhere.
    ///
    /// # Paper
    /// MABoost, remark 1.
    pub fn is_opposite(&self) -> bool {
        match self.voters.as_slice() {
            [first, second] => second.is_reverse_of(first),
            _ => false,
        }
    }

    /// Its members in a model. The mean of two is zero where they differ, so that each has half of the coefficient.
    fn members(&self, alpha: Alpha, output: usize, shapes: &[Shape]) -> Vec<Member> {
        let member = |weight: f64, learner: Learner| Member::new(weight, output, learner);
        let (whole, half) = (alpha.to_f64(), alpha.to_f64() / 2.0);
        match self.voters.as_slice() {
            [first] => vec![member(whole, first.learner(shapes))],
            [first, second] if first == second => vec![member(whole, first.learner(shapes))],
            [first, second] => vec![
                member(half, first.learner(shapes)),
                member(half, second.learner(shapes)),
            ],
            _ => self.by_slot(shapes).map_or_else(Vec::new, |stumps| {
                let stumps = stumps.into_iter();
                stumps.map(|stump| member(half, Learner::Stump(stump))).collect()
            }),
        }
    }

    /// Stumps about one attribute vote by its slots: a mean of two stumps again, one about the slots that are called the second class and one
    /// about those that are called the first.
    fn by_slot(&self, shapes: &[Shape]) -> Option<[Stump; 2]> {
        let calls: Vec<&Call> = self.voters.iter().map(Voter::stump).collect::<Option<_>>()?;
        let feature = calls.first()?.feature;
        let slots = 0..shapes.get(feature)?.slots as u16;
        let class = |call: &Call, slot| match call.rule.is_left(slot) {
            true => call.left,
            false => call.right,
        };
        let voted = |vote: i8| {
            let called = |slot: u16| self.counted(|voter| voter.stump().map_or(0, |call| class(call, slot)));
            let slots = slots.clone().filter(|slot| called(*slot) == vote);
            StumpRule::OneOf(slots.collect())
        };
        let stump = |vote: i8| Stump {
            feature,
            rule: voted(vote),
            left: vote.into(),
            right: (-vote).into(),
        };
        Some([stump(1), stump(-1)])
    }
}

/// -1 for the first class, 1 for the second.
pub(super) fn sign(class: u16) -> i8 {
    if class == 0 { -1 } else { 1 }
}

/// A round of boosting: what it added, and with which coefficient.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// The score that it adds to: the only one of two classes; of more, that of the class which it tells from all others.
    pub output: usize,
    /// The classifier.
    pub weak: Weak,
    /// Its coefficient.
    pub alpha: Alpha,
}

/// The sums of all rounds. What has no coefficient is left out. Of more than two classes, each class has the margin of its own rounds as its score: with two of
/// them this would be the vote.
pub(super) fn ensemble(rounds: &[Round], shapes: &[Shape], outputs: usize) -> Ensemble {
    let voting = rounds.iter().filter(|round| round.alpha != Alpha(0));
    let members = voting.flat_map(|round| round.weak.members(round.alpha, round.output, shapes));
    let link = if outputs == 1 { Link::Vote } else { Link::Softmax };
    Ensemble::new(link, vec![0.0; outputs], members.collect())
}
