//! One party's classifier of a round: a stump, or a shallow tree.

use super::weak::sign;
use crate::data::Feature;
use crate::learner::tree::{Child, Node, Rule, Side as Branch, Tree};
use crate::learner::{Call, Learner, Shape, StumpRule};

/// One party's classifier of a round.
#[derive(Debug, Clone, PartialEq)]
pub enum Voter {
    /// One question.
    Stump(Call),
    /// Several questions.
    Tree(VotingTree),
}

/// A tree that calls a class in each leaf. Nodes and leaves are laid out as those of a [`Tree`].
#[derive(Debug, Clone, PartialEq)]
pub struct VotingTree {
    /// The inner nodes.
    pub nodes: Vec<VotingNode>,
    /// The class of each leaf.
    pub leaves: Vec<u16>,
}

/// A question of a tree.
#[derive(Debug, Clone, PartialEq)]
pub struct VotingNode {
    /// The number of the feature.
    pub feature: usize,
    /// Which slots are on the left.
    pub rule: StumpRule,
    /// The left child.
    pub left: Child,
    /// The right child.
    pub right: Child,
}

impl VotingTree {
    /// Of a grown tree, by the signs of its leaves. Cuts are moved by `cut`, which gives the same rows.
    pub(super) fn of(tree: &Tree, shapes: &[Shape], cut: impl Fn(usize, u16) -> u16) -> Self {
        let node = |node: &Node| {
            let feature = node.feature as usize;
            let shape = &shapes[feature];
            let rule = match &node.rule {
                Rule::UpTo { slot, others } => StumpRule::AtMost {
                    slot: cut(feature, *slot),
                    besides: match others {
                        Branch::Left => (shape.ordered as u16..shape.slots as u16).collect(),
                        Branch::Right => Vec::new(),
                    },
                },
                Rule::OneOf { set } => {
                    let is_left = |slot: &u16| set[usize::from(slot / 64)] >> (slot % 64) & 1 == 1;
                    StumpRule::OneOf((0..shape.slots as u16).filter(is_left).collect())
                }
            };
            VotingNode {
                feature,
                rule,
                left: node.left,
                right: node.right,
            }
        };
        Self {
            nodes: tree.nodes.iter().map(node).collect(),
            leaves: tree.leaves.iter().map(|leaf| (*leaf > 0.0).into()).collect(),
        }
    }

    /// As a model has it.
    pub(super) fn tree(&self, shapes: &[Shape]) -> Tree {
        let node = |node: &VotingNode| {
            let slots = shapes.get(node.feature).map_or(0, |shape| shape.slots);
            let rule = match &node.rule {
                StumpRule::AtMost { slot, besides } if besides.is_empty() => Rule::UpTo {
                    slot: *slot,
                    others: Branch::Right,
                },
                rule => Rule::one_of(slots, (0..slots).filter(|slot| rule.is_left(*slot as u16))),
            };
            Node {
                feature: node.feature as u32,
                rule,
                left: node.left,
                right: node.right,
            }
        };
        let leaves = self.leaves.iter().map(|class| f32::from(sign(*class)));
        Tree::new(self.nodes.iter().map(node).collect(), leaves.collect())
    }

    /// The class that is called for a row.
    fn class(&self, features: &[Feature], row: usize) -> u16 {
        let mut at = match self.nodes.is_empty() {
            true => Child::Leaf(0),
            false => Child::Node(0),
        };
        loop {
            match at {
                Child::Leaf(leaf) => return self.leaves[leaf as usize],
                Child::Node(place) => {
                    let node = &self.nodes[place as usize];
                    at = match node.rule.takes(features, node.feature, row) {
                        true => node.left,
                        false => node.right,
                    };
                }
            }
        }
    }
}

impl From<Call> for Voter {
    fn from(call: Call) -> Self {
        Self::Stump(call)
    }
}

impl From<VotingTree> for Voter {
    fn from(tree: VotingTree) -> Self {
        Self::Tree(tree)
    }
}

impl Voter {
    /// The stump, if it is one.
    pub fn stump(&self) -> Option<&Call> {
        match self {
            Self::Stump(call) => Some(call),
            Self::Tree(_) => None,
        }
    }

    /// The features that it asks about.
    pub(super) fn features(&self) -> Vec<usize> {
        match self {
            Self::Stump(call) => vec![call.feature],
            Self::Tree(tree) => tree.nodes.iter().map(|node| node.feature).collect(),
        }
    }

    /// The class that is called for a row.
    #[inline]
    pub fn class(&self, features: &[Feature], row: usize) -> u16 {
        match self {
            Self::Stump(call) => call.class(features, row),
            Self::Tree(tree) => tree.class(features, row),
        }
    }

    /// Whether it asks the same and always calls the other class.
    pub(super) fn is_reverse_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Stump(own), Self::Stump(other)) => own.is_reverse_of(other),
            (Self::Tree(own), Self::Tree(other)) => {
                let differs = |(own, other): (&u16, &u16)| own != other;
                own.nodes == other.nodes && own.leaves.iter().zip(&other.leaves).all(differs)
            }
            _ => false,
        }
    }

    /// As a model has it.
    pub(super) fn learner(&self, shapes: &[Shape]) -> Learner {
        match self {
            Self::Stump(call) => {
                let stump = call.stump(sign(call.left).into(), sign(call.right).into());
                Learner::Stump(stump)
            }
            Self::Tree(tree) => Learner::Tree(tree.tree(shapes)),
        }
    }
}
