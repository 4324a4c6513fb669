//! Growing one tree: level by level, or the best leaf first.

use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

use rayon::prelude::*;

use super::greedy::Greedy;
use super::histogram::{NodeHistogram, SlotSums, build, subtract};
use super::kernel::RowSet;
use super::lane::{Grid, Lane};
use super::level::{Level, LevelNode, Split};
use super::matrix::Matrix;
use super::rows::{Sieve, part};
use super::shape::{Child, Node, Tree};
use super::unfinished::{Ends, Growing, Open};
use crate::privacy::getters;

/// In which order a tree grows, and when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// Level by level, down to this depth: each level is one set of nodes that share no row.
    Levels(usize),
    /// The leaf whose split has the largest gain first.
    Best {
        /// How many leaves there may be.
        leaves: usize,
        /// How deep it may go.
        depth: usize,
    },
}

/// The inputs of growing one tree.
#[derive(Debug)]
pub struct Plan<'a, L> {
    /// The gradient and hessian of each row of the table.
    pub lanes: &'a [L],
    /// How large a unit of their sums is.
    pub grid: Grid,
    /// The rows that count, in rising order; all if there is no list.
    pub rows: Option<&'a [u32]>,
    /// Which features may be asked about.
    pub used: &'a [bool],
    /// In which order it grows.
    pub growth: Growth,
    /// What leaf values are multiplied by.
    pub rate: f64,
}

/// Grows trees on one table, one after another.
#[derive(Debug)]
pub struct Engine<'a> {
    matrix: &'a Matrix<'a>,
    order: Vec<u32>,
    spare: Vec<u32>,
    leaf_of: Vec<AtomicU16>,
    /// Unused histograms, for reuse.
    pool: Vec<SlotSums>,
}

impl<'a> Engine<'a> {
    /// Prepares for trees on a table.
    pub fn new(matrix: &'a Matrix<'a>) -> Self {
        let rows = matrix.rows();
        Self {
            matrix,
            order: Vec::new(),
            spare: vec![0; rows],
            leaf_of: (0..rows).map(|_| AtomicU16::new(0)).collect(),
            pool: Vec::new(),
        }
    }

    getters! {
        /// The table.
        pub matrix(matrix) -> &'a Matrix<'a>;
        /// The leaf of each row in the last tree.
        pub leaf_of(&leaf_of) -> &[AtomicU16];
    }

    /// Grows a tree. Afterwards [`leaf_of`](Self::leaf_of) knows the leaf of every row of the table, counted or not.
    pub fn grow<L: Lane>(&mut self, plan: &Plan<'_, L>, greedy: &Greedy) -> Tree {
        let tree = Tree::new(Vec::new(), Vec::new());
        let mut growing = Growing {
            plan,
            greedy,
            tree,
            ends: Vec::new(),
        };
        let root = self.root(plan);
        match plan.growth {
            Growth::Levels(depth) => self.by_level(&mut growing, root, depth),
            Growth::Best { leaves, depth } => self.by_gain(&mut growing, root, [leaves, depth]),
        }
        let Growing { tree, ends, .. } = growing;
        match plan.rows {
            None => self.assign(&ends),
            Some(_) => self.walk(&tree),
        }
        tree
    }

    fn root<L: Lane>(&mut self, plan: &Plan<'_, L>) -> Open {
        let mut histogram = self
            .pool
            .pop()
            .unwrap_or_else(|| vec![[0.0; 2]; self.matrix.slots]);
        self.order.clear();
        match plan.rows {
            None => self.order.extend(0..self.matrix.rows() as u32),
            Some(rows) => self.order.extend_from_slice(rows),
        }
        let rows = match plan.rows {
            None => RowSet::Run(0, self.matrix.rows()),
            Some(rows) => RowSet::List(rows),
        };
        build(
            self.matrix,
            plan.lanes,
            plan.used,
            vec![NodeHistogram {
                rows,
                into: &mut histogram,
            }],
        );
        let mut sums = [0.0; 2];
        if let Some(feature) = plan.used.iter().position(|&used| used) {
            let begin = self.matrix.offsets[feature];
            for slot in &histogram[begin..begin + self.matrix.columns()[feature].slots] {
                sums = [sums[0] + slot[0], sums[1] + slot[1]];
            }
        }
        let bounds = [f64::NEG_INFINITY, f64::INFINITY];
        Open {
            range: 0..self.order.len(),
            sums,
            bounds,
            depth: 0,
            histogram,
            parent: None,
        }
    }

