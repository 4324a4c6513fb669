//! Neighbour relations: which two tables must be hard to tell apart.
//!
//! A claim is about one *unit*: a person with at most `k` rows. Relations are types, so a query proved for one cannot be
//! paid for under another; as values they carry the `k` and the column that tells people apart. A [`Relation`] is
//! what the ledger writes down, and stands for any of them where a job names it; it is then checked at run time.

mod command;

use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

pub use self::command::BudgetToSet;
use super::texts::shown;

mod sealed {
    pub trait Sealed {}
}

/// A neighbour relation: how two tables may differ that an observer must not tell apart.
pub trait Neighbours: Clone + fmt::Debug + sealed::Sealed + 'static {
    /// The relation as data, for ledgers and certificates.
    fn relation(&self) -> Relation;

    /// The relation inside one part of a partition that depends on the data: a row is there or it is not.
    fn within(&self) -> AddRemove {
        AddRemove::row()
    }

    /// How many single rows come or go in one change. It is also the most parts that one change can touch: a replaced
    /// row may move from one part to another, or change twice in the same part.
    fn steps(&self) -> u64 {
        self.relation().steps()
    }
}

/// A unit of up to `k` rows is in the table or is not. The number of rows is private.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddRemove {
    rows: NonZeroU32,
    unit: Option<String>,
}

/// A unit of one to `k` rows is replaced by another of one to `k` rows. The number of units is not protected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replace {
    rows: NonZeroU32,
    unit: Option<String>,
}

/// The private columns of a unit of up to `k` rows are replaced. Membership and all other columns are not covered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacePrivate {
    rows: NonZeroU32,
    unit: Option<String>,
    columns: BTreeSet<String>,
}

/// Everything about one owner of a device is replaced: its rows, how many there are, and whatever else its message was computed from. A
/// budget for this pays for the messages of the local setting, and for nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner;

macro_rules! units_of_rows {
    ($($relation:ident)*) => {$(
        impl $relation {
            /// One row is one unit.
            pub fn row() -> Self {
                Self::unit(NonZeroU32::MIN)
            }

            /// A unit has at most `rows` rows.
            pub fn unit(rows: NonZeroU32) -> Self {
                Self { rows, unit: None }
            }
        }
    )*};
}

units_of_rows!(AddRemove Replace);

impl ReplacePrivate {
    /// A unit has at most `rows` rows, and these of its columns are private (the label too, if it is named here).
    pub fn unit(rows: NonZeroU32, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self {
            rows,
            unit: None,
            columns,
        }
    }
}

macro_rules! neighbours {
    ($($relation:ident { $($field:ident),* })*) => {$(
        impl $relation {
            /// Rows with the same value in `column` are one unit.
            #[must_use]
            pub fn of(self, column: impl Into<String>) -> Self {
                let unit = Some(column.into());
                Self { unit, ..self }
            }
        }

        impl sealed::Sealed for $relation {}

        impl Neighbours for $relation {
            fn relation(&self) -> Relation {
                let Self { $($field),* } = self.clone();
                Relation::$relation { $($field),* }
            }
        }
    )*};
}

neighbours! {
    AddRemove { rows, unit }
    Replace { rows, unit }
    ReplacePrivate { rows, unit, columns }
}

impl sealed::Sealed for Owner {}

impl Neighbours for Owner {
    fn relation(&self) -> Relation {
        Relation::Owner
    }
}

impl sealed::Sealed for Relation {}

/// A relation that is known only at run time. Claims and budgets under it are compared before anything is paid (`Query::check`);
/// the other relations are compared at compile time.
impl Neighbours for Relation {
    fn relation(&self) -> Relation {
        self.clone()
    }
}

/// A neighbour relation as data: part of every claim and every entry of a ledger.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Relation {
    /// See [`AddRemove`].
    AddRemove {
        /// Rows of one unit, at most.
        rows: NonZeroU32,
        /// The unit column: rows with equal values are one unit. Without one, any `rows` rows are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
    },
    /// See [`Replace`].
    Replace {
        /// Rows of one unit, at most.
        rows: NonZeroU32,
        /// The unit column: rows with equal values are one unit. Without one, any `rows` rows are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
    },
    /// See [`ReplacePrivate`].
    ReplacePrivate {
        /// Rows of one unit, at most.
        rows: NonZeroU32,
        /// The unit column: rows with equal values are one unit. Without one, any `rows` rows are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
        /// The columns that are protected.
        columns: BTreeSet<String>,
    },
    /// See [`Owner`].
    Owner,
}

