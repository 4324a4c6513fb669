//! Logistic regression on public columns alone: what private ones must add to.

use super::rows::Rows;
use super::select::Base;
use crate::boost::{Ensemble, Link, Member};
use crate::learner::Learner;

/// Looks at no private column, and so costs nothing.
///
/// # Paper
/// BRC, section 5.2: the public feature baseline.
pub(super) fn train(rows: &Rows) -> Ensemble {
    let member = |linear| Member {
        weight: 1.0,
        output: 0,
        learner: Learner::Linear(linear),
    };
    Ensemble {
        link: Link::Logistic,
        base: vec![0.0],
        members: Base::new(rows).linear.map(member).into_iter().collect(),
    }
}
