//! All coordinates of a vector as signs.
//!
//! Each coordinate is first rounded to a sign whose mean it is; then a vector of signs is drawn that agrees with these in more than half of
//! the coordinates, or not.
//!
//! # Paper
//! Duchi, Jordan, Wainwright: Minimax Optimal Procedures for Locally Private Estimation, 2018. As published, and in an even number of
//! dimensions, vectors that agree in exactly half of the coordinates can be drawn from both sides: their probability is 1 + e^ε times that
//! of others, so that the published ε does not hold. Here such vectors are of the unlikely kind.

use dashu_int::UBig;
use dashu_ratio::RBig;

use super::weights::Weights;
use super::{LONGEST_BODY, LocalMechanism, Paid, Token, UNIT, coordinates, scaled, sealed};
use crate::Error;
use crate::privacy::sampler::bits::below;
use crate::privacy::{Anchor, Epsilon, Private, Randomness, getters};

/// One sign for each coordinate.
///
/// # Privacy
/// ε between any two vectors; `docs/proofs/local.md#signs`.
#[derive(Debug, Clone)]
pub struct Signs {
    epsilon: Epsilon,
    weights: Weights,
    dimension: usize,
    /// What a sign is multiplied by, so that its mean is the coordinate.
    factor: f64,
}

impl Signs {
    /// For vectors of so many coordinates.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε or the dimension (1 to 512) is not supported.
    pub fn new(epsilon: Epsilon, dimension: usize) -> Result<Self, Error> {
        let most = 8 * LONGEST_BODY;
        if !(1..=most).contains(&dimension) {
            let why = format!("{dimension} dimensions are not supported here: give it 1 to {most}");
            return Err(Error::parameter("dimension", why));
        }
        let weights = Weights::new(epsilon)?;
        let factor = factor(&weights, dimension);
        Ok(Self {
            epsilon,
            weights,
            dimension,
            factor,
        })
    }

    getters! {
        /// How many coordinates a vector has.
        pub dimension(dimension) -> usize;
    }

    /// The variance of one message's estimate of a coordinate with this value on its grid.
    pub fn variance(&self, x: i32) -> f64 {
        let value = f64::from(x) / f64::from(UNIT);
        self.factor * self.factor - value * value
    }

    /// Whether signs agree in more than half of the coordinates.
    fn is_likely(&self, drawn: &[u8], signs: &[u8]) -> bool {
        let differ: u32 = drawn.iter().zip(signs).map(|(a, b)| (a ^ b).count_ones()).sum();
        2 * (differ as usize) < self.dimension
    }

    /// The digits of the last byte that stand for coordinates.
    fn last_digits(&self) -> u8 {
        match self.dimension % 8 {
            0 => u8::MAX,
            used => (1 << used) - 1,
        }
    }
}

/// W/((wa − wb)·D): the mean sign is (wa − wb)·D/W times the rounded one, where D counts by how many the likely vectors agree in one
/// coordinate more often than not, and W is the weight of all.
fn factor(weights: &Weights, dimension: usize) -> f64 {
    let d = dimension as u64;
    let all = UBig::ONE << dimension;
    let ties = if d.is_multiple_of(2) {
        binomial(d, d / 2)
    } else {
        UBig::ZERO
    };
    let likely = (&all - &ties) >> 1;
    let total = &likely * UBig::from(weights.likely) + (&all - &likely) * UBig::from(weights.other);
    let excess = binomial(d - 1, d / 2) * UBig::from(weights.excess());
    RBig::from_parts(total.into(), excess).to_f64().value()
}

fn binomial(n: u64, k: u64) -> UBig {
    (0..k).fold(UBig::ONE, |product, i| product * (n - i) / (i + 1))
}

#[cfg(test)]
impl Signs {
    /// The weight of each vector of signs for coordinates that were rounded to `signs`, both as numbers whose digits are the signs.
    pub(super) fn law_of_signs(&self, signs: u64) -> Vec<u64> {
        let weight = |drawn: u64| match 2 * (drawn ^ signs).count_ones() < self.dimension as u32 {
            true => self.weights.likely,
            false => self.weights.other,
        };
        (0..1 << self.dimension).map(weight).collect()
    }
}

impl sealed::Sealed for Signs {}

impl LocalMechanism for Signs {
    type Input = Vec<i32>;

    fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    fn proof(&self) -> Anchor {
        Anchor::new("local#signs")
    }

    fn describe(&self) -> String {
        format!("signs of {} coordinates, ε = {}", self.dimension, self.epsilon)
    }

    fn body_bytes(&self) -> usize {
        self.dimension.div_ceil(8)
    }

    fn draw(
        &self,
        _token: &Token,
        input: Private<Vec<i32>>,
        _paid: Paid,
        random: &mut Randomness,
    ) -> Vec<u8> {
        let mut signs = vec![0u8; self.body_bytes()];
        for (place, x) in coordinates(input, self.dimension).into_iter().enumerate() {
            let is_positive = (below(2 * UNIT as u64, random) as i32) < UNIT + x;
            signs[place / 8] |= u8::from(is_positive) << (place % 8);
        }
        let mut drawn = vec![0u8; self.body_bytes()];
        // Every trial is accepted equally often whatever the signs are, so how many there are says nothing about them.
        loop {
            random.fill(&mut drawn);
            if let Some(last) = drawn.last_mut() {
                *last &= self.last_digits();
            }
            let is_kept = below(self.weights.likely, random) < self.weights.other;
            if self.is_likely(&drawn, &signs) | is_kept {
                return drawn;
            }
        }
    }

    fn sums(&self) -> usize {
        self.dimension
    }

    fn accepts(&self, body: &[u8]) -> bool {
        let spare = body.last().map_or(0, |last| last & !self.last_digits());
        body.len() == self.body_bytes() && spare == 0
    }

    fn add(&self, _token: &Token, body: &[u8], sums: &mut [i64]) -> bool {
        if !self.accepts(body) || sums.len() != self.dimension {
            return false;
        }
        for (place, sum) in sums.iter_mut().enumerate() {
            let digit = i64::from(body[place / 8] >> (place % 8) & 1);
            *sum = sum.wrapping_add(2 * digit - 1);
        }
        true
    }

    fn in_words(&self, _token: &Token, body: &[u8]) -> Option<String> {
        let sign = |place: usize| match body[place / 8] >> (place % 8) & 1 {
            1 => '+',
            _ => '-',
        };
        self.accepts(body).then(|| {
            let signs: String = (0..self.dimension).map(sign).collect();
            format!("the signs {signs}, one for each coordinate. Any signs are possible, whatever yours are")
        })
    }

    fn influence(&self) -> f64 {
        self.factor
    }

    fn means(&self, sums: &[i64], messages: u64) -> Vec<f64> {
        scaled(sums, self.factor, messages)
    }
}
