//! The weighted Kendall coefficient: of all pairs of rows, how many keep their order, far ones counting more.
//!
//! A pair counts as many times as the ranks of its two original values are apart; rows of equal original value make no pair. All
//! sums come from the joint histogram, in time proportional to its size: no pair of rows is ever looked at.
//!
//! # Paper
//! OpBoost, Definition 6.1 and Figures 5 and 11. Its reference implementation divides by the original's weight alone
//! ([`Joint::by_original`]), the definition by both ([`Joint::by_both`]): a few per cent more.

use privet::Error;
use privet::privacy::mechanism::ordered::Ordered;

/// How many rows have each pair of an original and a changed value.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// Original values that occur, rising; each with its changed values, rising.
    rows: Vec<Vec<f64>>,
}

/// What all pairs with different original values weigh.
struct PairWeights {
    /// Kept pairs less turned ones.
    kept: f64,
    /// All pairs.
    original: f64,
    /// Pairs whose changed values differ.
    changed: f64,
}

impl Joint {
    /// Of two columns of the same rows.
    ///
    /// # Errors
    /// [`Error::Parameter`] if they have different numbers of rows.
    pub fn of(original: &[u16], changed: &[u16]) -> Result<Self, Error> {
        if original.len() != changed.len() {
            let why = format!(
                "{} original values and {} changed ones are not of the same rows",
                original.len(),
                changed.len()
            );
            return Err(Error::parameter("changed", why));
        }
        let size = |column: &[u16]| column.iter().max().map_or(0, |last| usize::from(*last) + 1);
        let mut rows = vec![vec![0.0; size(changed)]; size(original)];
        for (x, y) in original.iter().zip(changed) {
            rows[usize::from(*x)][usize::from(*y)] += 1.0;
        }
        Ok(Self::present(rows))
    }

    /// As it is on average when a mechanism changes a column of which `counts[x]` rows have slot `x`.
    ///
    /// Rows are drawn one by one, so the average of every product of two rows is the product of their averages:
    /// [`Joint::by_original`] of this is the **exact** average of the coefficient, [`Joint::by_both`] only close to it.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there is not a count for every slot.
    pub fn expected(counts: &[u64], mechanism: &dyn Ordered) -> Result<Self, Error> {
        if counts.len() != mechanism.inputs() {
            let why = format!(
                "{} counts for the {} slots of a {}",
                counts.len(),
                mechanism.inputs(),
                mechanism.describe()
            );
            return Err(Error::parameter("counts", why));
        }
        let row = |(slot, count): (usize, &u64)| match count {
            0 => Vec::new(),
            n => mechanism
                .row(slot as u16)
                .into_iter()
                .map(|p| p * *n as f64)
                .collect(),
        };
        Ok(Self::present(counts.iter().enumerate().map(row).collect()))
    }

    /// Ranks are dense: a value that no row has takes none.
    fn present(mut rows: Vec<Vec<f64>>) -> Self {
        rows.retain(|row| row.iter().any(|count| *count > 0.0));
        Self { rows }
    }

    /// Weight of kept pairs less that of turned ones, by the weight of all; nothing if no two original values differ.
    pub fn by_original(&self) -> Option<f64> {
        let weights = self.weights();
        (weights.original > 0.0).then(|| weights.kept / weights.original)
    }

    /// The same by the square root of the weight of all times the weight of pairs whose changed values differ: Definition 6.1.
    pub fn by_both(&self) -> Option<f64> {
        let weights = self.weights();
        let both = weights.original * weights.changed;
        (both > 0.0).then(|| weights.kept / both.sqrt())
    }

