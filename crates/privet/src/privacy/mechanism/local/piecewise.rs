//! Some coordinates of a vector, each with the Piecewise mechanism on integers.
//!
//! The outputs of one coordinate are −G … G. For an input *x* the window of 2h + 1 outputs around it is likely. Windows of all inputs
//! are equally wide and centred at their input, so the mean output is a multiple of the input, exactly: nothing is biased by rounding. With
//! h = UNIT·e^(−ε/2) this is the Piecewise mechanism on a grid.
//!
//! # Paper
//! LocalBoost, Algorithms 2 and 3, after Wang et al.: Collecting and Analyzing Multidimensional Data with Local Differential Privacy, 2019.

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::weights::Weights;
use super::{LONGEST_BODY, LocalMechanism, Paid, Token, UNIT, coordinates, scaled, sealed};
use crate::Error;
use crate::privacy::enclosure::Enclosure;
use crate::privacy::sampler::bits::below;
use crate::privacy::{Anchor, Epsilon, Private, Randomness, getters};

/// Bytes of one coordinate: its number and its output.
const PAIR: usize = 4;
/// From this ε on, one more coordinate is worth its share: the paper's 2.5.
const EACH: u64 = 2_500_000_000;

/// `k` of `d` coordinates, drawn without looking at them, each with ε/k.
///
/// # Privacy
/// ε between any two vectors; `docs/proofs/local.md#sampled-piecewise`.
#[derive(Debug, Clone)]
pub struct SampledPiecewise {
    epsilon: Epsilon,
    dimension: usize,
    sampled: usize,
    window: Window,
}

/// The Piecewise mechanism on one coordinate.
#[derive(Debug, Clone, Copy)]
struct Window {
    weights: Weights,
    /// Likely outputs on each side of the input.
    half: i32,
    /// The weight of all outputs together.
    total: u64,
}

impl Window {
    fn new(epsilon: Epsilon, parts: u64) -> Result<Self, Error> {
        let weights = Weights::part(epsilon, parts)?;
        // h = UNIT·e^(−ε/2k), rounded.
        let bits = 96;
        let exponent = -epsilon.to_ratio() / RBig::from(2 * parts);
        let decay = Enclosure::ratio(&exponent, bits).exp();
        let half = ((decay.low() * IBig::from(2 * UNIT)) + (IBig::ONE << bits)) >> (bits + 1);
        let half = i32::try_from(half).map_err(|_| Error::internal("a decay is at most one"))?;
        let width = Self::width_of(half);
        let others = 2 * UNIT as u64;
        let total = weights.total(width, others);
        Ok(Self {
            weights,
            half,
            total: total.ok_or_else(|| Error::internal("2^15 outputs of weight e^16·2^32 fit a word"))?,
        })
    }

    fn width_of(half: i32) -> u64 {
        2 * u64::from(half.unsigned_abs()) + 1
    }

    fn width(&self) -> u64 {
        Self::width_of(self.half)
    }

    /// The largest output: the window of the largest input ends there.
    fn reach(&self) -> i32 {
        UNIT + self.half
    }

    /// How many outputs lie outside a window.
    fn others(&self) -> u64 {
        2 * u64::from(UNIT.unsigned_abs())
    }

    fn draw(&self, x: i32, random: &mut Randomness) -> i32 {
        let (is_likely, place) = self.weights.draw(self.width(), self.others(), random);
        let (place, first) = (place as i32, x - self.half);
        let outside = place - self.reach();
        let beyond = if outside >= first { self.width() as i32 } else { 0 };
        if is_likely {
            first + place
        } else {
            outside + beyond
        }
    }

    /// What an output is multiplied by, so that its mean is the input with [`UNIT`] counting as one.
    fn factor(&self) -> f64 {
        let slope = self.weights.excess() as f64 * self.width() as f64;
        self.total as f64 / (slope * f64::from(UNIT))
    }

    /// The mean square of that estimate.
    fn second_moment(&self, x: i32) -> f64 {
        let squares = |n: i32| {
            let n = f64::from(n);
            n * (n + 1.0) * (2.0 * n + 1.0) / 3.0
        };
        let all = self.weights.other as f64 * squares(self.reach());
        let inside = self.width() as f64 * f64::from(x).powi(2) + squares(self.half);
        let sum = all + self.weights.excess() as f64 * inside;
        sum / self.total as f64 * self.factor().powi(2)
    }
}

impl SampledPiecewise {
    /// With the paper's number of coordinates: one for each 2.5 of ε.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε or the dimension (1 to 65,535) is not supported.
    pub fn new(epsilon: Epsilon, dimension: usize) -> Result<Self, Error> {
        let sampled = (epsilon.billionths() / EACH).max(1);
        Self::sampling(epsilon, dimension, usize::try_from(sampled).unwrap_or(usize::MAX))
    }

