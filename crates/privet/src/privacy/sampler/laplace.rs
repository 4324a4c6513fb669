//! The discrete Laplace law `P(x) ∝ exp(-|x|/scale)`.
//!
//! CKS20 draw it with coins whose number tells its size. Here small scales take one table draw, a magnitude with a fair
//! sign. Wide ones take a geometric magnitude and a sign, and start again on minus zero, whose weight would otherwise
//! count twice: how often says nothing about the value kept.

use std::sync::Arc;

use dashu_ratio::RBig;

use super::Randomness;
use super::geometric::{Geometric, decay, powers};
use super::noise::{Noise, add_each, float, supported, whole_bits};
use super::table::{BLOCK, Cumulative, Thresholds};
use crate::Error;
use crate::privacy::Ratio;
use crate::privacy::enclosure::Enclosure;
use crate::privacy::memo::Memo;

/// Whole parts of scales of at most this many digits get a table: 44 entries per unit of scale, 0.3 µs each to build.
const SINGLE: usize = 7;

/// `P(|X| ≤ k) = 1 − 2q^(k+1)/(1+q)`.
#[derive(Debug, Clone)]
struct Magnitude {
    rate: RBig,
}

impl Cumulative for Magnitude {
    fn thresholds(&self, bits: usize) -> Box<dyn Iterator<Item = Enclosure> + '_> {
        let q = decay(&self.rate, bits);
        let one = Enclosure::integer(1, bits);
        let first = q.add(&q).div(&one.add(&q));
        Box::new(powers(first, q).map(move |tail| one.sub(&tail)))
    }
}

#[derive(Debug, Clone)]
enum Way {
    Table(Arc<Thresholds<Magnitude>>),
    Wide(Arc<Geometric>),
}

/// The discrete Laplace law: `P(x) ∝ exp(-|x|/scale)` on the integers.
#[derive(Debug, Clone)]
pub struct DiscreteLaplace {
    rate: RBig,
    way: Way,
}

impl DiscreteLaplace {
    /// # Errors
    /// [`Error::Parameter`] if the scale is above 2^60.
    pub fn new(scale: Ratio) -> Result<Self, Error> {
        static KNOWN: Memo<RBig, DiscreteLaplace> = Memo::new();
        KNOWN.get(supported("scale", &scale)?, Self::built)
    }

    fn built(scale: &RBig) -> Result<Self, Error> {
        let rate = RBig::ONE / scale;
        if whole_bits(scale) <= SINGLE {
            let law = Magnitude { rate: rate.clone() };
            if let Some(table) = Thresholds::new(law, 1 << 14) {
                let way = Way::Table(Arc::new(table));
                return Ok(Self { rate, way });
            }
        }
        Self::wide(scale)
    }

    /// Adds noise to each of `slots` and clamps the sum to `0..=top`; a slot beyond counts as the top.
    pub(crate) fn add_clamped(&self, slots: &mut [u16], top: u16, random: &mut Randomness) {
        match &self.way {
            Way::Table(table) => table.for_each(slots, random, |slot, magnitude, coin| {
                let sign = -i64::from(coin);
                let noise = (magnitude as i64 ^ sign).wrapping_sub(sign);
                let sum = i64::from((*slot).min(top)) + noise;
                *slot = sum.clamp(0, top.into()) as u16;
            }),
            Way::Wide(magnitude) => {
                let mut noise = [0i64; BLOCK];
                for block in slots.chunks_mut(BLOCK) {
                    let noise = &mut noise[..block.len()];
                    for (sum, slot) in noise.iter_mut().zip(&*block) {
                        *sum = (*slot).min(top).into();
                    }
                    add_signed(magnitude, noise, random);
                    for (slot, sum) in block.iter_mut().zip(noise) {
                        *slot = (*sum).clamp(0, top.into()) as u16;
                    }
                }
            }
        }
    }

    fn wide(scale: &RBig) -> Result<Self, Error> {
        Ok(Self {
            rate: RBig::ONE / scale,
            way: Way::Wide(Arc::new(Geometric::of(scale)?)),
        })
    }
}

