//! What one data set may spend and has spent.

use std::collections::{BTreeMap, BTreeSet};

use super::contributed::Contributed;
use super::refusal::Refusal;
use super::released::{ColumnState, ReleasedColumns};
use super::reserved::Reserved;
use crate::privacy::account::{Caps, MuSquared, Price, Rho};
use crate::privacy::certificate::{Columns, Guarantee, Total};
use crate::privacy::{Delta, Relation, Sharing, getters};

/// The budget of one data set.
#[derive(Debug, Clone, Default)]
pub struct Account {
    pub(super) lines: BTreeMap<Relation, BudgetLine>,
    pub(super) spends: Vec<Spent>,
    pub(super) void: Option<String>,
    pub(super) leaks: u64,
    /// What was shown in runs between parties: a run that is taken up again shows nothing new.
    pub(super) shown: BTreeSet<Shown>,
    pub(super) released: ReleasedColumns,
    /// Reservations that roles own.
    pub(super) reserved: Reserved,
    /// Messages of the local setting, by campaign.
    pub(super) contributed: Contributed,
}

/// An item of a joint computation: the run, what, to whom, how many.
pub(in crate::privacy) type Shown = (String, String, String, u64);

/// One payment.
#[derive(Debug, Clone)]
pub(super) struct Spent {
    pub(super) relation: Relation,
    pub(super) price: Price,
    pub(super) assuming: Vec<String>,
    pub(super) sharing: Option<Sharing>,
    /// Whether it holds when a unit is added or removed, too.
    pub(super) added: bool,
}

impl Spent {
    /// Its price under another relation; `None` if it gives no protection there. The inner `None` is a price too large to write.
    fn under(&self, covers: &Relation) -> Option<Option<Price>> {
        let steps = self.relation.steps_to(covers).or_else(|| {
            let added = self.added.then(|| self.relation.added())?;
            added.steps_to(covers)
        })?;
        Some(self.price.group(steps))
    }
}

/// The budget of one data set under one neighbour relation.
#[derive(Debug, Clone)]
pub struct BudgetLine {
    /// The box of caps.
    pub caps: Caps,
    /// The δ at which the implied ε is stated.
    pub delta: Delta,
    /// What has been spent of each cap.
    pub spent: Caps,
    /// Payments that protect under another relation only, and so are not counted in `spent`.
    pub uncovered: u64,
    /// How often the caps were set or changed after something had been spent.
    pub changed: u64,
    /// Assumptions of these payments, besides their proofs.
    pub assuming: BTreeSet<String>,
    /// The owners of joint sums that these payments were for: their prices hold under what is assumed of them.
    pub sharing: BTreeSet<Sharing>,
}

impl BudgetLine {
    /// What remains of each cap.
    pub fn remaining(&self) -> Caps {
        self.caps.remaining(&self.spent)
    }
}

impl Account {
    getters! {
        /// The budgets, by neighbour relation.
        pub lines(&lines) -> &BTreeMap<Relation, BudgetLine>;
        /// Why the data set's total is void, if something was released without protection.
        pub void(void.as_deref()) -> Option<&str>;
        /// How many items entered joint computations.
        pub leaks(leaks) -> u64;
        /// The columns that were released desensitised: how many, and the privacy loss between two rows.
        pub desensitised(released.total()) -> Option<Columns>;
        /// How many payments were made.
        pub payments(spends.len()) -> usize;
    }

    /// Whether a column was released, and whether the ledger has kept its values.
    pub fn column(&self, name: &str) -> ColumnState {
        self.released.state(name)
    }

    /// What all runs together guarantee under `relation`, if it has a limit.
    pub fn total(&self, relation: &Relation) -> Option<Total> {
        let line = self.lines.get(relation)?;
        let guarantee = match &self.void {
            Some(because) => Guarantee::Void {
                because: because.clone(),
            },
            // Under this relation only messages are paid for, in pure ε: each is locally private, and their ε add up.
            None if *relation == Relation::Owner => Guarantee::Local {
                epsilon: line.spent.pure,
            },
            // Pure ε holds for what was spent; ρ and μ² for the box that was fixed (`docs/proofs/accounts.md`).
            None if line.spent == Caps::from(Price::Pure(line.spent.pure)) => Guarantee::Pure {
                epsilon: line.spent.pure,
            },
            None => Guarantee::approximate(line.caps, line.delta),
        };
        Some(Total {
            guarantee,
            uncovered: line.uncovered,
            leaks: self.leaks,
            desensitised: self.desensitised(),
            changed: line.changed,
            assuming: line.assuming.iter().cloned().collect(),
            sharing: line.sharing.iter().copied().collect(),
        })
    }

