//! Questions chosen for their gain, noisily: the exponential mechanism over all candidates of the schema, node by node.
//!
//! A level's nodes share no row, so a level is one parallel composition. The score is the variance gain of clipped
//! gradients, whose range over candidates one row can widen by 4R² at most (`docs/proofs/trees.md#gain`); a Newton gain has no such
//! bound.

use std::sync::Arc;

use super::PaidTrees;
use super::coding::ONE;
use super::cut::{Cut, Features};
use crate::Error;
use crate::learner::tree::{Rule, Side};
use crate::privacy::account::{MuSquared, Price};
use crate::privacy::mechanism::Exponential;
use crate::privacy::{
    AddRemove, Anchor, Epsilon, Ledger, Neighbours, Norm, PartQuery, Partition, PerRow, Private, Ratio,
    Reservation, Sensitivity,
};

/// A gain of R², as an integer.
const UNIT: i128 = 64;
/// How far one row can widen the range of all candidates' gains: 4R².
const WIDTH: u64 = 4 * UNIT as u64;

/// One row: its slots, and the size and direction of its gradient.
#[derive(Clone)]
pub(super) struct GradientRow {
    pub(super) slots: Arc<[u16]>,
    pub(super) gradient: i64,
}

/// The candidates of every node.
pub(super) struct Candidates {
    all: Vec<(usize, Rule)>,
    /// No gradient is larger.
    bound: i64,
}

impl Candidates {
    /// Every place where an ordered column can be cut, and every declared value against the rest. What is missing or undeclared
    /// goes right.
    pub(super) fn of(features: &Features, asked: &[usize], bound: i64) -> Result<Self, Error> {
        let mut all = Vec::new();
        for &feature in asked {
            let column = &features.columns[feature];
            if column.ordered {
                let rule = |slot| Rule::UpTo {
                    slot,
                    others: Side::Right,
                };
                all.extend((0..column.ordinary.saturating_sub(1) as u16).map(|slot| (feature, rule(slot))));
            } else {
                let rule = |slot| Rule::one_of(column.slots, [slot]);
                all.extend((0..column.ordinary).map(|slot| (feature, rule(slot))));
            }
        }
        if all.is_empty() {
            return Err(Error::parameter(
                "splits",
                "splits = \"noisy-greedy\" finds nothing to ask: every column has a single bin",
            ));
        }
        Ok(Self {
            all,
            bound: bound.clamp(1, ONE),
        })
    }

    /// The gain of each candidate on these rows, in steps of R²/64, rounded down.
    pub(super) fn gains(&self, features: &Features, rows: &[GradientRow]) -> Vec<i64> {
        let mut offsets = vec![0];
        for column in &features.columns {
            offsets.push(offsets[offsets.len() - 1] + column.slots);
        }
        let mut sums = vec![(0i64, 0i64); offsets[features.columns.len()]];
        let mut total = (0, 0);
        for row in rows {
            let gradient = row.gradient.clamp(-self.bound, self.bound);
            total = (total.0 + gradient, total.1 + 1);
            for (&slot, &offset) in row.slots.iter().zip(&offsets) {
                let cell = &mut sums[offset + usize::from(slot)];
                *cell = (cell.0 + gradient, cell.1 + 1);
            }
        }
        let mut before = (usize::MAX, (0, 0));
        let gain = |(feature, rule): &(usize, Rule)| {
            let own = &sums[offsets[*feature]..offsets[feature + 1]];
            let left = match rule {
                // Cuts come in order: each adds one slot.
                Rule::UpTo { slot, .. } => {
                    let start = if before.0 == *feature && *slot > 0 {
                        before.1
                    } else {
                        (0, 0)
                    };
                    let cell = own[usize::from(*slot)];
                    before = (*feature, (start.0 + cell.0, start.1 + cell.1));
                    before.1
                }
                Rule::OneOf { set } => {
                    let place = set.iter().position(|&word| word != 0).unwrap_or(0);
                    own[64 * place + set[place].trailing_zeros() as usize]
                }
            };
            self.score(left, (total.0 - left.0, total.1 - left.1))
        };
        self.all.iter().map(gain).collect()
    }

    /// The sum of both sides' squared sums over their counts, in steps of R²/64.
    fn score(&self, left: (i64, i64), right: (i64, i64)) -> i64 {
        let square = |(sum, _): (i64, i64)| i128::from(sum) * i128::from(sum);
        let (a, b) = (i128::from(left.1.max(1)), i128::from(right.1.max(1)));
        let bound = i128::from(self.bound) * i128::from(self.bound);
        let gain = (square(left) * b + square(right) * a).saturating_mul(UNIT) / (a * b * bound);
        i64::try_from(gain).unwrap_or(i64::MAX)
    }
}

