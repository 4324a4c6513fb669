//! Gates on labels whose colours are chosen, for `benches/timing.rs`: whether the time tells them.

use std::hint::black_box;

use zeroize::Zeroizing;

use super::gates::{Evaluate, Garble, TABLE};
use super::hash::{Hash, Permutation, Work};
use super::label::Label;
use crate::circuit::{Backend, Circuit, Shape, Wires, Workspace};

/// Gates of one measurement.
const GATES: usize = 256;

/// So many gates, four at a time.
struct Ands;

impl Circuit for Ands {
    fn name(&self) -> String {
        "ands".into()
    }

    fn shape(&self) -> Shape {
        Shape {
            garbler: GATES,
            evaluator: GATES,
            output: GATES,
            steps: 1,
        }
    }

    #[inline(always)]
    fn step<B: Backend>(&self, _: usize, work: &mut Workspace<B::Wire>, on: &mut B) {
        let (a, b) = (work.garbler.as_chunks::<4>().0, work.evaluator.as_chunks::<4>().0);
        for (a, b) in a.iter().zip(b) {
            work.output.extend(on.and(*a, *b));
        }
    }
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timed {
    /// Garbling.
    Garbler,
    /// Evaluating.
    Evaluator,
    /// Evaluating with a planted branch on each colour.
    Planted,
}

/// Random labels of a seed; all colours are zero, or random as well.
pub struct Labels(Wires<Label>);

impl Labels {
    /// Those of this seed.
    pub fn new(seed: u64, random_colours: bool) -> Self {
        let each = (0..2 * GATES as u64).map(|at| Label::small(at ^ seed << 16));
        let mut labels = Wires::new(each.collect());
        Hash::new(&[0x5a; 16]).with(super::Permute(&mut labels));
        for label in labels.iter_mut().filter(|_| !random_colours) {
            *label = *label ^ (label.colour_mask() & Label::small(1));
        }
        Self(labels)
    }
}

/// The one place where all labels are measured: otherwise their addresses could differ in time.
pub struct Place {
    hash: Hash,
    work: Workspace<Label>,
    tables: Vec<u8>,
}

impl Place {
    /// A place, and tables that are the same for all.
    #[allow(clippy::new_without_default, reason = "for one bench")]
    pub fn new() -> Self {
        let wires = || Wires::new(vec![Label::ZERO; GATES]);
        let mut work = Workspace::new(wires(), wires());
        work.output = Wires::new(Vec::with_capacity(GATES));
        Self {
            hash: Hash::new(&[0xa5; 16]),
            work,
            tables: vec![0xa5; TABLE * GATES],
        }
    }

    /// Puts labels there.
    pub fn put(&mut self, labels: &Labels) {
        let (a, b) = labels.0.split_at(GATES);
        self.work.garbler.copy_from_slice(a);
        self.work.evaluator.copy_from_slice(b);
    }

    /// Walks through the gates once.
    pub fn walk(&mut self, what: Timed) {
        self.work.output.clear();
        let mut gate = 0;
        match what {
            Timed::Garbler => {
                self.tables.clear();
                self.hash.with(Garble {
                    circuit: &Ands,
                    steps: 0..1,
                    work: &mut self.work,
                    delta: &Zeroizing::new(Label::small(3)),
                    gate: &mut gate,
                    tables: &mut self.tables,
                });
            }
            Timed::Evaluator => self.hash.with(Evaluate {
                circuit: &Ands,
                step: 0,
                work: &mut self.work,
                gate: &mut gate,
                tables: &self.tables,
                is_short: &mut false,
            }),
            Timed::Planted => self.hash.with(Branching(&mut self.work, &self.tables)),
        }
        black_box(&self.work.output);
    }
}

/// An evaluator as one would write it first.
struct Branching<'a>(&'a mut Workspace<Label>, &'a [u8]);

impl Work for Branching<'_> {
    #[inline(always)]
    fn run<P: Permutation>(self, permutation: &P) {
        let (tables, _) = self.1.as_chunks::<16>();
        let wires = self.0.garbler.iter().zip(self.0.evaluator.iter());
        for (at, (a, b)) in wires.enumerate() {
            let [[mut out, b_hash]] = permutation.hash::<2, 1, 1>([[*a, *b]], 2 * at as u64);
            out = out ^ b_hash;
            if black_box(a.colour()) {
                out = black_box(out ^ Label::from_bytes(tables[2 * at]));
            }
            if black_box(b.colour()) {
                out = black_box(out ^ Label::from_bytes(tables[2 * at + 1]) ^ *a);
            }
            self.0.output.push(out);
        }
    }
}
