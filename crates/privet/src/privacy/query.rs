//! Queries of private data, and their sensitivity: how far one unit can move the answer.

use dashu_base::SquareRoot;
use dashu_int::UBig;

use super::{Neighbours, Private, Relation, getters};
use crate::Error;

/// Where a claim is proved: `page#heading` in `docs/proofs`. A test fails on an anchor without a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Anchor(&'static str);

impl Anchor {
    /// Names a page and a heading, as in `laplace#integer-vectors`.
    pub const fn new(page_and_heading: &'static str) -> Self {
        Self(page_and_heading)
    }

    /// The text `page#heading`.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

/// How far one change can move an integer answer, in the measure that a mechanism needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    /// Sum of the coordinates' changes, in size.
    L1(u64),
    /// Sum of the squares of the coordinates' changes: an integer, where the norm itself would be irrational.
    L2Squared(u128),
    /// For scores of candidates: the length of the interval that all candidates' changes lie in. Replacing a row moves
    /// counts within [−1, 1], so 2; adding one moves them within [0, 1], so 1.
    Width(u64),
}

/// Where it is proved what flooring does to a norm.
pub const FLOORED: Anchor = Anchor::new("shares#floored-sums");

impl Norm {
    /// The bound for the answer times a public number; `None` if it cannot be written.
    pub fn multiplied(self, by: u32) -> Option<Self> {
        Some(match self {
            Self::L1(bound) => Self::L1(bound.checked_mul(by.into())?),
            Self::L2Squared(bound) => Self::L2Squared(bound.checked_mul(u128::from(by).pow(2))?),
            Self::Width(bound) => Self::Width(bound.checked_mul(by.into())?),
        })
    }

    /// The bound for the answer divided by a public step and rounded down, if one change moves at most `touched` of its coordinates; `None`
    /// for a step of zero, and for the width of scores.
    ///
    /// # Privacy
    /// [`FLOORED`].
    pub fn floored(self, step: u64, touched: u64) -> Option<Self> {
        let wide = u128::from(step.checked_sub(1)?);
        let touched = touched.max(1);
        Some(match self {
            Self::L1(bound) => {
                let touched = u128::from(touched.min(bound));
                let most = (u128::from(bound) + touched * wide) / u128::from(step);
                Self::L1(u64::try_from(most).unwrap_or(bound).min(bound))
            }
            Self::L2Squared(bound) => {
                let touched = UBig::from(u128::from(touched).min(bound));
                let wide = UBig::from(wide);
                let square = &wide * &wide * &touched;
                let mixed = UBig::from(4u8) * &square * UBig::from(bound);
                let root = mixed.sqrt();
                let root = if &root * &root < mixed {
                    root + UBig::ONE
                } else {
                    root
                };
                let most = (UBig::from(bound) + root + square) / (UBig::from(step) * UBig::from(step));
                Self::L2Squared(u128::try_from(&most).unwrap_or(bound).min(bound))
            }
            Self::Width(_) => return None,
        })
    }
}

/// A bound on how far one change under `N` can move an answer, with the place where it is proved.
///
/// A wrong bound compiles: only its proof page and the audit test named there can find it.
#[derive(Debug, Clone)]
pub struct Sensitivity<N = Relation> {
    norm: Norm,
    relation: N,
    anchor: Anchor,
    added: bool,
}

impl<N: Neighbours> Sensitivity<N> {
    /// Claims that a whole unit's change moves the integer answer by at most `norm`. The unit's `k` rows are part of the
    /// claim: multiply a bound for one row by `k` (L2 squared: by `k²`).
    ///
    /// # Errors
    /// [`Error::Parameter`] if the norm is zero: such an answer does not depend on the rows and needs no mechanism.
    pub fn claim(relation: &N, norm: Norm, anchor: Anchor) -> Result<Self, Error> {
        if matches!(norm, Norm::L1(0) | Norm::L2Squared(0) | Norm::Width(0)) {
            return Err(Error::parameter(
                "norm",
                "a sensitivity of zero means that the answer does not depend on the rows: it needs no mechanism",
            ));
        }
        Ok(Self {
            norm,
            relation: relation.clone(),
            anchor,
            added: false,
        })
    }

    /// Claims the same bound for the case that a whole unit is added or removed, too: where a unit can be replaced, that is the
    /// stronger protection, and what is paid can be charged to a budget for it as well.
    #[must_use]
    pub fn also_added(self) -> Self {
        Self { added: true, ..self }
    }

