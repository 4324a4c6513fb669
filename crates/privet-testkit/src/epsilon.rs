//! How large is ε at least, seen from outputs alone?
//!
//! A mechanism is run many times on two neighbours. Any event that is p-likely on one and q-likely on the other shows
//! ε ≥ ln(p/q), and δ ≥ p - e^ε q at a given ε. The art is to find a telling event; the trap is to measure it on the
//! samples it was found on. Among thousands of candidate events the one that *looks* most telling mostly owes its looks to
//! luck, and its confidence interval, computed as if it had been fixed beforehand, no longer covers the truth: an audit
//! that does so accuses correct mechanisms (a test below shows it). So **half of the samples choose, the other half
//! measures**, with Clopper-Pearson bounds, which hold at every sample size.
//!
//! An event that was fixed before anything was drawn needs no half to be chosen on: [`KnownEvent`].
//!
//! Samples must be independent. A bound that exceeds the claimed ε is wrong with probability at most the stated rate.

mod event;
mod known;

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

use crate::Verdict;
use crate::interval::{Tally, at_least, at_most};
use event::Split;
use known::quantile;

pub use known::KnownEvent;

/// A lower bound and what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The bound. Zero when nothing was found: absence of evidence, no more.
    pub bound: f64,
    /// The event that shows it, for whoever debugs the mechanism.
    pub event: String,
}

/// A lower bound on the pure ε, wrong (above the true one) with probability at most `miss`.
///
/// With `n` samples a side and no hit on the other, the bound cannot pass about ln(n / 2 ln(1/miss)): a large ε needs many.
/// For floats, pass [`ordered`] keys.
///
/// # Panics
/// If `miss` is not in (0, 1).
pub fn lower_bound<T: Ord + Clone + Debug>(on_first: &[T], on_second: &[T], miss: f64) -> Evidence {
    lower_bound_beyond(0.0, on_first, on_second, miss)
}

/// A lower bound on the ε of an (ε, δ) guarantee with the given δ, wrong with probability at most `miss`.
///
/// # Panics
/// If `miss` is not in (0, 1) or δ not in [0, 1).
pub fn lower_bound_beyond<T: Ord + Clone + Debug>(
    delta: f64,
    on_first: &[T],
    on_second: &[T],
    miss: f64,
) -> Evidence {
    assert!((0.0..1.0).contains(&delta), "δ is {delta}");
    search(on_first, on_second, miss, |p, q| ((p - delta) / q).ln())
}

/// A lower bound on the μ of a Gaussian-DP guarantee, Φ⁻¹(p) − Φ⁻¹(q), wrong with probability at most `miss`.
///
/// # Panics
/// If `miss` is not in (0, 1).
pub fn mu_lower_bound<T: Ord + Clone + Debug>(on_first: &[T], on_second: &[T], miss: f64) -> Evidence {
    search(on_first, on_second, miss, |p, q| quantile(p) - quantile(q))
}

/// A lower bound on δ at the given ε, wrong with probability at most `miss`.
///
/// # Panics
/// If `miss` is not in (0, 1) or ε is negative or not finite.
pub fn delta_lower_bound<T: Ord + Clone + Debug>(
    epsilon: f64,
    on_first: &[T],
    on_second: &[T],
    miss: f64,
) -> Evidence {
    assert!(epsilon >= 0.0 && epsilon.is_finite(), "ε is {epsilon}");
    search(on_first, on_second, miss, |p, q| p - epsilon.exp() * q)
}

/// Finds telling events on the one half, measures them on the other; `worth` turns a lower bound of the one probability and
/// an upper bound of the other into a bound of what is asked.
fn search<T: Ord + Clone + Debug>(
    on_first: &[T],
    on_second: &[T],
    miss: f64,
    worth: impl Fn(f64, f64) -> f64,
) -> Evidence {
    crate::check_rate(miss);
    let (first, second) = (Split::of(on_first), Split::of(on_second));
    let events = event::telling(&first.choose, &second.choose, &worth);
    // Every candidate is measured by two one-sided bounds; together they miss at most `miss`.
    let each = miss / (2.0 * events.len().max(1) as f64);
    let mut best = Evidence {
        bound: 0.0,
        event: "none found".into(),
    };
    for (swapped, event) in events {
        let (ours, theirs) = if swapped {
            (&second, &first)
        } else {
            (&first, &second)
        };
        let tally = |samples: &[T]| {
            Tally::new(
                samples.iter().filter(|x| event.holds(x)).count() as u64,
                samples.len() as u64,
            )
        };
        let (hits, others) = (tally(&ours.measure), tally(&theirs.measure));
        let bound = worth(at_least(hits, each), at_most(others, each));
        if bound > best.bound {
            let side = if swapped { "second" } else { "first" };
            let event = format!(
                "{event:?}: {}/{} on the {side}, {}/{} on the other",
                hits.hits(),
                hits.trials(),
                others.hits(),
                others.trials()
            );
            best = Evidence { bound, event };
        }
    }
    best
}

/// Tests for a value that is common on one neighbour and impossible on the other, which no finite ε allows.
///
/// Refuses when a value seen `c` times among `n` on one side never occurs among `m` on the other. If the mechanism were
/// ε-private, such a value would have probability q ≥ e^-ε p there. With r = e^-ε m/n, for one value (Chernoff's bound at
/// 1 + r) P(at least c here, none there) ≤ (1 + r)^-c; summed over all values, however many, by the first
/// occurrence of each, ≤ n (1 + r)^-(c-1). No splitting is needed: the bound is over all values at once.
/// `epsilon` is the pure guarantee that is claimed; under an (ε, δ) guarantee supports may differ.
/// The false-alarm rate is at most `false_alarm`.
///
/// # Panics
/// If the rate is not in (0, 1) or ε is negative or not finite.
pub fn supports_agree<T: Eq + Hash + Debug>(
    on_first: &[T],
    on_second: &[T],
    epsilon: f64,
    false_alarm: f64,
) -> Verdict {
    crate::check_rate(false_alarm);
    assert!(epsilon >= 0.0 && epsilon.is_finite(), "ε is {epsilon}");
    let mut counts = HashMap::<&T, [u64; 2]>::new();
    on_first.iter().for_each(|x| counts.entry(x).or_default()[0] += 1);
    on_second
        .iter()
        .for_each(|x| counts.entry(x).or_default()[1] += 1);
    let sizes = [on_first.len() as f64, on_second.len() as f64];
    let mut worst = (1.0, None);
    for (value, count) in counts {
        for side in [0, 1] {
            let other = 1 - side;
            if count[other] == 0 && count[side] > 0 {
                let r = (-epsilon).exp() * sizes[other] / sizes[side];
                // Twice, for the two sides.
                let p = 2.0 * sizes[side] * (-((count[side] - 1) as f64) * r.ln_1p()).exp();
                if p < worst.0 {
                    worst = (p, Some((value, count[side], side)));
                }
            }
        }
    }
    Verdict::judge(worst.0, false_alarm, || {
        let (value, count, side) = worst.1.expect("a refusal has a value");
        let side = ["first", "second"][side];
        format!("{value:?} came {count} times on the {side} neighbour and never on the other")
    })
}

/// A key that orders floats as numbers and tells every bit pattern apart, so that audits see the very floats a mechanism
/// returned.
pub fn ordered(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

#[cfg(test)]
mod tests;
