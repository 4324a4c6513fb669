//! Why a budget does not pay, and what its owner can do.

use std::fmt;

use super::kept::BudgetLine;
use crate::privacy::account::{Caps, MuSquared, Price, Rho};
use crate::privacy::{BudgetToSet, Delta, Epsilon, Relation};

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
    /// A budget line has too little remaining.
    NoRoom {
        /// The data set.
        dataset: String,
        /// Which line of its budget.
        relation: Relation,
        /// What is needed.
        needed: Price,
        /// What remains of the line.
        remaining: Caps,
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
        /// Whether something was spent, so that the unit can no longer be changed.
        spent: bool,
    },
    /// The run would spend more than it promised.
    OverPromise {
        /// What is needed.
        needed: Price,
        /// What the run may still spend.
        remaining: Caps,
    },
    /// The draws cost more than remains of the reservation.
    OverReservation {
        /// How many draws were asked for.
        draws: u64,
        /// What they need.
        needed: Price,
        /// What remains of the reservation.
        remaining: Caps,
        /// How many draws remain.
        draws_remaining: u64,
    },
    /// A joint draw costs more than was paid for each, or more of them are asked for than were paid for.
    OverShares {
        /// The number of the draw, from zero.
        draw: u64,
        /// How many were paid for.
        draws: u64,
        /// What it needs.
        needed: Price,
        /// What was paid for each.
        each: Price,
    },
    /// The budget has no cap in the currency of joint sums, in which all owners pay alike.
    OtherCurrency {
        /// The data set.
        dataset: String,
        /// What one joint sum costs.
        needed: Price,
        /// What the budget may spend in all.
        caps: Caps,
    },
    /// The run has reserved draws for the same purpose in another way.
    OtherReservation {
        /// What they are for.
        what: String,
    },
    /// A budget for everything about one owner pays for messages of the local setting only.
    OnlyMessages,
    /// A run cannot go on under another relation than it was begun with.
    OtherChange {
        /// The relation it was begun with.
        begun: Relation,
        /// The relation that was asked for.
        relation: Relation,
    },
    /// The column was desensitised before; that is possible once.
    AlreadyDesensitised {
        /// The data set.
        dataset: String,
        /// The column.
        column: String,
        /// The file where the caller keeps the drawn values, if there is one.
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
    /// The same table is known under another name, which has the budget.
    KnownTable {
        /// The name it was given now.
        dataset: String,
        /// The name it is known under.
        known_as: String,
        /// Whether the new name has a budget of its own, so that it cannot adopt the other one.
        has_budget: bool,
    },
    /// The ledger does not admit the entry: a limit below what was spent, or an adoption of an unknown name.
    Entry {
        /// Why.
        why: String,
    },
}

