//! How many people lie between two values: from a desensitised column, and from unary codes in a hierarchy.
//!
//! The estimators see only released values. A range is answered from cumulative shares ([`CumulativeShares`]).
//!
//! # Paper
//! OpBoost, Figure 6, which counts desensitised values as they are ([`CumulativeShares::counted`]). Since the transition rows are public,
//! the shares that make the column most likely can be found ([`CumulativeShares::reconstructed`]): a better answer at the same price.
//! The paper's rival (AHEAD) refines a hierarchy by what it has seen; [`Hierarchy`] is its standard predecessor.

use std::ops::Range;

use rayon::prelude::*;

use privet::Error;
use privet::privacy::mechanism::ordered::{Ordered, Unary};

/// Estimated shares of the slots of a domain, added up.
#[derive(Debug, Clone, PartialEq)]
pub struct CumulativeShares {
    /// `up_to[i]` is the share below slot `i`.
    up_to: Vec<f64>,
}

impl CumulativeShares {
    /// These shares, slot by slot.
    pub fn new(shares: &[f64]) -> Self {
        let mut sum = 0.0;
        let rest = shares.iter().map(|share| {
            sum += share;
            sum
        });
        Self {
            up_to: std::iter::once(0.0).chain(rest).collect(),
        }
    }

    /// How the outputs are spread, taken for how the inputs are. Outputs below the domain count as its first slot, those above
    /// as its last.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there is not a count for every output, or there are no rows.
    pub fn counted(counts: &[u64], mechanism: &dyn Ordered) -> Result<Self, Error> {
        let rows = rows(counts, mechanism.outputs().count)?;
        let (slots, lowest) = (mechanism.inputs(), i64::from(mechanism.outputs().lowest));
        let mut shares = vec![0.0; slots];
        for (output, count) in counts.iter().enumerate() {
            let slot = (output as i64 + lowest).clamp(0, slots as i64 - 1) as usize;
            shares[slot] += *count as f64 / rows;
        }
        Ok(Self::new(&shares))
    }

    /// The shares that make the outputs most likely, by so many steps of expectation and maximisation from equal shares.
    ///
    /// # Errors
    /// As [`CumulativeShares::counted`].
    pub fn reconstructed(counts: &[u64], Laws(laws): &Laws, steps: u32) -> Result<Self, Error> {
        let rows = rows(counts, laws.first().map_or(0, Vec::len))?;
        let mut shares = vec![1.0 / laws.len() as f64; laws.len()];
        for _ in 0..steps {
            let mut expected = vec![0.0; counts.len()];
            for (law, share) in laws.iter().zip(&shares) {
                for (sum, p) in expected.iter_mut().zip(law) {
                    *sum += share * p;
                }
            }
            let observed = counts.iter().map(|count| *count as f64 / rows);
            let ratios: Vec<f64> = observed
                .zip(&expected)
                .map(|(seen, expected)| if *expected > 0.0 { seen / expected } else { 0.0 })
                .collect();
            for (law, share) in laws.iter().zip(&mut shares) {
                *share *= law.iter().zip(&ratios).map(|(p, ratio)| p * ratio).sum::<f64>();
            }
        }
        Ok(Self::new(&shares))
    }

    /// The share of a range of slots; what lies outside the domain has none.
    pub fn of(&self, slots: Range<usize>) -> f64 {
        let last = self.up_to.len() - 1;
        let [start, end] = [slots.start, slots.end].map(|slot| self.up_to[slot.min(last)]);
        if slots.start < slots.end { end - start } else { 0.0 }
    }

    /// The mean squared difference to other shares over some ranges.
    pub fn error(&self, truth: &Self, queries: &[Range<usize>]) -> f64 {
        let square = |slots: &Range<usize>| (self.of(slots.clone()) - truth.of(slots.clone())).powi(2);
        queries.iter().map(square).sum::<f64>() / queries.len().max(1) as f64
    }
}

/// All transition rows of a mechanism, which are public: computed once, for as many columns as one likes.
#[derive(Debug, Clone, PartialEq)]
pub struct Laws(Vec<Vec<f64>>);

impl Laws {
    /// Row by row. On a thousand slots this takes seconds.
    pub fn of(mechanism: &dyn Ordered) -> Self {
        let slots = (0..mechanism.inputs()).into_par_iter();
        Self(slots.map(|x| mechanism.row(x as u16)).collect())
    }
}

fn rows(counts: &[u64], outputs: usize) -> Result<f64, Error> {
    let rows: u64 = counts.iter().sum();
    if counts.len() == outputs && rows > 0 {
        return Ok(rows as f64);
    }
    let why = format!(
        "{} counts of {rows} rows are not those of {outputs} outputs",
        counts.len()
    );
    Err(Error::parameter("counts", why))
}

