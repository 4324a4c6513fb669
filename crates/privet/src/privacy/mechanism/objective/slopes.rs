//! The slope of a logistic loss at a point, in integers, with a bound of its error: `docs/proofs/objective.md#certified-slopes`.

use dashu_int::IBig;
use rayon::prelude::*;

use super::noise::length;
use super::sigmoid;

/// Entries of rows and their offsets are whole numbers of 2^−20.
pub const ENTRY_DIGITS: usize = 20;
/// Weights of rows are whole numbers of 2^−12.
pub const WEIGHT_DIGITS: usize = 12;

/// Digits of a point for which sums fit into machine words.
pub(super) const FAST: usize = 72;
/// Coefficients for which they do: 2^20 · 2^95 in 2^10 places is below 2^126.
const FITS: usize = 95;
/// The largest offset, 2^20.
const OFFSET: i64 = 1 << 40;
/// Rows that are summed together.
const BLOCK: usize = 4096;

/// The label, offset and weight of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogisticRow {
    /// Which of two classes it has.
    pub label: bool,
    /// What is added to its sum, in units of 2^−20; at most 2^20 of either sign.
    pub offset: i64,
    /// Its weight, in units of 2^−12; never negative.
    pub weight: i64,
}

/// Rows of a logistic regression, in whole numbers: what the loss is made of. A row's sum is offset + Σ entry·coefficient, its loss
/// weight·(ln(1 + e^sum) − label·sum).
pub trait LogisticRows: Sync {
    /// How many rows there are.
    fn rows(&self) -> usize;

    /// One row: its entries that are not zero, each place once, into `entries`, which is empty. An entry is a whole number of 2^−20 and at most one in
    /// size: what is beyond counts as one. Of a place that is named again only the first entry counts.
    fn row(&self, row: usize, entries: &mut Vec<(usize, i32)>) -> LogisticRow;

    /// About where the sum of all losses, ridge/2·‖θ‖² and noise·θ is least. Only a hint: the mechanism goes on from there until
    /// it can prove that it is near the minimum.
    fn guess(&self, ridge: f64, noise: &[f64]) -> Vec<f64> {
        noise.iter().map(|v| -v / ridge).collect()
    }

    /// About how far to go back from `at`, where the slope is `gradient`: the inverse of the second derivatives with `ridge` on
    /// every coefficient, times the slope. Only a hint.
    fn step(&self, ridge: f64, _at: &[f64], gradient: &[f64]) -> Vec<f64> {
        gradient.iter().map(|g| g / ridge).collect()
    }
}

/// A sum that is known up to an error, the same in every coordinate; both in units of 2^−digits.
#[derive(Debug, Clone)]
pub(super) struct Sum {
    pub(super) values: Vec<IBig>,
    pub(super) error: IBig,
    pub(super) digits: usize,
}

/// The slopes of all rows at `at`/2^digits, of as many coefficients as `at` has: what a row says beyond them is nothing.
pub(super) fn slopes(rows: &impl LogisticRows, at: &[IBig], digits: usize) -> Sum {
    let small = |x: &IBig| (length(x) <= FITS).then(|| i128::try_from(x).ok()).flatten();
    let words: Option<Vec<i128>> = at.iter().map(small).collect();
    match words {
        Some(words) if digits == FAST && at.len() <= 1 << 10 => fast(rows, &words),
        _ => precise(rows, at, digits),
    }
}

