//! A real normal variable times σ, rounded: its digits are drawn as far as the rounding needs them.
//!
//! In the spirit of Karney (2016), but with the same work for every draw. First a cell of width 2^-6 under the steps
//! `exp(-z_h²/2)`, `z_h` the cell's start, from a table that serves all σ; then the digits of the position in the cell,
//! kept with probability `exp(-(z²−z_h²)/2)`, on average 0.994. A refused draw starts again from nothing. The first 128
//! digits tell the rounding but with probability below 2^-47; then there are more.

use std::sync::OnceLock;

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::Randomness;
use super::bernoulli::{self, Uniform};
use super::half::Half;
use super::laplace::with_sign;
use super::noise::whole_bits;
use super::table::Thresholds;
use crate::privacy::enclosure::Enclosure;

/// A cell of |z| is `2^-CELL` wide.
const CELL: usize = 6;
/// Cells beyond this one (z = 64, probability e^-2048) leave the machine words.
const FAR: u64 = 1 << (CELL + 6);
/// Digits of σ that the quick rounding looks at.
const DIGITS: usize = 112;

/// Cells with probability proportional to `exp(-z_h²/2)`, the same for all σ.
pub(super) fn envelope() -> &'static Thresholds<Half> {
    static CELLS: OnceLock<Thresholds<Half>> = OnceLock::new();
    CELLS.get_or_init(|| {
        let sigma = RBig::from(1u64 << CELL);
        // Unwrap safety: exp(-z²/2) < 2^-63 from z = 9.4 on, which is cell 602.
        Thresholds::new(Half { sigma }, 1 << 10).expect("602 cells")
    })
}

/// `round(σz)` for a real normal `z`.
#[derive(Debug, Clone)]
pub(super) struct Scaled {
    sigma: RBig,
    /// `floor(σ·2^shift)`, below 2^[`DIGITS`].
    scaled: u128,
    shift: usize,
}

impl Scaled {
    pub(super) fn new(sigma: RBig) -> Self {
        let shift = DIGITS - whole_bits(&sigma);
        let scaled = (&sigma * RBig::from(IBig::ONE << shift)).trunc();
        Self {
            // Saturates for no σ: the whole part of σ·2^shift has `DIGITS` digits at most.
            scaled: u128::try_from(&scaled).unwrap_or(u128::MAX),
            sigma,
            shift,
        }
    }

    #[inline]
    pub(super) fn draw(&self, cells: &Thresholds<Half>, random: &mut Randomness) -> i128 {
        loop {
            let (cell, negative) = cells.draw(random);
            let position = (u128::from(random.word()) << 64) | u128::from(random.word());
            let v = random.word();
            let magnitude = match quick_accept(cell, (position >> 64) as u64, v) {
                Some(false) => continue,
                Some(true) => self.quick_round(cell, position),
                None => None,
            };
            let magnitude = match magnitude {
                Some(magnitude) => magnitude,
                None => match self.slow(cell, position, v, random) {
                    Some(magnitude) => magnitude,
                    None => continue,
                },
            };
            return with_sign(&(magnitude, negative));
        }
    }

    /// `round(σz)`, if all positions that begin like this one agree.
    ///
    /// `σz·2^(shift+CELL) = σ·2^shift·(cell+u)`; the sum below is short of it by less than `cell + 1` for the digits
    /// of σ that were cut off, 1 for those of the product and 1 for those of the position.
    #[inline]
    fn quick_round(&self, cell: u64, position: u128) -> Option<u128> {
        let cell = u128::from(cell);
        let point = self.shift + CELL;
        let low = cell * self.scaled + high_product(position, self.scaled) + (1 << (point - 1));
        let (first, last) = (low >> point, (low + cell + 3) >> point);
        (first == last).then_some(first)
    }

    /// The same draw with as many digits as it takes; nothing if it is refused.
    #[cold]
    #[inline(never)]
    fn slow(&self, cell: u64, position: u128, v: u64, random: &mut Randomness) -> Option<u128> {
        let mut position = Uniform::from_digits(position.into(), 128);
        if !slow_accept(cell, &mut position, Uniform::new(v), random) {
            return None;
        }
        loop {
            if let Some(magnitude) = self.round(cell, &position) {
                return Some(magnitude);
            }
            position.extend(random);
        }
    }

