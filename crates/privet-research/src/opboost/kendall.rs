//! Figures 5 and 11: how much order is kept, averaged exactly and drawn.

use super::order::kendall::Joint;
use privet::Error;
use privet::data::Keep;

use super::super::{Measure, each_run};
use super::mechanisms::{MechanismKind, drawn, histogram};
use super::{Data, EPSILONS, Measured, coins, public};

/// Ages as they are asked for.
const YOUNGEST: u16 = 17;
const OLDEST: u16 = 90;

/// A column of a figure.
#[derive(Debug, Clone, Copy)]
pub(super) enum Values {
    /// The ages of adult, mapped to [1, 10] with the paper's ceiling.
    Mapped,
    /// The same as they are.
    Ages,
    /// Ten thousand numbers, all of [1, n] being equally likely.
    Uniform(u16),
}

impl Values {
    /// The column, L and |D|.
    fn read(self, data: &Data) -> Result<(Vec<u16>, u32, usize), Error> {
        let ages = || -> Result<Vec<u16>, Error> {
            let table = data.train("adult", Keep::Bins)?;
            let permission = public(table.schema());
            let cells = permission.reveal(table.into_cells());
            let age = cells.features().first();
            Ok(age.map_or(Vec::new(), |age| age.bins.iter().collect()))
        };
        Ok(match self {
            Self::Mapped => {
                let years = OLDEST - YOUNGEST;
                let mapped = ages()?.into_iter().map(|age| (age * 9).div_ceil(years));
                (mapped.collect(), 1, 10)
            }
            Self::Ages => (ages()?, YOUNGEST.into(), usize::from(OLDEST - YOUNGEST) + 1),
            Self::Uniform(last) => {
                let mut coins = coins(11);
                let values = (0..10_000).map(|_| coins.below(last.into()) as u16);
                (values.collect(), 1, last.into())
            }
        })
    }
}

const METHODS: [(&str, MechanismKind); 16] = [
    ("Global-map", MechanismKind::Global),
    ("Adj-map θ=2 α=0.5", MechanismKind::Adjusted(2, 5)),
    ("Adj-map θ=2 α=1", MechanismKind::Adjusted(2, 10)),
    ("Adj-map θ=2 α=2", MechanismKind::Adjusted(2, 20)),
    ("Adj-map θ=2 α=10", MechanismKind::Adjusted(2, 100)),
    ("Adj-map θ=4 α=0.5", MechanismKind::Adjusted(4, 5)),
    ("Adj-map θ=4 α=1", MechanismKind::Adjusted(4, 10)),
    ("Adj-map θ=4 α=2", MechanismKind::Adjusted(4, 20)),
    ("Adj-map θ=4 α=10", MechanismKind::Adjusted(4, 100)),
    ("Local-map θ=2", MechanismKind::Local(2)),
    ("Local-map θ=4", MechanismKind::Local(4)),
    ("clamped", MechanismKind::Clamped),
    ("clamped at tight ε", MechanismKind::ClampedTight),
    ("GRR", MechanismKind::Response),
    ("Piecewise", MechanismKind::Piecewise),
    ("Piecewise at (R−L)ε", MechanismKind::PiecewiseWhole),
];

pub(super) fn on(values: Values) -> Measure {
    Box::new(move |data, runs, bar| {
        let (column, first, slots) = values.read(data)?;
        let counts = histogram(&column, slots);
        let mut found = Vec::new();
        for (done, (method, kind)) in METHODS.iter().enumerate() {
            bar.at(done as u64, METHODS.len() as u64);
            for epsilon in EPSILONS {
                let mechanism = kind.as_reference(*epsilon, first, slots)?;
                let average = Joint::expected(&counts, mechanism.as_ref())?.by_original();
                let average = [average.unwrap_or(f64::NAN)];
                found.push(Measured::new(method, Some(*epsilon), "average τ", average));
                let pairs = each_run(runs, |run| {
                    let changed = drawn(mechanism.as_ref(), &column, run.into())?;
                    let joint = Joint::of(&column, &changed)?;
                    Ok([joint.by_original(), joint.by_both()].map(|tau| tau.unwrap_or(f64::NAN)))
                })?;
                for (place, metric) in ["drawn τ", "drawn τ (6.1)"].into_iter().enumerate() {
                    let values = pairs.iter().map(|pair| pair[place]);
                    found.push(Measured::new(method, Some(*epsilon), metric, values));
                }
            }
        }
        Ok(found)
    })
}
