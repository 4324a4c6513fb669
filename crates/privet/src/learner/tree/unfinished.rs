//! A tree that is being grown: open nodes, and finished leaves.

use std::ops::Range;

use super::greedy::Greedy;
use super::grow::Plan;
use super::histogram::SlotSums;
use super::rows::Sieve;
use super::shape::{Child, Tree};

/// A node that may still be split.
pub(super) struct Open {
    pub(super) range: Range<usize>,
    pub(super) sums: [f64; 2],
    pub(super) bounds: [f64; 2],
    pub(super) depth: usize,
    pub(super) histogram: SlotSums,
    /// The parent, and whether this is its left child.
    pub(super) parent: Option<(usize, bool)>,
}

/// How the rows of a part of the list find their leaves.
pub(super) enum Ends<'a> {
    Leaf(u16),
    Split(Box<Sieve<'a>>, u16, u16),
}

/// A tree that is being grown.
pub(super) struct Growing<'a, 'p, L> {
    pub(super) plan: &'p Plan<'p, L>,
    pub(super) greedy: &'p Greedy,
    pub(super) tree: Tree,
    pub(super) ends: Vec<(Range<usize>, Ends<'a>)>,
}

impl<L> Growing<'_, '_, L> {
    pub(super) fn attach(&mut self, parent: Option<(usize, bool)>, child: Child) {
        if let Some((parent, is_left)) = parent {
            let node = &mut self.tree.nodes[parent];
            *(if is_left { &mut node.left } else { &mut node.right }) = child;
        }
    }

    pub(super) fn value(&self, sums: [f64; 2], bounds: [f64; 2]) -> f64 {
        self.greedy.leaf(self.plan.grid.real(sums), bounds)
    }

    pub(super) fn leaf(&mut self, parent: Option<(usize, bool)>, value: f64) -> u16 {
        let leaf = self.tree.leaves.len();
        self.tree.leaves.push((value * self.plan.rate) as f32);
        self.attach(parent, Child::Leaf(leaf as u32));
        leaf as u16
    }

    pub(super) fn close(&mut self, open: Open) -> SlotSums {
        let value = self.value(open.sums, open.bounds);
        let leaf = self.leaf(open.parent, value);
        self.ends.push((open.range, Ends::Leaf(leaf)));
        open.histogram
    }

    /// The bounds of two children that go different ways from the middle, if the feature has a direction.
    pub(super) fn bounds(&self, feature: usize, bounds: [f64; 2], sums: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
        let [low, high] = bounds;
        let middle = || (self.value(sums[0], bounds) + self.value(sums[1], bounds)) / 2.0;
        match self.greedy.direction(feature) {
            0 => [bounds; 2],
            1.. => {
                let middle = middle();
                [[low, middle], [middle, high]]
            }
            _ => {
                let middle = middle();
                [[middle, high], [low, middle]]
            }
        }
    }
}
