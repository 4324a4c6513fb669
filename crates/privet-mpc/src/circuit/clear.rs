//! The cleartext twin.

use super::{Backend, Wire};

impl Wire for bool {}

/// Computes with the bits themselves.
pub(super) struct Clear;

impl Backend for Clear {
    type Wire = bool;

    fn constant(&self, bit: bool) -> bool {
        bit
    }

    fn xor(&self, a: bool, b: bool) -> bool {
        a ^ b
    }

    fn not(&self, a: bool) -> bool {
        !a
    }

    fn and<const N: usize>(&mut self, a: [bool; N], b: [bool; N]) -> [bool; N] {
        std::array::from_fn(|at| a[at] & b[at])
    }
}
