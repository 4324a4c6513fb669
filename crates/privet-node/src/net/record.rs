//! What travels over a connection: records, each a length (4 bytes, little-endian), a kind (1 byte) and so many bytes.

use std::io::{self, Read, Write};

use privet::party::PartyId;
use privet::wire::{Header, Malformed, PART, Reader, Wire, Writer};

/// The most bytes of a control message. A plan with the schemas of many parties fits.
pub(super) const MOST_CONTROL: usize = 1 << 22;
/// The most bytes of a hello.
const MOST_HELLO: usize = 64;
/// A frame that is not longer is read before the role is asked about it.
const SHORT: usize = 1 << 14;

const ALIVE: u8 = 0;
const HELLO: u8 = 1;
const CONTROL: u8 = 2;
const FRAME: u8 = 3;

/// What a connection is for, said by whoever has dialled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hello {
    pub(super) purpose: Purpose,
    /// The digest of the agreement; zeros before there is one.
    pub(super) agreement: [u8; 32],
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Control messages.
    Control,
    /// Frames between the dialling party and this one; the listener joins it to that party's connection, unless it is that party.
    Frames(PartyId),
}

impl Wire for Hello {
    fn write(&self, to: &mut Writer) {
        match self.purpose {
            Purpose::Control => to.byte(1),
            Purpose::Frames(with) => to.tagged(2, &with),
        }
        to.fixed(&self.agreement);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let purpose = match from.byte()? {
            1 => Purpose::Control,
            2 => Purpose::Frames(PartyId::read(from)?),
            _ => return Err(Malformed::new("a connection for no known purpose")),
        };
        Ok(Self {
            purpose,
            agreement: from.array()?,
        })
    }
}

/// The beginning of what comes next.
pub(super) enum Next {
    Control(Vec<u8>),
    /// A whole frame.
    Short(Header, Vec<u8>),
    /// A frame of which only the header was read.
    Long(Header, Vec<u8>),
}

fn wrong(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn write(to: &mut impl Write, kind: u8, bytes: &[u8]) -> io::Result<()> {
    let mut record = Vec::with_capacity(5 + bytes.len());
    record.extend((bytes.len() as u32).to_le_bytes());
    record.push(kind);
    record.extend_from_slice(bytes);
    to.write_all(&record)?;
    to.flush()
}

pub(super) fn alive(to: &mut impl Write) -> io::Result<()> {
    write(to, ALIVE, &[])
}

pub(super) fn hello(to: &mut impl Write, hello: Hello) -> io::Result<()> {
    write(to, HELLO, &hello.to_bytes())
}

pub(super) fn control(to: &mut impl Write, message: &[u8]) -> io::Result<()> {
    write(to, CONTROL, message)
}

pub(super) fn frame(to: &mut impl Write, frame: &[u8]) -> io::Result<()> {
    write(to, FRAME, frame)
}

fn head(from: &mut impl Read) -> io::Result<(usize, u8)> {
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    let [a, b, c, d, kind] = head;
    Ok((u32::from_le_bytes([a, b, c, d]) as usize, kind))
}

fn exactly(from: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn read_hello(from: &mut impl Read) -> io::Result<Hello> {
    match head(from)? {
        (length @ 0..=MOST_HELLO, HELLO) => {
            let bytes = exactly(from, length)?;
            Hello::from_bytes(&bytes).map_err(|e| wrong(&e.to_string()))
        }
        _ => Err(wrong("a connection that does not begin with its purpose")),
    }
}

/// The next record that says something.
pub(super) fn next(from: &mut impl Read) -> io::Result<Next> {
    loop {
        let (length, kind) = head(from)?;
        match kind {
            ALIVE if length == 0 => {}
            CONTROL if length <= MOST_CONTROL => return exactly(from, length).map(Next::Control),
            FRAME if (Header::BYTES..=Header::BYTES + PART + 64).contains(&length) => {
                let mut bytes = [0; Header::BYTES];
                from.read_exact(&mut bytes)?;
                let header = Header::read(&bytes).map_err(|e| wrong(&e.to_string()))?;
                if header.rest() + Header::BYTES != length {
                    return Err(wrong("a frame that is not as long as it says"));
                }
                let bytes = bytes.to_vec();
                return match header.rest() <= SHORT {
                    true => rest(from, &header, bytes).map(|bytes| Next::Short(header, bytes)),
                    false => Ok(Next::Long(header, bytes)),
                };
            }
            ALIVE | CONTROL | FRAME => return Err(wrong("a record that is too long")),
            _ => return Err(wrong("a record of no known kind")),
        }
    }
}

/// Reads the rest of a frame.
pub(super) fn rest(from: &mut impl Read, header: &Header, mut bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let begun = bytes.len();
    bytes.resize(begun + header.rest(), 0);
    from.read_exact(&mut bytes[begun..])?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet::wire::{Body, Frame};

    fn a_frame(length: usize) -> Vec<u8> {
        Frame {
            agreement: [7; 32],
            from: 1,
            to: 0,
            number: 0,
            acknowledged: 0,
            body: Body::message(vec![1; length]),
        }
        .to_bytes()
    }

    #[test]
    fn records_are_read_as_they_are_written() {
        let mut bytes = Vec::new();
        let greeting = Hello {
            purpose: Purpose::Frames(PartyId(3)),
            agreement: [5; 32],
        };
        hello(&mut bytes, greeting).expect("memory");
        alive(&mut bytes).expect("memory");
        control(&mut bytes, b"a plan").expect("memory");
        frame(&mut bytes, &a_frame(10)).expect("memory");
        frame(&mut bytes, &a_frame(SHORT + 1)).expect("memory");
        let mut from = &bytes[..];
        assert_eq!(read_hello(&mut from).ok(), Some(greeting));
        assert!(matches!(next(&mut from), Ok(Next::Control(message)) if message == b"a plan"));
        assert!(matches!(next(&mut from), Ok(Next::Short(_, bytes)) if bytes == a_frame(10)));
        let Ok(Next::Long(header, begun)) = next(&mut from) else {
            panic!("a long frame")
        };
        assert_eq!(rest(&mut from, &header, begun).ok(), Some(a_frame(SHORT + 1)));
        assert!(next(&mut from).is_err(), "the end");
    }

    /// Lengths are compared with what is possible before anything is allocated.
    #[test]
    fn bad_records_are_refused() {
        let record = |length: u32, kind: u8, rest: &[u8]| [&length.to_le_bytes()[..], &[kind], rest].concat();
        for bytes in [
            record(u32::MAX, CONTROL, &[]),
            record(u32::MAX, FRAME, &[]),
            record(1, ALIVE, &[0]),
            record(0, FRAME, &[]),
            record(200, FRAME, &[0; 200]),
            record(3, 9, &[0; 3]),
            record(5, HELLO, &[0; 5]),
        ] {
            let e = next(&mut &bytes[..]).err().map(|e| e.kind());
            assert_eq!(e, Some(io::ErrorKind::InvalidData), "{:?}", &bytes[..5]);
        }
        for bytes in [
            record(64, HELLO, &[9; 64]),
            record(65, HELLO, &[0; 65]),
            record(0, CONTROL, &[]),
        ] {
            assert!(read_hello(&mut &bytes[..]).is_err());
        }
    }
}
