//! Scores of many rows by many trees.
//!
//! Trees are laid out as full binary trees of bytes: a step is two loads, a comparison and an addition, and eight rows go
//! down side by side, so that none waits for another's loads. Undeclared and missing cells need no step of their own: a
//! feature has a second column in which they come first, for the rules that send them left. Trees that ask about sets
//! look up a bit instead. Deep trees, and those that ask about wide features, are walked node by node.

use std::borrow::Cow;

use rayon::prelude::*;

use super::full::{DEEPEST, Full, LANES};
use super::matrix::Column;
use super::shape::{Child, Rule, Side, Tree};
use super::source::Source;
use crate::Error;

/// Rows that are looked at together.
const BLOCK: usize = 64;

/// A node of any other tree: it goes right where the bit of its slot is set.
#[derive(Debug)]
struct Step {
    feature: usize,
    bits: usize,
    next: [Child; 2],
}

#[derive(Debug)]
enum Shape {
    Full(Box<Full>),
    Steps {
        steps: Vec<Step>,
        bits: Vec<u64>,
        leaves: Vec<f32>,
    },
}

/// Trees, made ready to score many rows.
#[derive(Debug)]
pub struct Walker {
    base: Vec<f32>,
    /// The trees, each with the output that it adds to.
    trees: Vec<(usize, Shape)>,
    /// What the columns of full trees hold: a feature's slots, with the others at the end or at the beginning.
    views: Vec<(usize, Side)>,
    columns: Vec<Column>,
    /// The features that other trees ask about.
    asked: Vec<usize>,
}

