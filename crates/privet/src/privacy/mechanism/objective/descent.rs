//! Down to where the slope of the perturbed loss is proved to be small: `docs/proofs/objective.md#released-minima`.

use dashu_int::IBig;

use super::RIDGE_DIGITS;
use super::noise::{Vector, length};
use super::slopes::{FAST, LogisticRows, Sum, slopes};

/// Digits added to a point when its digits do not decide.
const FINER: usize = 64;
/// Halvings of a step along the hint, and then along the slope itself.
const HALVINGS: [u32; 2] = [12, 100];

/// A loss with its ridge (in units of 2^−10) and noise.
pub(super) struct Perturbed<'a, R> {
    pub(super) rows: &'a R,
    pub(super) ridge: &'a IBig,
    pub(super) noise: &'a Vector,
    /// Points are at most 2^−near·√m from the exact minimum.
    pub(super) near: usize,
}

/// The slope somewhere, and its square.
struct Slope {
    sum: Sum,
    square: IBig,
}

impl<R: LogisticRows> Perturbed<'_, R> {
    /// A point where the slope is no longer than ¾·ridge·2^−near·√m, whatever rows and noise are.
    pub(super) fn near_minimum(&self) -> Vector {
        let noise: Vec<f64> = self
            .noise
            .values
            .iter()
            .map(|v| float(v, self.noise.digits))
            .collect();
        let mut guess = self.rows.guess(float(self.ridge, RIDGE_DIGITS), &noise);
        guess.resize(noise.len(), 0.0);
        let mut at = Vector {
            values: guess.iter().map(|&x| fixed(x, FAST)).collect(),
            digits: FAST,
        };
        let mut slope = self.slope(&at);
        while !self.is_small(&slope.sum) {
            let lower = self.tells(&slope.sum).then(|| self.lower(&at, &slope));
            match lower.flatten() {
                Some(lower) => (at, slope) = lower,
                // Rounding is in the way: more digits, for the point and the sigmoid.
                None => {
                    at.values.iter_mut().for_each(|x| *x <<= FINER);
                    at.digits += FINER;
                    slope = self.slope(&at);
                }
            }
        }
        at
    }

    /// Of the rows, the ridge and the noise together.
    fn slope(&self, at: &Vector) -> Slope {
        let rows = slopes(self.rows, &at.values, at.digits);
        let finest = [at.digits, self.near].map(|digits| digits + RIDGE_DIGITS);
        let digits = rows.digits.max(self.noise.digits).max(finest[0]).max(finest[1]);
        let own = at.values.iter().zip(&self.noise.values).zip(rows.values);
        let values: Vec<IBig> = own
            .map(|((x, noise), rows_)| {
                (rows_ << (digits - rows.digits))
                    + ((x * self.ridge) << (digits - at.digits - RIDGE_DIGITS))
                    + (noise << (digits - self.noise.digits))
            })
            .collect();
        Slope {
            square: values.iter().map(|g| g * g).fold(IBig::ZERO, |sum, x| sum + x),
            sum: Sum {
                values,
                error: rows.error << (digits - rows.digits),
                digits,
            },
        }
    }

    /// ridge·2^−near in units of the sum.
    fn unit(&self, sum: &Sum) -> IBig {
        self.ridge << (sum.digits - RIDGE_DIGITS - self.near)
    }

    /// Σ(|gⱼ| + error)² ≤ m·(¾·unit)².
    pub(super) fn is_small(&self, sum: &Sum) -> bool {
        let square = |g: &IBig| {
            let most = if *g < IBig::ZERO { -g } else { g.clone() } + &sum.error;
            &most * &most
        };
        let squares = sum.values.iter().map(square).fold(IBig::ZERO, |sum, x| sum + x);
        let unit = self.unit(sum);
        squares * IBig::from(16) <= &unit * &unit * IBig::from(9 * sum.values.len())
    }

    /// Whether the error is small enough: at most a quarter of the unit.
    fn tells(&self, sum: &Sum) -> bool {
        &sum.error * IBig::from(4) <= self.unit(sum)
    }

    /// A point where the slope is shorter, along the hint, or else against the slope itself; nothing if rounding hides it.
    fn lower(&self, at: &Vector, slope: &Slope) -> Option<(Vector, Slope)> {
        let floats = |values: &[IBig], digits| values.iter().map(|x| float(x, digits)).collect::<Vec<f64>>();
        let ridge = float(self.ridge, RIDGE_DIGITS);
        let gradient = floats(&slope.sum.values, slope.sum.digits);
        let hint = self.rows.step(ridge, &floats(&at.values, at.digits), &gradient);
        let plain = gradient.iter().map(|g| g / ridge).collect();
        for (step, halvings) in [hint, plain].into_iter().zip(HALVINGS) {
            let step: Vec<f64> = step;
            for halving in 0..halvings {
                let length = 0.5f64.powi(halving as i32);
                let less = |(x, s): (&IBig, &f64)| x - fixed(s * length, at.digits);
                let mut values: Vec<IBig> = at.values.iter().zip(&step).map(less).collect();
                values.extend_from_slice(&at.values[values.len()..]);
                let next = Vector {
                    values,
                    digits: at.digits,
                };
                let found = self.slope(&next);
                if falls(&found, slope, halving) {
                    return Some((next, found));
                }
            }
        }
        None
    }
}

/// Whether the square fell by the part that a step of 2^−halving against the slope is sure of as soon as it is short enough.
fn falls(found: &Slope, from: &Slope, halving: u32) -> bool {
    let digits = found.sum.digits.max(from.sum.digits);
    let square = |slope: &Slope| &slope.square << (2 * (digits - slope.sum.digits));
    let parts = IBig::ONE << (halving as usize + 1);
    square(found) * &parts <= square(from) * (&parts - IBig::ONE)
}

/// The nearest multiple of 2^−digits at or below, of a number that is one; nothing otherwise.
pub(super) fn fixed(x: f64, digits: usize) -> IBig {
    if !x.is_finite() {
        return IBig::ZERO;
    }
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i64;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let mantissa = if exponent == 0 {
        fraction
    } else {
        fraction | 1 << 52
    };
    let mantissa = IBig::from(if x < 0.0 { -mantissa } else { mantissa });
    let shift = exponent.max(1) - 1075 + digits as i64;
    match usize::try_from(shift) {
        Ok(left) => mantissa << left,
        Err(_) => mantissa >> shift.unsigned_abs() as usize,
    }
}

/// About x·2^−digits.
pub(super) fn float(x: &IBig, digits: usize) -> f64 {
    let surplus = length(x).saturating_sub(100);
    let leading = i128::try_from(&(x >> surplus)).unwrap_or(0) as f64;
    let scale = surplus as f64 - digits as f64;
    // In two steps: neither leaves the range of numbers where the product does not.
    leading * (scale / 2.0).floor().exp2() * (scale / 2.0).ceil().exp2()
}

/// The nearest multiple of 2^−grid, in units of it, within ±2^60.
pub(super) fn rounded(x: &IBig, digits: usize, grid: usize) -> i64 {
    let drop = digits - grid;
    let nearest: IBig = (x + (IBig::ONE << (drop - 1))) >> drop;
    let most = IBig::ONE << 60;
    let within = nearest.clamp(-&most, most);
    // Unwrap safety: it lies within ±2^60.
    i64::try_from(&within).expect("within 64 bits")
}
