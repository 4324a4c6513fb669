//! The shared interface of noise on integers.

use dashu_base::BitTest;
use dashu_int::IBig;
use dashu_ratio::RBig;

use super::Randomness;
use crate::Error;
use crate::privacy::Ratio;
use crate::privacy::enclosure::Enclosure;

/// A law on the integers that can be drawn from exactly.
///
/// The time of a draw says nothing about its value: all draws do the same work, or a draw that is refused starts again
/// from nothing. The exceptions, random digits that do not decide, may take a time that depends on the value; that they
/// have probability below 2^-40 is what makes this negligible.
pub trait Noise {
    /// One value, clipped to ±2^126.
    fn draw(&self, random: &mut Randomness) -> i128;

    /// Adds independent values to all of `values`, each sum clipped to the range of its type.
    fn add_to(&self, values: &mut [i64], random: &mut Randomness) {
        add_each(values, || self.draw(random));
    }

    /// The variance, for planning.
    fn variance(&self) -> f64;

    /// The probability of `k`, for tests and planning.
    fn mass(&self, k: i64) -> f64;
}

/// Adds a draw to each value and clips the sum.
#[inline(always)]
pub(crate) fn add_each(values: &mut [i64], mut draw: impl FnMut() -> i128) {
    for value in values {
        let sum = i128::from(*value) + draw();
        *value = sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    }
}

/// Noise wider than this hides any 64-bit value, and its digits would not fit into the machine words that the samplers use.
const WIDEST: usize = 60;

/// The rational, if it is a scale that is supported.
pub(crate) fn supported(what: &str, value: &Ratio) -> Result<RBig, Error> {
    if *value.big() > RBig::from(IBig::ONE << WIDEST) {
        let why = format!(
            "{what} {value} is above 2^{WIDEST}: noise that wide hides every 64-bit value; scale the query down"
        );
        return Err(Error::parameter("scale", why));
    }
    Ok(value.big().clone())
}

/// Binary digits of the whole part.
pub(crate) fn whole_bits(x: &RBig) -> usize {
    x.trunc().into_parts().1.bit_len()
}

/// A number that is not negative to the precision of a float, from enclosures of growing precision. Below 2^-900 it may be 0.
pub(crate) fn float(at: impl Fn(usize) -> Enclosure) -> f64 {
    let mut bits = 128;
    loop {
        let x = at(bits);
        if *x.low() > (x.high() - x.low()) << 60 {
            return x.to_f64();
        }
        if bits > 1000 {
            return 0.0;
        }
        bits *= 2;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::table::{Cumulative, Thresholds};
    use super::*;

    pub(crate) fn ratio(numerator: u64, denominator: u64) -> Ratio {
        Ratio::new(numerator, denominator).expect("a positive ratio")
    }

    /// Nearly `numerator / denominator`, with 200 digits in each part.
    pub(crate) fn long(numerator: u64, denominator: u64) -> Ratio {
        let stretch = (IBig::ONE << 190) + 12345;
        let top = IBig::from(numerator) * &stretch + 1;
        let bottom: IBig = IBig::from(denominator) * stretch;
        Ratio::from_big(RBig::from_parts_signed(top, bottom)).expect("a positive ratio")
    }

    pub(crate) fn draws(noise: &impl Noise, n: usize, seed: u64) -> Vec<i128> {
        let mut random = Randomness::seeded(seed);
        (0..n).map(|_| noise.draw(&mut random)).collect()
    }

    pub(crate) fn bulk(noise: &impl Noise, n: usize, seed: u64) -> Vec<i128> {
        let mut values = vec![0; n];
        noise.add_to(&mut values, &mut Randomness::seeded(seed));
        values.into_iter().map(i128::from).collect()
    }

    /// Whether two enclosures may be of one number.
    pub(crate) fn agree(a: &Enclosure, b: &Enclosure) -> bool {
        a.low() <= b.high() && b.low() <= a.high()
    }

    /// Whether an enclosure determines all but its last `digits` digits.
    pub(crate) fn narrow(x: &Enclosure, digits: usize) -> bool {
        x.high() - x.low() < IBig::ONE << digits
    }

    /// Draws from a table of so few digits that most of them are resolved with more. False-alarm rate 1e-6.
    pub(crate) fn keeps_its_law_in_few_digits<L: Cumulative>(law: L, mass: impl Fn(i64) -> f64) -> bool {
        let table = Thresholds::<L, 5>::new(law, 1 << 10).expect("a small table");
        let mut random = Randomness::seeded(60);
        let sample: Vec<i128> = (0..10_000).map(|_| table.draw(&mut random).0.into()).collect();
        fits(&sample, 60, |k| if k < 0 { 0.0 } else { mass(k) })
    }

    /// Pearson's test over all values in ±`reach` whose expected count is 10 or more, and the rest together; values that
    /// were never drawn count. False-alarm rate 1e-6 (Wilson and Hilferty's quantile).
    pub(crate) fn fits(draws: &[i128], reach: i64, mass: impl Fn(i64) -> f64) -> bool {
        let n = draws.len() as f64;
        let mut counts = vec![0u64; 2 * reach as usize + 1];
        for x in draws {
            if x.unsigned_abs() <= reach as u128 {
                counts[(x + i128::from(reach)) as usize] += 1;
            }
        }
        let (mut bins, mut rest, mut rest_count) = (Vec::new(), 1.0, draws.len() as u64);
        for (k, count) in (-reach..=reach).zip(counts) {
            let p = mass(k);
            if p * n >= 10.0 {
                bins.push((p * n, count as f64));
                rest -= p;
                rest_count -= count;
            }
        }
        let rest = rest.max(0.0) * n;
        if rest >= 10.0 {
            bins.push((rest, rest_count as f64));
        } else if rest_count as f64 > 60.0 {
            // A Poisson variable of mean 10 or less exceeds 60 with probability below 1e-20.
            return false;
        }
        let statistic: f64 = bins.iter().map(|(e, o)| (o - e) * (o - e) / e).sum();
        let freedom = (bins.len() as f64 - 1.0).max(1.0);
        let spread = 2.0 / (9.0 * freedom);
        let limit = freedom * (1.0 - spread + 4.7534 * spread.sqrt()).powi(3);
        statistic <= limit
    }

    #[test]
    fn scales_beyond_the_words_are_refused() {
        assert!(supported("scale", &ratio(1 << 60, 1)).is_ok());
        let error = supported("scale", &ratio((1 << 60) + 1, 1)).expect_err("too wide");
        assert!(error.to_string().contains("2^60"));
    }

    #[test]
    fn the_test_itself_rejects_a_wrong_law() {
        let fair: Vec<i128> = (0..1000).map(|i| i % 2).collect();
        assert!(fits(&fair, 3, |k| if k == 0 || k == 1 { 0.5 } else { 0.0 }));
        assert!(!fits(&fair, 3, |k| if k == 0 {
            0.6
        } else {
            0.4 * f64::from(k == 1)
        }));
        assert!(!fits(&fair, 3, |k| if (0..3).contains(&k) {
            1.0 / 3.0
        } else {
            0.0
        }));
    }
}
