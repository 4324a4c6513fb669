//! How likely the two sides of a split keep apart: β of Theorem 5.1, and Corollary 5.2.
//!
//! | function | what it is |
//! | --- | --- |
//! | [`split_kept`] | **exact**; a lower bound of the chance that the best gain is reached |
//! | [`split_kept_as_printed`] | the printed formula: counts ties several times, so it is **no** lower bound and can exceed one |

use std::ops::Range;

use privet::Error;
use privet::privacy::mechanism::ordered::Ordered;

/// A column and a split of it: how many rows have each slot, and which slots go left.
#[derive(Debug, Clone, Copy)]
pub struct ColumnSplit<'a> {
    /// Rows in each slot.
    pub counts: &'a [u64],
    /// The first slot that goes right.
    pub at: usize,
}

/// β: the probability that every row of the left side stays strictly below every row of the right one.
///
/// Then the same two sides can still be told apart by one threshold. So, for the split with the greatest gain, the greatest gain
/// after the change is at least as great with at least this probability (Corollary 5.2).
///
/// # Errors
/// [`Error::Parameter`] if there is not a count for every slot, or one side of the split has no slots.
pub fn split_kept(mechanism: &dyn Ordered, split: ColumnSplit<'_>) -> Result<f64, Error> {
    let sides = Sides::of(mechanism, split)?;
    let mut kept = 0.0;
    let mut before = 0.0;
    for y in 0..mechanism.outputs().count {
        // The left side's greatest is at most y, less at most y − 1: it is y.
        let left = sides.below(0..split.at, y);
        kept += (left - before) * sides.above(split.at, y);
        before = left;
    }
    Ok(kept)
}

/// The formula of Theorem 5.1, which adds over the rows that may be the left side's greatest.
///
/// Where several rows share the greatest value, each adds the same outcome once more.
///
/// # Errors
/// As [`split_kept`].
pub fn split_kept_as_printed(mechanism: &dyn Ordered, split: ColumnSplit<'_>) -> Result<f64, Error> {
    let sides = Sides::of(mechanism, split)?;
    let at = |y: usize| {
        let greatest = (0..split.at).map(|x| {
            let (count, below) = (sides.counts[x], sides.below[x][y]);
            let here = below - if y == 0 { 0.0 } else { sides.below[x][y - 1] };
            if count > 0.0 && here > 0.0 {
                count * here / below
            } else {
                0.0
            }
        });
        sides.below(0..split.at, y) * sides.above(split.at, y) * greatest.sum::<f64>()
    };
    Ok((0..mechanism.outputs().count).map(at).sum())
}

/// Of each slot, how many rows it has and the probability that one of them is changed to at most each output.
struct Sides {
    counts: Vec<f64>,
    below: Vec<Vec<f64>>,
}

impl Sides {
    fn of(mechanism: &dyn Ordered, split: ColumnSplit<'_>) -> Result<Self, Error> {
        let slots = mechanism.inputs();
        if split.counts.len() != slots || !(1..slots).contains(&split.at) {
            let why = format!(
                "{} counts cut at {} do not split a column of {slots} slots in two",
                split.counts.len(),
                split.at
            );
            return Err(Error::parameter("counts", why));
        }
        let below = (0..slots).map(|x| {
            let mut sum = 0.0;
            let row = mechanism.row(x as u16).into_iter();
            row.map(|p| {
                sum += p;
                sum
            })
            .collect()
        });
        Ok(Self {
            counts: split.counts.iter().map(|n| *n as f64).collect(),
            below: below.collect(),
        })
    }

    /// That all rows of these slots are at most `y`.
    fn below(&self, slots: Range<usize>, y: usize) -> f64 {
        let rows = slots.filter(|x| self.counts[*x] > 0.0);
        rows.map(|x| self.below[x][y].powf(self.counts[x])).product()
    }

