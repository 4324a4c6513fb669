//! Figures 6 and 12: how many people lie in a range.

use std::ops::Range;

use super::order::ranges::{CumulativeShares, Hierarchy, Laws, unary_shares};
use privet::Error;
use privet::data::Keep;
use privet::privacy::mechanism::ordered::{Column, Desensitised, Unary};
use privet::privacy::{Epsilon, Private};
use rayon::prelude::*;

use super::super::{Measure, each_run};
use super::mechanisms::{MechanismKind, drawn, histogram, ledger};
use super::{Data, Measured, coins, public};

const SLOTS: usize = 1024;
const QUERIES: usize = 10_000;
/// Steps to the most likely shares.
const STEPS: u32 = 100;
const EPSILONS: &[f64] = &[0.01, 0.08, 0.32, 1.28];
/// How large an ε of the whole domain still says something.
const MOST: f64 = 30.0;

const METHODS: [(&str, MechanismKind); 8] = [
    ("Global-map", MechanismKind::Global),
    ("clamped", MechanismKind::Clamped),
    ("Local-map θ=5", MechanismKind::Local(5)),
    ("Local-map θ=10", MechanismKind::Local(10)),
    ("Adj-map θ=5 α=0.5", MechanismKind::Adjusted(5, 5)),
    ("Adj-map θ=5 α=2", MechanismKind::Adjusted(5, 20)),
    ("Adj-map θ=10 α=0.5", MechanismKind::Adjusted(10, 5)),
    ("Adj-map θ=10 α=2", MechanismKind::Adjusted(10, 20)),
];

/// The salaries mapped to [1, 1024] with the paper's ceiling, or as many numbers that are close to normal.
fn column(data: &Data, name: &str) -> Result<Vec<u16>, Error> {
    let last = (SLOTS - 1) as f64;
    if name == "normal" {
        let mut coins = coins(12);
        let sum = |_| (0..12).map(|_| coins.unit()).sum::<f64>() / 12.0;
        return Ok((0..100_000)
            .map(sum)
            .map(|share| (share * last).ceil() as u16)
            .collect());
    }
    let table = data.train(name, Keep::Values)?;
    let permission = public(table.schema());
    let cells = permission.reveal(table.into_cells());
    let scaled = cells.features().first().and_then(|pay| pay.scaled.as_deref());
    let slot = |at: &f32| ((f64::from(*at) + 1.0) / 2.0 * last).ceil() as u16;
    Ok(scaled.unwrap_or_default().iter().map(slot).collect())
}

pub(super) fn on(name: &'static str) -> Measure {
    Box::new(move |data, runs, bar| {
        let column = column(data, name)?;
        let shares = |counts: Vec<u64>| {
            let share = |count: &u64| *count as f64 / column.len() as f64;
            CumulativeShares::new(&counts.iter().map(share).collect::<Vec<_>>())
        };
        let truth = shares(histogram(&column, SLOTS));
        let queries = queries();
        let mut found = Vec::new();
        let all = EPSILONS.len() * (METHODS.len() + 1);
        for (place, epsilon) in EPSILONS.iter().enumerate() {
            for (number, (method, kind)) in METHODS.iter().enumerate() {
                bar.at((place * (METHODS.len() + 1) + number) as u64, all as u64);
                let mechanism = kind.as_paper(*epsilon, SLOTS)?;
                // On so many slots laws take long; the two that are compared by them are enough.
                let laws = [MechanismKind::Global, MechanismKind::Clamped]
                    .contains(kind)
                    .then(|| Laws::of(mechanism.as_ref()));
                let errors = each_run(runs, |run| {
                    let changed = drawn(mechanism.as_ref(), &column, run.into())?;
                    let counts = histogram(&changed, mechanism.outputs().count);
                    let counted =
                        CumulativeShares::counted(&counts, mechanism.as_ref())?.error(&truth, &queries);
                    let likely = laws.iter().map(|laws| {
                        Ok(CumulativeShares::reconstructed(&counts, laws, STEPS)?.error(&truth, &queries))
                    });
                    std::iter::once(Ok(counted))
                        .chain(likely)
                        .collect::<Result<Vec<f64>, Error>>()
                })?;
                for (place, metric) in ["MSE", "MSE after EM"].into_iter().enumerate() {
                    let values: Vec<f64> = errors.iter().filter_map(|run| run.get(place).copied()).collect();
                    if !values.is_empty() {
                        found.push(Measured::new(method, Some(*epsilon), metric, values));
                    }
                }
            }
            let whole = epsilon * (SLOTS - 1) as f64;
            for (method, spent) in [
                ("hierarchy (LDP)", *epsilon),
                ("hierarchy (LDP) at (R−L)ε", whole),
            ] {
                if spent < MOST {
                    // Its runs differ much.
                    let errors = each_run(4 * runs, |run| {
                        let shares = hierarchical(&column, spent, run.into())?;
                        Ok(shares.error(&truth, &queries))
                    })?;
                    found.push(Measured::new(method, Some(*epsilon), "MSE", errors));
                }
            }
        }
        Ok(found)
    })
}

/// Any two ends, in their order.
fn queries() -> Vec<Range<usize>> {
    let mut coins = coins(6);
    let mut end = || coins.below(SLOTS as u64) as usize;
    (0..QUERIES)
        .map(|_| {
            let ends = [end(), end()];
            ends[0].min(ends[1])..ends[0].max(ends[1]) + 1
        })
        .collect()
}

/// Everybody answers at one level of five, dealt at random, with four branches.
fn hierarchical(column: &[u16], epsilon: f64, seed: u64) -> Result<CumulativeShares, Error> {
    let hierarchy = Hierarchy::new(4, 5)?;
    let levels: Vec<usize> = hierarchy.parts().collect();
    let mut coins = coins(seed + 1000);
    let mut people = vec![Vec::new(); levels.len()];
    for slot in column {
        people[coins.below(levels.len() as u64) as usize].push(*slot);
    }
    let estimates = levels.into_par_iter().zip(people).enumerate();
    let estimates = estimates.map(|(level, (parts, people))| {
        let code = Unary::optimised(Epsilon::new(epsilon)?, parts)?;
        let own: Vec<u16> = people.iter().map(|slot| hierarchy.part(*slot, parts)).collect();
        let column = Column::flags("value", &code, Private::new(own));
        let seed = seed * 8 + level as u64;
        let released = ledger(seed)?
            .desensitise("a public column", vec![column])?
            .into_inner();
        match released.first() {
            Some(Desensitised::Flags(flags)) => unary_shares(flags, &code),
            _ => Err(Error::internal("flags come out as flags")),
        }
    });
    hierarchy.agreed(&estimates.collect::<Result<Vec<_>, Error>>()?)
}
