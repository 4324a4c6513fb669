//! Logistic regression on public columns alone: what private ones must add to.

use super::rows::CuratorRows;
use super::select::Base;
use super::{Algorithm, Balance, Facts, Resolved, Run, TrainOnRows};
use crate::Error;
use crate::boost::{Ensemble, Link, Member};
use crate::learner::Learner;
use crate::parameters::parameters;
use crate::privacy::Epsilon;
use crate::privacy::account::Price;

parameters! {
    /// Logistic regression on public columns alone.
    pub struct Public("public") {
        /// Whether equally many rows of both classes are used; only where labels are public.
        balance: Balance = Balance(false);
    }
}

impl Algorithm for Public {
    fn check(&self, facts: &Facts) -> Result<(), Error> {
        if !facts.has_public_label() || facts.public_features() == 0 {
            return Err(Error::parameter(
                "name",
                "name = \"public\" learns from public columns alone: the schema declares no public feature, or its label is private",
            ));
        }
        Ok(())
    }

    fn resolve(&self, facts: &Facts) -> Result<Resolved, Error> {
        let noise = vec!["No private column is looked at, so there is no noise.".into()];
        Ok(Resolved {
            price: Price::Pure(Epsilon::ZERO),
            ..Resolved::new(self, facts, noise, self.clone())
        })
    }
}

impl TrainOnRows for Public {
    /// Looks at no private column, and so costs nothing. It is written down all the same: against a change of whole people, what was
    /// shown here is protected by nothing, and the totals for such changes must not be silent about it.
    ///
    /// # Paper
    /// BRC, section 5.2: the public feature baseline.
    fn train(&self, rows: &CuratorRows, run: Run<'_>) -> Result<Ensemble, Error> {
        run.at(0, 1)?;
        run.ledger.reserve(
            "public columns and labels, as they are",
            Price::Pure(Epsilon::ZERO),
            1,
        )?;
        let member = |linear| Member::new(1.0, 0, Learner::Linear(linear));
        Ok(Ensemble::new(
            Link::Logistic,
            vec![0.0],
            Base::new(rows).linear.map(member).into_iter().collect(),
        ))
    }
}
