//! A real normal variable, rounded to the nearest integer: `P(k) = Φ((k+½)/σ) − Φ((k−½)/σ)`.
//!
//! On an integer query this is the Gaussian mechanism of the reals followed by rounding, so it keeps the real one's
//! guarantee exactly, which the discrete Gaussian `P(k) ∝ exp(-k²/2σ²)` does not. Small σ take one table draw, wide ones
//! round a real normal variable whose digits are drawn as far as they are needed.

use std::sync::Arc;

use dashu_base::SquareRoot;
use dashu_int::IBig;
use dashu_ratio::RBig;

use super::Randomness;
use super::geometric::decay;
use super::half::{rate, squares};
use super::noise::{Noise, add_each, float, supported, whole_bits};
use super::normal::{Scaled, envelope};
use super::table::{Cumulative, Thresholds};
use crate::Error;
use crate::privacy::Ratio;
use crate::privacy::enclosure::{Enclosure, pi};
use crate::privacy::memo::Memo;

/// Whole parts of σ of at most this many digits get a table: about 9.4 entries per unit, 4 µs each to build.
const SINGLE: usize = 7;

/// `P(|X| ≤ k) = 2Φ((k+½)/σ) − 1`.
#[derive(Debug, Clone)]
struct Magnitude {
    sigma: RBig,
}

impl Cumulative for Magnitude {
    fn thresholds(&self, bits: usize) -> Box<dyn Iterator<Item = Enclosure> + '_> {
        if self.sigma < RBig::ONE {
            let at = |k: u64| RBig::from_parts((2 * k + 1).into(), 2u8.into()) / &self.sigma;
            let one = Enclosure::integer(1, bits);
            return Box::new((0..).map(move |k| {
                let phi = Enclosure::ratio(&at(k), bits).normal_cdf();
                phi.add(&phi).sub(&one)
            }));
        }
        Box::new(cells(&self.sigma, bits))
    }
}

/// `P(|X| ≤ k)` from the masses of cells, for σ of at least one.
///
/// With `s` the distance from `k`, the even part of the density gives
/// `P(k) = exp(-k²/2σ²)/(σ√2π) · ∫ cosh(ks/σ²)·exp(-s²/2σ²) ds` over `|s| ≤ ½`, and that is `Σ d_m·z^m` with
/// `z = k²/4σ⁴` and `d_m = 1/(2m)! · Σ_j (−1/8σ²)^j / (j!·(2m+2j+1))`. All `d_m` are positive and do not depend on `k`.
/// The series is in `k²/last²`, which is at most one and so magnifies no error.
fn cells(sigma: &RBig, bits: usize) -> impl Iterator<Item = Enclosure> + use<> {
    let work = bits + 32;
    // From `last` on nothing is left: exp(-k²/2σ²) < 2^-bits.
    let last = (sigma.sqr() * RBig::from(2 * bits)).trunc().into_parts().1.sqrt() + 2u8;
    let one = Enclosure::integer(1, work);
    let far = Enclosure::ratio(&(rate(sigma).sqr() * RBig::from(last.sqr())), work);
    let series = coefficients(sigma, &far, work);
    let root = pi(work).scale(2, 1).sqrt();
    let norm = one.div(&root.mul(&Enclosure::ratio(sigma, work)));

    let last = u64::try_from(&last).unwrap_or(u64::MAX);
    let mut weights = squares(&decay(&rate(sigma), work));
    let mut sum = norm.mul(&series[0]);
    let mut k = 0u64;
    std::iter::repeat_with(move || {
        let now = sum.rounded(bits);
        k += 1;
        sum = if k < last {
            let z = one.scale(k * k, last * last);
            // Unwrap safety: the weights never end.
            let weight = weights.next().expect("endless weights");
            let mass = norm.mul(&weight).mul(&evaluate(&series, &z));
            sum.add(&mass).add(&mass)
        } else {
            Enclosure::between(sum.low().clone(), IBig::ONE << work, work)
        };
        now
    })
}

