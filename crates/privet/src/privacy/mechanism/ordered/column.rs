//! Columns to be desensitised.

use serde::{Deserialize, Serialize};

use super::super::Paid;
use super::{Audit, Loss, Ordered, Unary, UnboundedLaplace};
use crate::privacy::{Private, Randomness};

/// A column and the mechanism that randomises its values.
pub struct Column<'a> {
    name: String,
    change: Randomiser<'a>,
}

enum Randomiser<'a> {
    Slots(&'a dyn Ordered, Private<Vec<u16>>),
    Flags(&'a Unary, Private<Vec<u16>>),
    Integers(&'a UnboundedLaplace, Private<Vec<i64>>),
}

/// A desensitised column, in the original row order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Desensitised {
    /// Outputs of an [`Ordered`] mechanism, counted from its lowest.
    Slots(Vec<u16>),
    /// One flag for each category, row by row: 0 or 1.
    Flags(Vec<u16>),
    /// Integers of any size.
    Integers(Vec<i64>),
}

/// The privacy loss of one column, by the distance of values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Distance {
    /// The column's name in the schema.
    pub column: String,
    /// The mechanism and its parameters.
    pub mechanism: String,
    /// Between the worst two neighbouring values within a part of the domain.
    pub within: Loss,
    /// Between the worst two neighbouring values on the two sides of a border, if there are parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub across: Option<Loss>,
    /// Between the worst two values of all: what an ordinary ε would be.
    pub whole: Loss,
    /// Where that is proved.
    pub proof: String,
}

impl Distance {
    /// The privacy loss between two rows, over all of these columns.
    pub fn record(columns: &[Self]) -> Loss {
        columns
            .iter()
            .fold(Loss::NONE, |sum, column| sum.plus(column.whole))
    }

    /// Between the worst two neighbouring values.
    pub fn per_unit(&self) -> Loss {
        self.within.max(self.across.unwrap_or(Loss::NONE))
    }
}

impl<'a> Column<'a> {
    /// Slots of a finite domain.
    pub fn slots(name: impl Into<String>, mechanism: &'a dyn Ordered, values: Private<Vec<u16>>) -> Self {
        Self::of(name, Randomiser::Slots(mechanism, values))
    }

    /// Categories, each to be a row of flags.
    pub fn flags(name: impl Into<String>, mechanism: &'a Unary, values: Private<Vec<u16>>) -> Self {
        Self::of(name, Randomiser::Flags(mechanism, values))
    }

    /// Integers of an unknown domain.
    pub fn integers(
        name: impl Into<String>,
        mechanism: &'a UnboundedLaplace,
        values: Private<Vec<i64>>,
    ) -> Self {
        Self::of(name, Randomiser::Integers(mechanism, values))
    }

    fn of(name: impl Into<String>, change: Randomiser<'a>) -> Self {
        let name = name.into();
        Self { name, change }
    }

    /// What is claimed about it: known before the values are looked at.
    pub fn distance(&self) -> Distance {
        let (mechanism, audit, proof) = match &self.change {
            Randomiser::Slots(by, _) => (by.describe(), by.audit(), by.proof()),
            Randomiser::Flags(by, _) => (by.describe(), by.audit(), by.proof()),
            Randomiser::Integers(by, _) => (by.describe(), by.audit(), by.proof()),
        };
        let Audit {
            within,
            across,
            whole,
        } = audit;
        Distance {
            column: self.name.clone(),
            mechanism,
            within,
            across,
            whole,
            proof: proof.as_str().into(),
        }
    }

    /// The original values, for an auditor.
    #[cfg(feature = "audit")]
    pub(in crate::privacy) fn values(&self) -> Vec<i64> {
        match &self.change {
            Randomiser::Slots(_, values) | Randomiser::Flags(_, values) => {
                values.clone().expose().into_iter().map(i64::from).collect()
            }
            Randomiser::Integers(_, values) => values.clone().expose(),
        }
    }

    pub(in crate::privacy) fn draw(self, paid: Paid, random: &mut Randomness) -> Desensitised {
        match self.change {
            Randomiser::Slots(mechanism, values) => Desensitised::Slots(mechanism.draw(values, paid, random)),
            Randomiser::Flags(mechanism, values) => {
                Desensitised::Flags(mechanism.change(&values.expose(), random))
            }
            Randomiser::Integers(mechanism, values) => {
                let mut values = values.expose();
                mechanism.change(&mut values, random);
                Desensitised::Integers(values)
            }
        }
    }
}
