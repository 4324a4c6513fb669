//! Labels of wires: 128 bits, of which the lowest is the colour.

use std::hint::black_box;
use std::ops::{BitAnd, BitXor};

use wide::u64x2;
use zeroize::Zeroize;

use crate::circuit::Wire;

/// A label. It cannot be printed. It is in one register, since a label that is stored in two halves and loaded whole again makes a gate wait.
#[derive(Clone, Copy)]
pub(crate) struct Label(u64x2);

impl Label {
    pub(crate) const ZERO: Self = Self(u64x2::new([0; 2]));

    #[inline(always)]
    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        let label: u64x2 = bytemuck::cast(bytes);
        if cfg!(target_endian = "little") {
            Self(label)
        } else {
            Self(u64x2::new(label.to_array().map(u64::from_le)))
        }
    }

    #[inline(always)]
    pub(crate) fn to_bytes(self) -> [u8; 16] {
        if cfg!(target_endian = "little") {
            bytemuck::cast(self.0)
        } else {
            bytemuck::cast(self.0.to_array().map(u64::to_le))
        }
    }

    /// The label of a small number, as a tweak.
    #[inline(always)]
    pub(crate) fn small(number: u64) -> Self {
        Self(u64x2::new([number, 0]))
    }

    /// All ones if the bit is one, else zeros. The optimiser cannot see that there are only two cases, and so makes no branch of them.
    #[inline(always)]
    pub(crate) fn mask(bit: bool) -> Self {
        Self(u64x2::splat(black_box(u64::from(bit)).wrapping_neg()))
    }

    #[inline(always)]
    fn low(self) -> u64 {
        self.0.as_array()[0]
    }

    /// The lowest bit.
    #[inline(always)]
    pub(crate) fn colour(self) -> bool {
        self.low() & 1 == 1
    }

    /// All ones if the colour is one, else zeros.
    #[inline(always)]
    pub(crate) fn colour_mask(self) -> Self {
        Self(u64x2::splat((self.low() & 1).wrapping_neg()))
    }

    /// The label with colour one.
    pub(crate) fn coloured(self) -> Self {
        Self(self.0 | u64x2::new([1, 0]))
    }
}

impl BitXor for Label {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl BitAnd for Label {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Zeroize for Label {
    fn zeroize(&mut self) {
        self.0.as_mut_array().zeroize();
    }
}

impl Wire for Label {}
