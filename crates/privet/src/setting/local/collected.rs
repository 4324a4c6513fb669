//! What was collected for a campaign: sums, and how many messages they are of.

use std::fmt;

use sha2::{Digest, Sha256};

use super::campaign::Campaign;
use super::submission::BadSubmission;
use crate::Error;
use crate::privacy::getters;
use crate::wire::{Malformed, Reader, Wire, Writer};

/// What a file begins with.
const MARK: &[u8; 18] = b"privet collected 1";
/// Messages, at most: each adds less than 2^24 to a sum, so that no sum leaves 64 digits.
const MOST_MESSAGES: u64 = 1 << 39;
/// Bytes of a file's name, at most.
const LONGEST_NAME: usize = 4096;

/// Why a message was not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// It is no submission to the campaign.
    Bad(BadSubmission),
    /// A message with its token was counted before.
    Replay,
    /// Its token belongs to another collector.
    OtherShare,
}

impl Refusal {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Bad(BadSubmission::Length),
        Self::Bad(BadSubmission::Version),
        Self::Bad(BadSubmission::Checksum),
        Self::Bad(BadSubmission::Token),
        Self::Bad(BadSubmission::OtherCampaign),
        Self::Bad(BadSubmission::Body),
        Self::Replay,
        Self::OtherShare,
    ];

    fn place(self) -> usize {
        Self::ALL.iter().position(|one| *one == self).unwrap_or(0)
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bad(BadSubmission::Length) => "wrong length",
            Self::Bad(BadSubmission::Version) => "unknown version",
            Self::Bad(BadSubmission::Checksum) => "wrong checksum",
            Self::Bad(BadSubmission::Token) => "zero token",
            Self::Bad(BadSubmission::OtherCampaign) => "other campaign",
            Self::Bad(BadSubmission::Body) => "impossible body",
            Self::Replay => "token seen before",
            Self::OtherShare => "other collector's token",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How many messages were refused, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refused([u64; Refusal::ALL.len()]);

impl Refused {
    /// Counts one.
    pub(super) fn count(&mut self, why: Refusal) {
        self.count_many(why, 1);
    }

    pub(super) fn count_many(&mut self, why: Refusal, count: u64) {
        let own = &mut self.0[why.place()];
        *own = own.saturating_add(count);
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own = own.saturating_add(other);
        }
    }

    /// For one reason.
    pub fn of(&self, why: Refusal) -> u64 {
        self.0[why.place()]
    }

    /// For all reasons.
    pub fn all(&self) -> u64 {
        self.0.iter().fold(0, |all, count| all.saturating_add(*count))
    }
}

/// The tokens that a collector takes: those whose first eight bytes, as a number, lie between two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    first: u64,
    last: u64,
}

impl Share {
    /// All tokens.
    pub const ALL: Self = Self {
        first: 0,
        last: u64::MAX,
    };

    /// Share `number` (from one) of `of` equal ones.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there is no such share.
    pub fn new(number: u32, of: u32) -> Result<Self, Error> {
        if number == 0 || number > of {
            let why = format!("there is no share {number} of {of}: write 1/4 for the first of four");
            return Err(Error::parameter("share", why));
        }
        let start = |share: u32| ((u128::from(share) << 64) / u128::from(of)) as u64;
        let last = match number == of {
            true => u64::MAX,
            false => start(number) - 1,
        };
        Ok(Self {
            first: start(number - 1),
            last,
        })
    }

    #[inline]
    pub(super) fn has(&self, token: u128) -> bool {
        // A token's first byte is the lowest of this number.
        let prefix = (token as u64).swap_bytes();
        (self.first..=self.last).contains(&prefix)
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// A file of submissions, and how much of it was counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Bytes that were read.
    pub position: u64,
    /// A hash of its first bytes, by which it is known again.
    pub head: [u8; 32],
}

/// Sums of the messages to a campaign. Those of several collectors are added exactly, in any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    campaign: [u8; 32],
    /// The tokens that it took, in order; no two overlap.
    shares: Vec<Share>,
    pub(super) messages: u64,
    pub(super) refused: Refused,
    pub(super) sums: Vec<i64>,
    /// A sum over all tokens that were counted: by this the list of tokens is checked.
    pub(super) tokens_sum: u64,
    inputs: Vec<Input>,
}

impl Collected {
    /// Nothing yet.
    pub fn new(campaign: &Campaign, share: Share) -> Self {
        Self {
            campaign: campaign.digest(),
            shares: vec![share],
            messages: 0,
            refused: Refused::default(),
            sums: vec![0; campaign.sums()],
            tokens_sum: 0,
            inputs: Vec::new(),
        }
    }

    getters! {
        /// SHA-256 of the campaign's file.
        pub campaign(campaign) -> [u8; 32];
        /// The tokens that were taken.
        pub shares(&shares) -> &[Share];
        /// How many messages were counted.
        pub messages(messages) -> u64;
        /// How many were refused.
        pub refused(refused) -> Refused;
        /// The sums.
        pub sums(&sums) -> &[i64];
        /// A sum over all tokens that were counted.
        pub tokens_sum(tokens_sum) -> u64;
        /// What was read so far.
        pub inputs(&inputs) -> &[Input];
    }

    /// Whether all messages were collected by one collector, or by several who share all tokens.
    pub fn is_whole(&self) -> bool {
        let mut next = Some(0);
        for share in &self.shares {
            if next != Some(share.first) {
                return false;
            }
            next = share.last.checked_add(1);
        }
        next.is_none()
    }

