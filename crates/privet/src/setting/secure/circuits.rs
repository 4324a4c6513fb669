//! The circuits of joint computations.

use privet_mpc::circuit::{Argmin, Backend, Circuit, Counted, Number, Orban, Rendezvous, Shape, Workspace};

use super::joint::SUM_DIGITS;
use crate::Error;

/// Any circuit of this setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JointCircuit {
    /// A random attribute at which both are free.
    Meeting(Rendezvous),
    /// Whether there is an attribute at which both are free.
    Common(Orban, usize),
    /// The stump with the least sum of errors.
    Least(Argmin),
    /// Where sums of two numbers are not below zero.
    Comparing(Comparing),
}

/// For each pair of numbers, whether their sum is not below zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Comparing {
    count: usize,
}

/// How many bits a shifted number has.
const BITS: usize = 64;
/// What numbers are shifted by, so that none is below zero: they have less than 62 digits.
const SHIFT: i64 = 1 << 62;

impl Comparing {
    /// The garbler's input.
    pub(super) fn garbler(numbers: &[i64]) -> Vec<bool> {
        Self::bits(numbers.iter().map(|number| SHIFT.saturating_add(*number)))
    }

    /// The evaluator's input: the sum is not below zero where the garbler's shifted number is at least this one.
    pub(super) fn evaluator(numbers: &[i64]) -> Vec<bool> {
        Self::bits(numbers.iter().map(|number| SHIFT.saturating_sub(*number)))
    }

    fn bits(numbers: impl Iterator<Item = i64>) -> Vec<bool> {
        let unsigned = numbers.map(|number| number.max(0).cast_unsigned());
        unsigned
            .flat_map(|number| (0..BITS).map(move |at| number >> at & 1 == 1))
            .collect()
    }
}

impl Circuit for Comparing {
    fn name(&self) -> String {
        format!("sums not below zero 1 {}", self.count)
    }

    fn shape(&self) -> Shape {
        Shape {
            garbler: self.count * BITS,
            evaluator: self.count * BITS,
            output: self.count,
            steps: 1,
        }
    }

    fn step<B: Backend>(&self, _: usize, work: &mut Workspace<B::Wire>, on: &mut B) {
        let pairs = work.garbler.chunks(BITS).zip(work.evaluator.chunks(BITS));
        let mut answers = Vec::with_capacity(self.count);
        for (garbler, evaluator) in pairs {
            let less = Number::on(garbler).less(&Number::on(evaluator), on);
            answers.push(less.not(on));
        }
        work.output = Number::of(answers).wires(self.count, on);
    }
}

macro_rules! each {
    ($own:expr, $circuit:ident => $call:expr) => {
        match $own {
            JointCircuit::Meeting($circuit) => $call,
            JointCircuit::Common($circuit, _) => $call,
            JointCircuit::Least($circuit) => $call,
            JointCircuit::Comparing($circuit) => $call,
        }
    };
}

impl Circuit for JointCircuit {
    fn name(&self) -> String {
        each!(self, circuit => circuit.name())
    }

    fn shape(&self) -> Shape {
        each!(self, circuit => circuit.shape())
    }

    fn step<B: Backend>(&self, step: usize, work: &mut Workspace<B::Wire>, on: &mut B) {
        each!(self, circuit => circuit.step(step, work, on));
    }
}

/// A size that the plan has checked.
fn fits<T>(circuit: Result<T, privet_mpc::Error>) -> Result<T, Error> {
    circuit.map_err(|e| Error::internal(format!("a plan has circuits of possible sizes ({e})")))
}

/// Circuits of a plan, each counted when it is first asked for.
#[derive(Debug, Default)]
pub(super) struct Circuits {
    known: Vec<Counted<JointCircuit>>,
}

impl Circuits {
    pub(super) fn meeting(&mut self, attributes: usize) -> Result<Counted<JointCircuit>, Error> {
        let circuit = fits(Rendezvous::new(attributes))?;
        self.counted(JointCircuit::Meeting(circuit))
    }

    pub(super) fn common(&mut self, attributes: usize) -> Result<Counted<JointCircuit>, Error> {
        let circuit = fits(Orban::new(attributes))?;
        self.counted(JointCircuit::Common(circuit, attributes))
    }

    pub(super) fn least(&mut self, candidates: usize) -> Result<Counted<JointCircuit>, Error> {
        let circuit = fits(Argmin::new(candidates, SUM_DIGITS as usize))?;
        self.counted(JointCircuit::Least(circuit))
    }

    pub(super) fn comparing(&mut self, count: usize) -> Result<Counted<JointCircuit>, Error> {
        self.counted(JointCircuit::Comparing(Comparing { count }))
    }

    fn counted(&mut self, circuit: JointCircuit) -> Result<Counted<JointCircuit>, Error> {
        if let Some(known) = self.known.iter().find(|known| ***known == circuit) {
            return Ok(known.clone());
        }
        let counted = fits(Counted::new(circuit))?;
        self.known.push(counted.clone());
        Ok(counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_compared_with_zero() {
        let pairs = [
            (0, 0),
            (5, -5),
            (5, -6),
            (-1, 0),
            (1 << 61, -(1 << 61)),
            (-(1 << 61), (1 << 61) - 1),
            (3, 4),
        ];
        let (first, second): (Vec<i64>, Vec<i64>) = pairs.into_iter().unzip();
        let circuit = Counted::new(Comparing { count: pairs.len() }).expect("counts");
        let found = circuit.compute(&Comparing::garbler(&first), &Comparing::evaluator(&second));
        let real: Vec<bool> = pairs.iter().map(|(a, b)| a + b >= 0).collect();
        assert_eq!(found.expect("computes"), real);
    }
}
