//! The best split by looking at every row for every rule, and nothing clever.

use privet::data::Cells;
use privet::learner::tree::{Categories, Column, Greedy, Missing, Order, Rule, Side};

pub(crate) type Pair = [f64; 2];

fn add(a: Pair, b: Pair) -> Pair {
    [a[0] + b[0], a[1] + b[1]]
}

pub(crate) fn sum(pairs: &[Pair], rows: &[usize]) -> Pair {
    rows.iter().fold([0.0; 2], |sum, &row| add(sum, pairs[row]))
}

pub(crate) struct Brute<'a> {
    pub(crate) cells: &'a Cells,
    pub(crate) columns: &'a [Column],
    pub(crate) pairs: &'a [Pair],
    pub(crate) policy: &'a Greedy,
}

impl Brute<'_> {
    pub(crate) fn slot(&self, feature: usize, row: usize) -> u16 {
        self.cells.features()[feature].bins.get(row)
    }

    /// Every rule that the policy may choose for a feature, given the rows of the node.
    fn rules(&self, feature: usize, rows: &[usize]) -> Vec<Rule> {
        let column = &self.columns[feature];
        if column.ordered {
            let sides: &[Side] = match self.policy.missing {
                Missing::Learned => &[Side::Right, Side::Left],
                Missing::To(Side::Left) => &[Side::Left],
                Missing::To(Side::Right) => &[Side::Right],
            };
            let rule = |slot: usize, others: Side| Rule::UpTo {
                slot: slot as u16,
                others,
            };
            return sides
                .iter()
                .flat_map(|&side| (0..column.ordinary).map(move |slot| rule(slot, side)))
                .collect();
        }
        if self.policy.categories == Categories::OneVsRest {
            return (0..column.slots)
                .map(|slot| Rule::one_of(column.slots, [slot]))
                .collect();
        }
        // Without regularisation the best of all subsets is known to be one of the sorted ones.
        if self.policy.lambda == 0.0 && column.slots <= 10 {
            return (0..1usize << column.slots)
                .map(|set| {
                    Rule::one_of(
                        column.slots,
                        (0..column.slots).filter(|slot| set >> slot & 1 == 1),
                    )
                })
                .collect();
        }
        let lambda = if self.policy.order == Order::Second {
            self.policy.lambda
        } else {
            0.0
        };
        let mut values: Vec<(f64, usize)> = (0..column.slots)
            .filter_map(|slot| {
                let inside = |&&row: &&usize| usize::from(self.slot(feature, row)) == slot;
                let rows: Vec<usize> = rows.iter().filter(inside).copied().collect();
                let [g, h] = sum(self.pairs, &rows);
                (!rows.is_empty()).then(|| (g / (h + lambda), slot))
            })
            .collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        (1..=values.len())
            .map(|count| Rule::one_of(column.slots, values[..count].iter().map(|value| value.1)))
            .collect()
    }

    pub(crate) fn part(&self, feature: usize, rule: &Rule, rows: &[usize]) -> [Vec<usize>; 2] {
        let column = &self.columns[feature];
        let (left, right) = rows
            .iter()
            .partition(|&&row| rule.goes_left(self.slot(feature, row), column));
        [left, right]
    }

    /// What a rule is worth.
    pub(crate) fn gain(&self, feature: usize, rule: &Rule, rows: &[usize]) -> f64 {
        let [left, right] = self.part(feature, rule, rows).map(|rows| sum(self.pairs, &rows));
        let lambda = if self.policy.order == Order::Second {
            self.policy.lambda
        } else {
            0.0
        };
        let least = self.policy.min_child_weight;
        if left[1] < least || right[1] < least || left[1] + lambda <= 0.0 || right[1] + lambda <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let value = |[g, h]: Pair| -g / (h + lambda);
        let direction = self.policy.monotone.get(feature).copied().unwrap_or(0);
        if f64::from(direction) * (value(right) - value(left)) < 0.0 {
            return f64::NEG_INFINITY;
        }
        let worth = |[g, h]: Pair| g * g / (h + lambda);
        0.5 * (worth(left) + worth(right) - worth(add(left, right))) - self.policy.gamma
    }

    /// The most that any rule is worth.
    pub(crate) fn best(&self, rows: &[usize]) -> f64 {
        let mut best = f64::NEG_INFINITY;
        for feature in 0..self.columns.len() {
            for rule in self.rules(feature, rows) {
                best = best.max(self.gain(feature, &rule, rows));
            }
        }
        best
    }
}
