//! What enters joint computations, and what comes of them.

use super::side::Side;
use super::{CoefficientRule, Plan};
use crate::boost::{LARGEST, WholeRates};

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

/// The digits of weights that are left out of the rates of three parties or more: what remains has 20. With all digits, the sum of others' fractions would show
/// their denominators, which are numbers of rows.
const RATE_SHIFT: u32 = 28;

/// A party's rates for the sum of three parties or more.
pub(super) fn summands(rates: &WholeRates) -> [u64; 3] {
    [rates.right, rates.wrong, rates.silent].map(|weight| weight.min(LARGEST) >> RATE_SHIFT)
}

/// The rates of all parties together, from the sums; nothing for what cannot be one.
pub(super) fn summed(sums: [u64; 3]) -> Option<WholeRates> {
    let most = LARGEST >> RATE_SHIFT;
    let [right, wrong, silent] = sums.map(|sum| sum.min(most + 1) << RATE_SHIFT);
    let rates = WholeRates { right, wrong, silent };
    rates.is_sound().then_some(rates)
}

/// How many millionths the share of `stop_at` has.
const MILLION: i64 = 1_000_000;

/// A party's number for the question whether the model is wrong about few enough rows: the sum of both is not below zero if it is.
pub(super) fn stop_number(plan: &Plan, side: &Side) -> i64 {
    let share = plan.secure().stop_at.unwrap_or(0.0);
    // At most 500,000, and tables have less than 2^40 rows.
    let allowed = (share * MILLION as f64).round() as i64;
    let count = |rows: u64| rows.min(1 << 40).cast_signed();
    allowed * count(side.rows() as u64) - MILLION * count(side.wrong())
}

/// A party's errors of all candidates, for the joint search of the least sum: their upper digits, so that the sum of two has 32.
pub(super) fn inputs(side: &Side, group: Option<usize>) -> Vec<u64> {
    let most = (1 << (SUM_DIGITS - 1)) - 1;
    let errors = side.errors(group).into_iter();
    errors.map(|error| (error >> SHIFT).min(most)).collect()
}

/// The place of the least sum; of equals the first.
pub(super) fn least(first: &[u64], second: &[u64]) -> usize {
    let sums = first.iter().zip(second).map(|(a, b)| a + b);
    let places = sums.enumerate().min_by_key(|(place, sum)| (*sum, *place));
    places.map_or(0, |(place, _)| place)
}
