//! What all parties of a sum agree on.

use std::fmt;
use std::sync::Arc;

use super::SumFault;
use super::field::Mersenne61;
use super::message::HEAD;
use super::scheme::Scheme;
use super::shape::Shape;
use crate::Error;

/// How many owners sum how many numbers, how many of them may be absent, and how many may collude with the miner. Public.
///
/// How many owners hold shares follows from these, so that the shares of all have as few bytes as possible: they are the first owners. All
/// share their numbers, and up to `colluding` may be holders or not, as may those who are absent.
///
/// The factors by which shares are computed belong to it, P²/2 numbers at most: it is made once and cloned for each owner of a process.
#[derive(Clone, PartialEq, Eq)]
pub struct SumTerms(Arc<Scheme<Mersenne61>>);

impl SumTerms {
    /// Terms for `owners` owners, of which up to `absent` may be absent in a round and up to `colluding` may collude with the miner (a
    /// miner that is an owner is one of these), and for vectors of `length` numbers.
    ///
    /// # Errors
    /// [`Error::Sum`] if there are fewer than three owners, nobody is said to collude, or so many may be absent or collude that a miner
    /// could open two sums in one round: there must be more than 3 · absent + colluding owners, or colluding + 3 where one may be absent.
    pub fn new(owners: usize, absent: usize, colluding: usize, length: usize) -> Result<Self, Error> {
        let shape = Shape::new(owners, absent, colluding, length)?;
        Ok(Self(Arc::new(Scheme::new(shape))))
    }

    /// The same where every owner holds shares, and so sees before it goes on that all others were told what it was told.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn held_by_all(owners: usize, absent: usize, colluding: usize, length: usize) -> Result<Self, Error> {
        let Shape { owners, .. } = Shape::new(owners, absent, colluding, length)?;
        let shape = Shape::with(owners, absent, colluding, length, owners);
        let refused = Error::Sum(SumFault::ManyAbsent {
            owners,
            absent,
            colluding,
        });
        Ok(Self(Arc::new(Scheme::new(shape.ok_or(refused)?))))
    }

    pub(super) fn scheme(&self) -> &Scheme<Mersenne61> {
        &self.0
    }

    fn shape(&self) -> &Shape {
        self.0.shape()
    }

    /// How many owners there are.
    pub fn owners(&self) -> usize {
        self.shape().owners
    }

    /// How many owners may be absent in a round.
    pub fn absent(&self) -> usize {
        self.shape().absent
    }

    /// How many owners may collude with the miner.
    pub fn colluding(&self) -> usize {
        self.shape().colluding
    }

    /// How many numbers a vector has.
    pub fn length(&self) -> usize {
        self.shape().length
    }

    /// How many owners hold shares, and answer: the first so many.
    pub fn holders(&self) -> usize {
        self.shape().holders
    }

    /// Whether an owner holds shares.
    pub fn is_holder(&self, owner: u16) -> bool {
        usize::from(owner) < self.holders()
    }

    /// Whether two different owners have envelopes for each other: one of them at least holds shares.
    pub(super) fn are_partners(&self, one: u16, other: u16) -> bool {
        one != other && (self.is_holder(one) || self.is_holder(other))
    }

    /// How many pieces a vector is cut into: each is one polynomial, and 8 bytes in each envelope.
    pub fn pieces(&self) -> usize {
        self.shape().pieces
    }

    /// How many numbers a piece has.
    pub fn packed(&self) -> usize {
        self.shape().packed
    }

    /// How many survivors a sum has at least.
    pub fn least_survivors(&self) -> usize {
        self.shape().least_survivors()
    }

    /// How many answers open a sum.
    pub fn required(&self) -> usize {
        self.shape().required()
    }

    pub(super) fn envelope_bytes(&self) -> usize {
        self.shape().envelope_bytes()
    }

    /// The length of an owner's message of shares: a holder keeps its own.
    pub fn share_bytes(&self, owner: u16) -> usize {
        HEAD + (self.holders() - usize::from(self.is_holder(owner))) * self.envelope_bytes()
    }

    /// The length of the message by which the miner relays the envelopes of a survivor set to a holder.
    pub fn relay_bytes(&self, survivors: usize) -> usize {
        HEAD + self.owners().div_ceil(8) + survivors.saturating_sub(1) * self.envelope_bytes()
    }

    /// The length of an answer.
    pub fn answer_bytes(&self) -> usize {
        HEAD + 8 * self.pieces()
    }

    /// What one owner sends and receives in a round in which nobody is absent.
    pub fn round_bytes(&self, owner: u16) -> usize {
        let held = match self.is_holder(owner) {
            true => self.relay_bytes(self.owners()) + self.answer_bytes(),
            false => 0,
        };
        self.share_bytes(owner) + held
    }
}

impl fmt::Debug for SumTerms {
    /// Without the factors.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SumTerms").field(self.shape()).finish()
    }
}
