//! A vector in a ball as one of the codewords that lie nearest to it.
//!
//! # Paper
//! Isik, Chen, Özgür, Weissman, No: Exact Optimality of Communication-Privacy-Utility Tradeoffs in Distributed Mean Estimation, 2023.

use super::codebook::{Codebook, CodewordLanes, LANES, LENGTH_DIGITS};
use super::top_sum::Angles;
use super::weights::Weights;
use super::{LocalMechanism, Paid, Token, UNIT, coordinates, scaled, sealed};
use crate::Error;
use crate::privacy::sampler::bits::below;
use crate::privacy::{Anchor, Epsilon, Private, Randomness, getters};

/// Codewords, at most.
const MOST_CODEWORDS: u64 = 1024;
/// Dimensions, at most: scores of codewords then fit a word.
const MOST_DIMENSIONS: usize = 1024;
/// Digits of a score's key that are left for the codeword's number, which decides between equal scores.
const NUMBER_DIGITS: u32 = 10;
/// No key is as large: 2²³·2¹³·√1024 of a score, with the digits of a number.
const KEY_DIGITS: u32 = 54;

/// One codeword of a public random codebook: each of the `k` nearest to the vector e^ε times as often as each other one.
///
/// A vector has at most length one, which is [`UNIT`] on its grid; a longer one counts as its direction.
///
/// # Privacy
/// ε between any two vectors, for every codebook; `docs/proofs/local.md#k-closest`.
#[derive(Debug, Clone)]
pub struct KClosest {
    epsilon: Epsilon,
    weights: Weights,
    dimension: usize,
    codewords: u64,
    nearest: u64,
    /// The mean length of the drawn codeword along a vector of length one.
    along: f64,
}

impl KClosest {
    /// With the number of nearest codewords that varies least.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε, the dimension (2 to 1024) or the number of codewords (2 to 1024) is not supported.
    pub fn new(epsilon: Epsilon, dimension: usize, codewords: u64) -> Result<Self, Error> {
        let weights = Weights::new(epsilon)?;
        if !(2..=MOST_DIMENSIONS).contains(&dimension) {
            let why =
                format!("{dimension} dimensions are not supported here: give it 2 to {MOST_DIMENSIONS}");
            return Err(Error::parameter("dimension", why));
        }
        if !(2..=MOST_CODEWORDS).contains(&codewords) {
            let why = format!("a codebook has 2 to {MOST_CODEWORDS} codewords, not {codewords}");
            return Err(Error::parameter("codewords", why));
        }
        let angles = Angles::new(dimension);
        let along = |nearest| along(&angles, &weights, codewords, nearest);
        let nearest = highest(1, codewords - 1, along);
        if weights.total(nearest, codewords - nearest).is_none() {
            return Err(Error::internal(
                "where e^ε is large, few codewords are likely: all weights fit a word",
            ));
        }
        Ok(Self {
            epsilon,
            weights,
            dimension,
            codewords,
            nearest,
            along: along(nearest),
        })
    }

    getters! {
        /// How many coordinates a vector has.
        pub dimension(dimension) -> usize;
        /// How many codewords a codebook has.
        pub codewords(codewords) -> u64;
        /// How many of them are likely.
        pub nearest(nearest) -> u64;
    }

    /// The mean squared distance of one message's estimate from a vector of this length (at most one), all coordinates together.
    pub fn variance(&self, length: f64) -> f64 {
        self.along.powi(-2) - length * length
    }

    /// The codeword's number in a body, if there is one.
    fn number(&self, body: &[u8]) -> Option<u64> {
        let number = match *body {
            [low] if self.body_bytes() == 1 => low.into(),
            [low, high] if self.body_bytes() == 2 => u16::from_le_bytes([low, high]).into(),
            _ => return None,
        };
        (number < self.codewords).then_some(number)
    }