    /// Row by row. `lower` holds, for each changed value, how many of the rows so far lie below it less how many lie above, and
    /// `by_rank` the same with every row weighted by how many ranks it lies behind: a step adds the one to the other.
    fn weights(&self) -> PairWeights {
        let outputs = self.rows.first().map_or(0, Vec::len);
        let (mut lower, mut by_rank) = (vec![0.0; outputs], vec![0.0; outputs]);
        let (mut differ, mut differ_by_rank) = (vec![0.0; outputs], vec![0.0; outputs]);
        let (mut all, mut all_by_rank) = (0.0, 0.0);
        let mut weights = PairWeights {
            kept: 0.0,
            original: 0.0,
            changed: 0.0,
        };
        for row in &self.rows {
            let total: f64 = row.iter().sum();
            weights.original += total * all_by_rank;
            let mut below = 0.0;
            for (y, count) in row.iter().enumerate() {
                weights.kept += count * by_rank[y];
                weights.changed += count * differ_by_rank[y];
                let above = total - below - count;
                lower[y] += below - above;
                differ[y] += total - count;
                by_rank[y] += lower[y];
                differ_by_rank[y] += differ[y];
                below += count;
            }
            all += total;
            all_by_rank += all;
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet::privacy::Epsilon;
    use privet::privacy::mechanism::ordered::{ClampedGeometric, GlobalMap, Route};

    fn joint(original: &[u16], changed: &[u16]) -> Joint {
        Joint::of(original, changed).expect("as many rows")
    }

    /// Pair by pair, as the definition has it.
    fn slowly(original: &[u16], changed: &[u16]) -> [f64; 2] {
        let mut ranks: Vec<u16> = original.to_vec();
        ranks.sort_unstable();
        ranks.dedup();
        let rank = |x: u16| ranks.partition_point(|r| *r < x) as f64;
        let (mut kept, mut all, mut differ) = (0.0, 0.0, 0.0);
        for i in 0..original.len() {
            for j in 0..i {
                let weight = (rank(original[i]) - rank(original[j])).abs();
                let sign = |column: &[u16]| f64::from((i32::from(column[i]) - i32::from(column[j])).signum());
                kept += weight * sign(original) * sign(changed);
                all += weight;
                differ += weight * sign(changed).abs();
            }
        }
        [kept / all, kept / (all * differ).sqrt()]
    }

    /// Of the joint histogram: [by the original's weight, by both].
    fn are(joint: &Joint, [one, both]: [f64; 2], within: f64) {
        assert!((joint.by_original().expect("pairs") - one).abs() < within);
        assert!((joint.by_both().expect("pairs") - both).abs() < within);
    }

    #[test]
    fn the_histogram_counts_every_pair() {
        let six = joint(&[1, 1, 2, 3, 3, 4], &[2, 1, 1, 3, 4, 3]);
        are(&six, [0.727273, 0.762770], 1e-6);
        // Values with gaps, so that ranks are not values.
        let original: Vec<u16> = (0..200u32).map(|i| (i * i % 23) as u16 * 3).collect();
        let changed: Vec<u16> = (0..200u32)
            .map(|i| ((i * i % 23 + i * 7 % 11) / 2) as u16)
            .collect();
        are(&joint(&original, &changed), slowly(&original, &changed), 1e-12);
    }

    #[test]
    fn kept_and_turned_orders_are_one_and_minus_one() {
        let up: Vec<u16> = (0..50).collect();
        let down: Vec<u16> = (0..50).rev().collect();
        assert_eq!(joint(&up, &up).by_original(), Some(1.0));
        assert_eq!(joint(&up, &down).by_both(), Some(-1.0));
        assert_eq!(joint(&[3, 3], &[1, 2]).by_original(), None);
        assert_eq!(joint(&[1, 2], &[3, 3]).by_both(), None);
        assert_eq!(joint(&[], &[]).by_original(), None);
        assert!(Joint::of(&[1], &[]).is_err());
    }

    /// Three rows on four slots, all outputs enumerated.
    #[test]
    fn an_average_is_that_of_all_outcomes() {
        let epsilon = Epsilon::new(0.7).expect("ε");
        averages(&GlobalMap::new(epsilon, 4, Route::default()).expect("a map"));
        averages(&ClampedGeometric::new(epsilon, 4).expect("a mechanism"));
    }

    fn averages(mechanism: &dyn Ordered) {
        assert!(Joint::expected(&[1, 1, 1], mechanism).is_err());
        let (original, counts) = ([0u16, 2, 2], [1, 0, 2, 0]);
        let rows: Vec<Vec<f64>> = original.iter().map(|x| mechanism.row(*x)).collect();
        let mut average = 0.0;
        for outcome in 0..64u16 {
            let changed = [outcome % 4, outcome / 4 % 4, outcome / 16];
            let mass: f64 = rows
                .iter()
                .zip(&changed)
                .map(|(row, y)| row[usize::from(*y)])
                .product();
            average += mass * slowly(&original, &changed)[0];
        }
        let expected = Joint::expected(&counts, mechanism).expect("four counts");
        assert!((expected.by_original().expect("pairs") - average).abs() < 1e-12);
    }
}
