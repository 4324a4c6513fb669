//! What is fixed before the first message: roles, the run, and each side's key.

use std::fmt;

use zeroize::Zeroizing;

use super::{Ids, MOST_IDS};
use crate::Error;

/// The two sides of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Makes the offer, computes the intersection and sends it.
    LabelHolder = 1,
    /// Answers, and receives the intersection.
    FeatureHolder = 2,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LabelHolder => "the label holder",
            Self::FeatureHolder => "the feature holder",
        })
    }
}

/// One run between one label holder and one feature holder. Messages of any other run are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub(super) id: [u8; 32],
    pub(super) most: usize,
}

impl Run {
    /// A run by its name: 32 bytes that both sides know and that no run had before, such as random bytes that one of them sent,
    /// or a hash of the job, both names and such bytes.
    pub fn new(id: [u8; 32]) -> Self {
        Self { id, most: MOST_IDS }
    }

    /// The same run with at most `ids` ids on each side. A peer can ask about as many ids as it sends points, whatever it
    /// does, so this bounds what a dishonest one learns, and the work it can make. A longer list of a peer is refused by its count,
    /// before anything is hashed or computed; so is a longer list of one's own, before anything is sent.
    #[must_use]
    pub fn with_at_most(self, ids: usize) -> Self {
        let most = ids.min(MOST_IDS);
        Self { most, ..self }
    }

    /// That one's own list is not longer than was agreed on.
    pub(super) fn check(&self, ids: &Ids) -> Result<(), Error> {
        match ids.len() > self.most {
            true => Err(Error::TooManyIds { most: self.most }),
            false => Ok(()),
        }
    }
}

/// The secret of one party in one run. Wiped when it goes.
///
/// The exponent follows from it, from the run, from one's ids and from what had been received. So a party that was interrupted
/// can be run again and says the same; and nothing else ever has the same exponent: two lists under one would show which points
/// they share, and two offers answered under one would let their maker ask twice.
pub struct Key(Zeroizing<[u8; 32]>);

impl Key {
    /// A key from the operating system.
    ///
    /// # Errors
    /// [`Error::Randomness`] if there is none.
    pub fn from_os() -> Result<Self, Error> {
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *key).map_err(|e| Error::Randomness(e.to_string()))?;
        Ok(Self(key))
    }

    /// The key that an interrupted run was started with. Wiping the copy that is given here is left to its owner.
    pub fn new(key: &[u8; 32]) -> Self {
        Self(Zeroizing::new(*key))
    }

    /// The key, to be kept until the run is over, where nobody else reads.
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Key {
    /// Does not print the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}
