//! ORBAN of MABoost: the OR of the bitwise AND.

use super::{Backend, Circuit, Shape, Wires, Workspace, size};
use crate::Error;

/// Whether both sides have a one in the same place, of k places: 2k − 1 gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Orban {
    places: usize,
}

impl Orban {
    /// The most places.
    pub const MOST: usize = 1 << 16;

    /// Over so many places.
    ///
    /// # Errors
    /// [`Error::Misuse`] without places, or with more than [`Orban::MOST`].
    pub fn new(places: usize) -> Result<Self, Error> {
        size((1..=Self::MOST).contains(&places), "1 to 65536 places")?;
        Ok(Self { places })
    }

    /// Places of one step.
    const BLOCK: usize = 2_048;
}

impl Circuit for Orban {
    fn name(&self) -> String {
        format!("orban 1 {}", self.places)
    }

    fn shape(&self) -> Shape {
        Shape {
            garbler: self.places,
            evaluator: self.places,
            output: 1,
            steps: self.places.div_ceil(Self::BLOCK),
        }
    }

    fn step<B: Backend>(&self, step: usize, work: &mut Workspace<B::Wire>, on: &mut B) {
        let block = step * Self::BLOCK..self.places.min((step + 1) * Self::BLOCK);
        let mut any = and_all(&work.garbler[block.clone()], &work.evaluator[block], on);
        any.extend(work.output.drain(..));
        // A balanced tree: independent gates, four at a time.
        while any.len() > 1 {
            let half = any.len() / 2;
            let both = and_all(&any[..half], &any[half..2 * half], on);
            for at in 0..half {
                let differ = on.xor(any[at], any[half + at]);
                any[at] = on.xor(differ, both[at]);
            }
            let odd = Wires::new(any[2 * half..].to_vec());
            any.truncate(half);
            any.extend(odd.iter());
        }
        work.output = any;
    }
}

/// The bitwise AND.
pub(super) fn and_all<B: Backend>(a: &[B::Wire], b: &[B::Wire], on: &mut B) -> Wires<B::Wire> {
    let mut both = Wires::new(Vec::with_capacity(a.len() + 1));
    let ((fours_a, rest_a), (fours_b, rest_b)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    for (a, b) in fours_a.iter().zip(fours_b) {
        both.extend(on.and(*a, *b));
    }
    for (a, b) in rest_a.iter().zip(rest_b) {
        both.extend(on.and([*a], [*b]));
    }
    both
}
