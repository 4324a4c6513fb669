//! Why a budget does not pay, and what its owner can do.

use std::fmt;

use super::kept::Line;
use crate::privacy::account::{Caps, MuSquared, Price, Rho};
use crate::privacy::{Delta, Epsilon, Relation};

/// Why a budget does not allow something. Nothing was charged, and nothing was drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The data set has no budget for this change.
    NoBudget {
        /// The data set.
        dataset: String,
        /// The change that was asked for.
        relation: Relation,
        /// A change for which the same people have a budget.
        other: Option<Relation>,
    },
    /// A line of the budget has too little left.
    NoRoom {
        /// The data set.
        dataset: String,
        /// Which line of its budget.
        relation: Relation,
        /// What is needed.
        needed: Price,
        /// What the line has left.
        left: Caps,
        /// What the line may spend in all.
        caps: Caps,
        /// The δ at which the line states its ε.
        delta: Delta,
    },
    /// The budget is kept by another unit: per row or per person, or by another column.
    OtherUnit {
        /// The data set.
        dataset: String,
        /// The change that was asked for.
        relation: Relation,
        /// A line that the budget has.
        kept: Relation,
        /// Whether something was spent, so that it stays like that.
        spent: bool,
    },
    /// The run may not spend so much more.
    OverPromise {
        /// What is needed.
        needed: Price,
        /// What the run may spend still.
        left: Caps,
    },
    /// The reservation does not hold so much more.
    OverReservation {
        /// How many draws were asked for.
        draws: u64,
        /// What they need.
        needed: Price,
        /// What the reservation has left.
        left: Caps,
        /// How many draws it has left.
        draws_left: u64,
    },
    /// A run goes on for the change that it was begun for.
    OtherChange {
        /// That change.
        begun: Relation,
        /// The one that was asked for.
        relation: Relation,
    },
    /// A column is desensitised once, and this one was.
    LeftAlready {
        /// The data set.
        dataset: String,
        /// The column.
        column: String,
        /// The file that what was drawn then is looked for in, if the caller keeps it in one.
        kept: Option<String>,
    },
    /// Desensitised columns show the number of rows, which this change keeps private.
    RowsArePrivate {
        /// The change.
        relation: Relation,
    },
    /// No column was named to be desensitised.
    NoColumn,
    /// The run desensitised other columns, or the same ones in another way.
    OtherColumns,
    /// Columns that were drawn twice and never kept are not drawn again.
    DrawnTwice,
    /// The same table is known under another name, which has the budget.
    KnownTable {
        /// The name it was given now.
        dataset: String,
        /// The name it is known under.
        known_as: String,
        /// Whether the new name has a budget of its own, so that it cannot adopt the other one.
        has_budget: bool,
    },
    /// An entry that the ledger does not admit: a limit below what was spent, an adoption of nobody.
    Entry {
        /// Why.
        why: String,
    },
}

impl Refusal {
    /// That `line` has no room for a price.
    pub(super) fn no_room(dataset: &str, needed: Price, relation: &Relation, line: &Line) -> Box<Self> {
        Box::new(Self::NoRoom {
            dataset: dataset.into(),
            relation: relation.clone(),
            needed,
            left: line.remaining(),
            caps: line.caps,
            delta: line.delta,
        })
    }

    pub(super) fn no_budget(dataset: &str, relation: &Relation, other: Option<&Relation>) -> Box<Self> {
        Box::new(Self::NoBudget {
            dataset: dataset.into(),
            relation: relation.clone(),
            other: other.cloned(),
        })
    }

    /// Why, for a sentence that says already that something is refused.
    pub fn reason(&self) -> String {
        match self {
            Self::NoBudget { .. } => format!("the data set {}. {}", self.fact(), self.way_out()),
            Self::NoRoom { .. } | Self::OverPromise { .. } => {
                let (fact, way_out) = (self.fact(), self.way_out());
                format!("{fact}. Nothing was drawn and no data was looked at.{way_out}")
            }
            Self::OtherUnit { .. } => format!("{}. {}. Nothing was drawn.", self.fact(), self.way_out()),
            Self::Entry { .. } => format!("{}. Nothing was written.", self.fact()),
            _ => format!("{}. Nothing was drawn.{}", self.fact(), self.way_out()),
        }
    }

