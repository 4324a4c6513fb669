//! Numbers on wires. Bits that everybody knows cost no gate.

use zeroize::Zeroize;

use super::{Backend, Wire, Wires};

/// A bit that everybody knows, or a wire.
#[derive(Clone, Copy)]
pub enum Bit<W> {
    /// Everybody knows it.
    Known(bool),
    /// It goes through a wire.
    On(W),
}

impl<W: Zeroize> Zeroize for Bit<W> {
    fn zeroize(&mut self) {
        if let Self::On(wire) = self {
            wire.zeroize();
        }
    }
}

impl<W: Wire> Bit<W> {
    /// A wire in any case.
    pub fn wire<B: Backend<Wire = W>>(self, on: &B) -> W {
        match self {
            Self::Known(bit) => on.constant(bit),
            Self::On(wire) => wire,
        }
    }

    /// The opposite.
    pub fn not<B: Backend<Wire = W>>(self, on: &B) -> Self {
        match self {
            Self::Known(bit) => Self::Known(!bit),
            Self::On(wire) => Self::On(on.not(wire)),
        }
    }

    /// Whether the two differ.
    pub fn xor<B: Backend<Wire = W>>(self, other: Self, on: &B) -> Self {
        match (self, other) {
            (Self::Known(false), bit) | (bit, Self::Known(false)) => bit,
            (Self::Known(true), bit) | (bit, Self::Known(true)) => bit.not(on),
            (Self::On(a), Self::On(b)) => Self::On(on.xor(a, b)),
        }
    }

    /// Whether both are one.
    pub fn and<B: Backend<Wire = W>>(self, other: Self, on: &mut B) -> Self {
        match (self, other) {
            (Self::Known(false), _) | (_, Self::Known(false)) => Self::Known(false),
            (Self::Known(true), bit) | (bit, Self::Known(true)) => bit,
            (Self::On(a), Self::On(b)) => Self::On(on.and([a], [b])[0]),
        }
    }

    /// Whether one of the two is one.
    pub fn or<B: Backend<Wire = W>>(self, other: Self, on: &mut B) -> Self {
        let both = self.and(other, on);
        self.xor(other, on).xor(both, on)
    }

    /// `yes` if this is one, else `no`: one gate at most.
    pub fn choose<B: Backend<Wire = W>>(self, yes: Self, no: Self, on: &mut B) -> Self {
        if let (Self::Known(yes), Self::Known(no)) = (yes, no) {
            return match (yes, no) {
                (true, false) => self,
                (false, true) => self.not(on),
                _ => Self::Known(yes),
            };
        }
        let changed = yes.xor(no, on).and(self, on);
        no.xor(changed, on)
    }
}

/// A natural number, lowest bit first; bits beyond its length are zero. Wiped when it goes.
pub struct Number<W: Wire>(Vec<Bit<W>>);

impl<W: Wire> Drop for Number<W> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<W: Wire> Number<W> {
    /// Zero.
    pub const fn zero() -> Self {
        Self(Vec::new())
    }

    /// A number that everybody knows.
    pub fn known(number: u64) -> Self {
        let bits = u64::BITS - number.leading_zeros();
        Self((0..bits).map(|at| Bit::Known(number >> at & 1 == 1)).collect())
    }

    /// The number of these wires, lowest first.
    pub fn on(wires: &[W]) -> Self {
        Self(wires.iter().map(|wire| Bit::On(*wire)).collect())
    }

    /// The number of these bits, lowest first.
    pub fn of(bits: impl IntoIterator<Item = Bit<W>>) -> Self {
        Self(bits.into_iter().collect())
    }

    /// Its bits.
    pub fn bits(&self) -> &[Bit<W>] {
        &self.0
    }

    /// How many bits it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has no bits, and is zero.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A bit; zero beyond its length.
    pub fn bit(&self, at: usize) -> Bit<W> {
        self.0.get(at).copied().unwrap_or(Bit::Known(false))
    }

    /// Its lowest bits, as many as said: the remainder modulo a power of two.
    pub fn low(&self, bits: usize) -> Self {
        Self::of((0..bits.min(self.len())).map(|at| self.bit(at)))
    }