    /// Whether the bound holds for a unit that is added or removed.
    pub fn holds_added(&self) -> bool {
        self.added || matches!(self.relation.relation(), Relation::AddRemove { .. })
    }

    getters! {
        /// The bound.
        pub norm(norm) -> Norm;
        /// The relation that the bound holds for.
        pub relation(&relation) -> &N;
        /// Where it is proved.
        pub anchor(anchor) -> Anchor;
    }
}

/// A query with an integer vector as its answer. The answer is computed only after it has been paid for.
///
/// Sums must saturate or be unable to overflow: wrapping breaks the sensitivity, and a panic depends on the rows.
pub struct Query<'q, N = Relation> {
    dimension: usize,
    sensitivity: Sensitivity<N>,
    answer: Box<dyn FnOnce() -> Private<Vec<i64>> + 'q>,
}

impl<'q, N: Neighbours> Query<'q, N> {
    /// A query whose answer has `dimension` coordinates. The dimension is public: the vector that `answer` returns is cut or
    /// padded with zeros to it, since a length that depends on the data would show something about it.
    pub fn new(
        dimension: usize,
        sensitivity: Sensitivity<N>,
        answer: impl FnOnce() -> Private<Vec<i64>> + 'q,
    ) -> Self {
        Self {
            dimension,
            sensitivity,
            answer: Box::new(answer),
        }
    }

    /// The same query with every number of the answer times a public number, so that noise is wide against the grid of integers.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it is zero, or its sensitivity cannot be written.
    pub fn multiplied(self, by: u32) -> Result<Self, Error> {
        let norm = self.sensitivity.norm.multiplied(by).filter(|_| by > 0);
        // Clipping to 64 bits moves no two numbers apart.
        self.regridded(norm, "by", by.into(), move |value| {
            value.saturating_mul(by.into())
        })
    }

    /// The same query with every number of the answer divided by a public step and rounded down, so that wide noise fits the tables it is drawn
    /// from. `touched` is a claim like the sensitivity: one change moves at most so many numbers of the answer.
    ///
    /// # Privacy
    /// [`FLOORED`]: the claim is rounded up.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the step is zero or above 2⁶³ − 1, or the answer is of scores.
    pub fn floored(self, step: u64, touched: u64) -> Result<Self, Error> {
        let norm = self
            .sensitivity
            .norm
            .floored(step, touched.min(self.dimension as u64));
        let divisor = i64::try_from(step).ok();
        let norm = norm.filter(|_| divisor.is_some());
        let divisor = divisor.unwrap_or(1).max(1);
        self.regridded(norm, "step", step, move |value| value.div_euclid(divisor))
    }

    fn regridded(
        self,
        norm: Option<Norm>,
        what: &'static str,
        number: u64,
        change: impl Fn(i64) -> i64 + Sync + 'q,
    ) -> Result<Self, Error> {
        let Some(norm) = norm else {
            let why = format!(
                "{number} is no number by which an answer of {:?} is put on another grid",
                self.sensitivity.norm
            );
            return Err(Error::parameter(what, why));
        };
        let sensitivity = Sensitivity {
            norm,
            ..self.sensitivity
        };
        let answer = self.answer;
        Ok(Self {
            dimension: self.dimension,
            sensitivity,
            answer: Box::new(move || {
                answer().map(|mut values| {
                    values.iter_mut().for_each(|value| *value = change(*value));
                    values
                })
            }),
        })
    }

    getters! {
        /// How far one change can move the answer.
        pub sensitivity(&sensitivity) -> &Sensitivity<N>;
        /// How many coordinates the answer has.
        pub dimension(dimension) -> usize;
    }

    /// Checks that the query can be paid from a budget for `relation`, before anything is paid.
    pub(in crate::privacy) fn check(&self, relation: &N) -> Result<(), Error> {
        let [claimed, paid] = [self.sensitivity.relation().relation(), relation.relation()];
        if claimed != paid {
            return Err(Error::misuse(format!(
                "the query's sensitivity was claimed for the case that {claimed}, the budget is for the case that {paid}"
            )));
        }
        if self.dimension == 0 {
            return Err(Error::parameter(
                "dimension",
                "a query without coordinates asks nothing",
            ));
        }
        Ok(())
    }

    pub(in crate::privacy) fn answer(self) -> Private<Vec<i64>> {
        let dimension = self.dimension;
        (self.answer)().map(|mut values| {
            values.resize(dimension, 0);
            values
        })
    }
}