    /// With another number of coordinates; at most as many as there are.
    ///
    /// # Errors
    /// As [`SampledPiecewise::new`], or if none are sampled, or more than a body has room for.
    pub fn sampling(epsilon: Epsilon, dimension: usize, sampled: usize) -> Result<Self, Error> {
        let most = usize::from(u16::MAX);
        if !(1..=most).contains(&dimension) {
            let why = format!("{dimension} dimensions are not supported here: give it 1 to {most}");
            return Err(Error::parameter("dimension", why));
        }
        let sampled = sampled.min(dimension);
        if !(1..=LONGEST_BODY / PAIR).contains(&sampled) {
            let most = LONGEST_BODY / PAIR;
            let why = format!("a message has room for 1 to {most} coordinates, not {sampled}");
            return Err(Error::parameter("sampled", why));
        }
        Ok(Self {
            epsilon,
            dimension,
            sampled,
            window: Window::new(epsilon, sampled as u64)?,
        })
    }

    getters! {
        /// How many coordinates a vector has.
        pub dimension(dimension) -> usize;
        /// How many of them a message has.
        pub sampled(sampled) -> usize;
    }

    /// The variance of one message's estimate of a coordinate with this value on its grid.
    pub fn variance(&self, x: i32) -> f64 {
        let value = f64::from(x) / f64::from(UNIT);
        self.dimension as f64 / self.sampled as f64 * self.window.second_moment(x) - value * value
    }

    /// Numbers of coordinates, rising, each set of them equally often (Floyd's algorithm).
    fn sample(&self, random: &mut Randomness) -> Vec<u16> {
        let mut chosen: Vec<u16> = Vec::with_capacity(self.sampled);
        for last in self.dimension - self.sampled..self.dimension {
            let place = below(last as u64 + 1, random) as u16;
            let place = if chosen.contains(&place) {
                last as u16
            } else {
                place
            };
            chosen.push(place);
        }
        chosen.sort_unstable();
        chosen
    }
}

#[cfg(test)]
impl SampledPiecewise {
    /// The weight of each output of one sampled coordinate, from the lowest: what its probability is proportional to.
    pub(super) fn law(&self, x: i32) -> Vec<u64> {
        let reach = self.window.reach();
        let weight = |y: i32| match (y - x).abs() <= self.window.half {
            true => self.window.weights.likely,
            false => self.window.weights.other,
        };
        (-reach..=reach).map(weight).collect()
    }
}

/// A coordinate's place, and its output as it is sent.
fn read(pair: &[u8; PAIR]) -> (usize, i32) {
    let place = usize::from(u16::from_le_bytes([pair[0], pair[1]]));
    (place, i32::from(u16::from_le_bytes([pair[2], pair[3]])))
}

impl sealed::Sealed for SampledPiecewise {}

impl LocalMechanism for SampledPiecewise {
    type Input = Vec<i32>;

    fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    fn proof(&self) -> Anchor {
        Anchor::new("local#sampled-piecewise")
    }

    fn describe(&self) -> String {
        format!(
            "Piecewise for {} of {} coordinates, ε = {}",
            self.sampled, self.dimension, self.epsilon
        )
    }

    fn body_bytes(&self) -> usize {
        PAIR * self.sampled
    }

    fn draw(
        &self,
        _token: &Token,
        input: Private<Vec<i32>>,
        _paid: Paid,
        random: &mut Randomness,
    ) -> Vec<u8> {
        let x = coordinates(input, self.dimension);
        let mut body = Vec::with_capacity(self.body_bytes());
        for place in self.sample(random) {
            let output = self.window.draw(x[usize::from(place)], random) + self.window.reach();
            body.extend(place.to_le_bytes());
            body.extend((output as u16).to_le_bytes());
        }
        body
    }

    fn sums(&self) -> usize {
        self.dimension
    }

    fn accepts(&self, body: &[u8]) -> bool {
        let (pairs, rest) = body.as_chunks::<PAIR>();
        let rises = pairs.windows(2).all(|two| read(&two[0]).0 < read(&two[1]).0);
        let is_output =
            |(place, output): (usize, i32)| place < self.dimension && output <= 2 * self.window.reach();
        pairs.len() == self.sampled && rest.is_empty() && rises && pairs.iter().map(read).all(is_output)
    }

    fn add(&self, _token: &Token, body: &[u8], sums: &mut [i64]) -> bool {
        if !self.accepts(body) || sums.len() != self.dimension {
            return false;
        }
        let (pairs, _) = body.as_chunks::<PAIR>();
        for (place, output) in pairs.iter().map(read) {
            sums[place] = sums[place].wrapping_add((output - self.window.reach()).into());
        }
        true
    }

    fn in_words(&self, _token: &Token, body: &[u8]) -> Option<String> {
        let (pairs, _) = body.as_chunks::<PAIR>();
        let tell = |(place, output): (usize, i32)| {
            let output = f64::from(output - self.window.reach()) / f64::from(UNIT);
            format!("coordinate {} as {output:.3}", place + 1)
        };
        let told: Vec<String> = pairs.iter().map(read).map(tell).collect();
        let reach = f64::from(self.window.reach()) / f64::from(UNIT);
        self.accepts(body).then(|| {
            format!(
                "{}, where the largest that is asked about is 1. Any value from -{reach:.3} to {reach:.3} is possible, whatever yours is",
                told.join(", ")
            )
        })
    }

    fn influence(&self) -> f64 {
        let share = self.dimension as f64 / self.sampled as f64;
        share * self.window.factor() * f64::from(self.window.reach())
    }

    fn means(&self, sums: &[i64], messages: u64) -> Vec<f64> {
        let share = self.dimension as f64 / self.sampled as f64;
        scaled(sums, share * self.window.factor(), messages)
    }
}