    /// Notes how much of a file was counted.
    pub fn note(&mut self, input: Input) {
        match self.inputs.iter_mut().find(|known| known.name == input.name) {
            Some(known) => *known = input,
            None => self.inputs.push(input),
        }
    }

    /// What a counted token adds to [`tokens_sum`](Self::tokens_sum).
    pub fn sum_of_token(token: [u8; 16]) -> u64 {
        let token = u128::from_le_bytes(token);
        let mixed = (token as u64 ^ (token >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 29 ^ token as u64
    }

    /// That it is of this campaign.
    ///
    /// # Errors
    /// [`Error::Data`] if it is of another.
    pub fn check(&self, campaign: &Campaign) -> Result<(), Error> {
        if self.campaign != campaign.digest() || self.sums.len() != campaign.sums() {
            return Err(Error::data(
                "it was collected for another campaign: a campaign's file must not change, not by one byte",
            ));
        }
        Ok(())
    }

    /// The means that the sums estimate without bias, in the owners' own units.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn means(&self, campaign: &Campaign) -> Result<Vec<f64>, Error> {
        self.check(campaign)?;
        Ok(campaign.means(&self.sums, self.messages))
    }

    /// Both together. Which files were read is forgotten.
    ///
    /// # Errors
    /// [`Error::Data`] if they are of different campaigns, or both took the same tokens: a message could have been counted twice.
    pub fn merge(&self, other: &Self) -> Result<Self, Error> {
        if self.campaign != other.campaign || self.sums.len() != other.sums.len() {
            return Err(Error::data("they were collected for different campaigns"));
        }
        let overlaps = |share: &Share| other.shares.iter().any(|there| share.overlaps(there));
        if self.shares.iter().any(overlaps) {
            return Err(Error::data(
                "both took the same tokens, so that a message could be counted twice: collectors that are merged need different shares, such as \
                 --share 1/2 and --share 2/2",
            ));
        }
        let messages = self.messages.checked_add(other.messages);
        let messages = messages.filter(|all| *all <= MOST_MESSAGES);
        let mut shares = [self.shares.as_slice(), &other.shares].concat();
        shares.sort_unstable();
        let mut refused = self.refused;
        refused.add(&other.refused);
        let sums = self.sums.iter().zip(&other.sums);
        Ok(Self {
            campaign: self.campaign,
            shares,
            messages: messages.ok_or_else(|| Error::data("they are more messages than can be added"))?,
            refused,
            // In any order: 64 digits have room for all of them.
            sums: sums.map(|(a, b)| a.wrapping_add(*b)).collect(),
            tokens_sum: self.tokens_sum.wrapping_add(other.tokens_sum),
            inputs: Vec::new(),
        })
    }

    /// Its file.
    pub fn to_file(&self) -> Vec<u8> {
        let mut bytes = [&MARK[..], &self.to_bytes()].concat();
        let digest: [u8; 32] = Sha256::digest(&bytes).into();
        bytes.extend(digest);
        bytes
    }

    /// From its file.
    ///
    /// # Errors
    /// [`Error::Data`] if it is none, or damaged.
    pub fn from_file(name: &str, bytes: &[u8]) -> Result<Self, Error> {
        let bad = |why: String| Error::data_in(name, why);
        let body = bytes.split_last_chunk::<32>();
        let body = body.and_then(|(body, digest)| Some((body.strip_prefix(MARK)?, body, digest)));
        let Some((fields, sealed, digest)) = body else {
            return Err(bad("it is not a file that `privet collect` wrote".into()));
        };
        if <[u8; 32]>::from(Sha256::digest(sealed)) != *digest {
            return Err(bad("it is damaged: its checksum is wrong".into()));
        }
        Self::from_bytes(fields).map_err(|e| bad(format!("it cannot be read: {e}")))
    }
}

impl Wire for Collected {
    fn write(&self, to: &mut Writer) {
        to.fixed(&self.campaign);
        to.list(&self.shares, |share, to| {
            to.long(share.first);
            to.long(share.last);
        });
        to.long(self.messages);
        self.refused.0.iter().for_each(|count| to.long(*count));
        to.long(self.tokens_sum);
        to.list(&self.sums, |sum, to| to.long(*sum as u64));
        to.list(&self.inputs, |input, to| {
            to.text(&input.name);
            to.long(input.position);
            to.fixed(&input.head);
        });
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let campaign = from.array()?;
        let share = |from: &mut Reader<'_>| {
            Ok(Share {
                first: from.long()?,
                last: from.long()?,
            })
        };
        let shares = from.list(16, share)?;
        let is_share = |share: &Share| share.first <= share.last;
        let rise = shares.windows(2).all(|two| two[0].last < two[1].first);
        if shares.is_empty() || !rise || !shares.iter().all(is_share) {
            return Err(Malformed::new("shares of tokens that cannot be"));
        }
        let messages = from.long()?;
        if messages > MOST_MESSAGES {
            return Err(Malformed::new("more messages than can be added"));
        }
        let mut refused = Refused::default();
        for count in &mut refused.0 {
            *count = from.long()?;
        }
        let tokens_sum = from.long()?;
        let sums = from.list(8, |from| Ok(from.long()? as i64))?;
        let input = |from: &mut Reader<'_>| {
            Ok(Input {
                name: from.text(LONGEST_NAME)?,
                position: from.long()?,
                head: from.array()?,
            })
        };
        let inputs = from.list(48, input)?;
        Ok(Self {
            campaign,
            shares,
            messages,
            refused,
            sums,
            tokens_sum,
            inputs,
        })
    }
}
