//! Mechanisms of the local setting: an owner randomises its own message, and nobody else is trusted.
//!
//! | file | mechanism |
//! | --- | --- |
//! | `weights` | two integer weights whose quotient is at most e^ε: what all others are made of |
//! | `closest`, `codebook`, `top_sum` | a vector in a ball: one of the codewords nearest to it (k-closest) |
//! | `piecewise` | vectors in a box: some coordinates, each with the Piecewise mechanism |
//! | `signs` | vectors in a box: all coordinates as signs (Duchi et al.) |
//! | `frequency` | a category: randomised response, optimised unary encoding, Hadamard response |
//! | `cells` | a row of categories: one of them, with a frequency oracle |
//!
//! Every mechanism has finitely many outputs, whose probabilities are integers over a common total. So the largest quotient of two
//! probabilities is found by counting, and tests do that. A message is ε-locally private as a whole: whatever an owner computes it
//! from, labels and weights included, any two inputs give each message with probabilities whose quotient is at most e^ε.
//!
//! Proofs in `docs/proofs/local.md`; reasons in `docs/decisions/0028-local-mechanisms.md`.

mod cells;
mod closest;
mod codebook;
mod frequency;
mod piecewise;
mod rehearsal;
mod signs;
#[cfg(test)]
mod tests;
mod top_sum;
mod weights;

pub use cells::SampledCells;
pub use closest::KClosest;
pub use codebook::Token;
pub use frequency::{FrequencyCode, FrequencyOracle};
pub use piecewise::SampledPiecewise;
pub use rehearsal::rehearse;
pub use signs::Signs;

use super::Paid;
use crate::privacy::{Anchor, Epsilon, Private, Randomness};

/// One, on the grid of the vectors' coordinates: these are integers of at most this size.
pub const UNIT: i32 = 1 << 13;

/// The longest body of a message, in bytes.
pub const LONGEST_BODY: usize = 64;

mod sealed {
    pub trait Sealed {}
}

/// A randomised message about everything that an owner has, and how a collector reads many of them.
///
/// Implementations live in this module only: an ε is a theorem.
pub trait LocalMechanism: sealed::Sealed + std::fmt::Debug + Send + Sync {
    /// What an owner computes from its data. Values outside the domain count as its nearest.
    type Input: Send + Sync + 'static;

    /// The ε of the whole message.
    fn epsilon(&self) -> Epsilon;

    /// Where that is proved.
    fn proof(&self) -> Anchor;

    /// The mechanism and its parameters in words.
    fn describe(&self) -> String;

    /// The bytes of a body: as many for every input.
    fn body_bytes(&self) -> usize;

    /// Draws the body of one message. The work does not depend on the input.
    fn draw(
        &self,
        token: &Token,
        input: Private<Self::Input>,
        paid: Paid,
        random: &mut Randomness,
    ) -> Vec<u8>;

    /// How many sums a collector keeps.
    fn sums(&self) -> usize;

    /// Whether some input gives such a body.
    fn accepts(&self, body: &[u8]) -> bool;

    /// Adds one message to the sums. False, and nothing is added, if no input gives such a body, or there are not [`sums`](Self::sums) of
    /// them.
    #[must_use]
    fn add(&self, token: &Token, body: &[u8], sums: &mut [i64]) -> bool;

    /// Adds messages whose bodies were all [accepted](Self::accepts); another one adds nothing.
    fn add_all(&self, messages: &[(Token, &[u8])], sums: &mut [i64]) {
        for (token, body) in messages {
            let _ = self.add(token, body, sums);
        }
    }

    /// What a body says, in words; none if no input gives such a body.
    fn in_words(&self, token: &Token, body: &[u8]) -> Option<String>;

    /// The largest size of one message in any of the estimated means, before these are divided by the number of messages that they are estimated
    /// from: what somebody who makes up a message can do.
    fn influence(&self) -> f64;

    /// Of so many messages, how many the mean is estimated from that has the fewest.
    fn fewest(&self, _sums: &[i64], messages: u64) -> u64 {
        messages
    }

    /// The means that sums of so many messages estimate without bias. Zeros if there are no messages.
    fn means(&self, sums: &[i64], messages: u64) -> Vec<f64>;
}

/// The one message of an owner to a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalMessage {
    /// Its random name.
    pub token: Token,
    /// What was drawn: [`LocalMechanism::body_bytes`] bytes.
    pub body: Vec<u8>,
}

impl LocalMessage {
    /// The token, then the body.
    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.token.bytes()[..], &self.body].concat()
    }

    /// The message of its bytes, if they are such a message's.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (token, body) = bytes.split_first_chunk()?;
        let token = Token::from_bytes(*token)?;
        let body = body.to_vec();
        (body.len() <= LONGEST_BODY).then_some(Self { token, body })
    }
}

/// The coordinates of a vector, as many as were declared and none above one: a mistake of the caller must not show in the work.
fn coordinates(input: Private<Vec<i32>>, dimension: usize) -> Vec<i32> {
    let mut values = input.expose();
    values.resize(dimension, 0);
    values.iter_mut().for_each(|x| *x = (*x).clamp(-UNIT, UNIT));
    values
}

/// Sums times a factor, divided by the number of messages.
fn scaled(sums: &[i64], factor: f64, messages: u64) -> Vec<f64> {
    let factor = if messages == 0 {
        0.0
    } else {
        factor / messages as f64
    };
    sums.iter().map(|sum| *sum as f64 * factor).collect()
}
