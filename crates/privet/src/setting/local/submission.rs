//! What an owner sends.
//!
//! | bytes | what |
//! | --- | --- |
//! | 1 | version: 1 |
//! | 1 | how many bytes the body has |
//! | 8 | the first bytes of the campaign's digest |
//! | 16 | token |
//! | 1 to 64 | body |
//! | 4 | checksum of everything above, little-endian |
//!
//! The checksum finds bytes that were damaged on the way. Whoever wants to can make up a submission: what one can do is bounded by what a
//! body can say.

use std::fmt;

use crate::privacy::mechanism::local::{LONGEST_BODY, LocalMessage, Token};

/// The longest submission, in bytes.
pub const LONGEST_SUBMISSION: usize = Submission::bytes_for(LONGEST_BODY);

const VERSION: u8 = 1;
/// Bytes of a digest that name the campaign.
const CAMPAIGN: usize = 8;
const TOKEN: usize = 16;
const HEAD: usize = 2 + CAMPAIGN + TOKEN;
const CHECKSUM: usize = 4;

/// A message on its way to a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    campaign: [u8; CAMPAIGN],
    message: LocalMessage,
}

/// Why bytes are not a submission to a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BadSubmission {
    /// Too short, or not as long as it says.
    Length,
    /// Of another version.
    Version,
    /// Damaged.
    Checksum,
    /// The token is zero.
    Token,
    /// To another campaign.
    OtherCampaign,
    /// Its mechanism never draws such a body.
    Body,
}

impl fmt::Display for BadSubmission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "it is too short, or not as long as it says",
            Self::Version => "it is of a version that cannot be read",
            Self::Checksum => "its checksum is wrong: it was damaged on the way",
            Self::Token => "its token is zero",
            Self::OtherCampaign => "it is to another campaign",
            Self::Body => "the campaign's mechanism never draws its body",
        })
    }
}

impl std::error::Error for BadSubmission {}

impl Submission {
    /// How long a submission is whose body has so many bytes.
    pub const fn bytes_for(body: usize) -> usize {
        HEAD + body + CHECKSUM
    }

    pub(super) fn new(digest: &[u8; 32], message: &LocalMessage) -> Self {
        Self {
            campaign: prefix(digest),
            message: message.clone(),
        }
    }

    pub(super) fn is_to(&self, digest: &[u8; 32]) -> bool {
        self.campaign == prefix(digest)
    }

    pub(super) fn into_message(self) -> LocalMessage {
        self.message
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let body = &self.message.body;
        let mut bytes = Vec::with_capacity(Self::bytes_for(body.len()));
        // Bodies have at most 64 bytes.
        bytes.extend([VERSION, body.len() as u8]);
        bytes.extend(self.campaign);
        bytes.extend(self.message.to_bytes());
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes
    }

    /// A submission from exactly these bytes.
    ///
    /// # Errors
    /// Why they are none.
    pub fn read(bytes: &[u8]) -> Result<Self, BadSubmission> {
        let frame = Frame::read(bytes)?;
        let message = LocalMessage {
            token: frame.token,
            body: frame.body.to_vec(),
        };
        Ok(Self {
            campaign: frame.campaign,
            message,
        })
    }
}

/// A submission where it was received.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) campaign: [u8; CAMPAIGN],
    pub(super) token: Token,
    pub(super) body: &'a [u8],
}

impl<'a> Frame<'a> {
    /// From exactly these bytes.
    #[inline]
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, BadSubmission> {
        let (sealed, sum) = bytes
            .split_last_chunk::<CHECKSUM>()
            .ok_or(BadSubmission::Length)?;
        let (head, body) = sealed.split_first_chunk::<HEAD>().ok_or(BadSubmission::Length)?;
        let length = usize::from(head[1]);
        if !(1..=LONGEST_BODY).contains(&length) || body.len() != length {
            return Err(BadSubmission::Length);
        }
        if checksum(sealed) != u32::from_le_bytes(*sum) {
            return Err(BadSubmission::Checksum);
        }
        if head[0] != VERSION {
            return Err(BadSubmission::Version);
        }
        let (mut campaign, mut token) = ([0; CAMPAIGN], [0; TOKEN]);
        campaign.copy_from_slice(&head[2..2 + CAMPAIGN]);
        token.copy_from_slice(&head[2 + CAMPAIGN..]);
        let token = Token::from_bytes(token).ok_or(BadSubmission::Token)?;
        Ok(Self {
            campaign,
            token,
            body,
        })
    }

    /// The body of a submission that was read before.
    #[inline]
    pub(super) fn body(bytes: &'a [u8]) -> Option<&'a [u8]> {
        bytes.get(HEAD..bytes.len().checked_sub(CHECKSUM)?)
    }
}

pub(super) fn prefix(digest: &[u8; 32]) -> [u8; CAMPAIGN] {
    let mut prefix = [0; CAMPAIGN];
    prefix.copy_from_slice(&digest[..CAMPAIGN]);
    prefix
}

/// Each eight bytes are added and mixed by an odd factor and a shift, both of which can be undone: what changes within eight bytes always
/// changes the 64 digits, of which half are kept.
#[inline]
fn checksum(bytes: &[u8]) -> u32 {
    let mix = |sum: u64, word: u64| {
        let sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^ sum >> 29
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let mut sum = bytes.len() as u64;
    for word in words {
        sum = mix(sum, u64::from_le_bytes(*word));
    }
    if !rest.is_empty() {
        let last = rest
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u64::from(*byte));
        sum = mix(sum, last);
    }
    (sum >> 32) as u32 ^ sum as u32
}
