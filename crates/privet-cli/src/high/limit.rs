//! A budget as it is needed: relation, caps and what they promise.

use std::num::NonZeroU32;

use privet::privacy::account::{Caps, MuSquared, Rho};
use privet::privacy::{Delta, Epsilon, Relation};

use super::{Failure, name};
use crate::cli::low::{self, Change};

/// e^20 is half a billion: whatever somebody believed, they may be certain afterwards.
const MOST_EPSILON: Epsilon = Epsilon::from_billionths(20_000_000_000);

/// A box of caps for one data set under one relation, and what it promises as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Limit {
    pub(in crate::cli) dataset: String,
    pub(in crate::cli) relation: Relation,
    pub(in crate::cli) caps: Caps,
    pub(in crate::cli) delta: Delta,
    pub(in crate::cli) epsilon: Epsilon,
    /// Whether it may stand beside a budget for another change.
    pub(in crate::cli) second: bool,
}

pub(super) fn limit_of(low: &low::Limit) -> Result<Limit, Failure> {
    let dataset = name(&low.dataset)?;
    let relation = relation_of(low)?;
    let delta: Delta = parse(low.delta.as_deref())?;
    let epsilon: Epsilon = parse(low.epsilon.as_deref())?;
    let rho: Rho = parse(low.rho.as_deref())?;
    let mu_squared: MuSquared = parse(low.mu_squared.as_deref())?;
    if low.delta.is_some() && delta == Delta::ZERO {
        return Err(Failure::usage(
            "--delta 0 says nothing: leave it out, the limit is then on plain ε",
        ));
    }
    if delta.to_f64() >= 0.01 {
        return Err(Failure::usage(format!(
            "--delta {delta} would allow a release to show one person in a hundred outright. It should be far below one \
             over the number of people, such as 1e-6."
        )));
    }
    let explicit = low.rho.is_some() || low.mu_squared.is_some();
    if explicit && delta == Delta::ZERO {
        return Err(Failure::usage(
            "--rho and --mu-squared promise nothing without a chance of failure: add --delta, such as --delta 1e-6",
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
    // Columns that leave changed cost no ε; where the number of rows is private they cannot leave at all.
    let columns_only = low.epsilon.is_some() && !explicit && low.change != Change::AddRemove;
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
        dataset,
        relation,
        caps,
        delta,
        epsilon: implied,
        second: low.second_budget,
    })
}

fn too_much(what: &str, epsilon: Epsilon) -> Failure {
    let found = if epsilon == Epsilon::MAX {
        "promise nothing".to_owned()
    } else {
        format!("allow ε = {epsilon}")
    };
    Failure::usage(format!(
        "{what} would {found}: the odds about one person could change by a factor of e^{MOST_EPSILON} and more, which \
         protects nobody. Limits are at most {MOST_EPSILON}; usual ones are between 0.1 and 10."
    ))
}

fn parse<T: std::str::FromStr<Err = privet::Error> + Default>(text: Option<&str>) -> Result<T, Failure> {
    Ok(text.map(str::parse).transpose()?.unwrap_or_default())
}

fn relation_of(low: &low::Limit) -> Result<Relation, Failure> {
    let rows: NonZeroU32 = low.rows_per_unit.parse().map_err(|_| {
        Failure::usage(format!(
            "--rows-per-unit {}: a person has at least one row, and at most 4294967295",
            low.rows_per_unit
        ))
    })?;
    let unit = low.unit.clone();
    if unit
        .as_ref()
        .is_some_and(|column| column.is_empty() || column.trim() != column)
    {
        return Err(Failure::usage(
            "--unit needs the name of the column that tells people apart, without spaces at its ends",
        ));
    }
    if low.change != Change::ReplacePrivate && !low.columns.is_empty() {
        return Err(Failure::usage(
            "--columns belongs to --change replace-private: the other changes protect all columns",
        ));
    }
    Ok(match low.change {
        Change::AddRemove => Relation::AddRemove { rows, unit },
        Change::Replace => Relation::Replace { rows, unit },
        Change::ReplacePrivate if low.columns.is_empty() => {
            return Err(Failure::usage(
                "--change replace-private needs the private columns: add --columns diagnosis,income",
            ));
        }
        Change::ReplacePrivate => {
            if low.columns.iter().any(|column| column.trim().is_empty()) {
                return Err(Failure::usage("--columns has an empty name between two commas"));
            }
            let columns = low.columns.iter().map(|column| column.trim().to_owned());
            Relation::ReplacePrivate {
                rows,
                unit,
                columns: columns.collect(),
            }
        }
    })
}