/// A domain cut into parts, each of them cut again: every row tells at one level only in which part it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hierarchy {
    branches: usize,
    levels: u32,
}

impl Hierarchy {
    /// `branches` parts, each cut into as many, `levels` times.
    ///
    /// # Errors
    /// [`Error::Parameter`] if nothing is cut, or into more than 65535 slots.
    pub fn new(branches: usize, levels: u32) -> Result<Self, Error> {
        let slots = branches.checked_pow(levels).unwrap_or(usize::MAX);
        if branches < 2 || levels == 0 || slots > usize::from(u16::MAX) {
            let why = format!(
                "{levels} levels of {branches} branches are not supported: cut at least once, into at most 65535 slots"
            );
            return Err(Error::parameter("levels", why));
        }
        Ok(Self { branches, levels })
    }

    /// How many slots the finest level has.
    pub fn slots(self) -> usize {
        self.branches.pow(self.levels)
    }

    /// How many parts each level has, from the coarsest.
    pub fn parts(self) -> impl Iterator<Item = usize> {
        (1..=self.levels).map(move |level| self.branches.pow(level))
    }

    /// The part of a slot at a level of so many parts.
    pub fn part(self, slot: u16, parts: usize) -> u16 {
        (usize::from(slot) * parts / self.slots()) as u16
    }

    /// Shares of the slots that agree at all levels, from estimates level by level, coarsest first.
    ///
    /// Every level was asked of as many rows, so all estimates vary as much. From below, a part's own estimate and the sum of
    /// its children are weighed by how much they vary; from above, what is missing is dealt out evenly (Hay et al. 2010). All
    /// shares add up to one.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there are not as many estimates as parts.
    pub fn agreed(self, estimates: &[Vec<f64>]) -> Result<CumulativeShares, Error> {
        if !estimates.iter().map(Vec::len).eq(self.parts()) {
            return Err(Error::parameter(
                "estimates",
                "there must be one estimate for each part of each level",
            ));
        }
        let sums = |fine: &[f64]| -> Vec<f64> {
            fine.chunks(self.branches)
                .map(|children| children.iter().sum())
                .collect()
        };
        let mut levels = estimates.to_vec();
        let mut power = self.branches as f64;
        for level in (0..levels.len() - 1).rev() {
            let finer = power;
            power *= self.branches as f64;
            let below = sums(&levels[level + 1]);
            for (own, below) in levels[level].iter_mut().zip(below) {
                *own = ((power - finer) * *own + (finer - 1.0) * below) / (power - 1.0);
            }
        }
        let mut above = vec![1.0];
        for level in levels {
            let missing: Vec<f64> = above
                .iter()
                .zip(sums(&level))
                .map(|(all, sum)| all - sum)
                .collect();
            above = level
                .iter()
                .enumerate()
                .map(|(part, share)| share + missing[part / self.branches] / self.branches as f64)
                .collect();
        }
        Ok(CumulativeShares::new(&above))
    }
}

