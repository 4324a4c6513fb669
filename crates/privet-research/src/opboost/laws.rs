//! What can be computed without drawing: tight losses, the curves of Figure 3, β of Figure 4.

use super::order::splits::{ColumnSplit, split_kept, split_kept_as_printed};
use privet::Error;
use privet::privacy::Epsilon;
use privet::privacy::mechanism::ordered::{ClampedGeometric, GlobalMap, Loss, Ordered, PathGeometric, Route};

use super::super::Measure;
use super::mechanisms::MechanismKind;
use super::{Data, EPSILONS, Measured, Progress, coins};

fn one(method: &'static str, epsilon: f64, metric: &'static str, value: f64) -> Measured {
    Measured::new(method, Some(epsilon), metric, [value])
}

/// The losses that the research notes state, and laws that must agree.
pub(super) fn table(_: &Data, _: u32, _: &Progress) -> Result<Vec<Measured>, Error> {
    let mut found = Vec::new();
    for epsilon in [0.08, 1.28, 5.12] {
        let tight = MechanismKind::Global
            .as_paper(epsilon, 10)?
            .audit()
            .per_unit()
            .to_f64();
        found.push(one("Global-map", epsilon, "tight/ε", tight / epsilon));
        let routes = laws_differ(epsilon, 10)?;
        found.push(one("Global-map", epsilon, "law, by routes", routes));
    }
    for (method, width, slots) in [
        ("Adj-map, 10 slots, θ=4", 4, 10),
        ("Adj-map, 100 slots, θ=10", 10, 100),
    ] {
        let audit = MechanismKind::Adjusted(width, 20).as_paper(0.08, slots)?.audit();
        let across = audit.across.map_or(0.0, Loss::to_f64);
        found.push(one(method, 0.08, "across", across));
        found.push(one(method, 0.08, "within", audit.within.to_f64()));
    }
    for epsilon in [0.08, 1.28] {
        let clamped = ClampedGeometric::new(Epsilon::new(epsilon)?, 10)?;
        let distance = |x: u16, y: u16| epsilon * f64::from(y - x);
        found.push(one("clamped", epsilon, "loss − t·ε", excess(&clamped, distance)));
    }
    let edges = [0.5, 1.0, 2.0];
    let losses = edges.map(|edge| Epsilon::new(edge).map(Loss::Bounded));
    let path = PathGeometric::new(losses.into_iter().collect::<Result<_, _>>()?)?;
    let distance = |x: u16, y: u16| edges[usize::from(x)..usize::from(y)].iter().sum();
    let found_excess = [excess(&path, distance)];
    found.push(Measured::new(
        "path .5, 1, 2",
        None,
        "loss − distance",
        found_excess,
    ));
    Ok(found)
}

/// How far the loss of any pair lies from what it should be.
fn excess(mechanism: &dyn Ordered, distance: impl Fn(u16, u16) -> f64) -> f64 {
    let slots = mechanism.inputs() as u16;
    let pairs = (0..slots).flat_map(|x| (x + 1..slots).map(move |y| (x, y)));
    pairs
        .map(|(x, y)| (mechanism.loss(x, y).to_f64() - distance(x, y)).abs())
        .fold(0.0, f64::max)
}

/// The largest difference between the exponential mechanism's law, the bounded discrete Laplace law of Lemma 4.10 (with the
/// numerator 1 + q that makes it add up to one), and what is drawn by either route.
fn laws_differ(epsilon: f64, slots: usize) -> Result<f64, Error> {
    let q = (-epsilon / 2.0).exp();
    let mut largest = 0.0f64;
    for route in [Route::Exponential, Route::BoundedLaplace] {
        let map = GlobalMap::new(Epsilon::new(epsilon)?, slots, route)?;
        for x in 0..slots {
            let power = |n: usize| q.powf(n as f64);
            let all: f64 = (0..slots).map(|y| power(x.abs_diff(y))).sum();
            let scale = (1.0 + q) / (1.0 - power(x + 1) - power(slots - x) + q);
            for (y, p) in map.row(x as u16).iter().enumerate() {
                let exponential = power(x.abs_diff(y)) / all;
                let laplace = scale * (1.0 - q) / (1.0 + q) * power(x.abs_diff(y));
                largest = largest.max((p - exponential).abs()).max((p - laplace).abs());
            }
        }
    }
    Ok(largest)
}

