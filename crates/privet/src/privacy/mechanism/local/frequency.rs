//! A category, so that a collector can estimate how frequent each is.
//!
//! # Paper
//! Wang, Blocki, Li, Jha: Locally Differentially Private Protocols for Frequency Estimation, 2017 (randomised response, optimised unary
//! encoding); Acharya, Sun, Zhang: Hadamard Response, 2019.

use std::fmt;

#[cfg(test)]
use dashu_int::UBig;

use super::weights::Weights;
use super::{LONGEST_BODY, LocalMechanism, Paid, Token, sealed};
use crate::Error;
use crate::privacy::sampler::bits::below;
use crate::privacy::{Anchor, Epsilon, Private, Randomness, getters};

/// Categories, at most.
const MOST: usize = (1 << 16) - 1;

/// How a category is written in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrequencyCode {
    /// The category itself e^ε times as often as each other one (GRR).
    Response,
    /// One flag for each category: a fair coin for the true one, for each other one set once in 1 + e^ε (OUE).
    Unary,
    /// A column of a Hadamard matrix in which the category's row has +1, e^ε times as often as one in which it has −1.
    Hadamard,
}

impl fmt::Display for FrequencyCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Response => "randomised response",
            Self::Unary => "optimised unary encoding",
            Self::Hadamard => "Hadamard response",
        })
    }
}

/// A category under ε.
///
/// # Privacy
/// ε between any two categories; `docs/proofs/local.md#frequency-oracles`.
#[derive(Debug, Clone)]
pub struct FrequencyOracle {
    epsilon: Epsilon,
    weights: Weights,
    categories: usize,
    code: FrequencyCode,
}

impl FrequencyOracle {
    /// With a given code.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε or the number of categories (2 to 65,535; 512 for unary codes) is not supported.
    pub fn new(epsilon: Epsilon, categories: usize, code: FrequencyCode) -> Result<Self, Error> {
        let most = match code {
            FrequencyCode::Unary => 8 * LONGEST_BODY,
            FrequencyCode::Response | FrequencyCode::Hadamard => MOST,
        };
        if !(2..=most).contains(&categories) {
            let why = format!("{categories} categories are not supported by {code}: give it 2 to {most}");
            return Err(Error::parameter("categories", why));
        }
        Ok(Self {
            epsilon,
            weights: Weights::new(epsilon)?,
            categories,
            code,
        })
    }

    /// With the code whose estimates vary least, and why that was chosen.
    ///
    /// # Errors
    /// As [`FrequencyOracle::new`].
    pub fn least_variance(epsilon: Epsilon, categories: usize) -> Result<(Self, String), Error> {
        let mut best = Self::new(epsilon, categories, FrequencyCode::Response)?;
        let mut all = format!("{}: {:.4}", best.code, best.variance());
        for code in [FrequencyCode::Unary, FrequencyCode::Hadamard] {
            let Ok(other) = Self::new(epsilon, categories, code) else {
                all += &format!(", {code}: no room in {LONGEST_BODY} bytes");
                continue;
            };
            all += &format!(", {code}: {:.4}", other.variance());
            if other.variance() < best.variance() {
                best = other;
            }
        }
        let reason = format!(
            "{} for {categories} categories at ε = {epsilon}: variance of one message over all categories by {all}",
            best.code
        );
        Ok((best, reason))
    }

    getters! {
        /// How many categories there are.
        pub categories(categories) -> usize;
        /// How a category is written.
        pub code(code) -> FrequencyCode;
    }

    /// The variance of one message's estimates, summed over all categories. It is the same whatever the true category is.
    pub fn variance(&self) -> f64 {
        let growth = self.weights.quotient();
        let others = self.categories as f64 - 1.0;
        let of_flag = |p: f64| p * (1.0 - p);
        match self.code {
            FrequencyCode::Response => {
                let [p, q] = [growth, 1.0].map(|weight| weight / (growth + others));
                (of_flag(p) + others * of_flag(q)) / (p - q).powi(2)
            }
            FrequencyCode::Unary => {
                let q = 1.0 / (growth + 1.0);
                (0.25 + others * of_flag(q)) / (0.5 - q).powi(2)
            }
            FrequencyCode::Hadamard => self.categories as f64 / self.contrast().powi(2) - 1.0,
        }
    }