/// Adds noise to each value: a block of magnitudes and signs at once, then minus zeros drawn anew.
fn add_signed(magnitude: &Geometric, values: &mut [i64], random: &mut Randomness) {
    let mut items = [(0, false); BLOCK];
    for block in values.chunks_mut(BLOCK) {
        let items = &mut items[..block.len()];
        magnitude.draw_block(items, random);
        for item in items.iter_mut() {
            while is_minus_zero(item) {
                *item = magnitude.draw_with_coin(random);
            }
        }
        let mut items = items.iter();
        add_each(block, || items.next().map_or(0, with_sign));
    }
}

/// A geometric magnitude with a sign.
#[inline]
fn signed(magnitude: &Geometric, random: &mut Randomness) -> i128 {
    loop {
        let item = magnitude.draw_with_coin(random);
        if !is_minus_zero(&item) {
            return with_sign(&item);
        }
    }
}

/// The one branch of a draw is on this flag: comparing the parts one after the other would branch on the magnitude
/// first, and the time would tell that the noise is zero.
#[inline(always)]
fn is_minus_zero((value, negative): &(u128, bool)) -> bool {
    std::hint::black_box((*value == 0) & *negative)
}

/// Without a branch: a fair sign is never predicted.
#[inline]
pub(super) fn with_sign((value, negative): &(u128, bool)) -> i128 {
    let sign = -i128::from(*negative);
    (*value as i128 ^ sign).wrapping_sub(sign)
}

impl Noise for DiscreteLaplace {
    #[inline]
    fn draw(&self, random: &mut Randomness) -> i128 {
        match &self.way {
            Way::Table(table) => table.draw_signed(random).into(),
            Way::Wide(magnitude) => signed(magnitude, random),
        }
    }

    fn add_to(&self, values: &mut [i64], random: &mut Randomness) {
        match &self.way {
            Way::Table(table) => table.add_signed(values, random),
            Way::Wide(magnitude) => add_signed(magnitude, values, random),
        }
    }

    fn variance(&self) -> f64 {
        // 2q/(1−q)² = 2/(2·sinh(rate/2))²
        2.0 * (2.0 * (self.rate.to_f64().value() / 2.0).sinh()).powi(-2)
    }