    /// What stands in the way, as a clause.
    pub(in crate::privacy) fn fact(&self) -> String {
        match self {
            Self::NoBudget { dataset, relation, .. } => format!("'{dataset}' has no budget for: {relation}"),
            Self::NoRoom {
                dataset,
                relation,
                needed,
                left,
                caps,
                delta,
            } => {
                let converted = converted(*needed, caps);
                let counted = converted.map_or(String::new(), |price| format!(", counted as {price}"));
                format!(
                    "this needs {needed}{counted}{}, and for '{dataset}' when {relation} there is left {left}{}",
                    stated(converted.unwrap_or(*needed).into(), *delta),
                    stated(*left, *delta)
                )
            }
            Self::OtherUnit {
                dataset,
                relation,
                kept,
                ..
            } => {
                let per = match kept.unit() {
                    None => "per row".to_owned(),
                    Some(column) => format!("per person, by the column '{column}'"),
                };
                let about = match relation.unit() {
                    None => "single rows".to_owned(),
                    Some(column) => format!("people, by the column '{column}'"),
                };
                format!(
                    "'{dataset}' is kept {per}; this is about {about}: payments for the one say nothing about the other"
                )
            }
            Self::OverPromise { needed, left } => {
                format!("this needs {needed}, and the run may spend {left} more")
            }
            Self::OverReservation {
                draws,
                needed,
                left,
                draws_left,
            } => format!(
                "{draws} more draws need {needed}; the reservation has left {left} and {draws_left} draws"
            ),
            Self::OtherChange { begun, relation } => format!(
                "this run was begun for the change \"{begun}\", and cannot go on for \"{relation}\""
            ),
            Self::LeftAlready { dataset, column, .. } => format!(
                "the column '{column}' of '{dataset}' has left already: use that again. Drawn twice, its noise would average out"
            ),
            Self::RowsArePrivate { relation } => format!(
                "changed values show how many rows there are, which is private when {relation}"
            ),
            Self::NoColumn => "there is no column to change".into(),
            Self::OtherColumns => "this run has let out other columns, or the same ones changed otherwise or for another kind of \
                change: go on with the job it was begun with"
                .into(),
            Self::DrawnTwice => "these columns were drawn twice already and never kept: a third time might tell. Their data set cannot \
                let them out any more"
                .into(),
            Self::KnownTable {
                dataset,
                known_as,
                has_budget,
            } => {
                let join = match has_budget {
                    true => format!(
                        ": '{dataset}' has a budget of its own, and two budgets for one table would add up unseen"
                    ),
                    false => format!(
                        ", or record that both are one with `privet ledger adopt {dataset} --of {known_as}`"
                    ),
                };
                format!("this table is already known as '{known_as}'. Use that name{join}")
            }
            Self::Entry { why } => why.clone(),
        }
    }

    /// What its owner can do about it.
    fn way_out(&self) -> String {
        match self {
            Self::NoBudget {
                dataset,
                relation,
                other,
            } => {
                let command = relation.limit_command(dataset);
                match other {
                    None => format!("Set one first: `{command}`"),
                    Some(other) => format!(
                        "It has one for: {other}. Ask for that protection, or open a second budget for the same people with \
                         `{command} --second-budget`: what is paid from one may then not be counted by the other, whose promise no \
                         longer covers everything that was released"
                    ),
                }
            }
            // A budget of pure ε has no room for Gaussian noise, however large it is.
            Self::NoRoom {
                needed: Price::Gaussian(_),
                left,
                ..
            } if left.mu_squared == MuSquared::ZERO && left.rho == Rho::ZERO => {
                " Such a price needs a budget that was set with a delta: `privet ledger limit ... --epsilon E --delta D`."
                    .into()
            }
            Self::OtherUnit { spent: true, .. } => {
                "Once something was spent, a data set is kept one way for good".into()
            }
            Self::OtherUnit { dataset, relation, .. } => format!(
                "Nothing was spent yet, so the budget can be set anew: `{}`",
                relation.limit_command(dataset)
            ),
            Self::LeftAlready { kept: Some(kept), .. } => format!(
                " It is looked for in {kept}: put that file back, or say where it is (kept = … in a job, or --kept)"
            ),
            _ => String::new(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !matches!(self, Self::NoBudget { .. }) {
            f.write_str("refused: ")?;
        }
        f.write_str(&self.reason())
    }
}

/// A pure price in a budget for Gaussian noise is counted by its conversion.
fn converted(price: Price, caps: &Caps) -> Option<Price> {
    match price {
        Price::Pure(epsilon) if caps.pure == Epsilon::ZERO && caps.mu_squared != MuSquared::ZERO => {
            Some(Price::Gaussian(MuSquared::from_pure(epsilon)))
        }
        _ => None,
    }
}

/// The ε of an amount at the δ of its budget, where it is not ε itself.
fn stated(caps: Caps, delta: Delta) -> String {
    let pure = caps.rho == Rho::ZERO && caps.mu_squared == MuSquared::ZERO;
    match delta {
        Delta::ZERO => String::new(),
        _ if pure => String::new(),
        delta => format!(" (ε = {} at this budget's δ = {delta})", caps.epsilon(delta)),
    }
}
