//! Labels of wires: 128 bits, of which the lowest is the colour.

use std::hint::black_box;
use std::ops::{BitAnd, BitXor};

use zeroize::Zeroize;

use crate::circuit::Wire;

/// A label. It cannot be printed.
#[derive(Clone, Copy)]
#[repr(align(16))]
pub(crate) struct Label([u64; 2]);

impl Label {
    pub(crate) const ZERO: Self = Self([0; 2]);

    #[inline(always)]
    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        let number = u128::from_le_bytes(bytes);
        Self([number as u64, (number >> 64) as u64])
    }

    #[inline(always)]
    pub(crate) fn to_bytes(self) -> [u8; 16] {
        (u128::from(self.0[0]) | u128::from(self.0[1]) << 64).to_le_bytes()
    }

    /// The label of a small number, as a tweak.
    #[inline(always)]
    pub(crate) fn small(number: u64) -> Self {
        Self([number, 0])
    }

    /// All ones if the bit is one, else zeros. The optimiser cannot see that there are only two cases, and so makes no branch of them.
    #[inline(always)]
    pub(crate) fn mask(bit: bool) -> Self {
        let mask = black_box(u64::from(bit)).wrapping_neg();
        Self([mask, mask])
    }

    /// The lowest bit.
    #[inline(always)]
    pub(crate) fn colour(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// All ones if the colour is one, else zeros.
    #[inline(always)]
    pub(crate) fn colour_mask(self) -> Self {
        let mask = (self.0[0] & 1).wrapping_neg();
        Self([mask, mask])
    }

    /// The label with colour one.
    pub(crate) fn coloured(self) -> Self {
        Self([self.0[0] | 1, self.0[1]])
    }
}

impl BitXor for Label {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
    }
}

impl BitAnd for Label {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }
}

impl Zeroize for Label {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl Wire for Label {}
