//! Text in UTF-16, as spreadsheet programs write it, becomes UTF-8. Its byte order mark says so; nothing is guessed.

use std::io::{Chain, Cursor, Read};

/// A file's text in UTF-8.
pub(super) enum Text<R> {
    /// As it is.
    Plain(Chain<Cursor<Vec<u8>>, R>),
    /// From UTF-16.
    Wide(Utf16<R>),
}

impl<R: Read> Text<R> {
    /// Looks at the byte order mark.
    pub(super) fn new(mut input: R) -> std::io::Result<Self> {
        let mut first = Vec::new();
        (&mut input).take(2).read_to_end(&mut first)?;
        Ok(match first[..] {
            [0xff, 0xfe] => Self::Wide(Utf16::new(input, u16::from_le_bytes)),
            [0xfe, 0xff] => Self::Wide(Utf16::new(input, u16::from_be_bytes)),
            _ => Self::Plain(Cursor::new(first).chain(input)),
        })
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(plain) => plain.read(buffer),
            Self::Wide(wide) => wide.read(buffer),
        }
    }
}

/// Reads UTF-16 and gives UTF-8. Half of a pair gives the character for what cannot be read.
pub(super) struct Utf16<R> {
    input: R,
    order: fn([u8; 2]) -> u16,
    /// Bytes and halves of pairs that wait for more.
    bytes: Vec<u8>,
    units: Vec<u16>,
    ready: Cursor<Vec<u8>>,
    ended: bool,
}

impl<R: Read> Utf16<R> {
    const SIZE: u64 = 1 << 16;

    fn new(input: R, order: fn([u8; 2]) -> u16) -> Self {
        Self {
            input,
            order,
            bytes: Vec::new(),
            units: Vec::new(),
            ready: Cursor::default(),
            ended: false,
        }
    }

    fn fill(&mut self) -> std::io::Result<()> {
        let read = (&mut self.input).take(Self::SIZE).read_to_end(&mut self.bytes)?;
        self.ended = (read as u64) < Self::SIZE;
        let (pairs, _) = self.bytes.as_chunks::<2>();
        self.units.extend(pairs.iter().map(|pair| (self.order)(*pair)));
        self.bytes.drain(..self.bytes.len() / 2 * 2);
        // The second half of the last pair may come with the next bytes.
        let is_half = |unit: &u16| (0xd800..0xdc00).contains(unit);
        let waits = match self.ended {
            true => None,
            false => self.units.pop_if(|unit| is_half(unit)),
        };
        let cut = (self.ended && !self.bytes.is_empty()).then_some('\u{fffd}');
        let text: String = char::decode_utf16(self.units.drain(..))
            .map(|c| c.unwrap_or('\u{fffd}'))
            .chain(cut)
            .collect();
        self.units.extend(waits);
        self.ready = Cursor::new(text.into_bytes());
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let read = self.ready.read(buffer)?;
            if read > 0 || self.ended || buffer.is_empty() {
                return Ok(read);
            }
            self.fill()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> String {
        let mut text = String::new();
        Text::new(bytes)
            .and_then(|mut input| input.read_to_string(&mut text))
            .expect("text");
        text
    }

    #[test]
    fn both_orders_and_pairs_across_blocks_are_read() {
        // Surrogate pairs at every offset of a block.
        for shift in 0..2 {
            let text: String = "x".repeat(shift) + &"𝔘é,\n".repeat(20_000);
            let units: Vec<u16> = std::iter::once(0xfeff).chain(text.encode_utf16()).collect();
            let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
            assert!(read(&little) == text && read(&big) == text);
        }
        assert_eq!(read(b"a,b\n"), "a,b\n");
        assert_eq!(read(b""), "");
        assert_eq!(read(b"\xff\xfea\0\x00\xd8"), "a\u{fffd}");
        assert_eq!(read(b"\xff\xfea\0b"), "a\u{fffd}");
    }
}
