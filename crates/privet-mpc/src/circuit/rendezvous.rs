//! RANDOMRENDEZVOUS of MABoost in one circuit, which shows the index and nothing else.

use super::orban::and_all;
use super::{Backend, Bit, Circuit, Number, Shape, Workspace, bits_below, bits_of, number_of, size};
use crate::Error;

/// How many random bits each side brings.
pub const COINS: usize = 48;

/// One random place where both sides have a one, of k places, or none; about 5 gates for each place and 100 for each bit of k.
///
/// Counts of common ones are added up a binary tree; t = ⌊n·r / 2⁴⁸⌋ of the n common places is found by going down again. r is the exclusive
/// or of both sides' coins, so that the choice is uniform if one side's coins are: each common place has a probability that differs
/// from 1/n by at most 2⁻⁴⁸, and the distance from a uniform choice is at most k·2⁻⁴⁸.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rendezvous {
    places: usize,
}

impl Rendezvous {
    /// The most places.
    pub const MOST: usize = 1 << 16;

    /// Leaves of one step.
    const BLOCK: usize = 1_024;

    /// Over so many places.
    ///
    /// # Errors
    /// [`Error::Misuse`] without places, or with more than [`Rendezvous::MOST`].
    pub fn new(places: usize) -> Result<Self, Error> {
        size((1..=Self::MOST).contains(&places), "1 to 65536 places")?;
        Ok(Self { places })
    }

    /// The input of a side: its ones, and 48 bits that it has drawn for this circuit.
    ///
    /// # Errors
    /// [`Error::Misuse`] if there is not one bit for each place.
    pub fn input(&self, ones: &[bool], coins: u64) -> Result<Vec<bool>, Error> {
        size(ones.len() == self.places, "a bit for each place")?;
        Ok([ones.to_vec(), bits_of(&[coins], COINS)].concat())
    }

    /// The place that came out, if there is one; none as well for bits that did not come out of this circuit.
    pub fn decode(&self, output: &[bool]) -> Option<usize> {
        let (found, index) = output.split_first()?;
        let place = number_of(index) as usize;
        (*found && place < self.places).then_some(place)
    }

    fn depth(&self) -> usize {
        bits_below(self.places)
    }

    fn blocks(&self) -> usize {
        self.places.div_ceil(Self::BLOCK)
    }

    /// Adds the two children of a node. The leaves under it bound the sum.
    fn join<B: Backend>(&self, node: usize, work: &mut Workspace<B::Wire>, on: &mut B) {
        let sum = work.numbers[2 * node].plus(&work.numbers[2 * node + 1], on);
        let height = self.depth() - node.ilog2() as usize;
        let first = (node << height) - (1 << self.depth());
        let leaves = self.places.saturating_sub(first).min(1 << height);
        work.numbers[node] = sum.low(bits_below(leaves + 1));
    }

    /// Common ones of a block of leaves, and the nodes above them alone.
    fn count<B: Backend>(&self, block: usize, work: &mut Workspace<B::Wire>, on: &mut B) {
        let leaves = 1 << self.depth();
        if block == 0 {
            work.numbers.resize_with(2 * leaves, Number::zero);
        }
        let places = block * Self::BLOCK..self.places.min((block + 1) * Self::BLOCK);
        let first = leaves + places.start;
        let common = and_all(&work.garbler[places.clone()], &work.evaluator[places], on);
        for (at, wire) in common.iter().enumerate() {
            work.numbers[first + at] = Number::on(&[*wire]);
        }
        let (mut low, mut count) = (first, Self::BLOCK.min(leaves));
        while count > 1 {
            (low, count) = (low / 2, count / 2);
            (low..low + count).for_each(|node| self.join(node, work, on));
        }
    }

    /// The nodes above all blocks; whether there is a common place; which of them is chosen.
    fn draw<B: Backend>(&self, work: &mut Workspace<B::Wire>, on: &mut B) {
        let above = (1 << self.depth()) / Self::BLOCK.min(1 << self.depth());
        (1..above).rev().for_each(|node| self.join(node, work, on));
        let coins = work.garbler[self.places..].iter();
        let coins = coins.zip(&work.evaluator[self.places..]);
        let coins = Number::of(coins.map(|(a, b)| Bit::On(on.xor(*a, *b))));
        let chosen = coins.times(&work.numbers[1], on);
        work.numbers[0] = chosen.high(COINS).low(self.depth());
        let found = Number::of([work.numbers[1].is_positive(on)]);
        work.output = found.wires(1, on);
    }

    /// One level down the tree, left or right; what was at the sides that were not taken is left behind.
    fn descend<B: Backend>(&self, level: usize, work: &mut Workspace<B::Wire>, on: &mut B) {
        let left_over = self.depth() - level;
        let tree = &mut work.numbers;
        let (beyond, is_left) = tree[0].minus(&tree[2], on);
        let is_right = is_left.not(on);
        tree[0] = Number::choose(is_right, &beyond, &tree[0], on).low(left_over - 1);
        // Only left children are ever compared with.
        for depth in 1..left_over {
            let half = 1 << depth;
            for at in (0..half).step_by(2) {
                let (left, right) = (&tree[2 * half + at], &tree[3 * half + at]);
                tree[half + at] = Number::choose(is_right, right, left, on);
            }
        }
        let index = Number::of([is_right]).wires(1, on);
        // The highest bit comes first and must be last.
        work.output.insert(1, index[0]);
    }
}

impl Circuit for Rendezvous {
    fn name(&self) -> String {
        format!("rendezvous 1 {}", self.places)
    }

    fn shape(&self) -> Shape {
        Shape {
            garbler: self.places + COINS,
            evaluator: self.places + COINS,
            output: 1 + self.depth(),
            steps: self.blocks() + 1 + self.depth(),
        }
    }

    fn step<B: Backend>(&self, step: usize, work: &mut Workspace<B::Wire>, on: &mut B) {
        match step.checked_sub(self.blocks()) {
            None => self.count(step, work, on),
            Some(0) => self.draw(work, on),
            Some(after) => self.descend(after - 1, work, on),
        }
    }
}
