//! A finished tree: rules and leaf values.
//!
//! No counts, gains or hessians are kept: they would be computed from rows without noise.

use serde::{Deserialize, Serialize};

use super::matrix::Column;
use crate::Error;

/// A side of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Side {
    /// The left child.
    Left,
    /// The right child.
    Right,
}

/// The rule that sends a row to the left or right child.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Rule {
    /// To the left if its slot is ordinary and at most this one. Undeclared and missing cells go to a side of their own.
    UpTo {
        /// The last slot that goes left.
        slot: u16,
        /// Where undeclared and missing cells go.
        others: Side,
    },
    /// To the left if its slot is in this set, a bit for each slot.
    OneOf {
        /// The bits, the lowest slot first.
        set: Vec<u64>,
    },
}

impl Rule {
    /// The rule by which exactly these slots go left.
    pub fn one_of(slots: usize, left: impl IntoIterator<Item = usize>) -> Self {
        let mut set = vec![0; slots.div_ceil(64)];
        for slot in left {
            if let Some(word) = set.get_mut(slot / 64) {
                *word |= 1u64 << (slot % 64);
            }
        }
        Self::OneOf { set }
    }

    /// Whether a slot of this column goes left.
    #[inline]
    pub fn goes_left(&self, slot: u16, column: &Column) -> bool {
        match self {
            Self::UpTo { slot: last, .. } if usize::from(slot) < column.ordinary => slot <= *last,
            Self::UpTo { others, .. } => *others == Side::Left,
            Self::OneOf { set } => set
                .get(usize::from(slot / 64))
                .is_some_and(|word| word >> (slot % 64) & 1 == 1),
        }
    }

    fn fits(&self, column: &Column) -> bool {
        match self {
            Self::UpTo { slot, .. } => column.ordered && usize::from(*slot) < column.ordinary,
            Self::OneOf { set } => {
                let beyond = set.last().map_or(0, |word| match column.slots % 64 {
                    0 => 0,
                    used => word >> used,
                });
                set.len() == column.slots.div_ceil(64) && beyond == 0
            }
        }
    }
}

/// A child of a node: another node or a leaf, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Child {
    /// A node.
    Node(u32),
    /// A leaf.
    Leaf(u32),
}

/// An inner node: a rule on one feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// The feature's place among the schema's.
    pub feature: u32,
    /// Which slots go left.
    pub rule: Rule,
    /// The left child.
    pub left: Child,
    /// The right child.
    pub right: Child,
}

/// A binary tree. Parents come before their children; the first node is the root; a tree without nodes is one leaf.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// The inner nodes.
    pub nodes: Vec<Node>,
    /// The values of the leaves.
    pub leaves: Vec<f32>,
    /// The standard deviation of the noise in each value, from public numbers: one for each leaf, one if it is the same in all,
    /// none if the noise is unknown. It is 0 where shrinkage set the value to 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise: Vec<f32>,
}

impl Tree {
    /// How many leaves a tree can have.
    pub const LEAVES: usize = 1 << 16;

    /// A tree whose noise is unknown.
    pub fn new(nodes: Vec<Node>, leaves: Vec<f32>) -> Self {
        Self {
            nodes,
            leaves,
            noise: Vec::new(),
        }
    }

    /// A tree with the same value for all rows.
    pub fn constant(value: f32) -> Self {
        Self::new(Vec::new(), vec![value])
    }

    /// The standard deviation of the noise in a leaf's value, if it is known.
    pub fn deviation(&self, leaf: usize) -> Option<f32> {
        match self.noise.as_slice() {
            [same] => Some(*same),
            each => each.get(leaf).copied(),
        }
    }

    /// Checks that every path ends in a leaf, and that every rule fits its column.
    ///
    /// # Errors
    /// [`Error::Data`] otherwise.
    pub fn check(&self, columns: &[Column]) -> Result<(), Error> {
        let bad = |why: &str| Err(Error::data(format!("the tree is invalid: {why}")));
        if self.leaves.len() > Self::LEAVES || self.leaves.len() != self.nodes.len() + 1 {
            return bad("it must have one leaf more than nodes, and at most 65536");
        }
        if !self.leaves.iter().all(|value| value.is_finite()) {
            return bad("a leaf is not a finite number");
        }
        if self.noise.len() > 1 && self.noise.len() != self.leaves.len() {
            return bad("it has the noise of some leaves, but not of all");
        }
        if !self.noise.iter().all(|noise| noise.is_finite() && *noise >= 0.0) {
            return bad("a leaf's noise is not a finite number of at least zero");
        }
        let mut nodes = vec![false; self.nodes.len()];
        let mut leaves = vec![false; self.leaves.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            let Some(column) = columns.get(node.feature as usize) else {
                return bad("it asks about a feature that does not exist");
            };
            if !node.rule.fits(column) {
                return bad("it asks about slots that its feature does not have");
            }
            for child in [node.left, node.right] {
                let seen = match child {
                    Child::Node(next) if next as usize <= place => None,
                    Child::Node(next) => nodes.get_mut(next as usize),
                    Child::Leaf(leaf) => leaves.get_mut(leaf as usize),
                };
                // With one more leaf than nodes, nothing twice means everything once.
                match seen {
                    Some(seen) if !*seen => *seen = true,
                    _ => return bad("a child comes before its parent, twice, or not at all"),
                }
            }
        }
        Ok(())
    }

    /// The root.
    pub(super) fn root(&self) -> Child {
        match self.nodes.is_empty() {
            true => Child::Leaf(0),
            false => Child::Node(0),
        }
    }

    /// The leaf of a row whose slots are given by feature.
    #[inline]
    pub fn leaf(&self, columns: &[Column], slot: impl Fn(usize) -> u16) -> usize {
        let mut at = self.root();
        loop {
            match at {
                Child::Leaf(leaf) => return leaf as usize,
                Child::Node(node) => {
                    let node = &self.nodes[node as usize];
                    let feature = node.feature as usize;
                    at = match node.rule.goes_left(slot(feature), &columns[feature]) {
                        true => node.left,
                        false => node.right,
                    };
                }
            }
        }
    }

    /// The longest way from the root to a leaf.
    pub fn depth(&self) -> usize {
        let mut depths = vec![0; self.nodes.len()];
        let mut deepest = 0;
        for (place, node) in self.nodes.iter().enumerate() {
            let depth = depths[place] + 1;
            deepest = deepest.max(depth);
            for child in [node.left, node.right] {
                if let Child::Node(next) = child {
                    depths[next as usize] = depth;
                }
            }
        }
        deepest
    }
}