    /// The variance of one message's estimate of a category that nobody has.
    pub fn variance_of_absent(&self) -> f64 {
        let growth = self.weights.quotient();
        let others = self.categories as f64 - 1.0;
        match self.code {
            FrequencyCode::Response => (others - 1.0 + growth) / (growth - 1.0).powi(2),
            FrequencyCode::Unary => 4.0 * growth / (growth - 1.0).powi(2),
            FrequencyCode::Hadamard => self.contrast().powi(-2),
        }
    }

    /// Columns of the Hadamard matrix: a power of two above the number of categories, whose rows are all but the first.
    fn columns(&self) -> u32 {
        (self.categories as u32 + 1).next_power_of_two()
    }

    /// The mean sign of the true category's row in the drawn column; that of every other row is zero.
    fn contrast(&self) -> f64 {
        let growth = self.weights.quotient();
        (growth - 1.0) / (growth + 1.0)
    }

    /// The sums of all columns, each with its sign in a row, for every row: a fast Walsh–Hadamard transform, exact in integers.
    pub(super) fn signed_sums(&self, sums: &[i64]) -> Vec<i64> {
        let mut signed = sums.to_vec();
        signed.resize(self.columns() as usize, 0);
        let mut half = 1;
        while half < signed.len() {
            for block in signed.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                for (a, b) in low.iter_mut().zip(high) {
                    (*a, *b) = (a.wrapping_add(*b), a.wrapping_sub(*b));
                }
            }
            half *= 2;
        }
        signed
    }

    fn outputs(&self) -> usize {
        match self.code {
            FrequencyCode::Response | FrequencyCode::Unary => self.categories,
            FrequencyCode::Hadamard => self.columns() as usize,
        }
    }
}

/// The row of a category in the Hadamard matrix: never the first, which is +1 everywhere.
pub(super) fn row(category: usize) -> u32 {
    category as u32 + 1
}

/// Whether a category's row has +1 in a column.
pub(super) fn is_plus(category: usize, column: u32) -> bool {
    (row(category) & column).count_ones().is_multiple_of(2)
}

/// The category or the column in a body of two bytes.
fn output(body: &[u8]) -> usize {
    usize::from(u16::from_le_bytes([body[0], body[1]]))
}

/// Whether a flag of a unary code is set.
fn is_set(body: &[u8], flag: usize) -> bool {
    body[flag / 8] >> (flag % 8) & 1 == 1
}

#[cfg(test)]
impl FrequencyOracle {
    /// The weight of each body for a category: what its probability is proportional to. Flags of unary codes are the digits of a number.
    pub(super) fn law(&self, category: usize) -> Vec<UBig> {
        let [likely, other] = [self.weights.likely, self.weights.other].map(UBig::from);
        let of = |is_likely: bool| if is_likely { &likely } else { &other };
        match self.code {
            FrequencyCode::Response => (0..self.categories).map(|y| of(y == category).clone()).collect(),
            // The true flag is a fair coin, so it has no weight of its own.
            FrequencyCode::Unary => {
                let others = || (0..self.categories).filter(|c| *c != category);
                let weight = |y: usize| others().map(|c| of(y >> c & 1 == 0)).product();
                (0..1 << self.categories).map(weight).collect()
            }
            FrequencyCode::Hadamard => (0..self.columns())
                .map(|y| of(is_plus(category, y)).clone())
                .collect(),
        }
    }
}

impl sealed::Sealed for FrequencyOracle {}

impl LocalMechanism for FrequencyOracle {
    type Input = usize;

    fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    fn proof(&self) -> Anchor {
        Anchor::new("local#frequency-oracles")
    }

    fn describe(&self) -> String {
        format!("{} among {}, ε = {}", self.code, self.categories, self.epsilon)
    }

    fn body_bytes(&self) -> usize {
        match self.code {
            FrequencyCode::Response | FrequencyCode::Hadamard => 2,
            FrequencyCode::Unary => self.categories.div_ceil(8),
        }
    }

