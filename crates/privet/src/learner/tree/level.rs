//! Nodes that may still be split, with their sums.

use super::lane::Grid;
use super::matrix::{Column, Matrix};
use super::shape::Rule;

/// A node that may still be split.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelNode<'a> {
    /// Its sums of gradients and hessians, in units of the grid.
    pub(super) sums: [f64; 2],
    /// Between which values its leaves must lie, for monotone features' sake.
    pub(super) bounds: [f64; 2],
    pub(super) histogram: &'a [[f64; 2]],
}

/// Nodes that share no row, with their sums.
#[derive(Debug)]
pub(super) struct Level<'a> {
    pub(super) matrix: &'a Matrix<'a>,
    pub(super) used: &'a [bool],
    /// How large one unit of the sums is.
    pub(super) grid: Grid,
    /// The nodes.
    pub(super) nodes: Vec<LevelNode<'a>>,
}

impl Level<'_> {
    /// What is known about each feature.
    pub(super) fn columns(&self) -> &[Column] {
        self.matrix.columns()
    }

    /// The features that may be asked about.
    pub(super) fn features(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.used.len()).filter(|&feature| self.used[feature])
    }

    /// The sums of a node by the slots of a feature, in units of the grid; in integer mode whole numbers.
    #[inline]
    pub(super) fn histogram(&self, node: usize, feature: usize) -> &[[f64; 2]] {
        let begin = self.matrix.offsets[feature];
        &self.nodes[node].histogram[begin..begin + self.columns()[feature].slots]
    }
}

/// A split of a node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Split {
    /// The feature.
    pub(super) feature: usize,
    /// Which slots go left.
    pub(super) rule: Rule,
    /// Its gain: the best leaf is split first.
    pub(super) gain: f64,
}