impl Relation {
    /// How many changes under `self` make up one change under `target`, or `None` if none do: what was paid under
    /// `self` protects under `target` at the price of that many steps.
    ///
    /// # Privacy
    /// Group privacy; proof in `docs/proofs/relations.md#one-way-conversions`. Adding and removing covers replacing,
    /// replacing covers replacing the private columns; never the other way round. Nothing converts between units of
    /// different columns, or between such a unit and rows: a person may have had any number of rows when rows were paid for.
    pub fn steps_to(&self, target: &Relation) -> Option<u64> {
        use Relation::{AddRemove, Owner, Replace, ReplacePrivate};
        if self.unit() != target.unit() {
            return None;
        }
        let (have, need) = (u64::from(self.rows().get()), u64::from(target.rows().get()));
        match (self, target) {
            (AddRemove { .. }, AddRemove { .. }) => Some(need.div_ceil(have)),
            // Out with the old rows, in with the new.
            (AddRemove { .. }, Replace { .. } | ReplacePrivate { .. }) => Some(2 * need.div_ceil(have)),
            (Replace { .. }, Replace { .. }) if need <= have => Some(1),
            // A larger unit may grow or shrink, and the table with it. Replacing single rows never does that; replacing up
            // to `have` of them changes their number by `have − 1` at the most.
            (Replace { .. }, Replace { .. }) => (have > 1).then(|| (need - 1).div_ceil(have - 1)),
            // Rows keep their number when only columns change.
            (Replace { .. }, ReplacePrivate { .. }) => Some(need.div_ceil(have)),
            (ReplacePrivate { columns: from, .. }, ReplacePrivate { columns: to, .. }) => {
                to.is_subset(from).then(|| need.div_ceil(have))
            }
            // Local privacy is a guarantee of another kind: it is never added to what was paid for rows.
            (Owner, Owner) => Some(1),
            _ => None,
        }
    }

    /// The relation that adds or removes a unit of the same kind.
    pub(super) fn added(&self) -> Self {
        Self::AddRemove {
            rows: self.rows(),
            unit: self.unit().map(str::to_owned),
        }
    }

    /// How many single rows come or go in one change, at most: see [`Neighbours::steps`].
    pub fn steps(&self) -> u64 {
        let rows = u64::from(self.rows().get());
        match self {
            Self::AddRemove { .. } => rows,
            Self::Replace { .. } | Self::ReplacePrivate { .. } | Self::Owner => 2 * rows,
        }
    }

    /// The columns that it names: the one that tells people apart, and those that it protects if it protects some only.
    pub(super) fn columns(&self) -> Vec<&str> {
        let private = self.private().into_iter().flatten().map(String::as_str);
        self.unit().into_iter().chain(private).collect()
    }

    /// The columns that it protects, if it protects some only.
    pub fn private(&self) -> Option<&BTreeSet<String>> {
        match self {
            Self::ReplacePrivate { columns, .. } => Some(columns),
            Self::AddRemove { .. } | Self::Replace { .. } | Self::Owner => None,
        }
    }

    /// Rows of one unit, at most. An owner may have any number.
    pub fn rows(&self) -> NonZeroU32 {
        match self {
            Self::AddRemove { rows, .. } | Self::Replace { rows, .. } | Self::ReplacePrivate { rows, .. } => {
                *rows
            }
            Self::Owner => NonZeroU32::MAX,
        }
    }

    /// The unit column: rows with equal values are one unit. Without one, any [`Relation::rows`] rows are.
    pub fn unit(&self) -> Option<&str> {
        match self {
            Self::AddRemove { unit, .. } | Self::Replace { unit, .. } | Self::ReplacePrivate { unit, .. } => {
                unit.as_deref()
            }
            Self::Owner => None,
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match (self.unit().map(shown), self.rows().get()) {
            (None, 1) => "one row".to_owned(),
            (None, k) => format!("one unit of up to {k} rows"),
            (Some(column), 1) => format!("one person (at most one row with the same '{column}')"),
            (Some(column), k) => format!("one person (at most {k} rows with the same '{column}')"),
        };
        match self {
            Self::AddRemove { .. } => write!(f, "{unit} is added or removed"),
            Self::Replace { .. } => write!(f, "{unit} is replaced"),
            Self::ReplacePrivate { columns, .. } => {
                let names: Vec<_> = columns.iter().map(|name| shown(name)).collect();
                write!(
                    f,
                    "the private columns ({}) of {unit} are replaced",
                    names.join(", ")
                )
            }
            Self::Owner => f.write_str("everything about one owner is replaced"),
        }
    }
}

#[cfg(test)]
mod tests;
