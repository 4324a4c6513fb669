//! What enters joint computations, and what comes of them.

use super::side::Side;
use super::{CoefficientRule, Plan};

/// What both parties are shown of the weights in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// Each party's rates.
    Rates,
    /// The answers of comparisons.
    Comparisons,
    /// Nothing.
    Nothing,
}

pub(super) fn shown(plan: &Plan) -> Shown {
    match plan.secure().coefficient {
        CoefficientRule::Exact => Shown::Rates,
        _ if plan.secure().is_on_one_scale() => Shown::Comparisons,
        _ => Shown::Nothing,
    }
}

/// How many lower digits of an error are left out of the search for the least one.
const SHIFT: u32 = 18;
/// How many binary digits the sum of two errors has.
pub(super) const SUM_DIGITS: u32 = 32;

/// A party's errors of all candidates, for the joint search of the least sum: their upper digits, so that the sum of two has 32.
pub(super) fn inputs(side: &Side, attribute: Option<usize>) -> Vec<u64> {
    let most = (1 << (SUM_DIGITS - 1)) - 1;
    let errors = side.errors(attribute).into_iter();
    errors.map(|error| (error >> SHIFT).min(most)).collect()
}

/// The place of the least sum; of equals the first.
pub(super) fn least(first: &[u64], second: &[u64]) -> usize {
    let sums = first.iter().zip(second).map(|(a, b)| a + b);
    let places = sums.enumerate().min_by_key(|(place, sum)| (*sum, *place));
    places.map_or(0, |(place, _)| place)
}
