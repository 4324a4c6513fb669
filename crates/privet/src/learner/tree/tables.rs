//! Trees about one feature or two as tables of their slots.
//!
//! However many questions such a tree asks, a row costs one look-up for each feature and one for the leaf. Leaves are those of the walk, so sums
//! have the same bits.

use std::collections::BTreeMap;

use super::matrix::Column;
use super::shape::{Node, Tree};

/// Groups of the two features together, at most: a table stays in the cache.
const MOST: usize = 1 << 12;

/// A tree about one feature or two.
#[derive(Debug)]
pub(super) struct TreeTable {
    first: Slots,
    second: Option<Slots>,
    /// By the sum of what stands at the row's slots.
    values: Vec<f32>,
}

/// What the slots of a feature add to the place of the value.
#[derive(Debug)]
struct Slots {
    feature: usize,
    adds: Vec<u16>,
}

impl TreeTable {
    /// The tree as a table, unless it is about more features or has too many groups of slots.
    pub(super) fn new(tree: &Tree, columns: &[Column]) -> Option<Self> {
        let mut features: Vec<usize> = tree.nodes.iter().map(|node| node.feature as usize).collect();
        features.sort_unstable();
        features.dedup();
        let &[first, ref rest @ ..] = features.as_slice() else {
            return None;
        };
        let second = match rest {
            [] => None,
            &[second] => Some(second),
            _ => return None,
        };
        let (adds, first_groups) = groups(tree, first, &columns[first]);
        let mut first = Slots { feature: first, adds };
        let (second, second_groups) = match second {
            None => (None, vec![0]),
            Some(feature) => {
                let (adds, groups) = groups(tree, feature, &columns[feature]);
                (Some(Slots { feature, adds }), groups)
            }
        };
        let stride = second_groups.len();
        if first_groups.len() * stride > MOST {
            return None;
        }
        first.adds.iter_mut().for_each(|add| *add *= stride as u16);
        let mut values = Vec::with_capacity(first_groups.len() * stride);
        for one in &first_groups {
            for other in &second_groups {
                let slot = |feature: usize| if feature == first.feature { *one } else { *other };
                values.push(tree.leaves[tree.leaf(columns, slot)]);
            }
        }
        Some(Self {
            first,
            second,
            values,
        })
    }

    /// The features that the tree is about.
    pub(super) fn features(&self) -> impl Iterator<Item = usize> {
        let second = self.second.as_ref().map(|slots| slots.feature);
        [Some(self.first.feature), second].into_iter().flatten()
    }

    /// Adds the leaf of each row, whose slots are given by feature.
    pub(super) fn add(&self, slots: &[Vec<u16>], sums: &mut [f32]) {
        let first = &slots[self.first.feature];
        match &self.second {
            None => {
                for (sum, &slot) in sums.iter_mut().zip(first) {
                    *sum += self.values[self.first.at(slot)];
                }
            }
            Some(second) => {
                let rows = first.iter().zip(&slots[second.feature]);
                for (sum, (&one, &other)) in sums.iter_mut().zip(rows) {
                    *sum += self.values[self.first.at(one) + second.at(other)];
                }
            }
        }
    }
}

impl Slots {
    /// Cells of another schema may have slots beyond: they go with the first.
    #[inline]
    fn at(&self, slot: u16) -> usize {
        self.adds.get(usize::from(slot)).copied().unwrap_or(0).into()
    }
}

/// Slots of a feature that all questions answer alike have one group. Gives each slot's group, and a slot of each group.
fn groups(tree: &Tree, feature: usize, column: &Column) -> (Vec<u16>, Vec<u16>) {
    let own: Vec<&Node> = tree
        .nodes
        .iter()
        .filter(|node| node.feature as usize == feature)
        .collect();
    let mut known: BTreeMap<Vec<bool>, u16> = BTreeMap::new();
    let (mut some, mut answers, mut before) = (Vec::new(), Vec::new(), Vec::new());
    let mut of_slot: Vec<u16> = Vec::with_capacity(column.slots);
    for slot in 0..column.slots as u32 {
        let slot = slot as u16;
        answers.clear();
        answers.extend(own.iter().map(|node| node.rule.goes_left(slot, column)));
        let group = match of_slot.last() {
            // Neighbours mostly go the same way.
            Some(&group) if answers == before => group,
            _ => *known.entry(answers.clone()).or_insert_with(|| {
                some.push(slot);
                (some.len() - 1) as u16
            }),
        };
        of_slot.push(group);
        std::mem::swap(&mut answers, &mut before);
    }
    (of_slot, some)
}
