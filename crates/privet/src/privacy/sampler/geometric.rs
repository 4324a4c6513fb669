//! The geometric law `P(k) = (1−q)·q^k` with `q = exp(-1/scale)`.
//!
//! Small scales use one table. For wide ones the digits of a geometric number in base `2^b` are independent: a digit `d`
//! of place `i` has probability proportional to `q_i^d` with `q_i = q^(2^(b·i))`, and what is above the last digit is
//! geometric again. So a draw is a fixed number of table draws.

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::Randomness;
use super::noise::{Noise, add_each, float, supported, whole_bits};
use super::table::{BLOCK, Cumulative, Thresholds};
use crate::Error;
use crate::privacy::Ratio;
use crate::privacy::enclosure::Enclosure;

/// Whole parts of scales below this many digits get a single table, of at most 44 entries per unit of scale.
const SINGLE: usize = 6;
/// A wide scale leaves about this many digits to the top.
const TOP: usize = 4;
/// Digits of one place, at most.
const PLACE: usize = 9;

/// `exp(-rate)`.
pub(crate) fn decay(rate: &RBig, bits: usize) -> Enclosure {
    Enclosure::ratio(&-rate.clone(), bits).exp()
}

/// `first, first·q, first·q², …`
pub(crate) fn powers(first: Enclosure, q: Enclosure) -> impl Iterator<Item = Enclosure> {
    std::iter::successors(Some(first), move |power| Some(power.mul(&q)))
}

/// `P(X ≤ k) = 1 − q^(k+1)`.
#[derive(Debug, Clone)]
struct Whole {
    rate: RBig,
}

impl Cumulative for Whole {
    fn thresholds(&self, bits: usize) -> Box<dyn Iterator<Item = Enclosure> + '_> {
        let q = decay(&self.rate, bits);
        let one = Enclosure::integer(1, bits);
        Box::new(powers(q.clone(), q).map(move |power| one.sub(&power)))
    }
}

/// `P(X ≤ d) = (1 − q^(d+1)) / (1 − q^n)` on `0..n` for a power of two `n`.
#[derive(Debug, Clone)]
struct Digit {
    rate: RBig,
    digits: usize,
}

impl Cumulative for Digit {
    fn thresholds(&self, bits: usize) -> Box<dyn Iterator<Item = Enclosure> + '_> {
        // 1 − q may be as small as half the rate: as many more digits as that loses.
        let work = bits + whole_bits(&(RBig::ONE / &self.rate)) + 16;
        let one = Enclosure::integer(1, work);
        let q = decay(&self.rate, work);
        let all = decay(&(&self.rate * RBig::from(IBig::ONE << self.digits)), work);
        let inverse = one.div(&one.sub(&all));
        let below = powers(q.clone(), q).take((1 << self.digits) - 1);
        Box::new(below.map(move |power| one.sub(&power).mul(&inverse).rounded(bits)))
    }
}

/// The geometric law: `P(k) = (1−q)·q^k` on 0, 1, 2, … with `q = exp(-1/scale)`.
#[derive(Debug, Clone)]
pub struct Geometric {
    rate: RBig,
    top: Thresholds<Whole>,
    /// The lowest place last.
    places: Vec<Thresholds<Digit>>,
}

impl Geometric {
    /// # Errors
    /// [`Error::Parameter`] if the scale is above 2^60.
    pub fn new(scale: Ratio) -> Result<Self, Error> {
        Self::of(&supported("scale", &scale)?)
    }

    /// Of any scale up to 2^60.
    pub(super) fn of(scale: &RBig) -> Result<Self, Error> {
        let bits = whole_bits(scale);
        let spare = if bits < SINGLE {
            0
        } else {
            bits.saturating_sub(TOP)
        };
        Self::with_places(RBig::ONE / scale, spare)
    }

    /// With at least `spare` digits below the top.
    fn with_places(rate: RBig, spare: usize) -> Result<Self, Error> {
        let count = spare.div_ceil(PLACE);
        let digits = spare.div_ceil(count.max(1));
        let at = |place: usize| &rate * RBig::from(IBig::ONE << (place * digits));
        let full = || Error::parameter("rate", format!("the rate {rate} needs too large a table"));
        let places = (0..count).rev().map(|place| {
            let rate = at(place);
            Thresholds::new(Digit { rate, digits }, 1 << digits).ok_or_else(full)
        });
        let places = places.collect::<Result<_, _>>()?;
        let top = Whole { rate: at(count) };
        let top = Thresholds::new(top, 1 << 16).ok_or_else(full)?;
        Ok(Self { top, places, rate })
    }