    fn choose<L>(&self, growing: &Growing<'_, '_, L>, open: &[Open]) -> Vec<Option<Split>> {
        let nodes = open
            .iter()
            .map(|open| LevelNode {
                sums: open.sums,
                bounds: open.bounds,
                histogram: &open.histogram,
            })
            .collect();
        let level = Level {
            matrix: self.matrix,
            used: growing.plan.used,
            grid: growing.plan.grid,
            nodes,
        };
        let mut splits = growing.greedy.choose(&level);
        splits.resize(open.len(), None);
        splits
    }

    fn by_level<L: Lane>(&mut self, growing: &mut Growing<'a, '_, L>, root: Open, depth: usize) {
        let mut open = vec![root];
        for level in 0..depth {
            let splits = self.choose(growing, &open);
            let mut split = Vec::new();
            for (open, choice) in mem::take(&mut open).into_iter().zip(splits) {
                match choice {
                    Some(choice) => split.push((open, choice)),
                    None => self.pool.push(growing.close(open)),
                }
            }
            open = self.split(growing, split, level + 1 == depth);
            if open.is_empty() {
                return;
            }
        }
        for open in open {
            self.pool.push(growing.close(open));
        }
    }

    fn by_gain<L: Lane>(&mut self, growing: &mut Growing<'a, '_, L>, root: Open, limits: [usize; 2]) {
        let [leaves, depth] = limits;
        let mut fresh = vec![root];
        let mut waiting: Vec<(Open, Split)> = Vec::new();
        let mut count = 1;
        loop {
            let splits = if count < leaves {
                self.choose(growing, &fresh)
            } else {
                vec![None; fresh.len()]
            };
            for (open, choice) in mem::take(&mut fresh).into_iter().zip(splits) {
                match choice {
                    Some(choice) if open.depth < depth => waiting.push((open, choice)),
                    _ => self.pool.push(growing.close(open)),
                }
            }
            // The first of equals: the one that has waited longest.
            let mut best: Option<usize> = None;
            for (place, (_, split)) in waiting.iter().enumerate() {
                if best.is_none_or(|best| split.gain > waiting[best].1.gain) {
                    best = Some(place);
                }
            }
            let Some(best) = best.filter(|_| count < leaves) else {
                break;
            };
            count += 1;
            let (open, split) = waiting.remove(best);
            let last = count == leaves || open.depth + 1 == depth;
            fresh = self.split(growing, vec![(open, split)], last);
        }
        for (open, _) in waiting {
            self.pool.push(growing.close(open));
        }
    }

