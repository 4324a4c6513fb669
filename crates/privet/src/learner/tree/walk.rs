//! Scores of many rows by many trees.
//!
//! Small trees are laid out as full binary trees, and rows go down them in sets of bits: what the trees ask is asked once
//! for a block of rows. Deeper trees about one feature or two are tables of its slots. All others are walked node by node.

use std::borrow::Cow;

use rayon::prelude::*;

use super::answers::{BLOCK, Bits, Questions, asked};
use super::full::{DEEPEST, Full, NodeRows};
use super::matrix::Column;
use super::shape::{Child, Tree};
use super::source::SlotSource;
use super::tables::TreeTable;
use crate::Error;

/// Trees that are no deeper are faster in sets of bits than as tables.
const SHALLOW: usize = 3;

/// A node of any other tree: it goes right where the bit of its slot is set.
#[derive(Debug)]
struct WalkNode {
    feature: usize,
    bits: usize,
    next: [Child; 2],
}

#[derive(Debug)]
enum ReadyTree {
    Full(Box<Full>),
    Table(TreeTable),
    Steps {
        steps: Vec<WalkNode>,
        bits: Vec<u64>,
        leaves: Vec<f32>,
    },
}

/// Trees, made ready to score many rows.
#[derive(Debug)]
pub struct Walker {
    base: Vec<f32>,
    /// The trees, each with the output that it adds to.
    trees: Vec<(usize, ReadyTree)>,
    /// What full trees ask.
    questions: Questions,
    columns: Vec<Column>,
    /// The features that trees ask about which are tables or are walked.
    asked: Vec<usize>,
}

impl Walker {
    /// Trees for a table with these columns; tree i adds to output i modulo the number of outputs.
    ///
    /// # Errors
    /// [`Error::Data`] for a tree that does not fit these columns, or without an output.
    pub fn new(columns: Vec<Column>, base: &[f32], trees: &[Tree]) -> Result<Self, Error> {
        let each = |(place, tree)| (place % base.len().max(1), Cow::Borrowed(tree));
        let trees: Vec<(usize, Cow<'_, Tree>)> = trees.iter().enumerate().map(each).collect();
        Self::with_outputs(columns, base, &trees)
    }

    /// Trees for a table with these columns, each with the output that it adds to.
    ///
    /// # Errors
    /// [`Error::Data`] for an invalid tree or output.
    pub fn with_outputs(
        columns: Vec<Column>,
        base: &[f32],
        trees: &[(usize, Cow<'_, Tree>)],
    ) -> Result<Self, Error> {
        if base.is_empty() || trees.iter().any(|(output, _)| *output >= base.len()) {
            return Err(Error::data(
                "a model has at least one output, and trees add to those it has",
            ));
        }
        for (_, tree) in trees {
            tree.check(&columns)?;
        }
        let tables: Vec<Option<TreeTable>> = trees
            .par_iter()
            .map(
                |(_, tree)| match tree.depth() > SHALLOW || !fits(tree, &columns) {
                    true => TreeTable::new(tree, &columns),
                    false => None,
                },
            )
            .collect();
        let others = trees.iter().zip(&tables).filter(|(_, table)| table.is_none());
        let small = others.map(|((_, tree), _)| &**tree);
        let asked = asked(small.filter(|tree| fits(tree, &columns)));
        let mut walker = Self {
            base: base.to_vec(),
            trees: Vec::new(),
            questions: Questions::new(&columns, &asked),
            columns,
            asked: Vec::new(),
        };
        for ((output, tree), table) in trees.iter().zip(tables) {
            let shape = match table {
                Some(table) => {
                    walker.asked.extend(table.features());
                    ReadyTree::Table(table)
                }
                None if fits(tree, &walker.columns) => ReadyTree::Full(Box::new(Full::new(tree, &asked))),
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

    fn steps(&mut self, tree: &Tree) -> ReadyTree {
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
            steps.push(WalkNode {
                feature,
                bits: begin,
                next: [node.left, node.right],
            });
        }
        ReadyTree::Steps {
            steps,
            bits,
            leaves: tree.leaves.clone(),
        }
    }

    /// The scores of all rows, row by row, one for each output.
    ///
    /// # Panics
    /// If the source has fewer features than the trees ask about: it must be of the same schema.
    pub fn scores(&self, source: &impl SlotSource) -> Vec<f32> {
        let mut scores = vec![0.0; source.rows() * self.outputs()];
        self.add_to(source, &mut scores);
        scores
    }

    /// Adds the scores of all rows to what is there, row by row, one for each output.
    ///
    /// # Panics
    /// As [`scores`](Self::scores), or if there is not as much room.
    pub fn add_to<T>(&self, source: &impl SlotSource, scores: &mut [T])
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
            .with_min_len(4)
            .for_each_init(
                || Block::new(self),
                |block, (number, scores)| {
                    block.fill(self, source, number * BLOCK, scores.len() / outputs);
                    block.score(self, scores);
                },
            );
    }
}

/// Whether a tree can be a full one.
fn fits(tree: &Tree, columns: &[Column]) -> bool {
    let narrow = |feature: u32| columns[feature as usize].slots <= 256;
    tree.depth() <= DEEPEST && tree.nodes.iter().all(|node| narrow(node.feature))
}

/// Some rows on their way through the trees.
struct Block {
    /// What full trees ask, answered.
    answers: Vec<Bits>,
    places: Box<NodeRows>,
    /// The features that trees ask about which are tables or are walked, one after another.
    slots: Vec<Vec<u16>>,
    sums: Vec<[f32; BLOCK]>,
}

impl Block {
    fn new(walker: &Walker) -> Self {
        Self {
            answers: walker.questions.room(),
            places: Box::new([Bits::default(); 2 << DEEPEST]),
            slots: vec![Vec::new(); walker.columns.len()],
            sums: vec![[0.0; BLOCK]; walker.outputs()],
        }
    }

    fn fill(&mut self, walker: &Walker, source: &impl SlotSource, begin: usize, count: usize) {
        walker.questions.ask(source, begin, count, &mut self.answers);
        for &feature in &walker.asked {
            self.slots[feature].resize(count, 0);
            source.slots(feature, begin, &mut self.slots[feature]);
        }
    }

    fn score<T: From<f32> + std::ops::AddAssign>(&mut self, walker: &Walker, scores: &mut [T]) {
        let outputs = walker.outputs();
        let count = scores.len() / outputs;
        let words = count.next_multiple_of(64);
        for (sums, &base) in self.sums.iter_mut().zip(&walker.base) {
            sums.fill(base);
        }
        for (output, tree) in &walker.trees {
            let sums = &mut self.sums[*output];
            match tree {
                ReadyTree::Full(full) => full.add(&self.answers, &mut self.places, &mut sums[..words]),
                ReadyTree::Table(table) => table.add(&self.slots, &mut sums[..count]),
                ReadyTree::Steps { steps, bits, leaves } => {
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
fn end(steps: &[WalkNode], bits: &[u64], slot: impl Fn(usize) -> u16) -> usize {
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