    /// A value up to 2^126 and an independent fair coin for each item.
    pub(super) fn draw_block(&self, items: &mut [(u128, bool)], random: &mut Randomness) {
        self.top
            .for_each(items, random, |item, top, coin| *item = (top.into(), coin));
        for place in &self.places {
            let digits = place.law().digits;
            place.for_each(items, random, |item, digit, _| {
                item.0 = (item.0 << digits) + u128::from(digit);
            });
        }
        for item in items {
            item.0 = item.0.min(1 << 126);
        }
    }

    /// A value up to 2^126 and an independent fair coin.
    #[inline]
    pub(super) fn draw_with_coin(&self, random: &mut Randomness) -> (u128, bool) {
        let (top, coin) = self.top.draw(random);
        let mut value = u128::from(top);
        for place in &self.places {
            let digit = u128::from(place.draw(random).0);
            // No overflow: the top holds 64 digits, the places 63 at most.
            value = (value << place.law().digits) + digit;
        }
        (value.min(1 << 126), coin)
    }
}

impl Noise for Geometric {
    fn draw(&self, random: &mut Randomness) -> i128 {
        self.draw_with_coin(random).0 as i128
    }

    fn add_to(&self, values: &mut [i64], random: &mut Randomness) {
        let mut items = [(0, false); BLOCK];
        for block in values.chunks_mut(BLOCK) {
            let items = &mut items[..block.len()];
            self.draw_block(items, random);
            let mut items = items.iter();
            add_each(block, || items.next().map_or(0, |item| item.0 as i128));
        }
    }

    fn variance(&self) -> f64 {
        // q/(1−q)² = 1/(2·sinh(rate/2))²
        (2.0 * (self.rate.to_f64().value() / 2.0).sinh()).powi(-2)
    }

    fn mass(&self, k: i64) -> f64 {
        if k < 0 {
            return 0.0;
        }
        float(|bits| {
            let rest = Enclosure::integer(1, bits).sub(&decay(&self.rate, bits));
            rest.mul(&decay(&(&self.rate * RBig::from(k)), bits))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::noise::tests::{agree, draws, fits, long, narrow, ratio};
    use super::*;
    use dashu_int::UBig;

    #[test]
    fn geometric_fits_its_mass_and_no_neighbour() {
        for (n, d) in [(1, 50), (1, 1), (17, 4), (40, 1), (150, 1)] {
            let law = Geometric::new(ratio(n, d)).expect("a small scale");
            let near = Geometric::new(ratio(n * 21, d * 20)).expect("a small scale");
            let sample = draws(&law, 100_000, 9);
            let reach = (12 * n / d + 4) as i64;
            assert!(fits(&sample, reach, |k| law.mass(k)), "scale {n}/{d}");
            assert_eq!(
                fits(&sample, reach, |k| near.mass(k)),
                n < d,
                "scale {n}/{d} and 5% more"
            );
        }
    }

    #[test]
    fn places_and_a_single_table_have_one_law() {
        for spare in [1, 3, 6, 10, 11, 20] {
            for scale in [ratio(20, 1), ratio(1, 2), long(31, 2)] {
                let rate = RBig::ONE / scale.big();
                let law = Geometric::with_places(rate, spare).expect("small tables");
                let sample = draws(&law, 50_000, 10 + spare as u64);
                assert!(
                    fits(&sample, 250, |k| law.mass(k)),
                    "{spare} digits below at {scale}"
                );
            }
        }
    }

    #[test]
    fn thresholds_agree_with_closed_forms() {
        let bits = 200;
        let one = Enclosure::integer(1, bits);
        for rate in [
            RBig::from_parts(1.into(), 3u8.into()),
            RBig::from_parts(IBig::ONE, UBig::ONE << 60),
        ] {
            let all = one.sub(&decay(&(&rate * RBig::from(32)), bits));
            let whole = Whole { rate: rate.clone() };
            let digit = Digit {
                rate: rate.clone(),
                digits: 5,
            };
            assert_eq!(digit.thresholds(bits).count(), 31);
            for (k, (w, d)) in whole.thresholds(bits).zip(digit.thresholds(bits)).enumerate() {
                let tail = one.sub(&decay(&(&rate * RBig::from(k + 1)), bits));
                assert!(agree(&w, &tail) && narrow(&w, 12), "P(X ≤ {k}) at rate {rate}");
                assert!(
                    agree(&d, &tail.div(&all)) && narrow(&d, 12),
                    "P(D ≤ {k}) at rate {rate}"
                );
            }
        }
    }

    #[test]
    fn masses_sum_to_one() {
        let law = Geometric::new(ratio(7, 2)).expect("a small scale");
        let sum: f64 = (-3..400).map(|k| law.mass(k)).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        let square: f64 = (0..400).map(|k| (k * k) as f64 * law.mass(k)).sum();
        let mean: f64 = (0..400).map(|k| k as f64 * law.mass(k)).sum();
        assert!((square - mean * mean - law.variance()).abs() < 1e-9);
    }
}
