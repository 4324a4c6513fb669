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

/// Takes `count` values below `outputs` apart again. There is one way to pack them: bits beyond the last are zero.
pub(super) fn unpack(bytes: &[u8], count: usize, outputs: usize) -> Result<Vec<u16>, Malformed> {
    let width = width(outputs);
    if length(count, width) != Some(bytes.len()) {
        return Err(Malformed::new("a column that is not as long as its rows"));
    }
    let mask = (1_u64 << width) - 1;
    let mut values = Vec::with_capacity(count);
    let (mut word, mut filled) = (0_u64, 0);
    let (chunks, tail) = bytes.as_chunks::<4>();
    let mut words = chunks.iter().map(|chunk| (u32::from_le_bytes(*chunk), 32));
    let mut rest = tail.iter();
    for _ in 0..count {
        while filled < width {
            let (more, bits) = words
                .next()
                .or_else(|| rest.next().map(|byte| (u32::from(*byte), 8)))
                .unwrap_or((0, 32));
            word |= u64::from(more) << filled;
            filled += bits;
        }
        values.push((word & mask) as u16);
        word >>= width;
        filled -= width;
    }
    let spare = word != 0 || words.next().is_some() || rest.next().is_some();
    if spare || values.iter().any(|value| usize::from(*value) >= outputs) {
        return Err(Malformed::new("a column with a value that cannot be"));
    }
    Ok(values)
}

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
                let bytes = pack(values.iter().copied(), width(outputs));
                assert_eq!(bytes.len(), (count * width(outputs) as usize).div_ceil(8));
                assert_eq!(unpack(&bytes, count, outputs).as_ref(), Ok(&values));
                assert!(unpack(&bytes, count + 9, outputs).is_err());
            }
        }
    }

    #[test]
    fn what_could_not_have_been_packed_is_refused() {
        assert!(unpack(&[0x0a], 1, 10).is_err(), "10 of 10 values");
        assert!(unpack(&[0x10], 1, 10).is_err(), "a bit beyond the last value");
        assert_eq!(unpack(&[0x09], 1, 10), Ok(vec![9]));
    }
}