impl Walker {
    /// Trees for a table with these columns; tree i adds to output i modulo the number of outputs.
    ///
    /// # Errors
    /// [`Error::Data`] for a tree that makes no sense for these columns, or for no output.
    pub fn new(columns: Vec<Column>, base: &[f32], trees: &[Tree]) -> Result<Self, Error> {
        let each = |(place, tree)| (place % base.len().max(1), Cow::Borrowed(tree));
        let trees: Vec<(usize, Cow<'_, Tree>)> = trees.iter().enumerate().map(each).collect();
        Self::with_outputs(columns, base, &trees)
    }

    /// Trees for a table with these columns, each with the output that it adds to.
    ///
    /// # Errors
    /// [`Error::Data`] for a tree or an output that makes no sense.
    pub fn with_outputs(
        columns: Vec<Column>,
        base: &[f32],
        trees: &[(usize, Cow<'_, Tree>)],
    ) -> Result<Self, Error> {
        if base.is_empty() || trees.iter().any(|(output, _)| *output >= base.len()) {
            return Err(Error::Data(
                "a model has at least one output, and trees add to those it has".into(),
            ));
        }
        for (_, tree) in trees {
            tree.check(&columns)?;
        }
        let views = views(&columns, trees);
        let mut walker = Self {
            base: base.to_vec(),
            trees: Vec::new(),
            views,
            columns,
            asked: Vec::new(),
        };
        for (output, tree) in trees {
            let shape = match walker.full(tree) {
                Some(full) => Shape::Full(Box::new(full)),
                None => walker.steps(tree),
            };
            walker.trees.push((*output, shape));
        }
        walker.asked.sort_unstable();
        walker.asked.dedup();
        Ok(walker)
    }

    /// How many outputs there are.
    pub fn outputs(&self) -> usize {
        self.base.len()
    }

    fn view(&self, feature: usize, others: Side) -> Option<u8> {
        let place = self.views.iter().position(|&view| view == (feature, others))?;
        u8::try_from(place).ok()
    }

    /// The tree as a full one, unless it is too deep, or asks about sets or wide features.
    fn full(&self, tree: &Tree) -> Option<Full> {
        let depth = tree.depth();
        if depth > DEEPEST {
            return None;
        }
        let size = 1 << depth;
        // What is never asked sends everybody left.
        let mut nodes = [[0, u8::MAX]; 1 << DEEPEST];
        let mut leaves = [0.0; 2 << DEEPEST];
        let mut sets = asks_about_sets(tree).then(|| Box::new([[0u64; 4]; 1 << DEEPEST]));
        let root = if tree.nodes.is_empty() {
            Child::Leaf(0)
        } else {
            Child::Node(0)
        };
        let mut todo = vec![(root, 1usize)];
        while let Some((child, place)) = todo.pop() {
            match child {
                Child::Leaf(leaf) => {
                    let mut place = place;
                    while place < size {
                        place *= 2;
                    }
                    leaves[place] = tree.leaves[leaf as usize];
                }
                Child::Node(node) => {
                    let node = &tree.nodes[node as usize];
                    let feature = node.feature as usize;
                    let column = &self.columns[feature];
                    if column.slots > 256 {
                        return None;
                    }
                    nodes[place] = match (&mut sets, &node.rule) {
                        (None, Rule::UpTo { slot, others }) => {
                            let shift = u16::from(*others == Side::Left);
                            [self.view(feature, *others)?, u8::try_from(slot + shift).ok()?]
                        }
                        (Some(sets), rule) => {
                            for slot in (0..column.slots).filter(|&slot| !rule.goes_left(slot as u16, column))
                            {
                                sets[place][slot / 64] |= 1 << (slot % 64);
                            }
                            [self.view(feature, Side::Right)?, 0]
                        }
                        (None, Rule::OneOf { .. }) => return None,
                    };
                    todo.push((node.left, 2 * place));
                    todo.push((node.right, 2 * place + 1));
                }
            }
        }
        Some(Full {
            depth,
            nodes,
            sets,
            leaves,
        })
    }

    fn steps(&mut self, tree: &Tree) -> Shape {
        let mut bits = Vec::new();
        let mut steps = Vec::with_capacity(tree.nodes.len());
        for node in &tree.nodes {
            let feature = node.feature as usize;
            self.asked.push(feature);
            let column = &self.columns[feature];
            let begin = bits.len();
            bits.resize(begin + column.slots.div_ceil(64), 0u64);
            for slot in 0..column.slots {
                if !node.rule.goes_left(slot as u16, column) {
                    bits[begin + slot / 64] |= 1 << (slot % 64);
                }
            }
            steps.push(Step {
                feature,
                bits: begin,
                next: [node.left, node.right],
            });
        }
        Shape::Steps {
            steps,
            bits,
            leaves: tree.leaves.clone(),
        }
    }

    /// The scores of all rows, row by row, one for each output.
    ///
    /// # Panics
    /// If the source has fewer features than the trees ask about: it must be of the same schema.
    pub fn scores(&self, source: &impl Source) -> Vec<f32> {
        let mut scores = vec![0.0; source.rows() * self.outputs()];
        self.add_to(source, &mut scores);
        scores
    }

    /// Adds the scores of all rows to what is there, row by row, one for each output.
    ///
    /// # Panics
    /// As [`scores`](Self::scores), or if there is not as much room.
    pub fn add_to<T>(&self, source: &impl Source, scores: &mut [T])
    where
        T: From<f32> + std::ops::AddAssign + Send,
    {
        let outputs = self.outputs();
        assert_eq!(
            scores.len(),
            source.rows() * outputs,
            "a score for each row and output"
        );
        scores
            .par_chunks_mut(BLOCK * outputs)
            .enumerate()
            .with_min_len(16)
            .for_each_init(
                || Block::new(self),
                |block, (number, scores)| {
                    block.fill(self, source, number * BLOCK, scores.len() / outputs);
                    block.score(self, scores);
                },
            );
    }
}

fn asks_about_sets(tree: &Tree) -> bool {
    tree.nodes
        .iter()
        .any(|node| matches!(node.rule, Rule::OneOf { .. }))
}

/// The columns that full trees ask about, each feature's together: as many as a byte can name.
fn views(columns: &[Column], trees: &[(usize, Cow<'_, Tree>)]) -> Vec<(usize, Side)> {
    let mut views: Vec<(usize, Side)> = Vec::new();
    for (_, tree) in trees {
        let has_sets = asks_about_sets(tree);
        for node in &tree.nodes {
            let feature = node.feature as usize;
            let others = match node.rule {
                Rule::UpTo { others, .. } if !has_sets => others,
                _ => Side::Right,
            };
            let view = (feature, others);
            if columns[feature].slots <= 256 && !views.contains(&view) && views.len() < 256 {
                views.push(view);
            }
        }
    }
    views.sort_by_key(|&(feature, others)| (feature, others == Side::Left));
    views
}

/// Some rows on their way through the trees.
struct Block {
    /// The columns of full trees, row by row.
    rows: Vec<[u8; 256]>,
    /// The features that other trees ask about, one after another.
    slots: Vec<Vec<u16>>,
    sums: Vec<[f32; BLOCK]>,
}

impl Block {
    fn new(walker: &Walker) -> Self {
        Self {
            rows: vec![[0; 256]; BLOCK],
            slots: vec![Vec::new(); walker.columns.len()],
            sums: vec![[0.0; BLOCK]; walker.outputs()],
        }
    }

    fn fill(&mut self, walker: &Walker, source: &impl Source, begin: usize, count: usize) {
        let mut narrow = [0; BLOCK];
        let mut last = usize::MAX;
        for (view, &(feature, others)) in walker.views.iter().enumerate() {
            if feature != last {
                source.narrow(feature, begin, &mut narrow[..count]);
                last = feature;
            }
            match others {
                Side::Right => {
                    for (row, &slot) in self.rows.iter_mut().zip(&narrow) {
                        row[view] = slot;
                    }
                }
                Side::Left => {
                    let ordinary = walker.columns[feature].ordinary;
                    for (row, &slot) in self.rows.iter_mut().zip(&narrow) {
                        row[view] = if usize::from(slot) < ordinary { slot + 1 } else { 0 };
                    }
                }
            }
        }
        for &feature in &walker.asked {
            self.slots[feature].resize(count, 0);
            source.slots(feature, begin, &mut self.slots[feature]);
        }
    }

    fn score<T: From<f32> + std::ops::AddAssign>(&mut self, walker: &Walker, scores: &mut [T]) {
        let outputs = walker.outputs();
        let count = scores.len() / outputs;
        for (sums, &base) in self.sums.iter_mut().zip(&walker.base) {
            sums.fill(base);
        }
        for (output, tree) in &walker.trees {
            let sums = &mut self.sums[*output];
            match tree {
                Shape::Full(full) => {
                    let (rows, _) = self.rows.as_chunks::<LANES>();
                    let (sums, _) = sums.as_chunks_mut::<LANES>();
                    for (rows, sums) in rows.iter().zip(sums).take(count.div_ceil(LANES)) {
                        full.add(rows, sums);
                    }
                }
                Shape::Steps { steps, bits, leaves } => {
                    for (row, sum) in sums.iter_mut().enumerate().take(count) {
                        *sum += leaves[end(steps, bits, |feature| self.slots[feature][row])];
                    }
                }
            }
        }
        for (row, scores) in scores.chunks_exact_mut(outputs).enumerate() {
            for (score, sums) in scores.iter_mut().zip(&self.sums) {
                *score += T::from(sums[row]);
            }
        }
    }
}

#[inline]
fn end(steps: &[Step], bits: &[u64], slot: impl Fn(usize) -> u16) -> usize {
    let mut at = if steps.is_empty() {
        Child::Leaf(0)
    } else {
        Child::Node(0)
    };
    loop {
        match at {
            Child::Leaf(leaf) => return leaf as usize,
            Child::Node(node) => {
                let step = &steps[node as usize];
                let slot = usize::from(slot(step.feature));
                // Cells of another schema may have slots beyond: they go somewhere.
                let word = bits.get(step.bits + slot / 64).copied().unwrap_or(0);
                at = step.next[(word >> (slot % 64) & 1) as usize];
            }
        }
    }
}