/// `d_m·far^m` until what is left out is below two units.
fn coefficients(sigma: &RBig, far: &Enclosure, work: usize) -> Vec<Enclosure> {
    let a = Enclosure::ratio(&(rate(sigma) / RBig::from(4)), work);
    // a^j/j!, of which a ≤ 1/8 leaves less than one unit after the last.
    let mut powers = vec![Enclosure::integer(1, work)];
    while *powers[powers.len() - 1].high() > IBig::ONE {
        let j = powers.len() as u64;
        powers.push(powers[powers.len() - 1].mul(&a).scale(1, j));
    }
    let mut series = Vec::new();
    let mut bound = Enclosure::integer(1, work);
    for m in 0u64.. {
        let terms = powers.iter().zip(0u64..).map(|(power, j)| {
            let term = power.scale(1, 2 * m + 2 * j + 1);
            if j % 2 == 0 { term } else { term.neg() }
        });
        let sum = terms.fold(Enclosure::integer(0, work), |sum, term| sum.add(&term));
        let sum = Enclosure::between(sum.low() - 1, sum.high() + 1, work);
        series.push(sum.mul(&bound));
        let next = (2 * m + 1) * (2 * m + 2);
        // d_m·far^m is at most this, and from here on each term is below half of the one before it.
        bound = bound.mul(far).scale(1, next);
        if *bound.high() <= IBig::ONE && far.high() << 1 < IBig::from(next) << work {
            break;
        }
    }
    series
}

/// `Σ d_m·far^m·z^m` for `z` of at most one, with what the series leaves out.
///
/// That is at most two units. (In fact it is at most 2/3, as `d_m` has the factor `1/(2m+1)`, and the unit by which `d_0`
/// is widened would cover it; no proof should need to know.)
fn evaluate(series: &[Enclosure], z: &Enclosure) -> Enclosure {
    let zero = Enclosure::integer(0, z.bits());
    let sum = series.iter().rev().fold(zero, |sum, d| sum.mul(z).add(d));
    Enclosure::between(sum.low().clone(), sum.high() + 2, z.bits())
}

#[derive(Debug, Clone)]
enum Way {
    Table(Arc<Thresholds<Magnitude>>),
    Wide(Scaled),
}

/// The rounding of a real normal variable: `P(k) = Φ((k+½)/σ) − Φ((k−½)/σ)`.
#[derive(Debug, Clone)]
pub struct RoundedGaussian {
    sigma: RBig,
    way: Way,
}

impl RoundedGaussian {
    /// # Errors
    /// [`Error::Parameter`] if `sigma` is above 2^60.
    pub fn new(sigma: Ratio) -> Result<Self, Error> {
        static KNOWN: Memo<RBig, RoundedGaussian> = Memo::new();
        KNOWN.get(supported("sigma", &sigma)?, |sigma| {
            Ok(Self::built(sigma.clone()))
        })
    }

    fn built(sigma: RBig) -> Self {
        if whole_bits(&sigma) <= SINGLE {
            let law = Magnitude { sigma: sigma.clone() };
            if let Some(table) = Thresholds::new(law, 1 << 14) {
                let way = Way::Table(Arc::new(table));
                return Self { sigma, way };
            }
        }
        Self::wide(sigma)
    }

    fn wide(sigma: RBig) -> Self {
        let way = Way::Wide(Scaled::new(sigma.clone()));
        Self { sigma, way }
    }
}

impl Noise for RoundedGaussian {
    #[inline]
    fn draw(&self, random: &mut Randomness) -> i128 {
        match &self.way {
            Way::Table(table) => table.draw_signed(random).into(),
            Way::Wide(wide) => wide.draw(envelope(), random),
        }
    }

    fn add_to(&self, values: &mut [i64], random: &mut Randomness) {
        match &self.way {
            Way::Table(table) => table.add_signed(values, random),
            Way::Wide(wide) => {
                let cells = envelope();
                add_each(values, || wide.draw(cells, random));
            }
        }
    }