    /// That all rows from a slot on are above `y`.
    fn above(&self, from: usize, y: usize) -> f64 {
        let rows = (from..self.counts.len()).filter(|x| self.counts[*x] > 0.0);
        rows.map(|x| (1.0 - self.below[x][y]).max(0.0).powf(self.counts[x]))
            .product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet::privacy::Epsilon;
    use privet::privacy::mechanism::ordered::{ClampedGeometric, RandomisedResponse};

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).expect("an ε")
    }

    fn response(e: f64, slots: usize) -> RandomisedResponse {
        RandomisedResponse::new(epsilon(e), slots).expect("a response")
    }

    /// All outcomes of four rows on three slots, one by one.
    fn outcomes(mechanism: &dyn Ordered, rows: &[u16]) -> Vec<(f64, Vec<u16>)> {
        let outputs = mechanism.outputs().count as u16;
        let mut all = vec![(1.0, Vec::new())];
        for row in rows {
            let law = mechanism.row(*row);
            let step = |(mass, drawn): (f64, Vec<u16>)| {
                let law = &law;
                (0..outputs).map(move |y| (mass * law[usize::from(y)], [drawn.clone(), vec![y]].concat()))
            };
            all = all.into_iter().flat_map(step).collect();
        }
        all
    }

    #[test]
    fn a_split_is_kept_as_often_as_it_is() {
        let rows = [0, 0, 1, 2];
        for mechanism in [
            &response(1.0, 3) as &dyn Ordered,
            &ClampedGeometric::new(epsilon(0.7), 3).expect("a mechanism"),
        ] {
            for at in 1..3 {
                let split = ColumnSplit {
                    counts: &[2, 1, 1],
                    at,
                };
                let sides = if at == 1 { 2 } else { 3 };
                let kept: f64 = outcomes(mechanism, &rows)
                    .iter()
                    .filter(|(_, drawn)| drawn[..sides].iter().max() < drawn[sides..].iter().min())
                    .map(|(mass, _)| mass)
                    .sum();
                let exact = split_kept(mechanism, split).expect("a split");
                assert!((exact - kept).abs() < 1e-12, "{exact} {kept}");
                let printed = split_kept_as_printed(mechanism, split).expect("a split");
                assert!(printed > exact + 1e-3, "ties count twice: {printed} {exact}");
            }
        }
        let alone = ColumnSplit {
            counts: &[1, 1, 0],
            at: 1,
        };
        let mechanism = response(1.0, 3);
        let [exact, printed] =
            [split_kept, split_kept_as_printed].map(|beta| beta(&mechanism, alone).expect("a split"));
        assert!((exact - printed).abs() < 1e-12, "one row has no ties");
        assert!(split_kept(&mechanism, ColumnSplit { at: 3, ..alone }).is_err());
    }

    /// With next to no noise two equal rows keep their split for certain; the printed sum says twice that.
    #[test]
    fn the_printed_formula_exceeds_one() {
        let split = ColumnSplit {
            counts: &[2, 0, 1],
            at: 1,
        };
        let mechanism = response(30.0, 3);
        assert!(split_kept_as_printed(&mechanism, split).expect("a split") > 1.99);
        assert!((split_kept(&mechanism, split).expect("a split") - 1.0).abs() < 1e-9);
    }

    /// Corollary 5.2 on all outcomes: gradients as labels, the gain that of least squares.
    #[test]
    fn the_best_gain_is_reached_at_least_as_often() {
        let (rows, labels) = ([0u16, 0, 1, 2], [1.0, 1.0, 1.0, -2.0]);
        let gain = |values: &[u16]| {
            (1..3u16)
                .map(|at| {
                    let (mut sums, mut counts) = ([0.0; 2], [0.0f64; 2]);
                    for (value, label) in values.iter().zip(labels) {
                        let side = usize::from(*value >= at);
                        sums[side] += label;
                        counts[side] += 1.0;
                    }
                    let score = |side: usize| sums[side] * sums[side] / counts[side].max(1e-9);
                    score(0) + score(1)
                })
                .fold(0.0, f64::max)
        };
        let best = gain(&rows);
        let mechanism = response(1.0, 3);
        let reached: f64 = outcomes(&mechanism, &rows)
            .iter()
            .filter(|(_, drawn)| gain(drawn) >= best - 1e-9)
            .map(|(mass, _)| mass)
            .sum();
        let split = ColumnSplit {
            counts: &[2, 1, 1],
            at: 2,
        };
        let beta = split_kept(&mechanism, split).expect("a split");
        assert!(beta <= reached + 1e-12 && beta > 0.01, "{beta} {reached}");
    }
}
