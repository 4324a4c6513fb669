//! The counting twin: what a circuit costs, before anything is sent.

use std::ops::Deref;
use std::sync::Arc;

use super::clear::Clear;
use super::{Backend, Circuit, Shape, Wire, Wires, Workspace, size};
use crate::Error;
use crate::garble::{HEAD, SALT};
use crate::transfer::{BLOCK_BYTES, BLOCK_ROWS, COLUMNS};

impl Wire for () {}

/// The most bytes in the body of a message.
pub(crate) const PART: usize = BLOCK_BYTES;

#[derive(Default)]
struct Counter {
    ands: u64,
    xors: std::cell::Cell<u64>,
}

impl Backend for Counter {
    type Wire = ();

    fn constant(&self, _: bool) {}

    fn xor(&self, (): (), (): ()) {
        self.xors.set(self.xors.get() + 1);
    }

    fn not(&self, (): ()) {}

    fn and<const N: usize>(&mut self, _: [(); N], _: [(); N]) -> [(); N] {
        self.ands += N as u64;
        [(); N]
    }
}

/// What one run of a circuit costs after the set-up. Bytes are those of bodies, `heads` apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Gates with a table.
    pub ands: u64,
    /// Gates without one.
    pub xors: u64,
    /// Bytes of the evaluator's choices: 16 for each bit, in whole bytes of bits.
    pub choices: u64,
    /// Bytes of corrections of the evaluator's labels: 16 for each bit.
    pub corrections: u64,
    /// Bytes of tables: 32 for each gate.
    pub tables: u64,
    /// Bytes that output bits take: decoding bits, and the outcome that is told.
    pub outputs: u64,
    /// Bytes of heads and salts.
    pub heads: u64,
    /// Messages.
    pub messages: u64,
    /// Times that the direction changes, the first message included: choices, garbled, outcome.
    pub rounds: u64,
}

impl Cost {
    /// All bytes, both ways.
    pub fn bytes(&self) -> u64 {
        self.choices + self.corrections + self.tables + self.outputs + self.heads
    }
}

/// A circuit with its gates counted: what both sides run. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Counted<C> {
    circuit: C,
    /// Gates with a table, in each step.
    steps: Arc<[u32]>,
    cost: Cost,
}

impl<C> Deref for Counted<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.circuit
    }
}

impl<C: Circuit> Counted<C> {
    /// Counts.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the circuit does not fill its output, or has more than 2³⁰ gates.
    pub fn new(circuit: C) -> Result<Self, Error> {
        let shape = circuit.shape();
        let mut work = Workspace::new(
            Wires::new(vec![(); shape.garbler]),
            Wires::new(vec![(); shape.evaluator]),
        );
        let (mut on, mut steps) = (Counter::default(), Vec::with_capacity(shape.steps));
        for step in 0..shape.steps {
            let before = on.ands;
            circuit.step(step, &mut work, &mut on);
            size(on.ands <= 1 << 30, "a circuit has at most 2^30 gates")?;
            steps.push((on.ands - before) as u32);
        }
        size(work.output.len() == shape.output, FULL)?;
        let cost = cost(&shape, on.ands, on.xors.get());
        Ok(Self {
            circuit,
            steps: steps.into(),
            cost,
        })
    }

    /// What it costs.
    pub fn cost(&self) -> &Cost {
        &self.cost
    }

    /// What the circuit gives, computed in the clear.
    ///
    /// # Errors
    /// [`Error::Misuse`] if an input has another length than the circuit says.
    pub fn compute(&self, garbler: &[bool], evaluator: &[bool]) -> Result<Vec<bool>, Error> {
        let shape = self.shape();
        let fits = garbler.len() == shape.garbler && evaluator.len() == shape.evaluator;
        size(fits, "an input has as many bits as the circuit says")?;
        let mut work = Workspace::new(Wires::new(garbler.to_vec()), Wires::new(evaluator.to_vec()));
        (0..shape.steps).for_each(|step| self.circuit.step(step, &mut work, &mut Clear));
        size(work.output.len() == shape.output, FULL)?;
        Ok(work.output.to_vec())
    }

    /// Gates with a table in a step.
    pub(crate) fn step_ands(&self, step: usize) -> usize {
        self.steps.get(step).map_or(0, |ands| *ands as usize)
    }
}

const FULL: &str = "the last step of a circuit fills its output";

fn cost(shape: &Shape, ands: u64, xors: u64) -> Cost {
    let bits = shape.evaluator;
    let output = shape.output.div_ceil(8) as u64;
    let (choices, corrections, tables) = ((COLUMNS * bits.div_ceil(8)) as u64, 16 * bits as u64, 32 * ands);
    let asked = bits.div_ceil(BLOCK_ROWS).max(1) as u64;
    let garbled = (SALT as u64 + corrections + tables + output).div_ceil(PART as u64);
    let messages = asked + garbled + 1;
    Cost {
        ands,
        xors,
        choices,
        corrections,
        tables,
        outputs: 2 * output,
        heads: messages * HEAD as u64 + asked * SALT as u64 + SALT as u64,
        messages,
        rounds: 3,
    }
}
