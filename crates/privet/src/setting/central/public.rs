//! Logistic regression on public columns alone: what private ones must add to.

use super::rows::Rows;
use super::select::Base;
use crate::Error;
use crate::boost::{Ensemble, Link, Member};
use crate::learner::Learner;
use crate::privacy::account::Price;
use crate::privacy::{Epsilon, Ledger, Neighbours};

/// Looks at no private column, and so costs nothing. It is written down all the same: against a change of whole people, what was
/// shown here is protected by nothing, and the totals for such changes must not be silent about it.
///
/// # Paper
/// BRC, section 5.2: the public feature baseline.
pub(super) fn train<N: Neighbours>(rows: &Rows, ledger: &mut Ledger<N>) -> Result<Ensemble, Error> {
    ledger.reserve(
        "public columns and labels, as they are",
        Price::Pure(Epsilon::ZERO),
        1,
    )?;
    let member = |linear| Member {
        weight: 1.0,
        output: 0,
        learner: Learner::Linear(linear),
    };
    Ok(Ensemble::new(
        Link::Logistic,
        vec![0.0],
        Base::new(rows).linear.map(member).into_iter().collect(),
    ))
}