    fn variance(&self) -> f64 {
        let sigma = self.sigma.to_f64().value();
        if sigma > 3.0 {
            // Rounding adds 1/12, up to a term of size exp(-2π²σ²) < 1e-77.
            return sigma * sigma + 1.0 / 12.0;
        }
        // Σ (2k+1)·P(|X| > k)
        (0..40)
            .map(|k| 2.0 * (2 * k + 1) as f64 * float(|bits| tail(&self.sigma, -1 - 2 * k, bits)))
            .sum()
    }

    fn mass(&self, k: i64) -> f64 {
        // In the lower tail, where nothing cancels. Wide: twice the ends of i64 is beyond i64.
        let k = -i128::from(k.unsigned_abs());
        float(|bits| tail(&self.sigma, 2 * k + 1, bits).sub(&tail(&self.sigma, 2 * k - 1, bits)))
    }
}

/// `Φ(halves/2σ)`.
fn tail(sigma: &RBig, halves: i128, bits: usize) -> Enclosure {
    let x = RBig::from_parts(halves.into(), 2u8.into()) / sigma;
    Enclosure::ratio(&x, bits).normal_cdf()
}

#[cfg(test)]
mod tests {
    use super::super::noise::tests::{bulk, draws, fits, keeps_its_law_in_few_digits, long, ratio};
    use super::*;

    fn law(sigma: Ratio) -> RoundedGaussian {
        RoundedGaussian::new(sigma).expect("a σ")
    }

    #[test]
    fn cells_agree_with_the_distribution_function() {
        for sigma in [ratio(1, 1), ratio(3, 2), ratio(10, 1), long(77, 2)] {
            let sigma = sigma.big();
            for (k, ours) in cells(sigma, 160).take(600).enumerate() {
                let phi = tail(sigma, -2 * k as i128 - 1, 160);
                let phi = Enclosure::integer(1, 160).sub(&phi.add(&phi));
                assert!(
                    ours.low() <= phi.high() && phi.low() <= ours.high(),
                    "σ = {sigma}, k = {k}"
                );
                let width = ours.high() - ours.low();
                assert!(width < IBig::ONE << 24, "σ = {sigma}, k = {k} is {width} wide");
            }
        }
    }

    /// With digits to spare a wrong last digit is rounded away: here there are none.
    #[test]
    fn cell_series_hold_what_they_leave_out() {
        let at = |sigma: &RBig, [far, z]: [u64; 2], bits: usize, spare: usize| {
            let point =
                |x: u64| Enclosure::between(IBig::from(x) << spare, IBig::from(x) << spare, bits + spare);
            evaluate(&coefficients(sigma, &point(far), bits + spare), &point(z))
        };
        for bits in 3..=9 {
            for far in (0..8).chain((8..3 << bits).step_by(5)) {
                for z in [0, 1, 1 << (bits - 1), (1 << bits) - 1, 1 << bits] {
                    for sigma in [ratio(1, 1), ratio(3, 2), ratio(10, 1)] {
                        let few = at(sigma.big(), [far, z], bits, 0);
                        let many = at(sigma.big(), [far, z], bits, 200);
                        let holds = few.low() << 200 <= *many.low() && *many.high() <= few.high() << 200;
                        assert!(holds, "far = {far}, z = {z} of 2^{bits} at σ = {sigma}");
                    }
                }
            }
        }
    }

    #[test]
    fn few_digits_keep_the_law() {
        let noise = law(ratio(5, 2));
        let sigma = noise.sigma.clone();
        let mass = |k: i64| noise.mass(k) * if k == 0 { 1.0 } else { 2.0 };
        assert!(keeps_its_law_in_few_digits(Magnitude { sigma }, mass));
    }

