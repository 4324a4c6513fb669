//! Why a budget does not pay, and what its owner can do.

use super::kept::Line;
use crate::Error;
use crate::privacy::account::{Caps, MuSquared, Price, Rho};
use crate::privacy::{Delta, Epsilon, Relation};

/// There is a budget, and it has no room for `price`.
pub(super) fn no_room(dataset: &str, price: Price, relation: &Relation, line: &Line) -> Error {
    let left = line.remaining();
    // A budget of pure ε has no room for Gaussian noise, however large it is.
    let way_out = match price {
        Price::Gaussian(_) if left.mu_squared == MuSquared::ZERO && left.rho == Rho::ZERO => {
            " Such a price needs a budget that was set with a delta: `privet ledger limit ... --epsilon E --delta D`."
        }
        _ => "",
    };
    // A pure price in a budget for Gaussian noise is counted by its conversion.
    let converted = match price {
        Price::Pure(epsilon)
            if line.caps.pure == Epsilon::ZERO && line.caps.mu_squared != MuSquared::ZERO =>
        {
            Some(Price::Gaussian(MuSquared::from_pure(epsilon)))
        }
        _ => None,
    };
    let counted = converted.map_or(String::new(), |price| format!(", counted as {price}"));
    Error::Budget(format!(
        "refused: this needs {price}{counted}{}, and for '{dataset}' when {relation} there is left {left}{}. Nothing was drawn and no \
         data was looked at.{way_out}",
        stated(converted.unwrap_or(price).into(), line.delta),
        stated(left, line.delta)
    ))
}

/// The ε of an amount at the δ of its budget, where it is not ε itself.
fn stated(caps: Caps, delta: Delta) -> String {
    let pure = caps.rho == Rho::ZERO && caps.mu_squared == MuSquared::ZERO;
    match delta {
        Delta::ZERO => String::new(),
        _ if pure => String::new(),
        delta => format!(" (ε = {} at this budget's δ = {delta})", caps.epsilon(delta)),
    }
}

/// There is no budget for `relation`; perhaps there is one for another change.
pub(super) fn no_limit(dataset: &str, relation: &Relation, first: Option<&Relation>) -> Error {
    let command = relation.limit_command(dataset);
    Error::Budget(match first {
        None => {
            format!("the data set '{dataset}' has no budget for: {relation}. Set one first: `{command}`")
        }
        Some(first) => format!(
            "the data set '{dataset}' has no budget for: {relation}. It has one for: {first}. Ask for that protection, or open a second \
             budget for the same people with `{command} --second-budget`: what is paid from one may then not be counted by the other, \
             whose promise no longer covers everything that was released"
        ),
    })
}