/// How the questions of trees are chosen.
pub(super) struct Choice {
    candidates: Candidates,
    /// What a node's choice costs.
    each: Price,
    mechanism: Exponential,
}

impl Choice {
    /// At `price` for each level of each tree.
    pub(super) fn new(candidates: Candidates, price: Price, steps: u64) -> Result<Self, Error> {
        let each = in_a_part(price, steps)?;
        Ok(Self {
            candidates,
            each,
            mechanism: mechanism(each)?,
        })
    }

    /// Chooses the questions of a tree, level after level: `level` has those of one level chosen.
    ///
    /// # Privacy
    /// The price of each level; `docs/proofs/trees.md#gain`.
    fn tree(
        features: &Features,
        rows: &Private<PerRow<GradientRow>>,
        levels: u32,
        mut choose: impl FnMut(u32, Partition<PerRow<GradientRow>>) -> Result<Vec<(usize, Rule)>, Error>,
    ) -> Result<Cut, Error> {
        let mut rules: Vec<(usize, Rule)> = Vec::new();
        for level in 0..levels {
            let nodes = 1usize << level;
            let so_far = (level > 0).then(|| Cut::complete(rules.clone()));
            let node = |row: &GradientRow| match &so_far {
                Some(cut) => cut.tree.leaf(&features.columns, |feature| row.slots[feature]),
                None => 0,
            };
            let parts = Partition::by(rows.map_rows(GradientRow::clone), nodes, node);
            rules.extend(choose(level, parts)?);
        }
        Ok(Cut::complete(rules))
    }

    /// By a reservation.
    pub(super) fn reserved(
        &self,
        features: &Features,
        rows: &Private<PerRow<GradientRow>>,
        levels: u32,
        paid: &mut Reservation<'_>,
    ) -> Result<Cut, Error> {
        Self::tree(features, rows, levels, |_, parts| {
            paid.parallel(self.each, 1, parts, |part| {
                let claim = claim(part.relation())?;
                let gains = |rows: &PerRow<GradientRow>| self.candidates.gains(features, rows.as_slice());
                let place = part.release(&self.mechanism, self.candidates.all.len(), claim, gains)?;
                Ok(self.candidates.all[place.into_inner()].clone())
            })
        })
    }

    /// By an allowance, which keeps the choices of a level together: `name` is the tree's.
    pub(super) fn allowed(
        &self,
        features: &Features,
        rows: &Private<PerRow<GradientRow>>,
        (levels, name): (u32, &str),
        (ledger, paid): (&mut Ledger, &PaidTrees<'_>),
    ) -> Result<Cut, Error> {
        let within = ledger.relation().within();
        let gains = |rows: &PerRow<GradientRow>| self.candidates.gains(features, rows.as_slice());
        Self::tree(features, rows, levels, |level, parts| {
            let asked = PartQuery {
                parts,
                dimension: self.candidates.all.len(),
                claim: claim(&within)?,
                answer: &gains,
            };
            let label = format!("{name}, level {level}");
            let chosen = paid.choices(ledger, &label, &self.mechanism, asked)?;
            let rule = |place: &usize| self.candidates.all.get(*place).cloned();
            let rules: Option<Vec<_>> = chosen.iter().map(rule).collect();
            rules.ok_or_else(|| Error::internal("a choice is one of the candidates"))
        })
    }
}

/// How far one row moves the gains of a node.
fn claim(within: &AddRemove) -> Result<Sensitivity<AddRemove>, Error> {
    Sensitivity::claim(within, Norm::Width(WIDTH), Anchor::new("trees#gain"))
}

/// What one part may cost so that a level costs no more than `price`.
fn in_a_part(price: Price, steps: u64) -> Result<Price, Error> {
    let parts = match price {
        Price::Pure(_) => steps,
        Price::Gaussian(_) | Price::Concentrated(_) => steps.saturating_mul(steps),
    };
    price.part(1, parts).ok_or_else(|| {
        Error::parameter(
            "trees",
            "trees are too many: no budget remains to choose questions with",
        )
    })
}

/// The most accurate choice for that price.
fn mechanism(price: Price) -> Result<Exponential, Error> {
    let rate = |billionths: u64| Ratio::new(billionths, 1_000_000_000 * WIDTH);
    match price {
        Price::Pure(epsilon) => Exponential::pure(rate(epsilon.billionths())?),
        Price::Gaussian(mu_squared) => {
            let fits = |billionths| {
                MuSquared::from_bounded_range(Epsilon::from_billionths(billionths)) <= mu_squared
            };
            let (mut low, mut high) = (0, 1_000_000_000_000);
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if fits(middle) { low = middle } else { high = middle }
            }
            Exponential::gaussian(rate(low.max(1))?)
        }
        Price::Concentrated(_) => Err(Error::internal("trees are paid for in ε or in μ²")),
    }
}
