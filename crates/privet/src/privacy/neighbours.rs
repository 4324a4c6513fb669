//! Which two tables must be hard to tell apart.
//!
//! A claim is about one *unit*: a person with at most `k` rows. Relations are types, so a query proved for one cannot be
//! paid for under another; as values they carry the `k`, and a [`Relation`] is what the ledger writes down.

use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

mod sealed {
    pub trait Sealed {}
}

/// A neighbour relation: how two tables may differ that an observer must not tell apart.
pub trait Neighbours: Clone + fmt::Debug + sealed::Sealed {
    /// What one change is inside one part of a partition that depends on the data.
    type Within: Neighbours;

    /// The relation as data, for ledgers and certificates.
    fn relation(&self) -> Relation;

    /// The relation inside one part of a partition that depends on the data: a row is there or it is not.
    fn within(&self) -> Self::Within;

    /// How many single rows come or go in one change. It is also the most parts that one change can touch: a replaced
    /// row may leave one part and enter another, or stay in the same one twice.
    fn steps(&self) -> u64;
}

/// A unit of up to `k` rows is in the table or is not. The number of rows is private.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddRemove {
    rows: NonZeroU32,
}

/// A unit of one to `k` rows is replaced by another of one to `k` rows. Covers no claim about how many units there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replace {
    rows: NonZeroU32,
}

/// The private columns of a unit of up to `k` rows are replaced. Membership and all other columns are not covered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacePrivate {
    rows: NonZeroU32,
    columns: BTreeSet<String>,
}

impl AddRemove {
    /// One row is one unit.
    pub fn row() -> Self {
        Self::unit(NonZeroU32::MIN)
    }

    /// A unit has at most `rows` rows.
    pub fn unit(rows: NonZeroU32) -> Self {
        Self { rows }
    }
}

impl Replace {
    /// One row is one unit.
    pub fn row() -> Self {
        Self::unit(NonZeroU32::MIN)
    }

    /// A unit has at most `rows` rows.
    pub fn unit(rows: NonZeroU32) -> Self {
        Self { rows }
    }
}

impl ReplacePrivate {
    /// A unit has at most `rows` rows, and these of its columns are private (the label too, if it is named here).
    pub fn unit(rows: NonZeroU32, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            rows,
            columns: columns.into_iter().map(Into::into).collect(),
        }
    }
}

impl sealed::Sealed for AddRemove {}
impl sealed::Sealed for Replace {}
impl sealed::Sealed for ReplacePrivate {}

impl Neighbours for AddRemove {
    type Within = AddRemove;

    fn relation(&self) -> Relation {
        Relation::AddRemove { rows: self.rows }
    }

    fn within(&self) -> AddRemove {
        AddRemove::row()
    }

    fn steps(&self) -> u64 {
        self.rows.get().into()
    }
}

impl Neighbours for Replace {
    type Within = AddRemove;

    fn relation(&self) -> Relation {
        Relation::Replace { rows: self.rows }
    }

    fn within(&self) -> AddRemove {
        AddRemove::row()
    }

    fn steps(&self) -> u64 {
        2 * u64::from(self.rows.get())
    }
}

impl Neighbours for ReplacePrivate {
    type Within = AddRemove;

    fn relation(&self) -> Relation {
        Relation::ReplacePrivate {
            rows: self.rows,
            columns: self.columns.clone(),
        }
    }

    fn within(&self) -> AddRemove {
        AddRemove::row()
    }

    fn steps(&self) -> u64 {
        2 * u64::from(self.rows.get())
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
    },
    /// See [`Replace`].
    Replace {
        /// Rows of one unit, at most.
        rows: NonZeroU32,
    },
    /// See [`ReplacePrivate`].
    ReplacePrivate {
        /// Rows of one unit, at most.
        rows: NonZeroU32,
        /// The columns that are protected.
        columns: BTreeSet<String>,
    },
}

