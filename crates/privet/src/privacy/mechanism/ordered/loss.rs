//! The privacy loss between two inputs, as exact logarithms.

use dashu_base::DivEuclid;
use dashu_int::IBig;
use dashu_ratio::RBig;
use serde::{Deserialize, Serialize};

use crate::privacy::Epsilon;
use crate::privacy::enclosure::Enclosure;

/// Units of a [`Log`] in one: decimal, so that multiples of an ε in billionths are exact.
const UNIT: i128 = 1_000_000_000_000_000_000;
/// Units of a [`Log`] in a billionth.
const BILLIONTH: i128 = UNIT / 1_000_000_000;

/// The largest logarithm of a ratio of probabilities, rounded up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// At most this.
    Bounded(Epsilon),
    /// Some output tells the inputs apart for certain, or the domain has no end.
    Unbounded,
}

impl Loss {
    /// No loss.
    pub const NONE: Self = Self::Bounded(Epsilon::ZERO);

    /// The loss of two releases about the same row: what cannot be written is unbounded.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Bounded(a), Self::Bounded(b)) => a.checked_add(b).map_or(Self::Unbounded, Self::Bounded),
            _ => Self::Unbounded,
        }
    }

    /// The loss of `steps` steps.
    #[must_use]
    pub fn times(self, steps: u64) -> Self {
        match self {
            Self::Bounded(each) => each.checked_mul(steps).map_or(Self::Unbounded, Self::Bounded),
            Self::Unbounded => Self::Unbounded,
        }
    }

    /// The nearest float, for display and planning.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Bounded(epsilon) => epsilon.to_f64(),
            Self::Unbounded => f64::INFINITY,
        }
    }
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bounded(epsilon) => epsilon.fmt(f),
            Self::Unbounded => f.write_str("∞"),
        }
    }
}

/// An enclosed logarithm, in units of 10⁻¹⁸.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Log {
    low: i128,
    high: i128,
}

impl Log {
    pub(super) const ZERO: Self = Self { low: 0, high: 0 };

    /// A rational; exact if it is a whole number of units.
    pub(super) fn ratio(value: &RBig) -> Self {
        let scaled = value.numerator() * IBig::from(UNIT);
        let denominator = IBig::from(value.denominator().clone());
        Self {
            low: whole((&scaled).div_euclid(&denominator)),
            high: whole(-((-scaled).div_euclid(&denominator))),
        }
    }

    pub(super) fn epsilon(value: Epsilon) -> Self {
        let units = i128::from(value.billionths()) * BILLIONTH;
        Self {
            low: units,
            high: units,
        }
    }

    /// `ln x`.
    pub(super) fn ln(x: &Enclosure) -> Self {
        let log = x.ln();
        let scale = |end: &IBig| end * IBig::from(UNIT);
        Self {
            low: whole(scale(log.low()) >> log.bits()),
            high: whole(-((-scale(log.high())) >> log.bits())),
        }
    }

    pub(super) fn add(self, other: Self) -> Self {
        Self {
            low: self.low.saturating_add(other.low),
            high: self.high.saturating_add(other.high),
        }
    }

    pub(super) fn neg(self) -> Self {
        Self {
            low: -self.high,
            high: -self.low,
        }
    }

    /// The same number, of which it is known that it lies in `[0, ε]`.
    pub(super) fn within(self, epsilon: Epsilon) -> Self {
        let most = Self::epsilon(epsilon).high;
        Self {
            low: self.low.clamp(0, most),
            high: self.high.clamp(0, most),
        }
    }

    /// The size of `self − other`, at most.
    fn apart(self, other: Self) -> i128 {
        let one = self.high.saturating_sub(other.low);
        one.max(other.high.saturating_sub(self.low))
    }
}

/// Saturates beyond 128 bits.
fn whole(x: IBig) -> i128 {
    i128::try_from(&x).unwrap_or(if x < IBig::ZERO {
        i128::MIN / 4
    } else {
        i128::MAX / 4
    })
}

/// The odds of each output for one input: see [`Channel::odds`](super::channel::Channel::odds).
pub(super) type LogOdds = Vec<Option<Log>>;

/// The largest loss between two inputs, by their odds.
pub(super) fn between(one: &LogOdds, other: &LogOdds) -> Loss {
    let mut worst = 0;
    for pair in one.iter().zip(other) {
        match pair {
            (Some(a), Some(b)) => worst = worst.max(a.apart(*b)),
            (None, None) => {}
            _ => return Loss::Unbounded,
        }
    }
    rounded_up(worst)
}

fn rounded_up(units: i128) -> Loss {
    let billionths = units / BILLIONTH + i128::from(units % BILLIONTH != 0);
    u64::try_from(billionths).map_or(Loss::Unbounded, |b| Loss::Bounded(Epsilon::from_billionths(b)))
}

/// The largest loss between any two of the inputs whose odds were seen: the widest column.
pub(super) struct Widest(Vec<Option<Option<Log>>>);

impl Widest {
    pub(super) fn of(outputs: usize) -> Self {
        Self(vec![None; outputs])
    }

    /// Adds one more input; the caller checks for unbounded losses.
    pub(super) fn see(&mut self, odds: &LogOdds) -> bool {
        let mut bounded = true;
        for (seen, log) in self.0.iter_mut().zip(odds) {
            *seen = match (*seen, *log) {
                (None, log) => Some(log),
                (Some(None), None) => Some(None),
                (Some(Some(range)), Some(log)) => Some(Some(Log {
                    low: range.low.min(log.low),
                    high: range.high.max(log.high),
                })),
                _ => {
                    bounded = false;
                    *seen
                }
            };
        }
        bounded
    }

    pub(super) fn loss(&self) -> Loss {
        let width = |range: &Log| range.high.saturating_sub(range.low);
        rounded_up(self.0.iter().flatten().flatten().map(width).max().unwrap_or(0))
    }
}
