//! Messages as bytes, version 1. Numbers are little-endian.
//!
//! | bytes | what |
//! | --- | --- |
//! | 7 | `privpsi` |
//! | 1 | version: 1 |
//! | 1 | 1 offer, 2 answer, 3 common |
//! | 32 | the run |
//! | … | offer: count (4), points (32 each) |
//! | | answer: count (4), points (32 each), count (4), tags of the offer's points (16 each) |
//! | | common: count (4), places in the answer's list of points (4 each) |
//! | 32 | seal: SHA-256 of the seal before (zeros for an offer) and of everything above |
//!
//! A seal is not a signature, since anybody can compute it: the transport authenticates the sender. It detects damage that
//! could otherwise be read as another point, and binds an answer to its offer.

use sha2::{Digest, Sha256};

use super::group::{Encoding, Tag};
use super::{Role, Run};
use crate::Error;

const MAGIC: [u8; 7] = *b"privpsi";
const VERSION: u8 = 1;
const HEAD: usize = MAGIC.len() + 2 + 32;

/// The type of a message, also named in errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Offer = 1,
    Answer = 2,
    Common = 3,
}

impl Kind {
    fn sender(self) -> Role {
        match self {
            Self::Offer | Self::Common => Role::LabelHolder,
            Self::Answer => Role::FeatureHolder,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Offer => "offer",
            Self::Answer => "answer",
            Self::Common => "list of common rows",
        }
    }

    pub(super) fn error(self, what: impl std::fmt::Display) -> Error {
        Error::peer(format!("{}'s {}: {what}", self.sender(), self.name()))
    }

    /// That a list is not longer than was agreed on.
    fn at_most(self, count: usize, most: usize) -> Result<(), Error> {
        match count > most {
            true => Err(self.error(format!("{count} items where at most {most} were agreed to"))),
            false => Ok(()),
        }
    }
}

/// The hash of an exchange so far.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Seal([u8; 32]);

impl Seal {
    pub(super) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Before the first message.
    pub(super) const NONE: Self = Self([0; 32]);

    pub(super) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    fn over(self, bytes: &[u8]) -> Self {
        Self(
            Sha256::new_with_prefix(self.0)
                .chain_update(bytes)
                .finalize()
                .into(),
        )
    }
}

/// An output buffer: the head of a message is written, its body follows.
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn new(kind: Kind, run: &Run) -> Self {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([VERSION, kind as u8]);
        bytes.extend(run.id);
        Self(bytes)
    }

    pub(super) fn list<const N: usize>(mut self, items: impl ExactSizeIterator<Item = [u8; N]>) -> Self {
        self.0.reserve(4 + N * items.len() + 32);
        // Unwrap safety: no list is longer than MOST_IDS, which fits.
        let count = u32::try_from(items.len()).expect("a list within limits");
        self.0.extend(count.to_le_bytes());
        items.for_each(|item| self.0.extend(item));
        self
    }

    /// A body as it stands, right or wrong: for the fuzzer.
    pub(super) fn raw(mut self, body: &[u8]) -> Self {
        self.0.extend(body);
        self
    }

    pub(super) fn seal(self, before: Seal) -> (Vec<u8>, Seal) {
        let Self(mut bytes) = self;
        let seal = before.over(&bytes);
        bytes.extend(seal.0);
        (bytes, seal)
    }
}

/// The body of a message that has come for this run, whole and in turn.
pub(super) struct Reader<'a> {
    kind: Kind,
    body: &'a [u8],
}

impl<'a> Reader<'a> {
    /// The body of a message whose first bytes are right: kind, version, run, and a first list of at most `most` items. Nothing is hashed.
    pub(super) fn head(kind: Kind, run: &Run, most: usize, bytes: &'a [u8]) -> Result<Self, Error> {
        let error = |what: &str| Err(kind.error(what));
        let Some((rest, _)) = bytes.split_last_chunk::<32>() else {
            return error("too short to be one");
        };
        let Some((head, body)) = rest.split_at_checked(HEAD) else {
            return error("too short to be one");
        };
        let (magic, head) = head.split_at(MAGIC.len());
        if magic != MAGIC {
            return error("no message of this protocol");
        }
        if head[0] != VERSION {
            return error(&format!("version {}, and only {VERSION} is spoken here", head[0]));
        }
        if head[1] != kind as u8 {
            return error("another message came in its turn");
        }
        if head[2..] != run.id {
            return error("from another run");
        }
        if let Some((count, _)) = body.split_first_chunk() {
            kind.at_most(u32::from_le_bytes(*count) as usize, most)?;
        }
        // An answer has 48 bytes for each of as many points and tags as there can be; the others have less.
        if body.len() > 8 + 48 * run.most {
            return error("longer than was agreed to");
        }
        Ok(Self { kind, body })
    }

    /// The whole message, its seal included.
    pub(super) fn open(
        kind: Kind,
        run: &Run,
        most: usize,
        before: Seal,
        bytes: &'a [u8],
    ) -> Result<(Self, Seal), Error> {
        // The count comes before the seal: a list that is too long is not even hashed.
        let body = Self::head(kind, run, most, bytes)?;
        match bytes.split_last_chunk::<32>() {
            Some((rest, seal)) if before.over(rest) == Seal(*seal) => Ok((body, Seal(*seal))),
            _ => Err(kind.error("damaged on its way, or part of another exchange")),
        }
    }

    /// The next list. Its length is checked against the input before memory is allocated.
    pub(super) fn list<const N: usize>(&mut self, most: usize) -> Result<&'a [[u8; N]], Error> {
        let (count, rest) = self
            .body
            .split_first_chunk()
            .ok_or_else(|| self.kind.error("cut short"))?;
        let count = u32::from_le_bytes(*count) as usize;
        self.kind.at_most(count, most)?;
        let (items, rest) = count
            .checked_mul(N)
            .and_then(|bytes| rest.split_at_checked(bytes))
            .ok_or_else(|| self.kind.error("shorter than its counts say"))?;
        self.body = rest;
        Ok(items.as_chunks().0)
    }

    /// Masked points: in ascending order, so that the order tells nothing and none stands twice.
    pub(super) fn points(&mut self, run: &Run) -> Result<&'a [Encoding], Error> {
        let points = self.list::<32>(run.most)?;
        if points.is_sorted_by(|one, next| one < next) {
            Ok(points)
        } else {
            Err(self.kind.error("its points are not sorted, or one stands twice"))
        }
    }

    /// Exactly as many tags as there were points in the offer.
    pub(super) fn tags(&mut self, offered: usize) -> Result<Vec<Tag>, Error> {
        let tags = self.list(offered)?;
        if tags.len() != offered {
            return Err(self.kind.error("it does not answer every point of the offer"));
        }
        Ok(tags.iter().map(|tag| Tag::from_le_bytes(*tag)).collect())
    }

    pub(super) fn end(self) -> Result<(), Error> {
        if self.body.is_empty() {
            Ok(())
        } else {
            Err(self.kind.error("longer than its counts say"))
        }
    }
}