    /// `floor(σ·(cell+u)/2^CELL + ½)`, if both ends of what is known of `u` agree.
    fn round(&self, cell: u64, position: &Uniform) -> Option<u128> {
        let start = (UBig::from(cell) << position.known) + &position.digits;
        let at = |place: UBig| {
            let z = RBig::from_parts(place.into(), UBig::ONE << (position.known + CELL));
            (z * &self.sigma + RBig::from_parts(1.into(), 2u8.into())).trunc()
        };
        let (first, last) = (at(start.clone()), at(start + 1u8));
        // Beyond 2^126 only with probability below 2^-1000.
        (first == last).then(|| u128::try_from(&first).unwrap_or(u128::MAX).min(1 << 126))
    }
}

/// Whether a position that begins with these 64 digits is kept, if they tell.
///
/// The exponent `(2·cell·u + u²)/2^(2·CELL+1)` is off by at most 3 units of 2^-64, within the slack of the coin.
#[inline]
fn quick_accept(cell: u64, first: u64, v: u64) -> Option<bool> {
    if cell >= FAR {
        return None;
    }
    let (cell, u) = (u128::from(cell), u128::from(first));
    bernoulli::quick((2 * cell * u + ((u * u) >> 64)) >> (2 * CELL + 1), v)
}

fn slow_accept(cell: u64, position: &mut Uniform, mut v: Uniform, random: &mut Randomness) -> bool {
    loop {
        let bits = position.known + 64;
        let u = position.enclosure(bits);
        let twice = Enclosure::integer(IBig::from(cell) * 2, bits);
        let exponent = u.mul(&twice.add(&u)).scale(1, 1 << (2 * CELL + 1));
        if let Some(kept) = v.below(&exponent.neg().exp()) {
            return kept;
        }
        position.extend(random);
        v.extend(random);
    }
}

/// `floor(a·b / 2^128)`
#[inline]
fn high_product(a: u128, b: u128) -> u128 {
    let low = |x: u128| x & u128::from(u64::MAX);
    let (a1, a0, b1, b0) = (a >> 64, low(a), b >> 64, low(b));
    let middle = a1 * b0 + ((a0 * b0) >> 64);
    let other = a0 * b1 + low(middle);
    a1 * b1 + (middle >> 64) + (other >> 64)
}

#[cfg(test)]
mod tests {
    use super::super::noise::tests::{fits, long, ratio};
    use super::super::{Noise, RoundedGaussian};
    use super::*;

    /// All draws through big integers, starting from few digits. False-alarm rate 1e-6.
    #[test]
    fn slow_draws_have_the_same_law() {
        let noise = RoundedGaussian::new(ratio(7, 3)).expect("a σ");
        let scaled = Scaled::new(ratio(7, 3).big().clone());
        let mut random = Randomness::seeded(46);
        let mut sample = Vec::new();
        while sample.len() < 5_000 {
            let (cell, negative) = envelope().draw(&mut random);
            let word = random.word();
            let mut position = Uniform::from_digits((word >> 60).into(), 4);
            let v = Uniform::from_digits((word & 15).into(), 4);
            if !slow_accept(cell, &mut position, v, &mut random) {
                continue;
            }
            let magnitude = loop {
                match scaled.round(cell, &position) {
                    Some(magnitude) => break magnitude as i128,
                    None => position.extend(&mut random),
                }
            };
            sample.push(if negative { -magnitude } else { magnitude });
        }
        assert!(fits(&sample, 30, |k| noise.mass(k)));
    }

