//! Mechanisms: the only way from a private value to a released one, or to a joint sum.

mod exponential;
mod gaussian;
mod grid;
mod laplace;
pub mod local;
mod objective;
pub mod ordered;
mod shared;

pub use exponential::{Exponential, PermuteAndFlip};
pub use gaussian::Gaussian;
pub use grid::Grid;
pub use laplace::Laplace;
pub use objective::{
    Ball, ENTRY_DIGITS, Floating, LogisticRow, LogisticRows, Objective, ROUNDING_TELLS, RowLoss,
    WEIGHT_DIGITS,
};

pub use shared::{SharedGaussian, SharedLaplace, SharedMechanism};

use super::account::Price;
use super::query::Norm;
use super::sampler::Noise;
use super::{Private, Randomness};
use crate::Error;

/// Proof of payment. Only a ledger makes one, and a draw consumes it: one payment, one draw.
#[derive(Debug)]
pub struct Paid {
    _only_a_ledger_makes_one: (),
}

impl Paid {
    pub(in crate::privacy) fn receipt() -> Self {
        Self {
            _only_a_ledger_makes_one: (),
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A randomised answer with a price.
///
/// Implementations live in this module only: each price is proved, and a wrapper's own price would not be.
pub trait Mechanism: sealed::Sealed {
    /// What is released.
    type Output: Clone + Send + 'static;

    /// What one draw costs for an answer that one change moves by at most `norm`, rounded up.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the mechanism has no guarantee in that norm.
    fn price(&self, norm: Norm) -> Result<Price, Error>;

    /// Draws once. The work does not depend on the value or the noise.
    fn draw(&self, answer: Private<Vec<i64>>, paid: Paid, random: &mut Randomness) -> Self::Output;

    /// The mechanism and its parameters in words.
    fn describe(&self) -> String;

    /// The bias of a released coordinate; zero unless a mechanism overrides it.
    fn bias(&self) -> f64 {
        0.0
    }

    /// The variance of a released coordinate, to plan with before paying; for a selection, of the score that decides.
    fn variance(&self) -> f64;
}

/// The answer with noise on every coordinate.
fn noisy(law: &impl Noise, answer: Private<Vec<i64>>, random: &mut Randomness) -> Vec<i64> {
    let mut values = answer.expose();
    law.add_to(&mut values, random);
    values
}

fn wrong_norm(mechanism: &str, needs: &str, norm: Norm) -> Error {
    Error::misuse(format!(
        "the {mechanism} mechanism is priced by the {needs} of the answer, not by {norm:?}"
    ))
}