    #[test]
    fn rounded_fits_its_mass_and_no_neighbour() {
        for (n, d) in [(1, 50), (1, 2), (3, 2), (10, 1), (75, 2)] {
            let noise = law(ratio(n, d));
            let near = law(ratio(n * 21, d * 20));
            let reach = (8 * n / d + 4) as i64;
            for sample in [draws(&noise, 100_000, 41), bulk(&noise, 100_000, 42)] {
                assert!(fits(&sample, reach, |k| noise.mass(k)), "σ = {n}/{d}");
                let tiny = n * 10 < d;
                assert_eq!(
                    fits(&sample, reach, |k| near.mass(k)),
                    tiny,
                    "σ = {n}/{d} and 5% more"
                );
            }
        }
        // Not the discrete Gaussian: that has variance 9/4, this has 9/4 + 1/12.
        let weight = |k: i64| (-(k * k) as f64 / 4.5).exp();
        let all: f64 = (-40..=40).map(weight).sum();
        assert!(!fits(&draws(&law(ratio(3, 2)), 100_000, 43), 20, |k| weight(k) / all));
    }

    #[test]
    fn lazy_normal_has_the_same_law() {
        for sigma in [ratio(1, 50), ratio(1, 3), ratio(3, 2), ratio(10, 1), long(21, 2)] {
            let noise = RoundedGaussian::wide(sigma.big().clone());
            let reach = 8 * sigma.to_f64() as i64 + 4;
            assert!(
                fits(&draws(&noise, 100_000, 44), reach, |k| noise.mass(k)),
                "σ = {sigma}"
            );
            assert!(
                fits(&bulk(&noise, 100_000, 45), reach, |k| noise.mass(k)),
                "σ = {sigma}"
            );
        }
    }

    /// Cells of an eighth of σ by Φ, and the lowest digits.
    #[test]
    fn very_wide_sigmas_fit_in_groups() {
        for bits in [20u32, 60] {
            let sample = draws(&law(ratio(1 << bits, 1)), 50_000, 49);
            let edge = |i: i64| tail(&RBig::from(4), i.into(), 80).to_f64();
            let groups: Vec<i128> = sample.iter().map(|x| x >> (bits - 3)).collect();
            assert!(fits(&groups, 40, |k| edge(k + 1) - edge(k)), "σ = 2^{bits}");
            let low: Vec<i128> = sample.iter().map(|x| x & 255).collect();
            assert!(fits(&low, 255, |k| if k >= 0 { 1.0 / 256.0 } else { 0.0 }));
        }
    }

    #[test]
    fn variance_is_that_of_the_masses() {
        for (n, d) in [(1, 3), (3, 2), (7, 2)] {
            let noise = law(ratio(n, d));
            let sum: f64 = (-40..=40).map(|k| noise.mass(k)).sum();
            let square: f64 = (-40..=40).map(|k| (k * k) as f64 * noise.mass(k)).sum();
            assert!((sum - 1.0).abs() < 1e-12 && (square / noise.variance() - 1.0).abs() < 1e-10);
        }
    }

    #[test]
    fn masses_at_the_ends_of_the_type_are_those_of_the_density() {
        let noise = law(ratio(1 << 60, 1));
        // The ends are 8σ away, where a cell is the density times its width up to a factor of 1 ± 2^-50.
        let density = (-32f64).exp() / (std::f64::consts::TAU.sqrt() * (1u64 << 60) as f64);
        for k in [i64::MIN, i64::MAX] {
            assert!((noise.mass(k) / density - 1.0).abs() < 1e-9, "P({k})");
            assert_eq!(law(ratio(3, 1)).mass(k), 0.0, "P({k})");
        }
        assert!(noise.mass(1 << 62) > noise.mass((1 << 62) + (1 << 58)));
    }

    #[test]
    fn seeded_streams_repeat() {
        for sigma in [ratio(3, 1), ratio(1_000_000, 1)] {
            let noise = law(sigma);
            assert_eq!(draws(&noise, 100, 50), draws(&noise, 100, 50));
        }
        assert!(RoundedGaussian::new(ratio(u64::MAX, 1)).is_err());
    }
}
