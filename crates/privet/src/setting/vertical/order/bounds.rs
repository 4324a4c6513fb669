//! How likely order is kept: between two values, and between the two sides of a split.
//!
//! | function | the paper's | what it is |
//! | --- | --- | --- |
//! | [`least_order`] | γ(t) of Definition 2.4 | **exact**, from the transition rows of any mechanism |
//! | [`global_map`] | Theorem 4.2 | a lower bound |
//! | [`randomised_response`] | Theorem 4.3 | **exact**, the same wherever the two values lie |
//! | [`adjusted_map`] | Theorem 4.6 | a **heuristic**: its proof approximates, and it is no lower bound where values of one part may become equal |
//! | [`local_map`] | section 4.2 | a lower bound, exact over a border |
//! | [`split_kept`] | β of Theorem 5.1, Corollary 5.2 | **exact**; a lower bound of the chance that the best gain is reached |
//! | [`split_kept_as_printed`] | the formula of Theorem 5.1 | counts ties several times, so it is **no** lower bound: it can exceed one |

use std::ops::Range;

use crate::Error;
use crate::privacy::mechanism::ordered::Ordered;

fn refuse<T>(why: String) -> Result<T, Error> {
    Err(Error::Parameter(why))
}

fn apart(distance: usize, slots: usize) -> Result<(), Error> {
    if (1..slots).contains(&distance) {
        return Ok(());
    }
    refuse(format!(
        "no two of {slots} slots are {distance} apart: give a distance from 1 to {}",
        slots.saturating_sub(1)
    ))
}

/// γ(t): the least probability, over all pairs at this distance, that the greater value stays strictly greater. Exact, to the
/// accuracy of a float.
///
/// # Errors
/// [`Error::Parameter`] if no two slots are that far apart.
pub fn least_order(mechanism: &dyn Ordered, distance: usize) -> Result<f64, Error> {
    let slots = mechanism.inputs();
    apart(distance, slots)?;
    let pairs = (0..slots - distance).map(|low| {
        let [low, high] = [low, low + distance].map(|x| mechanism.row(x as u16));
        order(&low, &high)
    });
    Ok(pairs.fold(1.0, f64::min))
}

/// The probability that a draw of `high` is greater than one of `low`.
fn order(low: &[f64], high: &[f64]) -> f64 {
    let mut below = 0.0;
    let mut kept = 0.0;
    for (l, h) in low.iter().zip(high) {
        kept += h * below;
        below += l;
    }
    kept
}

/// Theorem 4.2's bound for the global map: `1 − q^t·((1 − q²)t + 1)/((1 + q − q^(t+1) − q^(|D|−t))(1 + q))`, `q = e^(−ε/2)`.
///
/// # Errors
/// [`Error::Parameter`] if no two slots are that far apart.
pub fn global_map(epsilon: f64, slots: usize, distance: usize) -> Result<f64, Error> {
    apart(distance, slots)?;
    Ok(1.0 - turned((-epsilon / 2.0).exp(), slots, distance))
}

fn turned(q: f64, slots: usize, distance: usize) -> f64 {
    let (t, power) = (distance as f64, |n: usize| q.powf(n as f64));
    let norm = (1.0 + q - power(distance + 1) - power(slots - distance)) * (1.0 + q);
    power(distance) * ((1.0 - q * q) * t + 1.0) / norm
}

/// Theorem 4.3 for generalised randomised response.
///
/// # Errors
/// [`Error::Parameter`] if no two slots are that far apart.
pub fn randomised_response(epsilon: f64, slots: usize, distance: usize) -> Result<f64, Error> {
    apart(distance, slots)?;
    let (d, t) = (slots as f64, distance as f64);
    let other = 1.0 / (d + epsilon.exp() - 1.0);
    let own = epsilon.exp() * other;
    let both_others = other * other * (d * (d - 3.0) / 2.0 + 2.0);
    Ok(own * own + own * other * (d - 3.0) + both_others + other * (own - other) * t)
}

