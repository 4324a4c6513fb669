//! Order-preserving desensitisation: every value is randomised on its own before release, to near values more often than to far ones.
//!
//! | file | mechanism |
//! | --- | --- |
//! | `path` | clamped geometric noise (the default), and any vector of budgets between neighbours |
//! | `maps`, `local`, `blocks`, `hill` | the paper's global, adjusted and local map |
//! | `piecewise`, `response` | an ordinary ε, to compare with; categories without an order |
//! | `unbounded` | integers without a declared domain |
//! | `channel`, `row_sampler` | a law for each input, and how it is drawn exactly |
//! | `loss` | the privacy loss between two inputs, exactly |
//! | `column` | columns and the mechanisms that randomise them |
//!
//! The privacy loss between two values grows with their distance, so there is no single ε, and nothing here is ever added to a
//! budget of ε. An [`Audit`] says what holds for neighbours, over a border and for the
//! whole domain; a record costs the sum over its columns.
//!
//! # Paper
//! OpBoost, sections 4 and 6. Errata in `docs/papers.md`.

mod blocks;
mod channel;
mod column;
mod hill;
mod local;
mod loss;
mod maps;
mod path;
mod piecewise;
mod response;
mod row_sampler;
#[cfg(test)]
mod tests;
mod unbounded;

pub use blocks::Alignment;
pub use column::{Column, Desensitised, Distance};
pub use local::LocalMap;
pub use loss::Loss;
pub use maps::{AdjustedMap, Adjustment, GlobalMap, Route};
pub use path::{ClampedGeometric, PathGeometric};
pub use piecewise::Piecewise;
pub use response::{RandomisedResponse, Unary};
pub use unbounded::UnboundedLaplace;

use dashu_ratio::RBig;

use super::Paid;
use crate::Error;
use crate::privacy::{Anchor, Epsilon, Private, Randomness};
use channel::Channel;

/// Slots of a domain, at most.
const MOST: usize = 65_535;
/// Slots where each has a row of its own in a table, at most: 32 MB.
const MOST_TABULATED: usize = 2_048;

mod sealed {
    pub trait Sealed {}
}

/// The outputs: `count` values, the first of them `lowest` slots from slot 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outputs {
    /// Below zero if outputs may lie below the domain.
    pub lowest: i32,
    /// How many there are.
    pub count: usize,
}

/// The privacy loss of a mechanism, computed exactly and rounded up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Audit {
    /// Between the worst two neighbouring slots within a part.
    pub within: Loss,
    /// Between the worst two neighbouring slots on the two sides of a border; none without parts.
    pub across: Option<Loss>,
    /// Between the worst two slots of all: what an ordinary ε would be.
    pub whole: Loss,
}

impl Audit {
    /// ε per slot of distance: the most that any two slots are told apart by, divided by their distance.
    ///
    /// Losses obey the triangle inequality, so the worst quotient is that of two neighbours.
    pub fn per_unit(&self) -> Loss {
        self.within.max(self.across.unwrap_or(Loss::NONE))
    }
}

/// A randomised map from `0..inputs` to its outputs.
///
/// Implementations live in this module only: a loss is a theorem.
pub trait Ordered: sealed::Sealed + std::fmt::Debug + Send + Sync {
    /// How many slots the domain has.
    fn inputs(&self) -> usize;

    /// The outputs.
    fn outputs(&self) -> Outputs;

    /// The probabilities of all outputs for input `x`, to the accuracy of a float. What is drawn is the exact law.
    ///
    /// # Panics
    /// If `x` is no slot.
    fn row(&self, x: u16) -> Vec<f64>;

    /// The privacy loss between two inputs: `max_y |ln P(y|x)/P(y|x′)|`, rounded up.
    ///
    /// # Panics
    /// If either is no slot.
    fn loss(&self, x: u16, other: u16) -> Loss;

    /// What holds for neighbours, over a border and for the whole domain.
    fn audit(&self) -> Audit;

    /// The mechanism and its parameters in words.
    fn describe(&self) -> String;

    /// Where its losses are proved.
    fn proof(&self) -> Anchor;

    /// Draws once for each value; one outside the domain counts as the last slot. The work does not depend on the values.
    fn draw(&self, column: Private<Vec<u16>>, paid: Paid, random: &mut Randomness) -> Vec<u16>;
}

impl<C: Channel> sealed::Sealed for C {}

impl<C: Channel> Ordered for C {
    fn inputs(&self) -> usize {
        Channel::inputs(self)
    }

    fn outputs(&self) -> Outputs {
        Channel::outputs(self)
    }

    fn row(&self, x: u16) -> Vec<f64> {
        channel::masses(self, usize::from(x))
    }

    fn loss(&self, x: u16, other: u16) -> Loss {
        Channel::loss(self, usize::from(x), usize::from(other))
    }

    fn audit(&self) -> Audit {
        Channel::audit(self)
    }

    fn describe(&self) -> String {
        Channel::describe(self)
    }

    fn proof(&self) -> Anchor {
        Channel::proof(self)
    }

    fn draw(&self, column: Private<Vec<u16>>, _paid: Paid, random: &mut Randomness) -> Vec<u16> {
        let mut values = column.expose();
        self.change(&mut values, random);
        values
    }
}

fn domain(slots: usize, most: usize) -> Result<(), Error> {
    if (2..=most).contains(&slots) {
        return Ok(());
    }
    let why = format!("a domain of {slots} is not supported here: give it 2 to {most}");
    Err(Error::parameter("slots", why))
}

fn positive(epsilon: Epsilon) -> Result<RBig, Error> {
    if epsilon == Epsilon::ZERO {
        return Err(Error::parameter(
            "epsilon",
            "ε = 0 tells nothing: give it a positive one",
        ));
    }
    Ok(epsilon.to_ratio())
}
