//! What a round adds: one stump, or two that abstain where they differ.

use crate::boost::{Alpha, Ensemble, Link, Member};
use crate::data::Feature;
use crate::learner::{Call, Learner};

/// The weak classifier of one round.
#[derive(Debug, Clone, PartialEq)]
pub struct Weak {
    first: Call,
    second: Option<Call>,
}

impl Weak {
    /// The two stumps of the parties, the initiator's first: it abstains where they differ.
    ///
    /// # Paper
    /// MABoost, equation 6.
    pub fn merged(first: Call, second: Call) -> Self {
        Self {
            first,
            second: Some(second),
        }
    }

    /// One stump.
    pub fn single(call: Call) -> Self {
        Self {
            first: call,
            second: None,
        }
    }

    pub(super) fn of(first: Call, second: Option<Call>) -> Self {
        Self { first, second }
    }

    /// The initiator's stump, or the only one; and the responder's.
    pub fn stumps(&self) -> (&Call, Option<&Call>) {
        (&self.first, self.second.as_ref())
    }

    /// -1 or 1 for the class that is called for a row, 0 if it abstains.
    #[inline]
    pub fn vote(&self, features: &[Feature], row: usize) -> i8 {
        let first = self.first.class(features, row);
        match &self.second {
            Some(second) if second.class(features, row) != first => 0,
            _ => sign(first),
        }
    }

    /// 1 where it is right about a row of this class, -1 where it is wrong.
    #[inline]
    pub fn margin(&self, features: &[Feature], row: usize, class: u16) -> i8 {
        self.vote(features, row) * sign(class)
    }

    /// Whether its two stumps ask the same and answer the opposite: it abstains everywhere.
    ///
    /// # Paper
    /// MABoost, remark 1.
    pub fn is_opposite(&self) -> bool {
        self.second
            .as_ref()
            .is_some_and(|second| second.is_reverse_of(&self.first))
    }

    /// Its members in a model. The mean of two stumps is zero where they differ, so that each has half of the coefficient.
    fn members(&self, alpha: Alpha) -> Vec<Member> {
        let member = |call: &Call, weight: f64| {
            let stump = call.stump(sign(call.left).into(), sign(call.right).into());
            Member::new(weight, 0, Learner::Stump(stump))
        };
        match &self.second {
            Some(second) if *second != self.first => {
                let half = alpha.to_f64() / 2.0;
                vec![member(&self.first, half), member(second, half)]
            }
            _ => vec![member(&self.first, alpha.to_f64())],
        }
    }
}

fn sign(class: u16) -> i8 {
    if class == 0 { -1 } else { 1 }
}

/// A round of boosting: what it added, and with which coefficient.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// The classifier.
    pub weak: Weak,
    /// Its coefficient.
    pub alpha: Alpha,
}

/// The sum of all rounds. What has no coefficient is left out.
pub(super) fn ensemble(rounds: &[Round]) -> Ensemble {
    let voting = rounds.iter().filter(|round| round.alpha != Alpha(0));
    let members = voting.flat_map(|round| round.weak.members(round.alpha));
    Ensemble::new(Link::Vote, vec![0.0], members.collect())
}