    /// Without its lowest bits: the quotient by a power of two.
    pub fn high(&self, from: usize) -> Self {
        Self::of((from..self.len()).map(|at| self.bit(at)))
    }

    /// With a bit above its highest.
    pub fn with_above(&self, bit: Bit<W>) -> Self {
        let mut longer = Vec::with_capacity(self.len() + 1);
        longer.extend_from_slice(&self.0);
        longer.push(bit);
        Self(longer)
    }

    /// Exactly so many wires, lowest first.
    pub fn wires<B: Backend<Wire = W>>(&self, bits: usize, on: &B) -> Wires<W> {
        Wires::new((0..bits).map(|at| self.bit(at).wire(on)).collect())
    }

    /// The sum, one bit longer than the longer of the two: a gate for each bit.
    pub fn plus<B: Backend<Wire = W>>(&self, other: &Self, on: &mut B) -> Self {
        let bits = self.len().max(other.len());
        let mut sum = Vec::with_capacity(bits + 1);
        let mut carry = Bit::Known(false);
        for at in 0..bits {
            let (a, b) = (self.bit(at), other.bit(at));
            // The carry where a and b differ, else a.
            let (a_carry, b_carry) = (a.xor(carry, on), b.xor(carry, on));
            sum.push(a_carry.xor(b, on));
            carry = a_carry.and(b_carry, on).xor(carry, on);
        }
        sum.push(carry);
        Self(sum)
    }

    /// The difference modulo two to the longer length, and whether `other` is larger: a gate for each bit.
    pub fn minus<B: Backend<Wire = W>>(&self, other: &Self, on: &mut B) -> (Self, Bit<W>) {
        let bits = self.len().max(other.len());
        let mut difference = Vec::with_capacity(bits);
        let mut borrow = Bit::Known(false);
        for at in 0..bits {
            let (a, b) = (self.bit(at), other.bit(at));
            let a_borrow = a.xor(borrow, on);
            difference.push(a_borrow.xor(b, on));
            borrow = a_borrow.not(on).and(b.xor(borrow, on), on).xor(borrow, on);
        }
        (Self(difference), borrow)
    }

    /// Whether this number is smaller than `other`: a gate for each bit.
    pub fn less<B: Backend<Wire = W>>(&self, other: &Self, on: &mut B) -> Bit<W> {
        let mut less = Bit::Known(false);
        for at in 0..self.len().max(other.len()) {
            let (a, b) = (self.bit(at), other.bit(at));
            // Where the two differ, b's bit decides.
            less = a.xor(b, on).and(b.xor(less, on), on).xor(less, on);
        }
        less
    }

    /// Whether it is not zero.
    pub fn is_positive<B: Backend<Wire = W>>(&self, on: &mut B) -> Bit<W> {
        let bits = self.0.iter();
        bits.fold(Bit::Known(false), |any, bit| any.or(*bit, on))
    }

    /// `yes` if the bit is one, else `no`: a gate for each bit.
    pub fn choose<B: Backend<Wire = W>>(bit: Bit<W>, yes: &Self, no: &Self, on: &mut B) -> Self {
        let bits = yes.len().max(no.len());
        let mut chosen = Vec::with_capacity(bits);
        for at in 0..bits {
            chosen.push(bit.choose(yes.bit(at), no.bit(at), on));
        }
        Self(chosen)
    }

    /// This number if the bit is one, else zero: a gate for each bit.
    pub fn if_set<B: Backend<Wire = W>>(&self, bit: Bit<W>, on: &mut B) -> Self {
        let mut kept = Vec::with_capacity(self.len());
        for at in 0..self.len() {
            kept.push(self.bit(at).and(bit, on));
        }
        Self(kept)
    }

    /// The product: about two gates for each pair of bits.
    pub fn times<B: Backend<Wire = W>>(&self, other: &Self, on: &mut B) -> Self {
        let mut product = Vec::with_capacity(self.len() + other.len() + 1);
        let mut rest = Self::zero();
        for at in 0..other.len() {
            let sum = rest.plus(&self.if_set(other.bit(at), on), on);
            product.push(sum.bit(0));
            rest = sum.high(1);
        }
        product.extend_from_slice(&rest.0);
        Self(product)
    }
}