/// Theorem 4.6's estimate for the adjusted map, where `between` is ε_prt and a part has `width` slots.
///
/// The global map's bound among the parts, where two values that end in one part are taken to keep their order every second
/// time. They may be equal then: at `|D| = 30`, θ = 10, α = 10, ε = 0.64 and a distance of 1 it says .4604 where .4568 holds.
///
/// # Errors
/// [`Error::Parameter`] if no two slots are that far apart or a part has no slots.
pub fn adjusted_map(between: f64, slots: usize, width: usize, distance: usize) -> Result<f64, Error> {
    apart(distance, slots)?;
    if width == 0 {
        return refuse("a part has no slots: give its width".into());
    }
    let (q, parts, steps) = ((-between / 2.0).exp(), slots.div_ceil(width), distance / width);
    let within = (1.0 - q).powi(2) * (steps as f64 + 1.0) / (2.0 * (1.0 + q).powi(2));
    Ok(1.0 - turned(q, parts, steps) + q.powf(steps as f64) * within)
}

/// Section 4.2 for the local map: certain over a border, the global map's bound on `width` slots within a part.
///
/// # Errors
/// [`Error::Parameter`] if no two slots of a part are that far apart.
pub fn local_map(epsilon: f64, width: usize, distance: usize, over_border: bool) -> Result<f64, Error> {
    if over_border {
        return Ok(1.0);
    }
    global_map(epsilon, width, distance)
}