    /// A number for each codeword that grows with its product with the vector; no two are equal.
    fn keys(&self, token: &Token, x: &[i32]) -> Vec<u64> {
        let mut codebook = Codebook::new(token, self.dimension);
        let mut codeword = vec![0; self.dimension];
        let keys = (0..self.codewords).map(|number| {
            let scale = codebook.next(&mut codeword);
            let product = codeword.iter().zip(x).map(|(c, x)| i64::from(*c) * i64::from(*x));
            let score = scale * product.sum::<i64>();
            let key = (score << NUMBER_DIGITS) + (self.codewords - 1 - number) as i64;
            (key + (1 << KEY_DIGITS)) as u64
        });
        keys.collect()
    }
}

/// The mean length of the drawn codeword along a vector of length one.
fn along(angles: &Angles, weights: &Weights, codewords: u64, nearest: u64) -> f64 {
    let growth = weights.quotient();
    let total = nearest as f64 * growth + (codewords - nearest) as f64;
    angles.top_sum(codewords, nearest) * (growth - 1.0) / total
}

/// Where a function that first rises and then falls is highest.
fn highest(mut from: u64, mut to: u64, value: impl Fn(u64) -> f64) -> u64 {
    while to - from > 2 {
        let third = (to - from) / 3;
        let (left, right) = (from + third, to - third);
        if value(left) < value(right) {
            from = left + 1;
        } else {
            to = right - u64::from(left < right);
        }
    }
    let mut best = from;
    for place in from..=to {
        if value(place) > value(best) {
            best = place;
        }
    }
    best
}

/// The `k`-th largest of different numbers, by the same steps whatever they are.
fn kth_largest(keys: &[u64], k: u64) -> u64 {
    let mut found = 0;
    for digit in (0..=KEY_DIGITS).rev() {
        let more = found | 1 << digit;
        let count: u64 = keys.iter().map(|key| u64::from(*key >= more)).sum();
        found = if count >= k { more } else { found };
    }
    found
}

/// The direction of a vector, or its opposite so often that the mean is the vector: with probability (1 + length)/2 and (1 − length)/2.
///
/// # Privacy
/// `docs/proofs/local.md#short-vectors`: a mixture of two inputs.
fn signed_direction(mut x: Vec<i32>, random: &mut Randomness) -> Vec<i32> {
    let square: u64 = x.iter().map(|x| u64::from(x.unsigned_abs()).pow(2)).sum();
    let unit = u64::from(UNIT.unsigned_abs()).pow(2);
    // The length in units of 2^-31.
    let length = ((square.min(unit) << 36).isqrt()).min(1 << 31);
    let sign = if below(1 << 32, random) < (1 << 31) + length {
        1
    } else {
        -1
    };
    // A vector of length zero has no direction: any fixed one will do.
    x[0] += i32::from(square == 0);
    x.iter_mut().for_each(|x| *x *= sign);
    x
}

#[cfg(test)]
impl KClosest {
    /// The same with another number of nearest codewords.
    pub(super) fn with_nearest(&self, nearest: u64) -> Self {
        let angles = Angles::new(self.dimension);
        Self {
            nearest,
            along: along(&angles, &self.weights, self.codewords, nearest),
            ..self.clone()
        }
    }

    /// The weight of each codeword for a direction: what its probability is proportional to.
    pub(super) fn law(&self, token: &Token, direction: &[i32]) -> Vec<u64> {
        let keys = self.keys(token, direction);
        let least = kth_largest(&keys, self.nearest);
        let weight = |key: &u64| match *key >= least {
            true => self.weights.likely,
            false => self.weights.other,
        };
        keys.iter().map(weight).collect()
    }
}

impl sealed::Sealed for KClosest {}

impl LocalMechanism for KClosest {
    type Input = Vec<i32>;

    fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    fn proof(&self) -> Anchor {
        Anchor::new("local#k-closest")
    }

    fn describe(&self) -> String {
        format!(
            "the {} nearest of {} codewords in {} dimensions, ε = {}",
            self.nearest, self.codewords, self.dimension, self.epsilon
        )
    }