    /// The relation of an existing budget that a new one for `relation` would stand beside, if there is one. Payments from one
    /// of two budgets may not be counted by the other, so that neither covers everything that is released.
    pub fn second_to(&self, relation: &Relation) -> Option<&Relation> {
        let counted = |a: &Relation, b: &Relation| a.steps_to(b).is_some() && b.steps_to(a).is_some();
        let spendable = self.lines.iter().filter(|(_, line)| line.caps != Caps::ZERO);
        spendable
            .map(|(other, _)| other)
            // Budgets by another unit never stand beside each other: see `other_unit`.
            .find(|other| other.unit() == relation.unit() && *other != relation && !counted(other, relation))
    }

    /// Whether everything that was ever released from the data set is counted by the budget for `relation`.
    pub fn counts_everything(&self, relation: &Relation) -> bool {
        let counted = self.lines.get(relation).is_some_and(|line| line.uncovered == 0);
        counted && self.void.is_none() && self.leaks == 0 && self.desensitised().is_none()
    }

    /// The refusal if `relation` has another unit than the existing budgets: a data set has one unit. Payments per row say
    /// nothing about a person with many rows, yet two such budgets would be read as one sum.
    pub(super) fn other_unit(&self, dataset: &str, relation: &Relation) -> Option<Refusal> {
        // Every payment has a line, and lines stay once there is one: they are all there is to look at.
        let kept = self.lines.keys().find(|line| line.unit() != relation.unit())?;
        Some(Refusal::OtherUnit {
            dataset: dataset.into(),
            relation: relation.clone(),
            kept: kept.clone(),
            spent: !self.spends.is_empty(),
        })
    }

    /// Every line after one more payment, or the first relation whose caps do not allow it.
    pub(super) fn charged(&self, spent: &Spent) -> Result<BTreeMap<Relation, BudgetLine>, Relation> {
        let mut lines = self.lines.clone();
        for (covers, line) in &mut lines {
            line.charge(spent, covers).ok_or_else(|| covers.clone())?;
        }
        Ok(lines)
    }

    pub(super) fn set_limit(&mut self, relation: &Relation, caps: Caps, delta: Delta) -> Result<(), String> {
        if delta == Delta::ZERO && (caps.rho != Rho::ZERO || caps.mu_squared != MuSquared::ZERO) {
            return Err("caps on ρ or μ² mean nothing at δ = 0: state a positive δ".into());
        }
        if *relation == Relation::Owner && caps != Caps::from(Price::Pure(caps.pure)) {
            return Err("messages of the local setting are paid for in pure ε: set no δ".into());
        }
        let before = self.lines.get(relation).map_or(0, |line| line.changed);
        let changed = before + u64::from(!self.spends.is_empty());
        let mut line = BudgetLine {
            caps,
            delta,
            spent: Caps::ZERO,
            uncovered: 0,
            changed,
            assuming: BTreeSet::new(),
            sharing: BTreeSet::new(),
        };
        for spent in &self.spends {
            line.charge(spent, relation)
                .ok_or("more than that has been spent already; nothing lowers what has been spent")?;
        }
        self.lines.insert(relation.clone(), line);
        Ok(())
    }
}

impl BudgetLine {
    fn charge(&mut self, spent: &Spent, covers: &Relation) -> Option<()> {
        match spent.under(covers) {
            Some(price) => {
                self.spent = self.spent.charge(&self.caps, price?)?;
                self.assuming.extend(spent.assuming.iter().cloned());
                self.sharing.extend(spent.sharing);
            }
            None => self.uncovered += 1,
        }
        Some(())
    }
}
