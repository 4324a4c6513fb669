//! Half gates (Zahur, Rosulek and Evans 2015) with free exclusive or (Kolesnikov and Schneider 2008). Gate j has the tweaks 2j and 2j + 1.

use std::ops::Range;

use zeroize::Zeroizing;

use super::hash::{Permutation, Work};
use super::label::Label;
use crate::circuit::{Backend, Circuit, Workspace};

/// Bytes of the table of a gate.
pub(crate) const TABLE: usize = 32;

/// The garbler's walk through steps of a circuit: with the labels of zero, writing tables.
pub(crate) struct Garble<'a, C> {
    pub(crate) circuit: &'a C,
    pub(crate) steps: Range<usize>,
    pub(crate) work: &'a mut Workspace<Label>,
    /// What the two labels of a wire differ by.
    pub(crate) delta: &'a Zeroizing<Label>,
    pub(crate) gate: &'a mut u64,
    pub(crate) tables: &'a mut Vec<u8>,
}

impl<C: Circuit> Work for Garble<'_, C> {
    #[inline(always)]
    fn run<P: Permutation>(self, permutation: &P) {
        let mut on = Garbler {
            permutation,
            delta: **self.delta,
            gate: *self.gate,
            tables: self.tables,
        };
        for step in self.steps {
            self.circuit.step(step, self.work, &mut on);
        }
        *self.gate = on.gate;
    }
}

struct Garbler<'a, P> {
    permutation: &'a P,
    delta: Label,
    gate: u64,
    tables: &'a mut Vec<u8>,
}

impl<P: Permutation> Backend for Garbler<'_, P> {
    type Wire = Label;

    #[inline(always)]
    fn constant(&self, bit: bool) -> Label {
        // The evaluator has zeros in any case.
        Label::mask(bit) & self.delta
    }

    #[inline(always)]
    fn xor(&self, a: Label, b: Label) -> Label {
        a ^ b
    }

    #[inline(always)]
    fn not(&self, a: Label) -> Label {
        a ^ self.delta
    }

    #[inline(always)]
    fn and<const N: usize>(&mut self, a: [Label; N], b: [Label; N]) -> [Label; N] {
        let delta = self.delta;
        let mut labels = [[Label::ZERO; 4]; N];
        for at in 0..N {
            labels[at] = [a[at], a[at] ^ delta, b[at], b[at] ^ delta];
        }
        let hashes = self.permutation.hash::<4, N, 2>(labels, 2 * self.gate);
        self.gate += N as u64;
        let (mut tables, mut out) = ([[[0; 16]; 2]; N], [Label::ZERO; N]);
        for at in 0..N {
            let [a_0, a_1, b_0, b_1] = hashes[at];
            let (a_colour, b_colour) = (a[at].colour_mask(), b[at].colour_mask());
            let generator = a_0 ^ a_1 ^ (b_colour & delta);
            let evaluator = b_0 ^ b_1 ^ a[at];
            tables[at] = [generator.to_bytes(), evaluator.to_bytes()];
            out[at] = a_0 ^ (a_colour & generator) ^ b_0 ^ (b_colour & (evaluator ^ a[at]));
        }
        self.tables
            .extend_from_slice(tables.as_flattened().as_flattened());
        out
    }
}

/// The evaluator's walk through a step of a circuit: with the one label of each wire that it has, reading tables.
pub(crate) struct Evaluate<'a, C> {
    pub(crate) circuit: &'a C,
    pub(crate) step: usize,
    pub(crate) work: &'a mut Workspace<Label>,
    pub(crate) gate: &'a mut u64,
    pub(crate) tables: &'a [u8],
    /// Whether there were fewer tables than gates.
    pub(crate) is_short: &'a mut bool,
}

impl<C: Circuit> Work for Evaluate<'_, C> {
    #[inline(always)]
    fn run<P: Permutation>(self, permutation: &P) {
        let mut on = Evaluator {
            permutation,
            gate: *self.gate,
            tables: self.tables,
            is_short: false,
        };
        self.circuit.step(self.step, self.work, &mut on);
        (*self.gate, *self.is_short) = (on.gate, on.is_short);
    }
}

struct Evaluator<'a, P> {
    permutation: &'a P,
    gate: u64,
    tables: &'a [u8],
    is_short: bool,
}

impl<P: Permutation> Backend for Evaluator<'_, P> {
    type Wire = Label;

    #[inline(always)]
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
        let mut labels = [[Label::ZERO; 2]; N];
        for at in 0..N {
            labels[at] = [a[at], b[at]];
        }
        let hashes = self.permutation.hash::<2, N, 1>(labels, 2 * self.gate);
        self.gate += N as u64;
        let Some((tables, rest)) = self.tables.split_at_checked(N * TABLE) else {
            self.is_short = true;
            return [Label::ZERO; N];
        };
        self.tables = rest;
        let (tables, _) = tables.as_chunks::<16>();
        let mut out = [Label::ZERO; N];
        for at in 0..N {
            let [a_hash, b_hash] = hashes[at];
            let generator = Label::from_bytes(tables[2 * at]);
            let evaluator = Label::from_bytes(tables[2 * at + 1]);
            let (a_colour, b_colour) = (a[at].colour_mask(), b[at].colour_mask());
            out[at] = a_hash ^ (a_colour & generator) ^ b_hash ^ (b_colour & (evaluator ^ a[at]));
        }
        out
    }
}
