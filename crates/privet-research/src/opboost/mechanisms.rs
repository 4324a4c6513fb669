//! The mechanisms that figures compare, by name.

use privet::Error;
use privet::privacy::account::Caps;
use privet::privacy::mechanism::ordered::{
    AdjustedMap, Adjustment, Alignment, ClampedGeometric, Column, Desensitised, GlobalMap, LocalMap, Loss,
    Ordered, Piecewise, RandomisedResponse, Route,
};
use privet::privacy::{Delta, Epsilon, Ledger, Private, Randomness, Ratio, Replace};

/// A way to change a column, whatever its domain and ε.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MechanismKind {
    Global,
    /// θ, and α in tenths.
    Adjusted(usize, u64),
    /// θ.
    Local(usize),
    Clamped,
    /// At the ε that the global map really spends.
    ClampedTight,
    Piecewise,
    /// At the ε that the others spend on the whole domain.
    PiecewiseWhole,
    Response,
}

impl MechanismKind {
    /// With parts that begin where the reference implementation has them begin, on so many whole numbers from `first` on.
    pub(super) fn as_reference(
        self,
        epsilon: f64,
        first: u32,
        slots: usize,
    ) -> Result<Box<dyn Ordered>, Error> {
        self.aligned(epsilon, slots, Alignment::Zero { first })
    }

    /// With parts that begin at the first slot, as the paper has it.
    pub(super) fn as_paper(self, epsilon: f64, slots: usize) -> Result<Box<dyn Ordered>, Error> {
        self.aligned(epsilon, slots, Alignment::FirstSlot)
    }

    fn aligned(self, epsilon: f64, slots: usize, alignment: Alignment) -> Result<Box<dyn Ordered>, Error> {
        let route = Route::default();
        let exact = Epsilon::new(epsilon)?;
        Ok(match self {
            Self::Global => Box::new(GlobalMap::new(exact, slots, route)?),
            Self::Adjusted(width, tenths) => {
                let alpha = Ratio::new(tenths, 10)?;
                let adjustment = Adjustment {
                    width,
                    alpha,
                    alignment,
                };
                Box::new(AdjustedMap::new(exact, slots, adjustment, route)?)
            }
            Self::Local(width) => Box::new(LocalMap::new(exact, slots, width, alignment, route)?),
            Self::Clamped => Box::new(ClampedGeometric::new(exact, slots)?),
            Self::ClampedTight => match GlobalMap::new(exact, slots, route)?.audit().per_unit() {
                Loss::Bounded(tight) => Box::new(ClampedGeometric::new(tight, slots)?),
                Loss::Unbounded => return Err(Error::internal("a global map has a bound")),
            },
            Self::Piecewise => Box::new(Piecewise::unclipped(exact, slots)?),
            Self::PiecewiseWhole => {
                // Beyond this nothing is changed any more.
                let whole = (epsilon * (slots - 1) as f64).min(40.0);
                Box::new(Piecewise::unclipped(Epsilon::new(whole)?, slots)?)
            }
            Self::Response => Box::new(RandomisedResponse::new(exact, slots)?),
        })
    }
}

/// The values of a public column after a draw, with coins that everybody may know.
pub(super) fn drawn(mechanism: &dyn Ordered, column: &[u16], seed: u64) -> Result<Vec<u16>, Error> {
    let mut ledger = ledger(seed)?;
    let column = Column::slots("value", mechanism, Private::new(column.to_vec()));
    let released = ledger.desensitise("a public column", vec![column])?.into_inner();
    match released.into_iter().next() {
        Some(Desensitised::Slots(values)) => Ok(values),
        _ => Err(Error::internal("slots come out as slots")),
    }
}

/// A ledger that nobody keeps, for public columns.
pub(super) fn ledger(seed: u64) -> Result<Ledger<Replace>, Error> {
    let random = Randomness::seeded(seed);
    Ledger::volatile(Replace::row(), Caps::ZERO, Delta::ZERO, random)
}

/// How often each slot occurs.
pub(super) fn histogram(column: &[u16], slots: usize) -> Vec<u64> {
    let mut counts = vec![0; slots];
    for value in column {
        counts[usize::from(*value)] += 1;
    }
    counts
}