impl Refusal {
    /// That `line` has no room for a price.
    pub(super) fn no_room(dataset: &str, needed: Price, relation: &Relation, line: &BudgetLine) -> Box<Self> {
        Box::new(Self::NoRoom {
            dataset: dataset.into(),
            relation: relation.clone(),
            needed,
            remaining: line.remaining(),
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

    /// The reason, without the word "refused".
    pub fn reason(&self) -> String {
        self.reason_with(&BudgetToSet::default())
    }

    /// The same, where it is known what budget would be enough.
    pub fn reason_with(&self, enough: &BudgetToSet) -> String {
        let (fact, way_out) = (self.fact(), self.way_out(enough));
        match self {
            Self::NoBudget { .. } => format!("the data set {fact}. {way_out}"),
            Self::NoRoom { .. } | Self::OverPromise { .. } => {
                format!("{fact}. Nothing was drawn and no data was looked at.{way_out}")
            }
            Self::OtherUnit { .. } => format!("{fact}. {way_out}. Nothing was drawn."),
            Self::Entry { .. } => format!("{fact}. Nothing was written."),
            _ => format!("{fact}. Nothing was drawn.{way_out}"),
        }
    }

    /// The whole sentence, where it is known what budget would be enough.
    pub fn told_with(&self, enough: &BudgetToSet) -> String {
        let refused = match self {
            Self::NoBudget { .. } => "",
            _ => "refused: ",
        };
        format!("{refused}{}", self.reason_with(enough))
    }

    /// The obstacle, as a clause.
    pub(in crate::privacy) fn fact(&self) -> String {
        match self {
            Self::NoBudget { dataset, relation, .. } => format!("'{dataset}' has no budget for: {relation}"),
            Self::NoRoom {
                dataset,
                relation,
                needed,
                remaining,
                caps,
                delta,
            } => {
                let converted = converted(*needed, caps);
                let counted = converted.map_or(String::new(), |price| format!(", counted as {price}"));
                format!(
                    "this needs {needed}{counted}{}, and for '{dataset}' when {relation} there remains {remaining}{}",
                    stated(converted.unwrap_or(*needed).into(), *delta),
                    stated(*remaining, *delta)
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
                    "'{dataset}' is budgeted {per}; this is about {about}: payments for one do not count for the other"
                )
            }
            Self::OverPromise { needed, remaining } => {
                format!("this needs {needed}, and the run may spend {remaining} more")
            }
            Self::OverReservation {
                draws,
                needed,
                remaining,
                draws_remaining,
            } => format!(
                "{draws} more draws need {needed}; what remains of the reservation is {remaining} and {draws_remaining} draws"
            ),
            Self::OverShares {
                draw,
                draws,
                needed,
                each,
            } => format!(
                "joint draw number {draw}, counted from zero, needs {needed}; the run has paid for {draws} joint draws of {each} each"
            ),
            Self::OtherCurrency {
                dataset,
                needed,
                caps,
            } => format!(
                "all owners of joint sums pay in one currency, and a sum costs {needed}; the budget of '{dataset}' is limited to {caps}"
            ),
            Self::OtherReservation { what } => format!(
                "this run has reserved draws for {what} at another price, in another number or for another change: go on with the job it was \
                 begun with"
            ),
            Self::OnlyMessages => "this budget is for everything about one owner: it pays for messages of the local setting, and for nothing \
                else"
                .into(),
            Self::OtherChange { begun, relation } => format!(
                "this run was begun for the change \"{begun}\", and cannot go on for \"{relation}\""
            ),
            Self::AlreadyDesensitised { dataset, column, .. } => format!(
                "the column '{column}' of '{dataset}' has been desensitised already: use those values again. Drawn twice, their noise would average out"
            ),
            Self::RowsArePrivate { relation } => format!(
                "desensitised columns show the number of rows, which is private when {relation}"
            ),
            Self::NoColumn => "no column is named to be desensitised".into(),
            Self::OtherColumns => "this run has released other columns, or the same ones by another mechanism or for another relation: go on with the \
                job it was begun with"
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
    fn way_out(&self, enough: &BudgetToSet) -> String {
        match self {
            Self::NoBudget {
                dataset,
                relation,
                other,
            } => {
                let command = relation.limit_command(dataset, enough);
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
                dataset,
                relation,
                needed: Price::Gaussian(_),
                remaining,
                caps,
                ..
            } if caps.mu_squared == MuSquared::ZERO && caps.rho == Rho::ZERO => {
                if remaining != caps {
                    return " Such a price needs a budget that was set with a delta. This one was set without, and once something was spent that cannot be changed."
                        .into();
                }
                let unknown = match enough.delta {
                    Delta::ZERO => " --delta D",
                    _ => "",
                };
                let command = relation.limit_command(dataset, enough);
                format!(" Such a price needs a budget that was set with a delta: `{command}{unknown}`.")
            }
            Self::OtherUnit { spent: true, .. } => {
                "Once something was spent, the unit of a data set cannot be changed".into()
            }
            Self::OtherUnit {
                dataset, relation, ..
            } => format!(
                "Nothing was spent yet, so the budget can be set anew: `{}`",
                relation.limit_command(dataset, enough)
            ),
            Self::AlreadyDesensitised { kept: Some(kept), .. } => format!(
                " It is looked for in {kept}: put that file back, or say where it is (kept = … in a job, or --kept)"
            ),
            _ => String::new(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told_with(&BudgetToSet::default()))
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
