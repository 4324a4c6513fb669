//! Candidate events, and the choice of the telling ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::interval::{Tally, wilson_at};

/// Standard deviations by which a candidate is discounted: enough that rare events do not win by luck alone.
const CAUTION: f64 = 3.0;

/// Rarer values are left to the cells: alone they would only fit the luck of the draw.
const COMMON: u64 = 8;

/// At most about this many cells.
const CELLS: usize = 256;

/// Samples split into those that choose an event and those that measure it.
pub(super) struct Split<T> {
    pub(super) choose: Vec<T>,
    pub(super) measure: Vec<T>,
}

impl<T: Clone> Split<T> {
    pub(super) fn of(samples: &[T]) -> Self {
        let (choose, measure) = samples.split_at(samples.len() / 2);
        Self {
            choose: choose.to_vec(),
            measure: measure.to_vec(),
        }
    }
}

/// A set of outputs.
pub(super) enum Event<T> {
    AtMost(T),
    MoreThan(T),
    /// Any of these values.
    Values(BTreeSet<T>),
    /// Cells of a partition by upper ends: value x lies in the first cell whose end is not below x, or in the last.
    Cells {
        ends: Vec<T>,
        chosen: BTreeSet<usize>,
    },
}

impl<T: Ord> Event<T> {
    pub(super) fn holds(&self, x: &T) -> bool {
        match self {
            Self::AtMost(t) => x <= t,
            Self::MoreThan(t) => x > t,
            Self::Values(values) => values.contains(x),
            Self::Cells { ends, chosen } => chosen.contains(&ends.partition_point(|end| end < x)),
        }
    }
}

impl<T: Ord + fmt::Debug> fmt::Debug for Event<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(t) => write!(f, "at most {t:?}"),
            Self::MoreThan(t) => write!(f, "more than {t:?}"),
            Self::Values(values) => write!(f, "{} values, {:?} first", values.len(), values.first()),
            Self::Cells { ends, chosen } => {
                let ranges = chosen
                    .iter()
                    .take(4)
                    .map(|c| (c.checked_sub(1).map(|b| &ends[b]), ends.get(*c)));
                write!(
                    f,
                    "{} ranges, {:?} first",
                    chosen.len(),
                    ranges.collect::<Vec<_>>()
                )
            }
        }
    }
}

type Counts = [u64; 2];

/// The most telling event of each kind in each direction; `true` when the event is more likely on the second neighbour.
pub(super) fn telling<T: Ord + Clone>(
    first: &[T],
    second: &[T],
    worth: &impl Fn(f64, f64) -> f64,
) -> Vec<(bool, Event<T>)> {
    let mut counts = BTreeMap::<T, Counts>::new();
    first
        .iter()
        .for_each(|x| counts.entry(x.clone()).or_default()[0] += 1);
    second
        .iter()
        .for_each(|x| counts.entry(x.clone()).or_default()[1] += 1);
    let sizes = [first.len() as u64, second.len() as u64];
    let cells = cells(&counts, (sizes[0] + sizes[1]) as usize);
    let common: Vec<(&T, Counts)> = counts
        .iter()
        .filter(|(_, c)| c[0] + c[1] >= COMMON)
        .map(|(x, c)| (x, *c))
        .collect();
    let all: Vec<(&T, Counts)> = counts.iter().map(|(x, c)| (x, *c)).collect();
    let backwards: Vec<(&T, Counts)> = all.iter().rev().copied().collect();

    let mut events = Vec::new();
    for swapped in [false, true] {
        let best = |ordered: &[Counts]| best_prefix(ordered, sizes, swapped, worth);
        if let Some(n) = best(&tallies(&all)) {
            events.push((swapped, Event::AtMost(all[n - 1].0.clone())));
        }
        // Everything above t is a prefix from the top; the whole range tells nothing, so some value always lies below.
        if let Some(n) = best(&tallies(&backwards)).filter(|n| *n < backwards.len()) {
            events.push((swapped, Event::MoreThan(backwards[n].0.clone())));
        }
        let ranked = by_ratio(&common, sizes, swapped);
        if let Some(n) = best(&tallies(&ranked)) {
            let values = ranked[..n].iter().map(|(x, _)| (*x).clone()).collect();
            events.push((swapped, Event::Values(values)));
        }
        let numbered: Vec<(usize, Counts)> = cells.iter().map(|(_, c)| *c).enumerate().collect();
        let ranked = by_ratio(&numbered, sizes, swapped);
        if let Some(n) = best(&tallies(&ranked)) {
            // The last cell has no end: values above everything seen belong to it.
            let ends = cells[..cells.len() - 1]
                .iter()
                .map(|(end, _)| end.clone())
                .collect();
            let chosen = ranked[..n].iter().map(|(cell, _)| *cell).collect();
            events.push((swapped, Event::Cells { ends, chosen }));
        }
    }
    events
}

fn tallies<X>(outcomes: &[(X, Counts)]) -> Vec<Counts> {
    outcomes.iter().map(|(_, c)| *c).collect()
}

/// Sorted by likelihood ratio, the most telling first: by Neyman and Pearson the best event is a prefix.
fn by_ratio<X: Copy>(outcomes: &[(X, Counts)], sizes: Counts, swapped: bool) -> Vec<(X, Counts)> {
    let share = |c: &Counts, side: usize| (c[side] as f64 + 0.5) / (sizes[side] as f64 + 0.5);
    let ratio = |c: &Counts| share(c, usize::from(swapped)) / share(c, usize::from(!swapped));
    let mut ranked = outcomes.to_vec();
    ranked.sort_by(|a, b| ratio(&b.1).total_cmp(&ratio(&a.1)));
    ranked
}

/// The length of the prefix worth most, none if no prefix is worth more than nothing.
fn best_prefix(
    ordered: &[Counts],
    sizes: Counts,
    swapped: bool,
    worth: &impl Fn(f64, f64) -> f64,
) -> Option<usize> {
    let (ours, theirs) = (usize::from(swapped), usize::from(!swapped));
    let mut sum = [0, 0];
    let mut best = (0.0, None);
    for (i, counts) in ordered.iter().enumerate() {
        sum = [sum[0] + counts[0], sum[1] + counts[1]];
        let low = wilson_at(Tally::new(sum[ours], sizes[ours]), CAUTION).low;
        let high = wilson_at(Tally::new(sum[theirs], sizes[theirs]), CAUTION).high;
        let worth = worth(low, high);
        if worth > best.0 {
            best = (worth, Some(i + 1));
        }
    }
    best.1
}

/// Runs of neighbouring values with about equally many samples, by upper end.
fn cells<T: Ord + Clone>(counts: &BTreeMap<T, Counts>, all: usize) -> Vec<(T, Counts)> {
    let least = (all / CELLS).max(2 * COMMON as usize) as u64;
    let mut cells: Vec<(T, Counts)> = Vec::new();
    let mut full = true;
    for (x, c) in counts {
        match cells.last_mut().filter(|_| !full) {
            Some((end, sum)) => (*end, *sum) = (x.clone(), [sum[0] + c[0], sum[1] + c[1]]),
            None => cells.push((x.clone(), *c)),
        }
        full = cells.last().is_some_and(|(_, sum)| sum[0] + sum[1] >= least);
    }
    cells
}
