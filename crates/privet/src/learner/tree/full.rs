//! Trees laid out as full binary trees, through which the rows of a block go as sets.
//!
//! No row is followed: from the root on, the set of rows at a node is parted by the answers to its question, some
//! instructions for all of them. What is added up is gathered at the end, by the numbers of the rows' leaves.

use std::array::from_fn;

use super::answers::{Bits, Question, WORDS, number};
use super::shape::{Child, Tree};

/// Deeper trees are walked node by node: a full one would be mostly empty. A byte has room for the number of a leaf.
pub(super) const DEEPEST: usize = 8;

/// A full binary tree: node 1 is the root, the children of node i are nodes 2i and 2i + 1, and so on to the leaves.
#[derive(Debug)]
pub(super) struct Full {
    depth: usize,
    /// The number of each node's question; what is never asked sends everybody left.
    questions: [u32; 1 << DEEPEST],
    /// From left to right.
    leaves: [f32; 1 << DEEPEST],
}

/// Room for the rows at each node.
pub(super) type NodeRows = [Bits; 2 << DEEPEST];

impl Full {
    /// A tree that is not too deep, and asks nothing but these questions.
    pub(super) fn new(tree: &Tree, asked: &[Question<'_>]) -> Self {
        let depth = tree.depth();
        let size = 1 << depth;
        let mut full = Self {
            depth,
            questions: [0; 1 << DEEPEST],
            leaves: [0.0; 1 << DEEPEST],
        };
        let mut todo = vec![(tree.root(), 1)];
        while let Some((child, mut place)) = todo.pop() {
            match child {
                Child::Leaf(leaf) => {
                    while place < size {
                        place *= 2;
                    }
                    full.leaves[place - size] = tree.leaves[leaf as usize];
                }
                Child::Node(node) => {
                    let node = &tree.nodes[node as usize];
                    full.questions[place] = number(asked, (node.feature, &node.rule));
                    todo.push((node.left, 2 * place));
                    todo.push((node.right, 2 * place + 1));
                }
            }
        }
        full
    }

    /// Adds the values of the leaves of the first rows, which are whole words of them.
    pub(super) fn add(&self, answers: &[Bits], places: &mut NodeRows, sums: &mut [f32]) {
        // A bit of the numbers of all rows' leaves for each level; the root's is the highest.
        let mut numbers = [[0; WORDS]; DEEPEST];
        places[1] = [u64::MAX; WORDS];
        for level in 0..self.depth {
            let mut bit = [0; WORDS];
            let (here, below) = places.split_at_mut(2 << level);
            let (below, _) = below.as_chunks_mut::<2>();
            let questions = &self.questions[1 << level..2 << level];
            for ((&question, here), below) in questions.iter().zip(&here[1 << level..]).zip(below) {
                let answer = &answers[question as usize];
                let right: Bits = from_fn(|word| here[word] & answer[word]);
                *below = [from_fn(|word| here[word] ^ right[word]), right];
                bit = from_fn(|word| bit[word] | right[word]);
            }
            numbers[self.depth - 1 - level] = bit;
        }
        turn(&mut numbers);
        for (word, sums) in sums.as_chunks_mut::<64>().0.iter_mut().enumerate() {
            for (eight, sums) in numbers.iter().zip(sums.as_chunks_mut::<8>().0) {
                for (leaf, sum) in eight[word].to_le_bytes().into_iter().zip(sums) {
                    *sum += self.leaves[usize::from(leaf)];
                }
            }
        }
    }
}

/// Eight rows of bits become eight columns, in every byte: bit i of j becomes bit j of i.
fn turn(rows: &mut [Bits; DEEPEST]) {
    for (gap, mask) in [
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        for i in (0..8).filter(|i| i & gap == 0) {
            let (one, other) = (rows[i], rows[i + gap]);
            let swap: Bits = from_fn(|word| (one[word] >> gap ^ other[word]) & mask);
            rows[i] = from_fn(|word| one[word] ^ swap[word] << gap);
            rows[i + gap] = from_fn(|word| other[word] ^ swap[word]);
        }
    }
}
