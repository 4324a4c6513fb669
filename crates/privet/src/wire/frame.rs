//! An envelope around each message, or part of one, version 2. Numbers are little-endian.
//!
//! | bytes | what |
//! | --- | --- |
//! | 6 | `privet` |
//! | 1 | version: 2 |
//! | 1 | 1 a message or a part of one, 2 the sender has given up, 3 an acknowledgement, 4 a greeting |
//! | 32 | digest of the agreement, and so of the run |
//! | 2 | from, a party's number |
//! | 2 | to, a party's number |
//! | 8 | kinds 1 and 2: number of this frame from this sender to this receiver, from 0; kind 4: how many frames the sender has |
//! | 8 | how many frames of the receiver the sender has stored durably |
//! | 8 | kind 1: length of the whole message; else 0 |
//! | 8 | kind 1: where in the message this part begins, a multiple of 2²⁰; else 0 |
//! | … | kind 1: the part: 2²⁰ bytes, or what remains of the message |
//! | 16 | seal: the first half of SHA-256 over everything above |
//!
//! A seal is not a signature: the transport authenticates the sender. The seal detects damaged bytes that could otherwise be
//! read as other values.

use std::fmt;

use sha2::{Digest, Sha256};

use super::Malformed;

const MAGIC: [u8; 6] = *b"privet";
const VERSION: u8 = 2;
const SEAL: usize = 16;

/// The length of every part of a message but the last, in bytes.
pub const PART: usize = 1 << 20;

/// The most bytes of a message, unless the parties agree on fewer.
pub const MOST_BYTES: usize = 1 << 31;

/// One run of a protocol between parties: random bytes that all of them know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunId(pub [u8; 16]);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What a frame carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// A message of the protocol, or a part of one.
    Part {
        /// The length of the whole message.
        total: u64,
        /// Where in the message this part begins.
        at: u64,
        /// The part.
        bytes: Vec<u8>,
    },
    /// The sender has given up.
    Aborted,
    /// Nothing but the count of frames that are stored durably.
    Acknowledged,
    /// The first frame after a connection was made: `number` says how many frames the sender has received, so that the receiver
    /// goes on with the next.
    Greeting,
}

impl Body {
    /// A message that fits into one frame.
    pub fn message(bytes: Vec<u8>) -> Self {
        Self::Part {
            total: bytes.len() as u64,
            at: 0,
            bytes,
        }
    }
}

/// A message or a part of one in its envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The digest of the agreement.
    pub agreement: [u8; 32],
    /// The sender's number among the parties.
    pub from: u16,
    /// The receiver's number.
    pub to: u16,
    /// How many frames this sender had sent to this receiver before; in a greeting, how many it has received.
    pub number: u64,
    /// How many frames of the receiver the sender has stored durably.
    pub acknowledged: u64,
    /// What it carries.
    pub body: Body,
}

/// How many frames a message of this length takes.
pub fn frames(length: u64) -> u64 {
    length.div_ceil(PART as u64).max(1)
}

/// The first bytes of a frame: how many more belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    kind: u8,
    agreement: [u8; 32],
    from: u16,
    to: u16,
    number: u64,
    acknowledged: u64,
    total: u64,
    at: u64,
}

impl Header {
    /// How many bytes it takes.
    pub const BYTES: usize = MAGIC.len() + 2 + 32 + 2 + 2 + 4 * 8;

    /// Reads it, for transports that must know how much to wait for.
    ///
    /// # Errors
    /// [`Malformed`] if this is not the beginning of a frame.
    pub fn read(bytes: &[u8; Self::BYTES]) -> Result<Self, Malformed> {
        let mut reader = super::Reader::new(bytes);
        if reader.array()? != MAGIC {
            return Err(Malformed::new("this is no message of privet"));
        }
        let [version, kind] = reader.array()?;
        if version != VERSION {
            return Err(Malformed::new(format!(
                "version {version} of the protocol, and only {VERSION} is spoken here"
            )));
        }
        let header = Self {
            kind,
            agreement: reader.array()?,
            from: u16::from_le_bytes(reader.array()?),
            to: u16::from_le_bytes(reader.array()?),
            number: reader.long()?,
            acknowledged: reader.long()?,
            total: reader.long()?,
            at: reader.long()?,
        };
        let fits = match kind {
            1 => {
                header.at.is_multiple_of(PART as u64)
                    && (header.at < header.total || (header.at == 0 && header.total == 0))
            }
            3 => (header.number, header.total, header.at) == (0, 0, 0),
            2 | 4 => (header.total, header.at) == (0, 0),
            _ => return Err(Malformed::new("a frame of no known kind")),
        };
        if !fits {
            return Err(Malformed::new("a frame whose lengths do not fit together"));
        }
        Ok(header)
    }

    /// How many bytes follow it: never more than a part and its seal.
    pub fn rest(&self) -> usize {
        self.length() + SEAL
    }

    /// The length of the whole message that begins with this frame; none if it begins no message.
    pub fn begins(&self) -> Option<u64> {
        (self.kind == 1 && self.at == 0).then_some(self.total)
    }

    /// The number of the frame.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether it carries a message or a part of one.
    pub fn is_message(&self) -> bool {
        self.kind == 1
    }

    fn length(&self) -> usize {
        let length = (self.total - self.at).min(PART as u64);
        length as usize
    }

