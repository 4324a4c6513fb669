//! How far one row moves what the paper releases, where it says 1 and 4; found by search, as the notes on the paper have it.

use privet::Error;
use privet::privacy::Coins;

use super::printed::{InPrivate, PrintedLoss, gain};
use super::{Data, Measured, Progress, coins};
use crate::as_published::laplace;

/// Steps of a grid, and the largest group of rows that agree.
const GRID: i32 = 2000;
const MANY: i32 = 4000;
/// Draws on each of two neighbours.
const DRAWS: u32 = 4_000_000;

pub(super) fn measure(_: &Data, _: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    bar.at(0, 3);
    let [come, replaced] = ranges();
    let one = |method, metric, value| Measured::new(method, None, metric, vec![value]);
    let mut found = vec![
        one("gain, a row comes", "range/R²", come),
        one("gain, a row is replaced", "range/R²", replaced),
        one("residual of classes", "largest", largest(|r| r)),
        one("Σ|r|(2-|r|)", "largest", largest(weight)),
        one("both sums", "L1", largest(|r| r + weight(r))),
        one(
            "both sums, the lower halved",
            "L1",
            largest(|r| r + weight(r) / 2.0),
        ),
        one(
            "free hessian",
            "weight in L2",
            free(|g, h| (1.0 - g * g).sqrt() / h),
        ),
        one("free hessian", "weight in L1", free(|g, h| (1.0 - g) / h)),
    ];
    bar.at(1, 3);
    for (metric, r) in [("ε at |r| = 1", 1.0), ("ε at |r| = 1.5", 1.5)] {
        let shown = [leaf_shown(r, DRAWS)];
        found.push(Measured::new(
            "leaf, as published (void)",
            Some(1.0),
            metric,
            shown,
        ));
    }
    bar.at(2, 3);
    for (metric, r) in [("ε at |r| = 1.5", 1.5), ("ε at |r| = 2", 2.0)] {
        let adds = [r, weight(r) / 2.0];
        let shown = shown(adds, DRAWS, |rows, coins| {
            adds.map(|sum| sum * rows as f64 + laplace(2.0, coins))
        });
        found.push(Measured::new("leaf, corrected", Some(1.0), metric, vec![shown]));
    }
    Ok(found)
}

/// What a leaf as published shows about an ε of 1 by one row of this residual.
pub(super) fn leaf_shown(r: f64, draws: u32) -> f64 {
    let printed = InPrivate {
        depth: 1,
        // Half of it is the leaves'.
        epsilon: Some(2.0),
        ..InPrivate::default()
    };
    shown([r, weight(r)], draws, |rows, coins| {
        printed.leaf(PrintedLoss::Classes, &[r][..rows], coins)
    })
}

fn weight(r: f64) -> f64 {
    PrintedLoss::Classes.weight(r)
}

/// The largest of a function of a residual's size; sizes are those that scores reach.
fn largest(of: impl Fn(f64) -> f64) -> f64 {
    let sizes = (-10 * GRID..=10 * GRID).map(|step| {
        let score = f64::from(step) / f64::from(GRID);
        PrintedLoss::Classes.residual(1.0, score)
    });
    let halves = (0..=GRID).map(|step| 2.0 * f64::from(step) / f64::from(GRID));
    sizes.chain(halves).map(of).fold(0.0, f64::max)
}

/// The largest weight of a hessian that no gradient of logistic loss exceeds its norm of one with.
fn free(weight: impl Fn(f64, f64) -> f64) -> f64 {
    let inside = (1..GRID).map(|step| f64::from(step) / f64::from(GRID));
    inside
        .map(|g| weight(g, g * (1.0 - g)))
        .fold(f64::INFINITY, f64::min)
}

/// How far apart one row that comes, or is replaced, moves the gains of two candidates, in R²: by one candidate it joins rows that
/// agree, by the other it stands alone.
fn ranges() -> [f64; 2] {
    const NOBODY: (f64, f64) = (0.0, 0.0);
    let sizes = || (-5..=5).map(|fifth| f64::from(fifth) / 5.0);
    let mut most = [0.0_f64; 2];
    for n in (0..=MANY).step_by(200).map(f64::from) {
        for (mean, x) in sizes().flat_map(|mean| sizes().map(move |x| (mean, x))) {
            let group = (n * mean, n);
            let alone = |x: f64| gain(group, (x, 1.0));
            let joined = |x: f64| gain((group.0 + x, group.1 + 1.0), NOBODY);
            most[0] = most[0].max((alone(x) - joined(x)).abs());
            for other in sizes() {
                // Who joined them before stands alone now, and the other way round.
                let moved = (alone(other) - joined(x)) - (joined(other) - alone(x));
                most[1] = most[1].max(moved.abs());
            }
        }
    }
    most
}

/// What the event "both sums are at least what the row adds" shows about ε.
fn shown(adds: [f64; 2], draws: u32, mut leaf: impl FnMut(usize, &mut Coins) -> [f64; 2]) -> f64 {
    let mut coins = coins(1);
    let [without, with] = [0, 1].map(|rows| {
        let both = (0..draws).filter(|_| {
            let sums = leaf(rows, &mut coins);
            sums[0] >= adds[0] && sums[1] >= adds[1]
        });
        both.count() as f64
    });
    (with / without).ln()
}
