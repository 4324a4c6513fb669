//! Half gates (Zahur, Rosulek and Evans 2015) with free exclusive or (Kolesnikov and Schneider 2008). Gate j has the tweaks 2j and 2j + 1.

use zeroize::Zeroizing;

use super::hash::Hash;
use super::label::Label;
use crate::circuit::Backend;

/// Bytes of the table of a gate.
pub(crate) const TABLE: usize = 32;

/// Walks through a circuit with the labels of zero, and writes tables.
pub(crate) struct Garbler {
    hash: Hash,
    /// What the two labels of a wire differ by.
    delta: Zeroizing<Label>,
    gate: u64,
    pub(crate) tables: Vec<u8>,
}

impl Garbler {
    pub(crate) fn new(hash: Hash, delta: Label) -> Self {
        Self {
            hash,
            delta: Zeroizing::new(delta.coloured()),
            gate: 0,
            tables: Vec::new(),
        }
    }

    pub(crate) fn delta(&self) -> Label {
        *self.delta
    }
}

impl Backend for Garbler {
    type Wire = Label;

    fn constant(&self, bit: bool) -> Label {
        // The evaluator has zeros in any case.
        Label::mask(bit) & *self.delta
    }

    #[inline(always)]
    fn xor(&self, a: Label, b: Label) -> Label {
        a ^ b
    }

    #[inline(always)]
    fn not(&self, a: Label) -> Label {
        a ^ *self.delta
    }

    #[inline(always)]
    fn and<const N: usize>(&mut self, a: [Label; N], b: [Label; N]) -> [Label; N] {
        let delta = *self.delta;
        let labels: [[Label; 4]; N] = std::array::from_fn(|at| [a[at], a[at] ^ delta, b[at], b[at] ^ delta]);
        let hashes = self.hash.hash::<4, N, 2>(&labels, 2 * self.gate);
        self.gate += N as u64;
        let mut tables = [[[0; 16]; 2]; N];
        let out = std::array::from_fn(|at| {
            let [a_0, a_1, b_0, b_1] = hashes[at];
            let (a_colour, b_colour) = (a[at].colour_mask(), b[at].colour_mask());
            let generator = a_0 ^ a_1 ^ (b_colour & delta);
            let evaluator = b_0 ^ b_1 ^ a[at];
            tables[at] = [generator.to_bytes(), evaluator.to_bytes()];
            a_0 ^ (a_colour & generator) ^ b_0 ^ (b_colour & (evaluator ^ a[at]))
        });
        self.tables
            .extend_from_slice(tables.as_flattened().as_flattened());
        out
    }
}

/// Walks through a circuit with the one label of each wire that it has, and reads tables.
pub(crate) struct Evaluator<'a> {
    hash: &'a Hash,
    gate: u64,
    tables: &'a [u8],
    /// Whether there were fewer tables than gates.
    pub(crate) is_short: bool,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(hash: &'a Hash, gate: u64, tables: &'a [u8]) -> Self {
        Self {
            hash,
            gate,
            tables,
            is_short: false,
        }
    }

    pub(crate) fn gate(&self) -> u64 {
        self.gate
    }
}

impl Backend for Evaluator<'_> {
    type Wire = Label;

    fn constant(&self, _: bool) -> Label {
        Label::ZERO
    }

    #[inline(always)]
    fn xor(&self, a: Label, b: Label) -> Label {
        a ^ b
    }

    #[inline(always)]
    fn not(&self, a: Label) -> Label {
        a
    }

    #[inline(always)]
    fn and<const N: usize>(&mut self, a: [Label; N], b: [Label; N]) -> [Label; N] {
        let labels: [[Label; 2]; N] = std::array::from_fn(|at| [a[at], b[at]]);
        let hashes = self.hash.hash::<2, N, 1>(&labels, 2 * self.gate);
        self.gate += N as u64;
        let Some((tables, rest)) = self.tables.split_at_checked(N * TABLE) else {
            self.is_short = true;
            return [Label::ZERO; N];
        };
        self.tables = rest;
        let (tables, _) = tables.as_chunks::<16>();
        std::array::from_fn(|at| {
            let [a_hash, b_hash] = hashes[at];
            let generator = Label::from_bytes(tables[2 * at]);
            let evaluator = Label::from_bytes(tables[2 * at + 1]);
            a_hash ^ (a[at].colour_mask() & generator) ^ b_hash ^ (b[at].colour_mask() & (evaluator ^ a[at]))
        })
    }
}
