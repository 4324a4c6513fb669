//! What is decided from rows.
//!
//! The engine hands out a level as one set of nodes that share no row, with their histograms; a policy answers with one
//! choice for each. Greedy search is one policy; noisy or random choices are others, and then a level is one parallel
//! composition.

use super::lane::Grid;
use super::matrix::{Column, Matrix};
use super::shape::Rule;

/// A node that waits for a decision.
#[derive(Debug, Clone, Copy)]
pub struct LevelNode<'a> {
    /// Its sums of gradients and hessians, in units of the grid.
    pub sums: [f64; 2],
    /// Between which values its leaves must lie, for monotone features' sake.
    pub bounds: [f64; 2],
    /// How far it is from the root.
    pub depth: usize,
    pub(super) histogram: &'a [[f64; 2]],
}

/// Nodes that share no row, with what is summed about them.
#[derive(Debug)]
pub struct Level<'a> {
    pub(super) matrix: &'a Matrix<'a>,
    pub(super) used: &'a [bool],
    /// How large one unit of the sums is.
    pub grid: Grid,
    /// The nodes.
    pub nodes: Vec<LevelNode<'a>>,
}

impl Level<'_> {
    /// What is known about each feature.
    pub fn columns(&self) -> &[Column] {
        self.matrix.columns()
    }

    /// The features that may be asked about.
    pub fn features(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.used.len()).filter(|&feature| self.used[feature])
    }

    /// The sums of a node by the slots of a feature, in units of the grid; in integer mode whole numbers.
    #[inline]
    pub fn histogram(&self, node: usize, feature: usize) -> &[[f64; 2]] {
        let begin = self.matrix.offsets[feature];
        &self.nodes[node].histogram[begin..begin + self.columns()[feature].slots]
    }
}

/// A question for a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// About which feature.
    pub feature: usize,
    /// Which slots go left.
    pub rule: Rule,
    /// What it is worth: the best leaf is split first.
    pub gain: f64,
}

/// Decides what a tree looks like.
pub trait Policy: Sync {
    /// A question for each node of the level, or none where it ends.
    fn choose(&self, level: &Level<'_>) -> Vec<Option<Split>>;

    /// The value of a leaf with these sums, in real units, between these bounds.
    fn leaf(&self, sums: [f64; 2], bounds: [f64; 2]) -> f64;

    /// Whether values must rise (1), fall (-1) or may do as they like (0) with a feature.
    fn direction(&self, feature: usize) -> i8 {
        let _ = feature;
        0
    }
}
