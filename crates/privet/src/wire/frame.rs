//! An envelope around each message, version 1. Numbers are little-endian.
//!
//! | bytes | what |
//! | --- | --- |
//! | 6 | `privet` |
//! | 1 | version: 1 |
//! | 1 | 1 a message, 2 the sender has given up |
//! | 16 | the run |
//! | 2 | from, a party's number |
//! | 2 | to, a party's number |
//! | 8 | sequence number from this sender to this receiver, from 0 |
//! | 8 | length of the message |
//! | … | the message; empty if the sender has given up, without a reason |
//! | 16 | seal: the first half of SHA-256 over everything above |
//!
//! A seal is not a signature: the transport authenticates the sender. The seal detects damaged bytes that could otherwise be
//! read as other values.

use std::fmt;

use sha2::{Digest, Sha256};

use super::Malformed;

const MAGIC: [u8; 6] = *b"privet";
const VERSION: u8 = 1;
const SEAL: usize = 16;

/// The largest frame in bytes, so that a peer cannot exhaust memory.
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
    /// A message of the protocol.
    Message(Vec<u8>),
    /// The sender has given up.
    Aborted,
}

/// A message in its envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The run it belongs to.
    pub run: RunId,
    /// The sender's number among the parties.
    pub from: u16,
    /// The receiver's number.
    pub to: u16,
    /// How many frames this sender had sent to this receiver before.
    pub number: u64,
    /// What it carries.
    pub body: Body,
}

/// The first bytes of a frame: how many more belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    kind: u8,
    run: RunId,
    from: u16,
    to: u16,
    number: u64,
    length: usize,
}

impl Header {
    /// How many bytes it takes.
    pub const BYTES: usize = MAGIC.len() + 2 + 16 + 2 + 2 + 8 + 8;

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
            run: RunId(reader.array()?),
            from: u16::from_le_bytes(reader.array()?),
            to: u16::from_le_bytes(reader.array()?),
            number: reader.long()?,
            length: usize::try_from(reader.long()?).unwrap_or(usize::MAX),
        };
        let fits = match kind {
            1 => header.length <= MOST_BYTES,
            2 => header.length == 0,
            _ => return Err(Malformed::new("neither a message nor its end")),
        };
        if !fits {
            return Err(Malformed::new(format!("a message of {} bytes", header.length)));
        }
        Ok(header)
    }

    /// How many bytes follow it.
    pub fn rest(&self) -> usize {
        self.length + SEAL
    }
}

impl Frame {
    /// The frame as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (kind, message): (u8, &[u8]) = match &self.body {
            Body::Message(message) => (1, message),
            Body::Aborted => (2, &[]),
        };
        let mut bytes = Vec::with_capacity(Header::BYTES + message.len() + SEAL);
        bytes.extend(MAGIC);
        bytes.extend([VERSION, kind]);
        bytes.extend(self.run.0);
        bytes.extend(self.from.to_le_bytes());
        bytes.extend(self.to.to_le_bytes());
        bytes.extend(self.number.to_le_bytes());
        bytes.extend((message.len() as u64).to_le_bytes());
        bytes.extend_from_slice(message);
        let seal = Sha256::digest(&bytes);
        bytes.extend_from_slice(&seal[..SEAL]);
        bytes
    }

    /// Decodes a frame.
    ///
    /// # Errors
    /// [`Malformed`] if the bytes are not a frame, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
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
        let body = match header.kind {
            1 => Body::Message(sealed[Header::BYTES..].to_vec()),
            _ => Body::Aborted,
        };
        Ok(Self {
            run: header.run,
            from: header.from,
            to: header.to,
            number: header.number,
            body,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> Frame {
        Frame {
            run: RunId([7; 16]),
            from: 1,
            to: 0,
            number: 3,
            body: Body::Message(vec![1, 2, 3]),
        }
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_found() {
        let bytes = frame().to_bytes();
        assert_eq!(Frame::from_bytes(&bytes), Ok(frame()));
        for cut in 0..bytes.len() {
            assert!(Frame::from_bytes(&bytes[..cut]).is_err(), "{cut}");
            let mut changed = bytes.clone();
            changed[cut] ^= 1;
            assert!(Frame::from_bytes(&changed).is_err(), "{cut}");
        }
        assert!(Frame::from_bytes(&[bytes, vec![0]].concat()).is_err());
    }

    #[test]
    fn giving_up_looks_the_same_whatever_the_reason() {
        let aborted = Frame {
            body: Body::Aborted,
            ..frame()
        };
        let bytes = aborted.to_bytes();
        assert_eq!(bytes.len(), Header::BYTES + SEAL);
        assert_eq!(Frame::from_bytes(&bytes), Ok(aborted));
    }
}
