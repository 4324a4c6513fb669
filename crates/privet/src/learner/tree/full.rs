//! Trees laid out as full binary trees, for rows that go down side by side.

/// Deeper trees are walked node by node: a full one would be mostly empty.
pub(super) const DEEPEST: usize = 7;
/// Rows that go down a tree side by side.
pub(super) const LANES: usize = 8;

/// Some rows, a byte for each column.
type Rows = [[u8; 256]; LANES];

/// A full binary tree: node 1 is the root, the children of node i are nodes 2i and 2i + 1, and so on to the leaves.
#[derive(Debug)]
pub(super) struct Full {
    pub(super) depth: usize,
    /// A column, and the largest value in it that goes left.
    pub(super) nodes: [[u8; 2]; 1 << DEEPEST],
    /// If the tree asks about sets: for each node the values that go right, and then these alone count.
    pub(super) sets: Option<Box<[[u64; 4]; 1 << DEEPEST]>>,
    pub(super) leaves: [f32; 2 << DEEPEST],
}

impl Full {
    /// Adds the values of some rows' leaves.
    #[inline]
    pub(super) fn add(&self, rows: &Rows, sums: &mut [f32; LANES]) {
        match self.depth {
            0 => self.down::<0>(rows, sums),
            1 => self.down::<1>(rows, sums),
            2 => self.down::<2>(rows, sums),
            3 => self.down::<3>(rows, sums),
            4 => self.down::<4>(rows, sums),
            5 => self.down::<5>(rows, sums),
            6 => self.down::<6>(rows, sums),
            _ => self.down::<DEEPEST>(rows, sums),
        }
    }

    /// Down D levels. The compiler sees that a place of d levels has d + 1 bits, and checks no bound.
    #[inline]
    fn down<const D: usize>(&self, rows: &Rows, sums: &mut [f32; LANES]) {
        let mut at = [1usize; LANES];
        match &self.sets {
            None => {
                for _ in 0..D {
                    for (at, row) in at.iter_mut().zip(rows) {
                        let [column, last] = self.nodes[*at];
                        *at = *at << 1 | usize::from(last < row[usize::from(column)]);
                    }
                }
            }
            Some(sets) => {
                for _ in 0..D {
                    for (at, row) in at.iter_mut().zip(rows) {
                        let value = row[usize::from(self.nodes[*at][0])];
                        let word = sets[*at][usize::from(value >> 6)];
                        *at = *at << 1 | (word >> (value & 63) & 1) as usize;
                    }
                }
            }
        }
        for (at, sum) in at.iter().zip(sums) {
            *sum += self.leaves[*at];
        }
    }
}