/// A column and a split of it: how many rows have each slot, and which slots go left.
#[derive(Debug, Clone, Copy)]
pub struct Split<'a> {
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
/// [`Error::Parameter`] if there is not a count for every slot, or the split leaves one side without slots.
pub fn split_kept(mechanism: &dyn Ordered, split: Split<'_>) -> Result<f64, Error> {
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
pub fn split_kept_as_printed(mechanism: &dyn Ordered, split: Split<'_>) -> Result<f64, Error> {
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
    fn of(mechanism: &dyn Ordered, split: Split<'_>) -> Result<Self, Error> {
        let slots = mechanism.inputs();
        if split.counts.len() != slots || !(1..slots).contains(&split.at) {
            return refuse(format!(
                "{} counts cut at {} do not split a column of {slots} slots in two",
                split.counts.len(),
                split.at
            ));
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
    use crate::privacy::mechanism::ordered::{
        AdjustedMap, Adjustment, Alignment, ClampedGeometric, GlobalMap, LocalMap, RandomisedResponse, Route,
    };
    use crate::privacy::{Epsilon, Ratio};

    const EPSILONS: [f64; 5] = [0.08, 0.32, 0.64, 1.28, 5.12];

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).expect("an ε")
    }

    fn response(e: f64, slots: usize) -> RandomisedResponse {
        RandomisedResponse::new(epsilon(e), slots).expect("a response")
    }

    fn global(e: f64, slots: usize) -> GlobalMap {
        GlobalMap::new(epsilon(e), slots, Route::default()).expect("a map")
    }

    #[test]
    fn randomised_response_is_exact() {
        for e in EPSILONS {
            for slots in [3, 10, 30] {
                let mechanism = response(e, slots);
                for distance in 1..slots {
                    let printed = randomised_response(e, slots, distance).expect("a distance");
                    let exact = least_order(&mechanism, distance).expect("a distance");
                    assert!((printed - exact).abs() < 1e-12, "{e} {slots} {distance}");
                    // And the same for every pair.
                    for low in 0..slots - distance {
                        let [low, high] = [low, low + distance].map(|x| mechanism.row(x as u16));
                        assert!((order(&low, &high) - printed).abs() < 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn the_global_map_is_bounded() {
        let mut closest = f64::INFINITY;
        for e in EPSILONS {
            for slots in [4, 10, 50] {
                let mechanism = global(e, slots);
                for distance in 1..slots {
                    let bound = global_map(e, slots, distance).expect("a distance");
                    let exact = least_order(&mechanism, distance).expect("a distance");
                    assert!(
                        bound <= exact + 1e-12,
                        "{e} {slots} {distance}: {bound} > {exact}"
                    );
                    closest = closest.min(exact - bound);
                }
            }
        }
        assert!(closest < 0.01, "the bound says something: {closest}");
        assert!(global_map(1.0, 10, 0).is_err() && global_map(1.0, 10, 10).is_err());
    }

    /// Within a part it is the same bound; over a border order is certain.
    #[test]
    fn the_local_map_is_bounded() {
        let mechanism =
            LocalMap::new(epsilon(0.64), 12, 4, Alignment::FirstSlot, Route::default()).expect("a map");
        for low in 0..11u16 {
            for high in low + 1..12 {
                let over = low / 4 != high / 4;
                let exact = order(&mechanism.row(low), &mechanism.row(high));
                let bound = local_map(0.64, 4, usize::from(high - low).min(3), over).expect("a distance");
                assert!(bound <= exact + 1e-12, "{low} {high}");
                assert!(!over || (exact - 1.0).abs() < 1e-12);
            }
        }
    }

    fn adjusted(e: f64, slots: usize, width: usize, alpha: u64) -> (AdjustedMap, f64) {
        let adjustment = Adjustment {
            width,
            alpha: Ratio::new(alpha, 1).expect("positive"),
            alignment: Alignment::FirstSlot,
        };
        let map = AdjustedMap::new(epsilon(e), slots, adjustment, Route::default()).expect("a map");
        let near = e / (alpha as f64 + width as f64 / slots as f64);
        (map, alpha as f64 * width as f64 * near)
    }

    /// The estimate takes two values that end in one part for kept every second time; but they may be equal then, which keeps
    /// nothing, so it exceeds what holds by up to half the chance of that, about 1/2θ.
    #[test]
    fn the_adjusted_map_is_estimated() {
        for e in EPSILONS {
            for (slots, width) in [(10, 2), (10, 5), (20, 4), (30, 10)] {
                for alpha in [1, 2, 10] {
                    let (map, between) = adjusted(e, slots, width, alpha);
                    for distance in 1..slots {
                        let estimate = adjusted_map(between, slots, width, distance).expect("a distance");
                        let exact = least_order(&map, distance).expect("a distance");
                        assert!(
                            estimate <= exact + 0.5 / width as f64,
                            "{e} {slots} {width} {alpha} {distance}: {estimate} > {exact}"
                        );
                    }
                }
            }
        }
        let (map, between) = adjusted(0.64, 30, 10, 10);
        let estimate = adjusted_map(between, 30, 10, 1).expect("a distance");
        let exact = least_order(&map, 1).expect("a distance");
        assert!((estimate - 0.4604).abs() < 1e-4 && (exact - 0.4568).abs() < 1e-4);
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
                let split = Split {
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
        let alone = Split {
            counts: &[1, 1, 0],
            at: 1,
        };
        let mechanism = response(1.0, 3);
        let [exact, printed] =
            [split_kept, split_kept_as_printed].map(|beta| beta(&mechanism, alone).expect("a split"));
        assert!((exact - printed).abs() < 1e-12, "one row has no ties");
        assert!(split_kept(&mechanism, Split { at: 3, ..alone }).is_err());
    }

    /// With next to no noise two equal rows keep their split for certain; the printed sum says twice that.
    #[test]
    fn the_printed_formula_exceeds_one() {
        let split = Split {
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
        let split = Split {
            counts: &[2, 1, 1],
            at: 2,
        };
        let beta = split_kept(&mechanism, split).expect("a split");
        assert!(beta <= reached + 1e-12 && beta > 0.01, "{beta} {reached}");
    }
}