    fn mass(&self, k: i64) -> f64 {
        float(|bits| {
            let one = Enclosure::integer(1, bits);
            let q = decay(&self.rate, bits);
            let zero = one.sub(&q).div(&one.add(&q));
            zero.mul(&decay(&(&self.rate * RBig::from(k.unsigned_abs())), bits))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::noise::tests::{
        agree, bulk, draws, fits, keeps_its_law_in_few_digits, long, narrow, ratio,
    };
    use super::*;

    fn law(scale: Ratio) -> DiscreteLaplace {
        DiscreteLaplace::new(scale).expect("a scale")
    }

    #[test]
    fn laplace_fits_its_mass_and_no_neighbour() {
        for (n, d) in [(1, 50), (1, 3), (3, 2), (10, 1), (99, 2)] {
            let noise = law(ratio(n, d));
            let near = law(ratio(n * 21, d * 20));
            let reach = (12 * n / d + 4) as i64;
            for sample in [draws(&noise, 100_000, 11), bulk(&noise, 100_000, 12)] {
                assert!(fits(&sample, reach, |k| noise.mass(k)), "scale {n}/{d}");
                let tiny = n * 10 < d;
                assert_eq!(
                    fits(&sample, reach, |k| near.mass(k)),
                    tiny,
                    "scale {n}/{d} and 5% more"
                );
            }
        }
    }

    #[test]
    fn few_digits_keep_the_law() {
        let noise = law(ratio(5, 2));
        let rate = noise.rate.clone();
        let mass = |k: i64| noise.mass(k) * if k == 0 { 1.0 } else { 2.0 };
        assert!(keeps_its_law_in_few_digits(Magnitude { rate }, mass));
    }

    #[test]
    fn wide_way_has_the_same_law() {
        for scale in [ratio(1, 50), ratio(1, 3), ratio(3, 2), ratio(10, 1), long(21, 2)] {
            let noise = DiscreteLaplace::wide(scale.big()).expect("a scale");
            let sample = draws(&noise, 100_000, 13);
            assert!(fits(&sample, 140, |k| noise.mass(k)), "scale {scale}");
            assert!(
                fits(&bulk(&noise, 100_000, 14), 140, |k| noise.mass(k)),
                "scale {scale}"
            );
        }
    }

    /// Every trial that is not minus zero is kept as it is, and in bulk only what is refused is drawn again.
    #[test]
    fn only_minus_zero_is_refused() {
        assert!(is_minus_zero(&(0, true)));
        for item in [
            (0, false),
            (1, true),
            (1, false),
            (1 << 64, true),
            (1 << 126, true),
        ] {
            assert!(!is_minus_zero(&item));
        }
        let scale = RBig::from(3);
        let noise = DiscreteLaplace::wide(&scale).expect("a scale");
        let geometric = Geometric::of(&scale).expect("a scale");
        let [mut ours, mut theirs] = [62, 62].map(Randomness::seeded);
        let mut values = [0i64; BLOCK];
        noise.add_to(&mut values, &mut ours);
        let mut items = [(0, false); BLOCK];
        geometric.draw_block(&mut items, &mut theirs);
        assert!(items.contains(&(0, true)) && items.contains(&(0, false)));
        for (value, item) in values.iter().zip(&items) {
            assert!(*item == (0, true) || i128::from(*value) == with_sign(item));
        }
    }

    #[test]
    fn long_ratios_are_not_rounded_away() {
        // They differ by 2^-190: 300 digits of the table's own thresholds tell, those of a rounded rate would not.
        let (scale, bits) = (long(5, 1), 300);
        let thresholds = |scale| match law(scale).way {
            Way::Table(table) => table.law().thresholds(bits).take(40).collect::<Vec<_>>(),
            Way::Wide(_) => unreachable!("a small scale has a table"),
        };
        let one = Enclosure::integer(1, bits);
        let power = |k: u64| decay(&(RBig::from(k) / scale.big()), bits);
        let both = thresholds(scale.clone()).into_iter().zip(thresholds(ratio(5, 1)));
        for (k, (ours, near)) in both.enumerate() {
            let tail = power(k as u64 + 1).scale(2, 1).div(&one.add(&power(1)));
            assert!(agree(&ours, &one.sub(&tail)), "P(|X| ≤ {k})");
            assert!(
                narrow(&ours, 20) && !agree(&ours, &near),
                "P(|X| ≤ {k}) is rounded"
            );
        }
    }

    /// Groups of equal probability, and the lowest digits, at scales that only digits reach.
    #[test]
    fn very_wide_scales_fit_in_groups() {
        for bits in [20u32, 41, 60] {
            let scale = 1u64 << bits;
            let noise = law(ratio(scale, 1));
            let sample = draws(&noise, 50_000, u64::from(bits));
            // P(|X| > s·y) is e^-y up to 2^-20: 64 groups of equal probability, signed.
            let group = |x: &i128| {
                let y = (-(x.unsigned_abs() as f64) / scale as f64).exp();
                let place = ((y * 64.0) as i128).min(63);
                if *x < 0 { -1 - place } else { place }
            };
            let groups: Vec<i128> = sample.iter().map(group).collect();
            assert!(fits(&groups, 70, |k| if (-64..64).contains(&k) {
                1.0 / 128.0
            } else {
                0.0
            }));
            let low: Vec<i128> = sample.iter().map(|x| x & 255).collect();
            assert!(fits(&low, 255, |k| if k >= 0 { 1.0 / 256.0 } else { 0.0 }));
        }
    }

    #[test]
    fn variance_is_that_of_the_masses() {
        for (n, d) in [(1, 3), (7, 2)] {
            let noise = law(ratio(n, d));
            let sum: f64 = (-400..=400).map(|k| noise.mass(k)).sum();
            let square: f64 = (-400..=400).map(|k| (k * k) as f64 * noise.mass(k)).sum();
            assert!((sum - 1.0).abs() < 1e-12 && (square / noise.variance() - 1.0).abs() < 1e-12);
        }
        assert_eq!(law(ratio(1, 100_000)).variance(), 0.0);
    }

    #[test]
    fn seeded_streams_repeat() {
        for scale in [ratio(3, 1), ratio(1_000_000, 1)] {
            let noise = law(scale);
            assert_eq!(draws(&noise, 100, 16), draws(&noise, 100, 16));
            assert_ne!(draws(&noise, 100, 16), draws(&noise, 100, 17));
        }
    }

    #[test]
    fn sums_are_clipped() {
        let noise = law(ratio(1 << 60, 1));
        let mut values = vec![i64::MAX; 50];
        noise.add_to(&mut values, &mut Randomness::seeded(18));
        assert!(values.contains(&i64::MAX) && values.iter().any(|x| *x < i64::MAX));
    }
}