    /// Splits nodes that share no row. Children are leaves if these are the last; else they are open, with histograms.
    fn split<L: Lane>(
        &mut self,
        growing: &mut Growing<'a, '_, L>,
        nodes: Vec<(Open, Split)>,
        last: bool,
    ) -> Vec<Open> {
        let mut parted = Vec::with_capacity(nodes.len());
        for (open, split) in nodes {
            let feature = split.feature;
            let sieve = Sieve::new(self.matrix, feature, &split.rule);
            let left = sieve.left_sums(&open.histogram[self.matrix.offsets[feature]..]);
            let sums = [left, [open.sums[0] - left[0], open.sums[1] - left[1]]];
            let bounds = growing.bounds(feature, open.bounds, sums);
            let node = growing.tree.nodes.len();
            growing.attach(open.parent, Child::Node(node as u32));
            let nowhere = Child::Leaf(u32::MAX);
            growing.tree.nodes.push(Node {
                feature: feature as u32,
                rule: split.rule,
                left: nowhere,
                right: nowhere,
            });
            if last {
                let [l, r] = [0, 1].map(|side| growing.value(sums[side], bounds[side]));
                let (l, r) = (
                    growing.leaf(Some((node, true)), l),
                    growing.leaf(Some((node, false)), r),
                );
                growing
                    .ends
                    .push((open.range, Ends::Split(Box::new(sieve), l, r)));
                self.pool.push(open.histogram);
            } else {
                parted.push((open, sieve, node, sums, bounds));
            }
        }
        if last {
            return Vec::new();
        }
        let lefts = self.part(parted.iter().map(|(open, sieve, ..)| (open.range.clone(), sieve)));
        let mut pairs = Vec::with_capacity(parted.len());
        for ((open, _, node, sums, bounds), left) in parted.into_iter().zip(lefts) {
            let middle = open.range.start + left;
            let child = |side: usize, range: Range<usize>, histogram: SlotSums| Open {
                range,
                sums: sums[side],
                bounds: bounds[side],
                depth: open.depth + 1,
                histogram,
                parent: Some((node, side == 0)),
            };
            let fresh = self
                .pool
                .pop()
                .unwrap_or_else(|| vec![[0.0; 2]; self.matrix.slots]);
            let (left, right) = (open.range.start..middle, middle..open.range.end);
            let left_is_smaller = left.len() <= right.len();
            let [l, r] = match left_is_smaller {
                true => [fresh, open.histogram],
                false => [open.histogram, fresh],
            };
            pairs.push((left_is_smaller, [child(0, left, l), child(1, right, r)]));
        }
        let order = &self.order;
        let wanted = pairs.iter_mut().map(|(left_is_smaller, pair)| {
            let small = &mut pair[usize::from(!*left_is_smaller)];
            NodeHistogram {
                rows: RowSet::List(&order[small.range.clone()]),
                into: &mut small.histogram,
            }
        });
        build(
            self.matrix,
            growing.plan.lanes,
            growing.plan.used,
            wanted.collect(),
        );
        pairs
            .par_iter_mut()
            .for_each(|(left_is_smaller, [left, right])| match left_is_smaller {
                true => subtract(&mut right.histogram, &left.histogram),
                false => subtract(&mut left.histogram, &right.histogram),
            });
        pairs.into_iter().flat_map(|(_, pair)| pair).collect()
    }

    /// Parts the rows of several nodes, whose ranges need not come in order.
    fn part<'s>(&mut self, nodes: impl Iterator<Item = (Range<usize>, &'s Sieve<'a>)>) -> Vec<usize>
    where
        'a: 's,
    {
        let mut nodes: Vec<_> = nodes.enumerate().collect();
        nodes.sort_by_key(|(_, (range, _))| range.start);
        let (mut order, mut spare, mut at) = (self.order.as_mut_slice(), self.spare.as_mut_slice(), 0);
        let mut tasks = Vec::with_capacity(nodes.len());
        for (place, (range, sieve)) in nodes {
            let (skip, count) = (range.start - at, range.len());
            at = range.end;
            let (mine, rest) = order[skip..].split_at_mut(count);
            let (mine_spare, rest_spare) = spare[skip..].split_at_mut(count);
            (order, spare) = (rest, rest_spare);
            tasks.push((place, mine, mine_spare, sieve));
        }
        let mut lefts: Vec<(usize, usize)> = tasks
            .into_par_iter()
            .with_max_len(1)
            .map(|(place, rows, spare, sieve)| (place, part(rows, spare, sieve)))
            .collect();
        lefts.sort_unstable();
        lefts.into_iter().map(|(_, left)| left).collect()
    }

    /// Notes the leaf of each row. No two threads write about the same row.
    fn assign(&self, ends: &[(Range<usize>, Ends<'a>)]) {
        const PIECE: usize = 1 << 14;
        let (order, leaf_of) = (&self.order, &self.leaf_of);
        let set = |row: u32, leaf: u16| leaf_of[row as usize].store(leaf, Ordering::Relaxed);
        ends.par_iter().for_each(|(range, ends)| {
            order[range.clone()]
                .par_chunks(PIECE)
                .for_each(|rows| match ends {
                    Ends::Leaf(leaf) => rows.iter().for_each(|&row| set(row, *leaf)),
                    Ends::Split(sieve, left, right) => {
                        sieve.each(rows, |row, is_left| {
                            set(row, if is_left { *left } else { *right })
                        });
                    }
                });
        });
    }

    fn walk(&self, tree: &Tree) {
        let (bins, columns) = (&self.matrix.bins, self.matrix.columns());
        self.leaf_of
            .par_iter()
            .enumerate()
            .with_min_len(4096)
            .for_each(|(row, leaf)| {
                leaf.store(
                    tree.leaf(columns, |feature| bins[feature].get(row)) as u16,
                    Ordering::Relaxed,
                );
            });
    }
}