    fn encode(&self, part: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::BYTES + part.len() + SEAL);
        bytes.extend(MAGIC);
        bytes.extend([VERSION, self.kind]);
        bytes.extend(self.agreement);
        bytes.extend(self.from.to_le_bytes());
        bytes.extend(self.to.to_le_bytes());
        for number in [self.number, self.acknowledged, self.total, self.at] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend_from_slice(part);
        let seal = Sha256::digest(&bytes);
        bytes.extend_from_slice(&seal[..SEAL]);
        bytes
    }
}

impl Frame {
    /// The frame as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.body {
            Body::Part { total, at, bytes } => self.header(1, *total, *at).encode(bytes),
            Body::Aborted => self.header(2, 0, 0).encode(&[]),
            Body::Acknowledged => self.header(3, 0, 0).encode(&[]),
            Body::Greeting => self.header(4, 0, 0).encode(&[]),
        }
    }

    /// One part of a message as a frame, without a second copy of the part; the body of `self` is not used.
    pub(crate) fn part_of(&self, message: &[u8], part: u64) -> Vec<u8> {
        let at = (part as usize).saturating_mul(PART).min(message.len());
        let end = at.saturating_add(PART).min(message.len());
        self.header(1, message.len() as u64, at as u64)
            .encode(&message[at..end])
    }

    fn header(&self, kind: u8, total: u64, at: u64) -> Header {
        Header {
            kind,
            agreement: self.agreement,
            from: self.from,
            to: self.to,
            number: self.number,
            acknowledged: self.acknowledged,
            total,
            at,
        }
    }

    /// Decodes a frame. The part that it carries stays in the buffer that it came in.
    ///
    /// # Errors
    /// [`Malformed`] if the bytes are not a frame, or damaged.
    pub fn from_bytes(mut bytes: Vec<u8>) -> Result<Self, Malformed> {
        let header = {
            let (head, _) = bytes
                .split_first_chunk()
                .ok_or_else(|| Malformed::new("too short to be a message"))?;
            let header = Header::read(head)?;
            let Some((sealed, seal)) = bytes.split_last_chunk::<SEAL>() else {
                return Err(Malformed::new("too short to be a message"));
            };
            if bytes.len() != Header::BYTES + header.rest() {
                return Err(Malformed::new("not as long as it says"));
            }
            if Sha256::digest(sealed)[..SEAL] != *seal {
                return Err(Malformed::new("damaged on its way"));
            }
            header
        };
        let body = match header.kind {
            1 => {
                bytes.truncate(bytes.len() - SEAL);
                bytes.drain(..Header::BYTES);
                Body::Part {
                    total: header.total,
                    at: header.at,
                    bytes,
                }
            }
            2 => Body::Aborted,
            3 => Body::Acknowledged,
            _ => Body::Greeting,
        };
        Ok(Self {
            agreement: header.agreement,
            from: header.from,
            to: header.to,
            number: header.number,
            acknowledged: header.acknowledged,
            body,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(body: Body) -> Frame {
        Frame {
            agreement: [7; 32],
            from: 1,
            to: 0,
            number: 3,
            acknowledged: 2,
            body,
        }
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_found() {
        let whole = frame(Body::message(vec![1, 2, 3]));
        let bytes = whole.to_bytes();
        assert_eq!(Frame::from_bytes(bytes.clone()), Ok(whole));
        for cut in 0..bytes.len() {
            assert!(Frame::from_bytes(bytes[..cut].to_vec()).is_err(), "{cut}");
            let mut changed = bytes.clone();
            changed[cut] ^= 1;
            assert!(Frame::from_bytes(changed).is_err(), "{cut}");
        }
        assert!(Frame::from_bytes([bytes, vec![0]].concat()).is_err());
    }

    #[test]
    fn giving_up_looks_the_same_whatever_the_reason() {
        let aborted = frame(Body::Aborted);
        let bytes = aborted.to_bytes();
        assert_eq!(bytes.len(), Header::BYTES + SEAL);
        assert_eq!(Frame::from_bytes(bytes), Ok(aborted));
    }

    /// A message has one way to be cut, and a header never announces more than a part.
    #[test]
    fn parts_are_cut_in_one_way() {
        let message: Vec<u8> = (0..2 * PART + 5).map(|i| (i % 251) as u8).collect();
        assert_eq!(frames(message.len() as u64), 3);
        let mut joined = Vec::new();
        for part in 0..3 {
            let bytes = frame(Body::Aborted).part_of(&message, part);
            let (head, rest) = bytes.split_first_chunk().expect("a header");
            let header = Header::read(head).expect("a header");
            assert_eq!(header.rest(), rest.len());
            assert!(header.rest() <= PART + SEAL);
            assert_eq!(header.begins(), (part == 0).then_some(message.len() as u64));
            let Ok(Frame {
                body: Body::Part { bytes, .. },
                ..
            }) = Frame::from_bytes(bytes)
            else {
                panic!("no part")
            };
            joined.extend(bytes);
        }
        assert_eq!(joined, message);
        for (total, at) in [(5, 5), (5, 1), (PART as u64 + 1, 7), (0, PART as u64)] {
            let wrong = frame(Body::Part {
                total,
                at,
                bytes: vec![1],
            })
            .to_bytes();
            assert!(Frame::from_bytes(wrong).is_err(), "{total} {at}");
        }
    }

    #[test]
    fn version_1_is_refused_by_its_number() {
        let mut bytes = frame(Body::Aborted).to_bytes();
        bytes[6] = 1;
        let why = Frame::from_bytes(bytes).expect_err("an old frame").to_string();
        assert!(why.contains("version 1"), "{why}");
    }
}
