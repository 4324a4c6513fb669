//! A budget as it is needed: relation, caps and what they promise.

use privet::privacy::account::{Caps, MuSquared, Rho};
use privet::privacy::{Delta, Epsilon, Relation};

use super::Failure;

/// The largest ε of a limit: e^20 is half a billion, so that an observer may become certain of anything.
const MOST_EPSILON: Epsilon = Epsilon::from_billionths(20_000_000_000);

/// The caps of one data set under one relation, and their total ε and δ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// The data set.
    pub dataset: String,
    /// The relation: which change is protected.
    pub relation: Relation,
    /// The caps.
    pub caps: Caps,
    /// δ.
    pub delta: Delta,
    /// The total ε.
    pub epsilon: Epsilon,
    /// Whether it may be a second budget, for another change.
    pub second: bool,
}

/// A limit as it was requested, not yet checked.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The data set.
    pub dataset: String,
    /// The relation: which change is protected.
    pub relation: Relation,
    /// ε: pure, or with a δ the ε of Gaussian noise.
    pub epsilon: Option<Epsilon>,
    /// δ.
    pub delta: Option<Delta>,
    /// ρ, for concentrated noise.
    pub rho: Option<Rho>,
    /// μ², for Gaussian noise.
    pub mu_squared: Option<MuSquared>,
    /// Whether it may be a second budget, for another change.
    pub second: bool,
}

impl Limits {
    /// The limit, if it bounds ε and allows a release.
    ///
    /// # Errors
    /// A [`Failure`] that says what to write instead.
    pub fn checked(self) -> Result<Limit, Failure> {
        let (delta, epsilon) = (self.delta.unwrap_or_default(), self.epsilon.unwrap_or_default());
        let (rho, mu_squared) = (self.rho.unwrap_or_default(), self.mu_squared.unwrap_or_default());
        if self.delta.is_some() && delta == Delta::ZERO {
            return Err(Failure::usage(
                "--delta must be above zero: write a number such as 1e-6, or remove it for a limit on plain ε",
            ));
        }
        if delta.to_f64() >= 0.01 {
            return Err(Failure::usage(format!(
                "--delta {delta} would allow a release to reveal one person in a hundred completely. It should be far below one \
             over the number of people, such as 1e-6."
            )));
        }
        let explicit = self.rho.is_some() || self.mu_squared.is_some();
        if explicit && delta == Delta::ZERO {
            return Err(Failure::usage(
                "--rho and --mu-squared need a delta: add --delta, such as --delta 1e-6",
            ));
        }
        if epsilon > MOST_EPSILON {
            return Err(too_much("--epsilon", epsilon));
        }
        let caps = if explicit {
            Caps {
                pure: epsilon,
                rho,
                mu_squared,
            }
        } else if delta == Delta::ZERO {
            Caps {
                pure: epsilon,
                ..Caps::ZERO
            }
        } else if epsilon == Epsilon::ZERO {
            Caps::ZERO
        } else {
            Caps {
                mu_squared: MuSquared::for_budget(epsilon, delta)?,
                ..Caps::ZERO
            }
        };
        // Columns that are released with changed values cost no ε; where the number of rows is private they cannot be released.
        let columns_only = self.epsilon.is_some()
            && !explicit
            && !matches!(self.relation, Relation::AddRemove { .. } | Relation::Owner);
        if caps == Caps::ZERO && !(columns_only && delta == Delta::ZERO) {
            return Err(Failure::usage(
                "a limit of zero allows no release at all: give --epsilon a positive value, such as 1",
            ));
        }
        let implied = caps.epsilon(delta);
        if implied > MOST_EPSILON {
            return Err(too_much("together these caps", implied));
        }
        Ok(Limit {
            dataset: self.dataset,
            relation: self.relation,
            caps,
            delta,
            epsilon: implied,
            second: self.second,
        })
    }
}

fn too_much(what: &str, epsilon: Epsilon) -> Failure {
    let found = if epsilon == Epsilon::MAX {
        "give no bound on ε".to_owned()
    } else {
        format!("allow ε = {epsilon}")
    };
    Failure::usage(format!(
        "{what} would {found}: the odds about one person could change by a factor of e^{MOST_EPSILON} and more, which \
         protects nobody. Limits are at most {MOST_EPSILON}; usual ones are between 0.1 and 10."
    ))
}
