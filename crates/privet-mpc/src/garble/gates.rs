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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::circuit::{Argmin, Counted, Rendezvous, Wires};

    /// Counts how often it is asked, and mixes a little.
    #[derive(Default)]
    struct Counting(Cell<u64>);

    impl Permutation for Counting {
        fn permute(&self, label: Label) -> Label {
            self.0.set(self.0.get() + 1);
            let number = u128::from_le_bytes(label.to_bytes());
            let mixed = (number | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) ^ number >> 61;
            Label::from_bytes(mixed.rotate_left(57).to_le_bytes())
        }
    }

    fn random(state: &mut u128) -> Label {
        *state = state
            .wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645)
            .wrapping_add(0x5851_f42d_4c95_7f2d);
        Label::from_bytes((*state ^ *state >> 67).to_le_bytes())
    }

    /// Permutations of the garbler and of the evaluator, and whether the labels that come out decode to what the cleartext twin says.
    fn walk<C: Circuit>(circuit: &Counted<C>, x: &[bool], y: &[bool], mut state: u128) -> (u64, u64) {
        let delta = Zeroizing::new(random(&mut state).coloured());
        let (garbling, evaluating) = (Counting::default(), Counting::default());
        let mut zeros = |bits: &[bool]| Wires::new(bits.iter().map(|_| random(&mut state)).collect());
        let (zero_x, zero_y) = (zeros(x), zeros(y));
        let active = |zeros: &Wires<Label>, bits: &[bool]| {
            let each = zeros.iter().zip(bits);
            Wires::new(
                each.map(|(zero, bit)| *zero ^ (Label::mask(*bit) & *delta))
                    .collect(),
            )
        };
        let (active_x, active_y) = (active(&zero_x, x), active(&zero_y, y));
        let (mut zero, mut active) = (Workspace::new(zero_x, zero_y), Workspace::new(active_x, active_y));
        let (mut gate, mut tables, steps) = (0, Vec::new(), circuit.shape().steps);
        Garble {
            circuit: &**circuit,
            steps: 0..steps,
            work: &mut zero,
            delta: &delta,
            gate: &mut gate,
            tables: &mut tables,
        }
        .run(&garbling);
        let (mut evaluated, mut rest) = (0, &tables[..]);
        for step in 0..steps {
            let (mut is_short, (now, later)) = (false, rest.split_at(TABLE * circuit.step_ands(step)));
            Evaluate {
                circuit: &**circuit,
                step,
                work: &mut active,
                gate: &mut evaluated,
                tables: now,
                is_short: &mut is_short,
            }
            .run(&evaluating);
            assert!(!is_short);
            rest = later;
        }
        assert!(rest.is_empty() && gate == evaluated && gate == circuit.cost().ands);
        let pairs = zero.output.iter().zip(active.output.iter());
        let bits: Vec<bool> = pairs.map(|(zero, active)| (*zero ^ *active).colour()).collect();
        assert_eq!(bits, circuit.compute(x, y).expect("inputs of its shape"));
        (garbling.0.get(), evaluating.0.get())
    }

    /// The work follows from the gates: not from inputs, labels or colours.
    #[test]
    fn permutations_are_counted_by_gates_whatever_the_labels_are() {
        fn same<C: Circuit>(circuit: C) {
            let circuit = Counted::new(circuit).expect("a circuit");
            let (ands, shape) = (circuit.cost().ands, circuit.shape());
            for state in 0..40_u128 {
                let bits = |count: usize, by: u128| -> Vec<bool> {
                    (0..count as u128)
                        .map(|at| (at * by + state * state) % 5 < 2 + state % 3)
                        .collect()
                };
                let (x, y) = (bits(shape.garbler, 3), bits(shape.evaluator, 7));
                assert_eq!(walk(&circuit, &x, &y, state), (8 * ands, 4 * ands));
            }
        }
        same(Argmin::new(9, 5).expect("a circuit"));
        same(Rendezvous::new(11).expect("a circuit"));
    }

    #[test]
    fn a_step_with_too_few_tables_is_noticed() {
        let circuit = Counted::new(Argmin::new(2, 2).expect("a circuit")).expect("counted");
        let wires = || Wires::new(vec![Label::small(5); 4]);
        let (mut is_short, mut gate) = (false, 0);
        Evaluate {
            circuit: &*circuit,
            step: 0,
            work: &mut Workspace::new(wires(), wires()),
            gate: &mut gate,
            tables: &[0; TABLE],
            is_short: &mut is_short,
        }
        .run(&Counting::default());
        assert!(is_short);
    }
}
