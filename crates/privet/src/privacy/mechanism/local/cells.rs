//! The category of one of several columns, chosen by the message's token.
//!
//! # Paper
//! As Algorithm 3 of LocalBoost samples coordinates, with a frequency oracle for the sampled one.

use super::{FrequencyOracle, LocalMechanism, Paid, Token, sealed};
use crate::Error;
use crate::privacy::{Anchor, Epsilon, Private, Randomness, getters};

/// Sums of all columns, at most: 32 MiB of them.
const MOST_SUMS: usize = 1 << 22;

/// The category of one column out of `d`, under the whole ε. Which column follows from the token, which is random and public: it takes no
/// room in a message.
///
/// # Privacy
/// ε between any two rows of categories; `docs/proofs/local.md#sampled-cells`.
#[derive(Debug, Clone)]
pub struct SampledCells {
    columns: usize,
    oracle: FrequencyOracle,
}

impl SampledCells {
    /// Columns of at most so many categories, with the code whose estimates vary least.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε or the number of columns (1 to 65,535) or of categories is not supported.
    pub fn new(epsilon: Epsilon, columns: usize, categories: usize) -> Result<Self, Error> {
        let most = usize::from(u16::MAX);
        if !(1..=most).contains(&columns) {
            let why = format!("{columns} columns are not supported here: give it 1 to {most}");
            return Err(Error::parameter("columns", why));
        }
        let (oracle, _) = FrequencyOracle::least_variance(epsilon, categories)?;
        let made = Self { columns, oracle };
        if made.sums() > MOST_SUMS {
            let why = format!(
                "{columns} columns of {categories} categories need {} sums, and {MOST_SUMS} are possible: declare fewer bins",
                made.sums()
            );
            return Err(Error::parameter("columns", why));
        }
        Ok(made)
    }

    getters! {
        /// How many columns there are.
        pub columns(columns) -> usize;
        /// What one column is sent by.
        pub oracle(&oracle) -> &FrequencyOracle;
    }

    /// The variance of one message's estimate of all frequencies within a column, if it is of that column.
    pub fn variance(&self) -> f64 {
        self.oracle.variance()
    }

    /// How many messages were of each column, given the sums.
    pub fn messages(&self, sums: &[i64]) -> Vec<u64> {
        let last = |sums: &[i64]| sums.last().map_or(0, |count| count.unsigned_abs());
        sums.chunks_exact(self.stride()).map(last).collect()
    }

    /// The column of a message. Its last bytes decide: collectors share messages by the first ones.
    pub(super) fn column(&self, token: &Token) -> usize {
        let [.., a, b, c, d, e, f, g, h] = token.bytes();
        let uniform = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        ((u128::from(uniform) * self.columns as u128) >> 64) as usize
    }

    /// Sums of one column: those of its oracle, and how many messages there were.
    fn stride(&self) -> usize {
        self.oracle.sums() + 1
    }
}

impl sealed::Sealed for SampledCells {}

impl LocalMechanism for SampledCells {
    /// The category of each column.
    type Input = Vec<usize>;

    fn epsilon(&self) -> Epsilon {
        self.oracle.epsilon()
    }

    fn proof(&self) -> Anchor {
        Anchor::new("local#sampled-cells")
    }

    fn describe(&self) -> String {
        format!("one of {} columns, by {}", self.columns, self.oracle.describe())
    }

    fn body_bytes(&self) -> usize {
        self.oracle.body_bytes()
    }

    fn draw(
        &self,
        token: &Token,
        input: Private<Vec<usize>>,
        paid: Paid,
        random: &mut Randomness,
    ) -> Vec<u8> {
        let column = self.column(token);
        let category = input.map(|cells| cells.get(column).copied().unwrap_or(0));
        self.oracle.draw(token, category, paid, random)
    }

    fn sums(&self) -> usize {
        self.columns * self.stride()
    }

    fn accepts(&self, body: &[u8]) -> bool {
        self.oracle.accepts(body)
    }

    fn add(&self, token: &Token, body: &[u8], sums: &mut [i64]) -> bool {
        if sums.len() != self.sums() {
            return false;
        }
        let start = self.column(token) * self.stride();
        let Some((count, own)) = sums[start..start + self.stride()].split_last_mut() else {
            return false;
        };
        let added = self.oracle.add(token, body, own);
        *count = count.wrapping_add(added.into());
        added
    }

    fn in_words(&self, token: &Token, body: &[u8]) -> Option<String> {
        let told = self.oracle.in_words(token, body)?;
        Some(format!("about column number {}: {told}", self.column(token) + 1))
    }

    /// Within the messages of its own column.
    fn influence(&self) -> f64 {
        self.oracle.influence()
    }

    /// Whoever makes up a message chooses its token, and so its column.
    fn fewest(&self, sums: &[i64], _messages: u64) -> u64 {
        self.messages(sums).into_iter().min().unwrap_or(0)
    }

    /// The frequencies within each column, column after column. Each is estimated from its own messages.
    fn means(&self, sums: &[i64], _messages: u64) -> Vec<f64> {
        let of_column = |sums: &[i64]| match sums.split_last() {
            Some((count, own)) => self.oracle.means(own, count.unsigned_abs()),
            None => Vec::new(),
        };
        sums.chunks_exact(self.stride()).flat_map(of_column).collect()
    }
}
