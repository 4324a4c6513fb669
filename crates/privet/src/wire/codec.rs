//! Values as bytes and back. Numbers are little-endian, lists and texts begin with their length.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

/// Why bytes cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(String);

impl Malformed {
    /// An error with this reason.
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

/// A value that can be sent. Each value has exactly one encoding.
pub trait Wire: Sized {
    /// Writes the value.
    fn write(&self, to: &mut Writer);

    /// Reads a value.
    ///
    /// # Errors
    /// [`Malformed`] if the bytes do not encode one.
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed>;

    /// For how many bytes room is made before the value is written, besides those that it shares. A value that holds a secret says enough: bytes that
    /// are moved while they are written leave a copy behind that nobody wipes.
    fn room(&self) -> usize {
        0
    }

    /// The value as bytes.
    fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::with_room(self.room());
        self.write(&mut writer);
        writer.bytes
    }

    /// Decodes a value from exactly these bytes.
    ///
    /// # Errors
    /// [`Malformed`] if they do not encode one.
    fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let value = Self::read(&mut reader)?;
        reader.end()?;
        Ok(value)
    }
}

/// An output buffer.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
    /// Bytes that are not copied, and before which of the others they stand; none if all are copied.
    shared: Option<Shared>,
}

/// Bytes that stand before a place.
pub(crate) type Shared = Vec<(usize, Arc<[u8]>)>;

