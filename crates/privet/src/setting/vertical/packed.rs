//! Small numbers in as few bits as they need, one after another, the lowest bit first.

use crate::wire::Malformed;

/// Bits that one of `outputs` values takes.
pub(super) fn width(outputs: usize) -> u32 {
    usize::BITS - outputs.saturating_sub(1).max(1).leading_zeros()
}

/// Bytes that so many values take, if they can be counted.
fn length(values: usize, width: u32) -> Option<usize> {
    values.checked_mul(width as usize).map(|bits| bits.div_ceil(8))
}

/// Puts values of `width` bits one after another.
pub(super) fn pack(values: impl ExactSizeIterator<Item = u16>, width: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length(values.len(), width).unwrap_or(0) + 8);
    let (mut word, mut filled) = (0_u64, 0);
    for value in values {
        word |= u64::from(value) << filled;
        filled += width;
        if filled >= 32 {
            bytes.extend((word as u32).to_le_bytes());
            word >>= 32;
            filled -= 32;
        }
    }
    bytes.extend(&word.to_le_bytes()[..filled.div_ceil(8) as usize]);
    bytes
}

/// Values of a column, packed. They stay packed until they are used, so that what a peer sends takes no more room than its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Packed {
    bytes: Vec<u8>,
    count: usize,
    width: u32,
}

impl Packed {
    /// Values below `outputs`.
    pub(super) fn new(values: impl ExactSizeIterator<Item = u16>, outputs: usize) -> Self {
        let (count, width) = (values.len(), width(outputs));
        let bytes = pack(values, width);
        Self { bytes, count, width }
    }

    /// `count` values below `outputs`, from their bytes. There is one way to pack them: bits beyond the last are zero. The length is compared
    /// before anything is copied.
    pub(super) fn read(bytes: &[u8], count: usize, outputs: usize) -> Result<Self, Malformed> {
        let width = width(outputs);
        if length(count, width) != Some(bytes.len()) {
            return Err(Malformed::new("a column that is not as long as its rows"));
        }
        let used = count * width as usize;
        let spare = bytes
            .last()
            .is_some_and(|last| !used.is_multiple_of(8) && last >> (used % 8) != 0);
        let mut values = Values::new(bytes, count, width);
        if spare || values.any(|value| usize::from(value) >= outputs) {
            return Err(Malformed::new("a column with a value that cannot be"));
        }
        let bytes = bytes.to_vec();
        Ok(Self { bytes, count, width })
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn iter(&self) -> Values<'_> {
        Values::new(&self.bytes, self.count, self.width)
    }

    /// The value at a place; zero if there is none.
    pub(super) fn get(&self, place: usize) -> u16 {
        let bit = place * self.width as usize;
        let byte = |at: usize| self.bytes.get(bit / 8 + at).map_or(0, |byte| u32::from(*byte));
        // At most seven bits before it and sixteen of its own.
        let word = byte(0) | byte(1) << 8 | byte(2) << 16;
        (word >> (bit % 8) & mask(self.width)) as u16
    }
}

fn mask(width: u32) -> u32 {
    (1 << width) - 1
}

/// Packed values, one after another.
pub(super) struct Values<'a> {
    bytes: std::slice::Iter<'a, u8>,
    word: u32,
    filled: u32,
    width: u32,
    remaining: usize,
}

impl<'a> Values<'a> {
    fn new(bytes: &'a [u8], count: usize, width: u32) -> Self {
        Self {
            bytes: bytes.iter(),
            word: 0,
            filled: 0,
            width,
            remaining: count,
        }
    }
}

impl Iterator for Values<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        self.remaining = self.remaining.checked_sub(1)?;
        while self.filled < self.width {
            self.word |= u32::from(*self.bytes.next().unwrap_or(&0)) << self.filled;
            self.filled += 8;
        }
        let value = self.word & mask(self.width);
        self.word >>= self.width;
        self.filled -= self.width;
        Some(value as u16)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining, Some(self.remaining))
    }
}

impl ExactSizeIterator for Values<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_as_many_bits_as_they_need() {
        assert_eq!(
            [2, 3, 4, 5, 10, 16, 17, 1024, 65_535].map(width),
            [1, 2, 2, 3, 4, 4, 5, 10, 16]
        );
        for outputs in [2, 3, 7, 10, 100, 1024, 65_535] {
            for count in [0, 1, 2, 7, 8, 9, 31, 32, 33, 100] {
                let values: Vec<u16> = (0..count).map(|i| (i * 7919 % outputs) as u16).collect();
                let packed = Packed::new(values.iter().copied(), outputs);
                let bytes = packed.bytes();
                assert_eq!(bytes.len(), (count * width(outputs) as usize).div_ceil(8));
                assert_eq!(Packed::read(bytes, count, outputs).as_ref(), Ok(&packed));
                assert!(Packed::read(bytes, count + 9, outputs).is_err());
                assert_eq!(packed.iter().collect::<Vec<_>>(), values);
                assert_eq!((0..count).map(|i| packed.get(i)).collect::<Vec<_>>(), values);
            }
        }
    }

    #[test]
    fn what_could_not_have_been_packed_is_refused() {
        assert!(Packed::read(&[0x0a], 1, 10).is_err(), "10 of 10 values");
        assert!(
            Packed::read(&[0x10], 1, 10).is_err(),
            "a bit beyond the last value"
        );
        assert_eq!(Packed::read(&[0x09], 1, 10).map(|nine| nine.get(0)), Ok(9));
    }
}