    fn draw(&self, _token: &Token, input: Private<usize>, _paid: Paid, random: &mut Randomness) -> Vec<u8> {
        let category = input.expose().min(self.categories - 1);
        let Weights { likely, other } = self.weights;
        match self.code {
            FrequencyCode::Response => {
                let (is_true, place) = self.weights.draw(1, self.categories as u64 - 1, random);
                let place = place as usize;
                let another = place + usize::from(place >= category);
                let drawn = if is_true { category } else { another };
                (drawn as u16).to_le_bytes().to_vec()
            }
            FrequencyCode::Unary => {
                let mut flags = vec![0u8; self.body_bytes()];
                for flag in 0..self.categories {
                    let set = if flag == category {
                        likely + other
                    } else {
                        2 * other
                    };
                    let is_set = below(2 * (likely + other), random) < set;
                    flags[flag / 8] |= u8::from(is_set) << (flag % 8);
                }
                flags
            }
            FrequencyCode::Hadamard => {
                let column = below(self.columns().into(), random) as u32;
                let wants_plus = below(likely + other, random) < likely;
                // The lowest digit of the row turns its sign: columns of one sign correspond to those of the other.
                let lowest = row(category) & row(category).wrapping_neg();
                let turned = if is_plus(category, column) == wants_plus {
                    0
                } else {
                    lowest
                };
                ((column ^ turned) as u16).to_le_bytes().to_vec()
            }
        }
    }

    fn sums(&self) -> usize {
        self.outputs()
    }

    fn accepts(&self, body: &[u8]) -> bool {
        if body.len() != self.body_bytes() {
            return false;
        }
        match self.code {
            FrequencyCode::Response | FrequencyCode::Hadamard => output(body) < self.outputs(),
            FrequencyCode::Unary => !(self.categories..8 * body.len()).any(|flag| is_set(body, flag)),
        }
    }

    fn add(&self, _token: &Token, body: &[u8], sums: &mut [i64]) -> bool {
        if !self.accepts(body) || sums.len() != self.outputs() {
            return false;
        }
        match self.code {
            FrequencyCode::Response | FrequencyCode::Hadamard => {
                let sum = &mut sums[output(body)];
                *sum = sum.wrapping_add(1);
            }
            FrequencyCode::Unary => {
                for (flag, sum) in sums.iter_mut().enumerate() {
                    *sum = sum.wrapping_add(is_set(body, flag).into());
                }
            }
        }
        true
    }

    fn in_words(&self, _token: &Token, body: &[u8]) -> Option<String> {
        if !self.accepts(body) {
            return None;
        }
        Some(match self.code {
            FrequencyCode::Response => format!(
                "category number {}. Any of the {} is possible, whatever yours is",
                output(body),
                self.categories
            ),
            FrequencyCode::Unary => {
                let set = (0..self.categories).filter(|flag| is_set(body, *flag));
                let set: Vec<String> = set.map(|flag| flag.to_string()).collect();
                format!(
                    "a flag for each of {} categories, of which these are set: {}. Any flags are possible, whatever yours is",
                    self.categories,
                    if set.is_empty() {
                        "none".into()
                    } else {
                        set.join(", ")
                    }
                )
            }
            FrequencyCode::Hadamard => format!(
                "column number {} of {}, each of which is possible, whatever your category is",
                output(body),
                self.columns()
            ),
        })
    }

    fn influence(&self) -> f64 {
        let growth = self.weights.quotient();
        // The larger of what a flag adds that is set, and of one that is not.
        let of_flag = |p: f64, q: f64| (1.0 - q).max(q) / (p - q);
        match self.code {
            FrequencyCode::Response => {
                let all = growth + self.categories as f64 - 1.0;
                of_flag(growth / all, 1.0 / all)
            }
            FrequencyCode::Unary => of_flag(0.5, 1.0 / (growth + 1.0)),
            FrequencyCode::Hadamard => 1.0 / self.contrast(),
        }
    }

    fn means(&self, sums: &[i64], messages: u64) -> Vec<f64> {
        if messages == 0 {
            return vec![0.0; self.categories];
        }
        let growth = self.weights.quotient();
        let share = |sum: &i64| *sum as f64 / messages as f64;
        let flags = |[p, q]: [f64; 2]| sums.iter().map(|sum| (share(sum) - q) / (p - q)).collect();
        match self.code {
            FrequencyCode::Response => {
                flags([growth, 1.0].map(|weight| weight / (growth + self.categories as f64 - 1.0)))
            }
            FrequencyCode::Unary => flags([0.5, 1.0 / (growth + 1.0)]),
            FrequencyCode::Hadamard => {
                let signed = self.signed_sums(sums);
                let mean = |category| share(&signed[row(category) as usize]) / self.contrast();
                (0..self.categories).map(mean).collect()
            }
        }
    }
}
