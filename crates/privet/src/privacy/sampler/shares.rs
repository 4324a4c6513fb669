//! Shares of Laplace noise: `n` parties each draw a share, and the sum of all shares is discrete Laplace.
//!
//! A discrete Laplace variable is the difference of two geometric ones, and a geometric variable is the sum of `n`
//! independent negative binomial ones of shape `1/n` (the law is infinitely divisible). So a share is the difference of
//! two such draws. All `n` shares are needed: whoever knows `m` of them sees only the noise of the other `n − m`.

use std::sync::Arc;

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::Randomness;
use super::geometric::decay;
use super::noise::{Noise, add_each, float, supported, whole_bits};
use super::table::{BLOCK, Cumulative, Thresholds, partial_sums};
use crate::Error;
use crate::privacy::Ratio;
use crate::privacy::enclosure::Enclosure;
use crate::privacy::memo::Memo;

/// Entries of the largest table.
const LIMIT: usize = 1 << 20;
/// A table has less than 44 entries per unit of scale: `q^(44·scale) = e^-44 < 2^-63`.
const PER_UNIT: u64 = 44;

/// The negative binomial law of shape `r = 1/n`: `P(k) = C(k+r−1, k)·(1−q)^r·q^k` with `q = exp(-rate)`.
#[derive(Debug, Clone)]
struct NegativeBinomial {
    rate: RBig,
    parties: u32,
}

impl NegativeBinomial {
    /// `P(0), P(1), …`
    fn masses(&self, bits: usize) -> impl Iterator<Item = Enclosure> + use<> {
        let n = u64::from(self.parties);
        let q = decay(&self.rate, bits);
        let first = Enclosure::integer(1, bits).sub(&q).ln().scale(1, n).exp();
        let mut k = 0u64;
        std::iter::successors(Some(first), move |mass| {
            // P(k+1)/P(k) = q·(k+r)/(k+1)
            let next = mass.mul(&q).scale(k * n + 1, (k + 1) * n);
            k += 1;
            Some(next)
        })
    }
}

impl Cumulative for NegativeBinomial {
    fn thresholds(&self, bits: usize) -> Box<dyn Iterator<Item = Enclosure> + '_> {
        // 1 − q may be as small as half the rate, and its logarithm loses as many digits.
        let work = bits + whole_bits(&(RBig::ONE / &self.rate)) + 16;
        let mut masses = self.masses(work);
        // Unwrap safety: the masses never end.
        let first = masses.next().expect("an endless law");
        Box::new(partial_sums(first, masses).map(move |sum| sum.rounded(bits)))
    }
}

/// One party's share of discrete Laplace noise.
#[derive(Debug, Clone)]
pub struct LaplaceShare {
    part: Arc<Thresholds<NegativeBinomial>>,
}

impl LaplaceShare {
    /// A share such that `parties` of them sum to discrete Laplace noise of this scale.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there is no party, or if the scale needs a table of more than 2^20 entries.
    pub fn new(scale: Ratio, parties: u32) -> Result<Self, Error> {
        let size = supported("scale", &scale)? * RBig::from(PER_UNIT);
        if parties == 0 {
            return Err(Error::parameter(
                "parties",
                "noise is shared among at least one party",
            ));
        }
        let wide = || {
            Error::parameter(
                "scale",
                format!(
                    "shares of Laplace noise are drawn from a table of {PER_UNIT} entries per unit of scale, at most {LIMIT}: \
                 scale {scale} is above {}; scale the query down",
                    LIMIT as u64 / PER_UNIT
                ),
            )
        };
        if size > RBig::from(LIMIT) {
            return Err(wide());
        }
        // Wide tables take a while to build, and all owners of a simulated run need the same one.
        static KNOWN: Memo<(RBig, u32), Arc<Thresholds<NegativeBinomial>>, 4> = Memo::new();
        let key = (RBig::ONE / scale.big(), parties);
        let part = KNOWN.get(key, |(rate, parties)| {
            let law = NegativeBinomial {
                rate: rate.clone(),
                parties: *parties,
            };
            Thresholds::new(law, LIMIT).map(Arc::new).ok_or_else(wide)
        })?;
        Ok(Self { part })
    }
}

impl Noise for LaplaceShare {
    #[inline]
    fn draw(&self, random: &mut Randomness) -> i128 {
        let (plus, _) = self.part.draw(random);
        let (minus, _) = self.part.draw(random);
        i128::from(plus) - i128::from(minus)
    }