impl Writer {
    fn with_room(room: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(room),
            shared: None,
        }
    }

    /// What a value writes, without a copy of what it shares: that, and before which of the other bytes it stands.
    pub(crate) fn sharing(value: &impl Wire) -> (Vec<u8>, Shared) {
        let mut writer = Self {
            shared: Some(Vec::new()),
            ..Self::with_room(value.room())
        };
        value.write(&mut writer);
        (writer.bytes, writer.shared.unwrap_or_default())
    }

    /// One byte.
    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// A number of 32 bits.
    pub fn word(&mut self, number: u32) {
        self.bytes.extend(number.to_le_bytes());
    }

    /// A number of 64 bits.
    pub fn long(&mut self, number: u64) {
        self.bytes.extend(number.to_le_bytes());
    }

    /// Bytes of a fixed length.
    pub fn fixed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Bytes of a fixed length that are no secret, and that a state which is kept need not copy.
    pub fn shared(&mut self, bytes: &Arc<[u8]>) {
        match &mut self.shared {
            Some(shared) => shared.push((self.bytes.len(), Arc::clone(bytes))),
            None => self.bytes.extend_from_slice(bytes),
        }
    }

    /// Bytes, after their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.long(bytes.len() as u64);
        self.fixed(bytes);
    }

    /// A text.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// A value, after a byte that says of which kind it is.
    pub fn tagged(&mut self, kind: u8, value: &impl Wire) {
        self.byte(kind);
        value.write(self);
    }

    /// Names and values of a job.
    pub fn settings(&mut self, settings: &[(String, String)]) {
        self.list(settings, |(name, value), to| {
            to.text(name);
            to.text(value);
        });
    }

    /// A list, after its length.
    pub fn list<T>(&mut self, items: &[T], write: impl Fn(&T, &mut Self)) {
        self.long(items.len() as u64);
        items.iter().for_each(|item| write(item, self));
    }

    /// The bytes written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// An input buffer.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads from the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// One byte.
    ///
    /// # Errors
    /// [`Malformed`] if there is none; likewise below.
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        self.array().map(|[byte]| byte)
    }

    /// A number of 32 bits.
    ///
    /// # Errors
    /// [`Malformed`] if it is cut short.
    pub fn word(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number of 64 bits.
    ///
    /// # Errors
    /// [`Malformed`] if it is cut short.
    pub fn long(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    /// `N` bytes.
    ///
    /// # Errors
    /// [`Malformed`] if there are fewer.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (first, rest) = self.rest.split_first_chunk().ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(*first)
    }

    /// Bytes, after their length.
    ///
    /// # Errors
    /// [`Malformed`] if there are fewer.
    pub fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = usize::try_from(self.long()?).map_err(|_| cut_short())?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// A text of at most `most` bytes.
    ///
    /// # Errors
    /// [`Malformed`] if it is longer, or not valid UTF-8.
    pub fn text(&mut self, most: usize) -> Result<String, Malformed> {
        let bytes = self.bytes()?;
        if bytes.len() > most {
            return Err(Malformed::new(format!(
                "a text of {} bytes where {most} are allowed",
                bytes.len()
            )));
        }
        std::str::from_utf8(bytes)
            .map(str::to_owned)
            .map_err(|_| Malformed::new("text that is not valid UTF-8"))
    }

    /// A list of items of at least `least` bytes each: no more memory is allocated than the input can fill.
    ///
    /// # Errors
    /// [`Malformed`] if it is cut short, or one of its items is wrong.
    pub fn list<T>(
        &mut self,
        least: usize,
        read: impl Fn(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        self.at_most(usize::MAX, least, read)
    }

    /// As [`list`](Self::list), of at most `most` items.
    ///
    /// # Errors
    /// As there, and if there are more.
    pub fn at_most<T>(
        &mut self,
        most: usize,
        least: usize,
        read: impl Fn(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let length = usize::try_from(self.long()?).map_err(|_| cut_short())?;
        if length > most {
            return Err(Malformed::new(format!(
                "{length} items where at most {most} can be"
            )));
        }
        match length.checked_mul(least.max(1)) {
            Some(bytes) if bytes <= self.rest.len() => {}
            _ => return Err(cut_short()),
        }
        // A list that grew would take up to three times as much.
        let mut items = Vec::with_capacity(length);
        for _ in 0..length {
            items.push(read(self)?);
        }
        Ok(items)
    }

    /// As [`list`](Self::list), of exactly `count` items.
    ///
    /// # Errors
    /// As there, and if there are not as many.
    pub fn exactly<T>(
        &mut self,
        count: usize,
        least: usize,
        read: impl Fn(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let items = self.at_most(count, least, read)?;
        match items.len() == count {
            true => Ok(items),
            false => Err(Malformed::new(format!(
                "{} items where there are {count}",
                items.len()
            ))),
        }
    }

    /// Names and values of a job: at most 1000, of at most 1000 bytes each.
    ///
    /// # Errors
    /// [`Malformed`] if it is cut short, or one of them is longer.
    pub fn settings(&mut self) -> Result<Vec<(String, String)>, Malformed> {
        self.at_most(1000, 16, |from| Ok((from.text(1000)?, from.text(1000)?)))
    }

    /// Whether nothing follows.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Checks that nothing follows.
    ///
    /// # Errors
    /// [`Malformed`] if something does.
    pub fn end(self) -> Result<(), Malformed> {
        match self.rest.len() {
            0 => Ok(()),
            more => Err(Malformed::new(format!("{more} bytes too many"))),
        }
    }
}

fn cut_short() -> Malformed {
    Malformed::new("cut short")
}

impl Wire for Vec<u8> {
    fn write(&self, to: &mut Writer) {
        to.bytes(self);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.bytes().map(<[u8]>::to_vec)
    }
}

/// As the bytes themselves; wiped.
impl Wire for Zeroizing<[u8; 32]> {
    fn write(&self, to: &mut Writer) {
        to.fixed(&**self);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.array().map(Self::new)
    }
}

impl Wire for [u8; 32] {
    fn write(&self, to: &mut Writer) {
        to.fixed(self);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.array()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_makes_no_room_for_what_is_not_there() {
        let mut bytes = u64::MAX.to_le_bytes().to_vec();
        assert!(Reader::new(&bytes).bytes().is_err());
        assert!(Reader::new(&bytes).list(0, Reader::byte).is_err());
        bytes[..8].copy_from_slice(&3_u64.to_le_bytes());
        bytes.extend([1, 2, 3]);
        assert_eq!(Reader::new(&bytes).list(1, Reader::byte), Ok(vec![1, 2, 3]));
        assert!(Reader::new(&bytes).list(2, Reader::byte).is_err());
    }

    #[test]
    fn there_is_one_way_to_write_a_value() {
        let value = vec![7_u8; 5];
        let bytes = value.to_bytes();
        assert_eq!(Vec::<u8>::from_bytes(&bytes), Ok(value));
        for cut in 0..bytes.len() {
            assert!(Vec::<u8>::from_bytes(&bytes[..cut]).is_err());
        }
        assert!(Vec::<u8>::from_bytes(&[bytes, vec![0]].concat()).is_err());
    }
}
