//! A number of each side: their sum, and which one is smaller.

use super::{Backend, Circuit, MOST_BITS, Number, Shape, Workspace, size};
use crate::Error;

const BITS: &str = "a number has 1 to 64 bits";

/// The sum of two numbers, one bit longer than they are: a gate for each bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sum {
    bits: usize,
}

impl Sum {
    /// Of numbers of so many bits.
    ///
    /// # Errors
    /// [`Error::Misuse`] without bits, or with more than [`MOST_BITS`].
    pub fn new(bits: usize) -> Result<Self, Error> {
        size((1..=MOST_BITS).contains(&bits), BITS)?;
        Ok(Self { bits })
    }
}

impl Circuit for Sum {
    fn name(&self) -> String {
        format!("sum 1 {}", self.bits)
    }

    fn shape(&self) -> Shape {
        Shape {
            garbler: self.bits,
            evaluator: self.bits,
            output: self.bits + 1,
            steps: 1,
        }
    }

    fn step<B: Backend>(&self, _: usize, work: &mut Workspace<B::Wire>, on: &mut B) {
        let (a, b) = (Number::on(&work.garbler), Number::on(&work.evaluator));
        work.output = a.plus(&b, on).wires(self.bits + 1, on);
    }
}

/// Whether the garbler's number is smaller than the evaluator's: a gate for each bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Less {
    bits: usize,
}

impl Less {
    /// Of numbers of so many bits.
    ///
    /// # Errors
    /// [`Error::Misuse`] without bits, or with more than [`MOST_BITS`].
    pub fn new(bits: usize) -> Result<Self, Error> {
        size((1..=MOST_BITS).contains(&bits), BITS)?;
        Ok(Self { bits })
    }
}

impl Circuit for Less {
    fn name(&self) -> String {
        format!("less 1 {}", self.bits)
    }

    fn shape(&self) -> Shape {
        Shape {
            garbler: self.bits,
            evaluator: self.bits,
            output: 1,
            steps: 1,
        }
    }

    fn step<B: Backend>(&self, _: usize, work: &mut Workspace<B::Wire>, on: &mut B) {
        let (a, b) = (Number::on(&work.garbler), Number::on(&work.evaluator));
        let less = Number::of([a.less(&b, on)]);
        work.output = less.wires(1, on);
    }
}
