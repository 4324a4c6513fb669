//! How likely two values keep their order.
//!
//! | function | the paper's | what it is |
//! | --- | --- | --- |
//! | [`least_order`] | γ(t) of Definition 2.4 | **exact**, from the transition rows of any mechanism |
//! | [`global_map`] | Theorem 4.2 | a lower bound |
//! | [`randomised_response`] | Theorem 4.3 | **exact**, the same wherever the two values lie |
//! | [`adjusted_map`] | Theorem 4.6 | a **heuristic**: its proof approximates, and it is no lower bound where values of one part may become equal |
//! | [`local_map`] | section 4.2 | a lower bound, exact over a border |

use privet::Error;
use privet::privacy::mechanism::ordered::{
    AdjustedMap, Adjustment, Alignment, GlobalMap, LocalMap, Ordered, RandomisedResponse, Route,
};
use privet::privacy::{Epsilon, Ratio};

fn refuse<T>(why: String) -> Result<T, Error> {
    Err(Error::parameter("distance", why))
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
fn least_order(mechanism: &dyn Ordered, distance: usize) -> Result<f64, Error> {
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
fn global_map(epsilon: f64, slots: usize, distance: usize) -> Result<f64, Error> {
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
fn randomised_response(epsilon: f64, slots: usize, distance: usize) -> Result<f64, Error> {
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
fn adjusted_map(between: f64, slots: usize, width: usize, distance: usize) -> Result<f64, Error> {
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
fn local_map(epsilon: f64, width: usize, distance: usize, over_border: bool) -> Result<f64, Error> {
    if over_border {
        return Ok(1.0);
    }
    global_map(epsilon, width, distance)
}

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