impl Relation {
    /// How many changes under `self` make up one change under `target`, or `None` if none do: what was paid under
    /// `self` protects under `target` at the price of that many steps.
    ///
    /// # Privacy
    /// Group privacy; proof in `docs/proofs/relations.md#one-way-conversions`. Adding and removing covers replacing,
    /// replacing covers replacing the private columns; never the other way round.
    pub fn steps_to(&self, target: &Relation) -> Option<u64> {
        use Relation::{AddRemove, Replace, ReplacePrivate};
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
            _ => None,
        }
    }

    /// The columns that it names, if it protects some only.
    pub(super) fn columns(&self) -> Vec<&str> {
        match self {
            Self::ReplacePrivate { columns, .. } => columns.iter().map(String::as_str).collect(),
            Self::AddRemove { .. } | Self::Replace { .. } => Vec::new(),
        }
    }

    /// Rows of one unit, at most.
    pub fn rows(&self) -> NonZeroU32 {
        let (Self::AddRemove { rows } | Self::Replace { rows } | Self::ReplacePrivate { rows, .. }) = self;
        *rows
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.rows().get() {
            1 => "one row".to_owned(),
            k => format!("one unit of up to {k} rows"),
        };
        match self {
            Self::AddRemove { .. } => write!(f, "{unit} is added or removed"),
            Self::Replace { .. } => write!(f, "{unit} is replaced"),
            Self::ReplacePrivate { columns, .. } => {
                let names: Vec<&str> = columns.iter().map(String::as_str).collect();
                write!(
                    f,
                    "the private columns ({}) of {unit} are replaced",
                    names.join(", ")
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(k: u32) -> NonZeroU32 {
        NonZeroU32::new(k).expect("not zero")
    }

    #[test]
    fn conversions_go_one_way() {
        let add = Relation::AddRemove { rows: rows(1) };
        let add_four = Relation::AddRemove { rows: rows(4) };
        let replace = Relation::Replace { rows: rows(1) };
        let columns = |names: &[&str]| ReplacePrivate::unit(rows(1), names.iter().copied()).relation();
        assert_eq!(add.steps_to(&add), Some(1));
        assert_eq!(add.steps_to(&replace), Some(2));
        assert_eq!(add.steps_to(&columns(&["age"])), Some(2));
        assert_eq!(add.steps_to(&add_four), Some(4));
        assert_eq!(add_four.steps_to(&add), Some(1));
        assert_eq!(add_four.steps_to(&Relation::Replace { rows: rows(6) }), Some(4));
        assert_eq!(replace.steps_to(&add), None);
        assert_eq!(replace.steps_to(&Relation::Replace { rows: rows(2) }), None);
        assert_eq!(replace.steps_to(&columns(&["age"])), Some(1));
        assert_eq!(columns(&["age"]).steps_to(&replace), None);
        assert_eq!(columns(&["age", "pay"]).steps_to(&columns(&["age"])), Some(1));
        assert_eq!(columns(&["age"]).steps_to(&columns(&["age", "pay"])), None);
    }

    /// The fewest replacements of one to `have` rows by one to `have` rows that turn `from` old rows into `to` new ones, by
    /// trying all; none if it cannot be done.
    fn fewest_replacements(from: u64, to: u64, have: u64) -> Option<u64> {
        // How many old and new rows there are.
        let mut seen = BTreeSet::from([(from, 0)]);
        let mut front = vec![(from, 0)];
        for steps in 0..20 {
            if front.contains(&(0, to)) {
                return Some(steps);
            }
            let mut next = Vec::new();
            for (old, new) in front {
                for (o, n) in (0..=have.min(old)).flat_map(|o| (0..=have.min(new)).map(move |n| (o, n))) {
                    if (1..=have).contains(&(o + n)) {
                        let after = (1..=have).map(|put| (old - o, new - n + put));
                        next.extend(after.filter(|state| state.1 <= to + have && seen.insert(*state)));
                    }
                }
            }
            front = next;
        }
        None
    }

    #[test]
    fn larger_units_need_as_many_replacements_as_a_search_finds() {
        for have in 1..=4u32 {
            for need in 1..=8u32 {
                let sizes = || 1..=u64::from(need);
                let worst = sizes()
                    .flat_map(|from| sizes().map(move |to| (from, to)))
                    .map(|(from, to)| fewest_replacements(from, to, have.into()))
                    .try_fold(0, |worst, steps| steps.map(|s| worst.max(s)));
                let [from, to] = [have, need].map(|k| Relation::Replace { rows: rows(k) });
                assert_eq!(
                    from.steps_to(&to),
                    worst,
                    "units of {have} rows to units of {need}"
                );
            }
        }
    }

    #[test]
    fn steps_count_the_rows_that_come_or_go() {
        assert_eq!(AddRemove::row().steps(), 1);
        assert_eq!(AddRemove::unit(rows(5)).steps(), 5);
        assert_eq!(Replace::row().steps(), 2);
        assert_eq!(ReplacePrivate::unit(rows(3), ["age"]).steps(), 6);
    }

    #[test]
    fn relations_survive_json() {
        for relation in [
            AddRemove::row().relation(),
            Replace::unit(rows(3)).relation(),
            ReplacePrivate::unit(rows(1), ["pay", "age"]).relation(),
        ] {
            let text = serde_json::to_string(&relation).expect("serialises");
            assert_eq!(serde_json::from_str::<Relation>(&text).expect("parses"), relation);
        }
        assert!(serde_json::from_str::<Relation>(r#"{"change":"add-remove","rows":0}"#).is_err());
    }
}
