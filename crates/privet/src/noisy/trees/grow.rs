//! Grows the trees one after another.

use super::cut::{Cut, Features};
use super::histograms::Histograms;
use super::laws::Laws;
use super::plan::{Plan, Splits};
use super::rows::{GrownTree, Pass, ScoredRows};
use crate::Error;
use crate::privacy::{Coins, Private, Reservation};

/// Grows the trees one after another.
pub(super) struct Grower<'p> {
    pub(super) plan: &'p Plan,
    pub(super) laws: Laws,
    pub(super) features: Features,
    /// The features that trees ask about.
    pub(super) asked: Vec<usize>,
    pub(super) rows: Private<ScoredRows>,
    /// Row counts per leaf, when they are not released with each tree.
    pub(super) histograms: Option<Histograms>,
    /// The features that no tree has asked about in this round yet.
    pub(super) order: Vec<usize>,
}

impl Grower<'_> {
    /// The next tree, after the last.
    pub(super) fn tree(
        &mut self,
        number: u32,
        last: Option<&GrownTree>,
        coins: &mut Coins,
        paid: &mut Reservation<'_>,
    ) -> Result<GrownTree, Error> {
        if self.laws.choice.is_some() {
            return self.choose(number, last, paid);
        }
        let cut = self.next(number, coins);
        self.grow(cut, last, paid)
    }

    /// The cut of tree `number`: the schema and coins decide.
    fn next(&mut self, number: u32, coins: &mut Coins) -> Cut {
        let plan = self.plan;
        match plan.splits {
            Splits::Random | Splits::NoisyGreedy => {
                Cut::random(&self.features, &self.asked, plan.depth, coins)
            }
            Splits::OneFeature | Splits::Mixed => {
                let feature = self.turn(coins);
                let late = 5 * number >= 2 * plan.trees;
                if plan.splits == Splits::Mixed && late && self.asked.len() > 1 && coins.below(2) == 1 {
                    let others: Vec<usize> = self
                        .asked
                        .iter()
                        .copied()
                        .filter(|&other| other != feature)
                        .collect();
                    let other = others[coins.below(others.len() as u64) as usize];
                    return Cut::two(&self.features, [feature, other], 4, coins);
                }
                Cut::one(&self.features, feature, plan.leaves, coins)
            }
        }
    }

    /// Every feature once, in a random order; then again.
    fn turn(&mut self, coins: &mut Coins) -> usize {
        if self.order.is_empty() {
            self.order = self.asked.clone();
            for i in (1..self.order.len()).rev() {
                self.order.swap(i, coins.below(i as u64 + 1) as usize);
            }
        }
        self.order.pop().unwrap_or(0)
    }

    /// A tree whose questions are chosen for their gain; of three classes or more, for one of them after another.
    fn choose(
        &mut self,
        number: u32,
        last: Option<&GrownTree>,
        paid: &mut Reservation<'_>,
    ) -> Result<GrownTree, Error> {
        let plan = self.plan;
        if let Some(last) = last {
            self.rows.update(Private::new(()), |rows, ()| rows.add(last));
        }
        let output = number as usize % plan.coding.outputs();
        let gradients = self.rows.row_by_row(ScoredRows::len, |rows, row| {
            rows.gradient_row(row, &plan.coding, output)
        });
        let Some(choice) = &self.laws.choice else {
            return Err(Error::internal(
                "a share of the budget is set aside to choose questions with",
            ));
        };
        let cut = choice.tree(&self.features, &gradients, plan.depth, paid)?;
        self.grow(cut, None, paid)
    }

    fn grow(
        &mut self,
        cut: Cut,
        last: Option<&GrownTree>,
        paid: &mut Reservation<'_>,
    ) -> Result<GrownTree, Error> {
        let outputs = self.plan.coding.outputs();
        let pass = Pass {
            coding: &self.plan.coding,
            done: last,
            next: &cut,
        };
        let rows = &mut self.rows;
        let sums = self.laws.sums.release(paid, 2 * outputs * cut.leaves(), || {
            rows.update(Private::new(()), |rows, ()| rows.run(&pass));
            rows.as_ref().map(|rows| rows.sums.clone())
        })?;
        let is_pair = self.plan.splits == Splits::Mixed && cut.by_slot().is_none();
        let leaves = self.plan.values(self.laws.sums.deviation(), is_pair);
        let known = self
            .histograms
            .as_ref()
            .and_then(|histograms| histograms.leaves(&cut));
        let (values, noise) = leaves.values(&sums, outputs, known.as_deref());
        Ok(GrownTree { cut, values, noise })
    }
}