/// The rows of one block, each with its entries inside the bounds.
fn each(
    rows: &impl LogisticRows,
    block: usize,
    width: usize,
    mut take: impl FnMut(LogisticRow, &[(usize, i32)]),
) {
    let mut entries = Vec::new();
    for row in block * BLOCK..((block + 1) * BLOCK).min(rows.rows()) {
        entries.clear();
        let own = rows.row(row, &mut entries);
        let own = LogisticRow {
            offset: own.offset.clamp(-OFFSET, OFFSET),
            weight: own.weight.clamp(0, 1 << 30),
            ..own
        };
        entries.retain(|&(place, _)| place < width);
        // Each place once, the first time it is named: the error of a sum and its size count on it.
        if !entries.is_sorted_by(|(one, _), (next, _)| one < next) {
            entries.sort_by_key(|&(place, _)| place);
            entries.dedup_by_key(|&mut (place, _)| place);
        }
        let one = 1 << ENTRY_DIGITS;
        entries.iter_mut().for_each(|(_, x)| *x = (*x).clamp(-one, one));
        take(own, &entries);
    }
}

fn fast(rows: &impl LogisticRows, at: &[i128]) -> Sum {
    let block = |block: usize| {
        let (mut sums, mut weights) = (vec![0i128; at.len()], 0i128);
        each(rows, block, at.len(), |row, entries| {
            let own = entries
                .iter()
                .map(|&(place, x)| at[place] * i128::from(x))
                .sum::<i128>();
            let sum = (i128::from(row.offset) << FAST) + own;
            let label = i64::from(row.label) << sigmoid::DIGITS;
            let slope = sigmoid::fast(sum >> (FAST + ENTRY_DIGITS - sigmoid::ASKED)) - label;
            // 2^62 · 2^30 · 2^20 in 2^12 rows is below 2^125.
            let slope = i128::from(slope) * i128::from(row.weight);
            entries
                .iter()
                .for_each(|&(place, x)| sums[place] += slope * i128::from(x));
            weights += i128::from(row.weight);
        });
        (sums, weights)
    };
    let blocks = (0..rows.rows().div_ceil(BLOCK)).into_par_iter().map(block);
    let nothing = || (vec![IBig::ZERO; at.len()], IBig::ZERO);
    let (values, weights) = blocks
        .fold(nothing, |(mut sums, weights), (own, weight)| {
            sums.iter_mut()
                .zip(own)
                .for_each(|(sum, x)| *sum += IBig::from(x));
            (sums, weights + IBig::from(weight))
        })
        .reduce(nothing, |(mut sums, weights), (own, weight)| {
            sums.iter_mut().zip(own).for_each(|(sum, x)| *sum += x);
            (sums, weights + weight)
        });
    Sum {
        values,
        error: (weights * IBig::from(sigmoid::ERROR)) << ENTRY_DIGITS,
        digits: sigmoid::DIGITS + WEIGHT_DIGITS + ENTRY_DIGITS,
    }
}

/// The same for any coefficients, with as many digits as they have.
fn precise(rows: &impl LogisticRows, at: &[IBig], digits: usize) -> Sum {
    let nothing = || (vec![IBig::ZERO; at.len()], IBig::ZERO);
    let block = |block: usize| {
        let (mut sums, mut error) = nothing();
        each(rows, block, at.len(), |row, entries| {
            let mut sum = IBig::from(row.offset) << digits;
            entries
                .iter()
                .for_each(|&(place, x)| sum += &at[place] * IBig::from(x));
            let (value, off) = sigmoid::precise(&sum, digits + ENTRY_DIGITS, digits);
            let slope = (value - (IBig::from(u8::from(row.label)) << digits)) * IBig::from(row.weight);
            entries
                .iter()
                .for_each(|&(place, x)| sums[place] += &slope * IBig::from(x));
            error += off * IBig::from(row.weight);
        });
        (sums, error)
    };
    let blocks = (0..rows.rows().div_ceil(BLOCK)).into_par_iter().map(block);
    let (values, error) = blocks.reduce(nothing, |(mut sums, error), (own, more)| {
        sums.iter_mut().zip(own).for_each(|(sum, x)| *sum += x);
        (sums, error + more)
    });
    Sum {
        values,
        error: error << ENTRY_DIGITS,
        digits: digits + WEIGHT_DIGITS + ENTRY_DIGITS,
    }
}