    #[test]
    fn quick_and_slow_decisions_agree() {
        let mut random = Randomness::seeded(47);
        let cells = envelope();
        for sigma in [ratio(1, 3), ratio(1000, 1), long(99_999, 7), ratio(1 << 60, 1)] {
            let scaled = Scaled::new(sigma.big().clone());
            for _ in 0..2000 {
                let (cell, _) = cells.draw(&mut random);
                let [first, second, v] = [0; 3].map(|_| random.word());
                let position = (u128::from(first) << 64) | u128::from(second);
                let mut long = Uniform::from_digits(position.into(), 128);
                let kept = slow_accept(cell, &mut long, Uniform::new(v), &mut random);
                assert_eq!(quick_accept(cell, first, v), Some(kept));
                let rounded = scaled.round(cell, &Uniform::from_digits(position.into(), 128));
                assert_eq!(scaled.quick_round(cell, position), rounded, "σ = {sigma}");
                assert!(rounded.is_some());
            }
        }
    }

    /// Next to a half-integer the digits of σ that were cut off decide, once for each cell below. With σ short of a
    /// multiple of 2^-shift they are as many as they can be.
    #[test]
    fn quick_roundings_hold_next_to_half_integers() {
        let short = RBig::from(1000) - RBig::from_parts(IBig::ONE, UBig::ONE << 150);
        let sigmas = [
            ratio(1_000_000, 3),
            ratio(123, 1),
            long(99_999, 7),
            ratio((1 << 60) - 1, 7),
        ];
        let sigmas = sigmas.iter().map(|sigma| sigma.big().clone()).chain([short]);
        for sigma in sigmas {
            let scaled = Scaled::new(sigma.clone());
            // One unit of the quick sum, in units of the position.
            let unit = (1u128 << 127) / scaled.scaled * 2;
            for cell in [0u64, 1, 2, 5, 63, 64, 100, 333, 601, 602, 1500, FAR - 1] {
                // The last half-integer in the cell, and the position where it is reached.
                let end = RBig::from(cell + 1) * &sigma / RBig::from(1 << CELL);
                let half = RBig::from((end - RBig::from_parts(1.into(), 2u8.into())).trunc())
                    + RBig::from_parts(1.into(), 2u8.into());
                let place = half * RBig::from(1 << CELL) / &sigma - RBig::from(cell);
                let place = (place * RBig::from(IBig::ONE << 128)).trunc();
                let place = u128::try_from(&place).expect("σ > 64: a half-integer in each cell");
                let steps = u128::from(cell) + 8;
                let far = (0..=2 * steps).map(|i| place + i * unit - steps * unit);
                for position in far.chain(place - 3..place + 4) {
                    let exact = scaled.round(cell, &Uniform::from_digits(position.into(), 128));
                    let quick = scaled.quick_round(cell, position);
                    assert!(
                        quick.is_none() || quick == exact,
                        "cell {cell}, {position} at σ = {sigma}"
                    );
                }
                for side in [place - 2 * steps * unit, place + 2 * steps * unit] {
                    assert!(
                        scaled.quick_round(cell, side).is_some(),
                        "cell {cell} at σ = {sigma}"
                    );
                }
            }
        }
    }

    /// σ = 64 rounds halfway between cells exactly at the middle of one: the digits say on which side.
    #[test]
    fn half_integers_ask_for_digits() {
        let scaled = Scaled::new(RBig::from(64));
        assert_eq!(scaled.quick_round(5, 1 << 127), Some(6));
        assert_eq!(scaled.quick_round(5, (1 << 127) - (1 << 60)), Some(5));
        assert_eq!(scaled.quick_round(5, (1 << 127) - 1), None);
        let digits = UBig::from((1u128 << 127) - 1);
        assert_eq!(scaled.round(5, &Uniform::from_digits(digits, 128)), None);
        let below: UBig = (UBig::from((1u128 << 127) - 1) << 64) + 7u8;
        assert_eq!(scaled.round(5, &Uniform::from_digits(below, 192)), Some(5));
    }

    #[test]
    fn high_products_are_exact() {
        let mut random = Randomness::seeded(48);
        for _ in 0..1000 {
            let [a, b] = [0; 2].map(|_| (u128::from(random.word()) << 64) | u128::from(random.word()));
            for (a, b) in [(a, b), (a, u128::MAX), (u128::MAX, u128::MAX), (a >> 70, b)] {
                assert_eq!(
                    UBig::from(high_product(a, b)),
                    (UBig::from(a) * UBig::from(b)) >> 128
                );
            }
        }
    }
}