/// The share of each category, from the flags of a unary code, row by row: unbiased, so it may lie below zero.
///
/// # Errors
/// [`Error::Parameter`] if the flags are not those of some rows.
pub fn unary_shares(flags: &[u16], code: &Unary) -> Result<Vec<f64>, Error> {
    let categories = code.categories();
    if flags.is_empty() || !flags.len().is_multiple_of(categories) {
        let why = format!("{} flags are not rows of {categories}", flags.len());
        return Err(Error::parameter("flags", why));
    }
    let mut counts = vec![0u64; categories];
    for row in flags.chunks(categories) {
        for (count, flag) in counts.iter_mut().zip(row) {
            *count += u64::from(*flag);
        }
    }
    let rows = (flags.len() / categories) as f64;
    let [set, unset] = code.shown();
    let share = |count: &u64| (*count as f64 / rows - unset) / (set - unset);
    Ok(counts.iter().map(share).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet::privacy::Epsilon;
    use privet::privacy::mechanism::ordered::{Alignment, ClampedGeometric, LocalMap, Route};

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).expect("an ε")
    }

    #[test]
    fn ranges_are_half_open() {
        let shares = CumulativeShares::new(&[0.5, 0.25, 0.25]);
        assert_eq!(shares.of(0..3), 1.0);
        assert_eq!(shares.of(1..2), 0.25);
        assert_eq!(shares.of(2..9), 0.25);
        assert_eq!(shares.of(2..2), 0.0);
        let other = CumulativeShares::new(&[0.25, 0.5, 0.25]);
        assert_eq!(shares.error(&other, &[0..1, 0..2]), 0.0625 / 2.0);
    }

    /// Outputs of parts that begin at zero lie outside of a domain that begins at one.
    #[test]
    fn outputs_outside_count_at_the_ends() {
        let alignment = Alignment::Zero { first: 1 };
        let map = LocalMap::new(epsilon(1.0), 4, 3, alignment, Route::default()).expect("a map");
        assert_eq!(map.outputs().count, 6);
        let shares = CumulativeShares::counted(&[1, 1, 1, 1, 0, 4], &map).expect("six counts");
        assert_eq!(
            (0..4).map(|slot| shares.of(slot..slot + 1)).collect::<Vec<_>>(),
            [0.25, 0.125, 0.125, 0.5]
        );
        assert!(CumulativeShares::counted(&[1, 1], &map).is_err());
        assert!(CumulativeShares::counted(&[0; 6], &map).is_err());
    }

    /// Outputs as they are on average lead back to the inputs.
    #[test]
    fn what_was_put_in_is_found_again() {
        let map = ClampedGeometric::new(epsilon(1.0), 4).expect("a mechanism");
        let truth = [0.1, 0.6, 0.1, 0.2];
        let average = |y: usize| -> f64 {
            let parts = truth
                .iter()
                .enumerate()
                .map(|(x, share)| share * map.row(x as u16)[y]);
            parts.sum()
        };
        let counts: Vec<u64> = (0..4).map(|y| (average(y) * 1e9).round() as u64).collect();
        let laws = Laws::of(&map);
        let found = CumulativeShares::reconstructed(&counts, &laws, 3000).expect("four counts");
        let naive = CumulativeShares::counted(&counts, &map).expect("four counts");
        for (slot, share) in truth.iter().enumerate() {
            assert!((found.of(slot..slot + 1) - share).abs() < 1e-4, "{slot}");
        }
        assert!((naive.of(1..2) - 0.6).abs() > 0.1, "counting is far off");
        // A step by hand: from equal shares, Σ_y P(y|0)·seen(y)/mean(y) / 4.
        let one = CumulativeShares::reconstructed(&counts, &laws, 1).expect("four counts");
        let law = map.row(0);
        let step: f64 = (0..4)
            .map(|y| {
                let mean: f64 = (0..4).map(|x| map.row(x)[y]).sum::<f64>() / 4.0;
                law[y] * average(y) / mean / 4.0
            })
            .sum();
        assert!((one.of(0..1) - step).abs() < 1e-8);
    }

    /// Two levels of two branches by hand.
    #[test]
    fn levels_agree() {
        let hierarchy = Hierarchy::new(2, 2).expect("four slots");
        assert_eq!(hierarchy.parts().collect::<Vec<_>>(), [2, 4]);
        assert_eq!([0, 1, 2, 3].map(|slot| hierarchy.part(slot, 2)), [0, 0, 1, 1]);
        let estimates = [vec![0.6, 0.5], vec![0.2, 0.1, 0.3, 0.3]];
        // From below: (2·0.6 + 0.3)/3 = 0.5 and (2·0.5 + 0.6)/3 = 1.6/3. Both are 0.1/6 too much in all.
        let half = 0.5 - 0.1 / 6.0;
        let shares = hierarchy.agreed(&estimates).expect("as many estimates");
        assert!((shares.of(0..4) - 1.0).abs() < 1e-12);
        assert!((shares.of(0..2) - half).abs() < 1e-12, "{}", shares.of(0..2));
        // Its children miss as much each: (half − 0.3)/2.
        assert!((shares.of(0..1) - (0.2 + (half - 0.3) / 2.0)).abs() < 1e-12);
        // Estimates that agree already stay.
        let exact = [vec![0.5, 0.5], vec![0.25, 0.25, 0.4, 0.1]];
        let shares = hierarchy.agreed(&exact).expect("as many estimates");
        assert!((shares.of(2..3) - 0.4).abs() < 1e-12);
        assert!(hierarchy.agreed(&exact[..1]).is_err());
        assert!(
            Hierarchy::new(1, 3).is_err() && Hierarchy::new(4, 20).is_err() && Hierarchy::new(4, 0).is_err()
        );
    }

    #[test]
    fn flags_become_shares() {
        let code = Unary::optimised(epsilon(1.0), 2).expect("a code");
        let [set, unset] = code.shown();
        assert!((set - 0.5).abs() < 1e-12 && (unset - 1.0 / (1.0 + 1.0f64.exp())).abs() < 1e-12);
        let shares = unary_shares(&[1, 0, 0, 0, 1, 0, 0, 1], &code).expect("four rows");
        assert!((shares[0] - 1.0).abs() < 1e-12);
        assert!((shares[1] - (0.25 - unset) / (0.5 - unset)).abs() < 1e-12);
        assert!(unary_shares(&[1], &code).is_err() && unary_shares(&[], &code).is_err());
    }
}