/// Figure 3: what becomes of a value in the middle of its part at ε = 0.1, with parts of 10, and how far the two maps are apart
/// there and for the worst value. On [−50, 50] the last part has one slot and is as likely as a whole one; on [−50, 49] parts fit.
pub(super) fn figure_3(slots: usize) -> Measure {
    Box::new(move |_, _, _| distributions(slots))
}

fn distributions(slots: usize) -> Result<Vec<Measured>, Error> {
    const MIDDLE: u16 = 54;
    const AT: [(&str, usize); 7] = [
        ("P(−50)", 0),
        ("P(−20)", 30),
        ("P(0)", 50),
        ("P(4)", 54),
        ("P(9)", 59),
        ("P(20)", 70),
        ("P(49)", 99),
    ];
    let epsilon = 0.1;
    let global = MechanismKind::Global.as_paper(epsilon, slots)?;
    let mut found = Vec::new();
    for (method, kind) in [
        ("Global-map", MechanismKind::Global),
        ("Adj-map α=0.5", MechanismKind::Adjusted(10, 5)),
        ("Adj-map α=1", MechanismKind::Adjusted(10, 10)),
        ("Adj-map α=2", MechanismKind::Adjusted(10, 20)),
        ("Adj-map α=10", MechanismKind::Adjusted(10, 100)),
        ("clamped", MechanismKind::Clamped),
    ] {
        let map = kind.as_paper(epsilon, slots)?;
        let row = map.row(MIDDLE);
        found.extend(AT.iter().map(|(metric, y)| one(method, epsilon, metric, row[*y])));
        let apart = |x: u16| {
            let (ours, theirs) = (map.row(x), global.row(x));
            let sum: f64 = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).sum();
            sum / 2.0
        };
        let all: Vec<f64> = (0..slots as u16).map(apart).collect();
        let largest = all.iter().copied().fold(0.0, f64::max);
        let middle = all[usize::from(MIDDLE)];
        found.push(one(method, epsilon, "apart from Global-map", middle));
        found.push(one(method, epsilon, "apart, at most", largest));
    }
    Ok(found)
}

/// Figure 4's values: one in each slot, or the sums of twelve coins of equal chance, which are close to normal.
pub(super) fn figure_4(spread: &'static str) -> Measure {
    Box::new(move |_, _, bar| {
        let mut counts = vec![u64::from(spread == "uniform"); 100];
        if spread == "normal" {
            let mut coins = coins(4);
            for _ in 0..100 {
                let sum: f64 = (0..12).map(|_| coins.unit()).sum();
                counts[((sum - 6.0) * 16.0 + 50.0).clamp(0.0, 99.0) as usize] += 1;
            }
        }
        let mut found = Vec::new();
        for (done, epsilon) in EPSILONS.iter().enumerate() {
            bar.at(done as u64, EPSILONS.len() as u64);
            for (method, kind) in [
                ("Global-map", MechanismKind::Global),
                ("Adj-map θ=4 α=0.5", MechanismKind::Adjusted(4, 5)),
                ("Adj-map θ=4 α=2", MechanismKind::Adjusted(4, 20)),
                ("Local-map θ=4", MechanismKind::Local(4)),
                ("clamped", MechanismKind::Clamped),
                ("GRR", MechanismKind::Response),
            ] {
                let mechanism = kind.as_paper(*epsilon, 100)?;
                for (metric, printed, part) in [
                    ("log10 β, 25%", "as printed, 25%", 25),
                    ("log10 β, 50%", "as printed, 50%", 50),
                ] {
                    let split = ColumnSplit {
                        counts: &counts,
                        at: quantile(&counts, part),
                    };
                    let exact = split_kept(mechanism.as_ref(), split)?;
                    found.push(one(method, *epsilon, metric, exact.log10()));
                    let formula = split_kept_as_printed(mechanism.as_ref(), split)?;
                    found.push(one(method, *epsilon, printed, formula.log10()));
                }
            }
        }
        Ok(found)
    })
}

/// The first slot that goes right if this many rows go left.
fn quantile(counts: &[u64], rows: u64) -> usize {
    let mut sum = 0;
    counts
        .iter()
        .position(|count| {
            sum += count;
            sum >= rows
        })
        .map_or(1, |slot| slot + 1)
}