    fn add_to(&self, values: &mut [i64], random: &mut Randomness) {
        let mut items = [0i128; BLOCK];
        for block in values.chunks_mut(BLOCK) {
            let items = &mut items[..block.len()];
            self.part
                .for_each(items, random, |item, plus, _| *item = plus.into());
            self.part
                .for_each(items, random, |item, minus, _| *item -= i128::from(minus));
            let mut items = items.iter();
            add_each(block, || items.next().copied().unwrap_or_default());
        }
    }

    fn variance(&self) -> f64 {
        let law = self.part.law();
        2.0 * (2.0 * (law.rate.to_f64().value() / 2.0).sinh()).powi(-2) / f64::from(law.parties)
    }

    /// Sums over the whole law: slow for wide scales.
    fn mass(&self, k: i64) -> f64 {
        float(|bits| {
            // Low ends fall to zero; high ends, rounded up, need not.
            let visible = |mass: &Enclosure| *mass.low() > IBig::ZERO;
            let masses: Vec<_> = self.part.law().masses(bits).take_while(visible).collect();
            let shifted = masses
                .iter()
                .skip(usize::try_from(k.unsigned_abs()).unwrap_or(usize::MAX));
            let zero = Enclosure::integer(0, bits);
            shifted.zip(&masses).fold(zero, |sum, (a, b)| sum.add(&a.mul(b)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::DiscreteLaplace;
    use super::super::noise::tests::{
        agree, bulk, draws, fits, keeps_its_law_in_few_digits, long, narrow, ratio,
    };
    use super::*;

    fn share(scale: Ratio, parties: u32) -> LaplaceShare {
        LaplaceShare::new(scale, parties).expect("a share")
    }

    #[test]
    fn shares_fit_their_mass_and_no_neighbour() {
        for (scale, parties) in [
            (ratio(1, 50), 3),
            (ratio(2, 1), 3),
            (ratio(7, 1), 1),
            (ratio(5, 1), 100),
        ] {
            let noise = share(scale.clone(), parties);
            let masses: Vec<f64> = (0..=60).map(|k| noise.mass(k)).collect();
            let mass = |k: i64| masses[k.unsigned_abs() as usize];
            for sample in [draws(&noise, 100_000, 31), bulk(&noise, 100_000, 32)] {
                assert!(fits(&sample, 60, mass), "{parties} shares of {scale}");
            }
            if parties == 3 && scale == ratio(2, 1) {
                let near = share(scale, 4);
                assert!(!fits(&draws(&noise, 100_000, 33), 60, |k| near.mass(k)));
            }
        }
    }

    #[test]
    fn shares_sum_to_laplace_noise() {
        for (scale, parties) in [(ratio(2, 1), 1u32), (ratio(3, 1), 2), (long(9, 2), 7)] {
            let noise = share(scale.clone(), parties);
            let mut random = Randomness::seeded(34);
            let sums: Vec<i128> = (0..100_000)
                .map(|_| (0..parties).map(|_| noise.draw(&mut random)).sum())
                .collect();
            let laplace = DiscreteLaplace::new(scale).expect("a scale");
            assert!(fits(&sums, 80, |k| laplace.mass(k)), "{parties} shares");
            assert!((noise.variance() * f64::from(parties) / laplace.variance() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn two_parties_have_central_binomials() {
        let part = NegativeBinomial {
            rate: RBig::from_parts(1.into(), 3u8.into()),
            parties: 2,
        };
        let bits = 200;
        let root = Enclosure::integer(1, bits).sub(&decay(&part.rate, bits)).sqrt();
        let mut binomial = RBig::ONE;
        for (k, mass) in part.masses(bits).take(100).enumerate() {
            // C(k−½, k) = C(2k, k)/4^k
            let exact = decay(&(&part.rate * RBig::from(k)), bits).mul(&root);
            let exact = exact.mul(&Enclosure::ratio(&binomial, bits));
            assert!(agree(&mass, &exact) && narrow(&mass, 12), "P({k})");
            binomial *= RBig::from_parts((2 * k + 1).into(), (2 * k + 2).into());
        }
        let masses: Vec<f64> = part.masses(bits).take(61).map(|mass| mass.to_f64()).collect();
        assert!(keeps_its_law_in_few_digits(part, |k| masses[k as usize]));
    }

    #[test]
    fn a_single_share_is_laplace_noise() {
        let (noise, laplace) = (
            share(ratio(4, 3), 1),
            DiscreteLaplace::new(ratio(4, 3)).expect("a scale"),
        );
        for k in -20..20 {
            assert!((noise.mass(k) / laplace.mass(k) - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn shares_of_nobody_or_too_wide_are_refused() {
        assert!(LaplaceShare::new(ratio(1, 1), 0).is_err());
        let error = LaplaceShare::new(ratio(30_000, 1), 5).expect_err("too wide");
        assert!(error.to_string().contains("23831"), "{error}");
    }
}