    fn body_bytes(&self) -> usize {
        if self.codewords <= 256 { 1 } else { 2 }
    }

    fn draw(&self, token: &Token, input: Private<Vec<i32>>, _paid: Paid, random: &mut Randomness) -> Vec<u8> {
        let x = signed_direction(coordinates(input, self.dimension), random);
        let keys = self.keys(token, &x);
        let least = kth_largest(&keys, self.nearest);
        let (is_likely, place) = self
            .weights
            .draw(self.nearest, self.codewords - self.nearest, random);
        let (mut drawn, mut seen) = (0u16, 0);
        for (number, key) in keys.iter().enumerate() {
            let is_of_kind = (*key >= least) == is_likely;
            drawn = if is_of_kind & (seen == place) {
                number as u16
            } else {
                drawn
            };
            seen += u64::from(is_of_kind);
        }
        drawn.to_le_bytes()[..self.body_bytes()].to_vec()
    }

    fn sums(&self) -> usize {
        self.dimension
    }

    fn accepts(&self, body: &[u8]) -> bool {
        self.number(body).is_some()
    }

    fn add(&self, token: &Token, body: &[u8], sums: &mut [i64]) -> bool {
        let Some(number) = self.number(body).filter(|_| sums.len() == self.dimension) else {
            return false;
        };
        let mut codebook = Codebook::new(token, self.dimension);
        codebook.seek(number);
        let mut codeword = vec![0; self.dimension];
        let scale = codebook.next(&mut codeword);
        for (sum, c) in sums.iter_mut().zip(codeword) {
            *sum = sum.wrapping_add(scale * i64::from(c));
        }
        true
    }

    fn add_all(&self, messages: &[(Token, &[u8])], sums: &mut [i64]) {
        let Some((first, _)) = messages.first().filter(|_| sums.len() == self.dimension) else {
            return;
        };
        let mut lanes = CodewordLanes::new(self.dimension);
        for messages in messages.chunks(LANES) {
            let (mut tokens, mut numbers, mut counts) = ([*first; LANES], [0; LANES], [0; LANES]);
            for (lane, (token, body)) in messages.iter().enumerate() {
                if let Some(number) = self.number(body) {
                    (tokens[lane], numbers[lane], counts[lane]) = (*token, number as u32, 1);
                }
            }
            lanes.find(&tokens, &numbers);
            // A codeword's length times its scale is at most 2^23, so eight of them fit an i32.
            let mut scales = lanes.scales;
            scales
                .iter_mut()
                .zip(counts)
                .for_each(|(scale, count)| *scale *= count);
            for (sum, coordinate) in sums.iter_mut().zip(&lanes.coordinates) {
                let mut total = 0i32;
                for (scale, c) in scales.iter().zip(coordinate) {
                    total = total.wrapping_add(scale.wrapping_mul(i32::from(*c)));
                }
                *sum = sum.wrapping_add(total.into());
            }
        }
    }

    fn in_words(&self, _token: &Token, body: &[u8]) -> Option<String> {
        let number = self.number(body)?;
        let total = self.weights.total(self.nearest, self.codewords - self.nearest)?;
        let share = |weight: u64, count: u64| 100.0 * weight as f64 * count as f64 / total as f64;
        Some(format!(
            "codeword number {number} of the {} that follow from the token. It is one of the {} nearest to your vector with a probability of {:.1} %, \
             and any other with {:.1} %",
            self.codewords,
            self.nearest,
            share(self.weights.likely, self.nearest),
            share(self.weights.other, self.codewords - self.nearest),
        ))
    }

    fn influence(&self) -> f64 {
        1.0 / self.along
    }

    fn means(&self, sums: &[i64], messages: u64) -> Vec<f64> {
        let length = f64::from(1u32 << LENGTH_DIGITS);
        scaled(sums, 1.0 / (length * self.along), messages)
    }
}
