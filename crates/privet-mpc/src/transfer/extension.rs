//! Any number of transfers from the 128 base transfers: Ishai, Kilian, Nissim and Petrank (2003).
//!
//! Column i is 128 bits of AES in counter mode for each 128 transfers, under a key of base transfer i, from a salt on. The evaluator
//! keeps T (from the first keys) and sends U = T ⊕ (the same from the second keys) ⊕ its choices in every column; the garbler has
//! Q = (the same from the keys that it has) ⊕ (U where it chose one). So a row of Q is the row of T, ⊕ the garbler's choices if the evaluator's bit is one.

use std::hint::black_box;

use aes::Aes128Enc;
use aes::cipher::BlockCipherEncrypt;
use zeroize::{Zeroize, Zeroizing};

use super::{ReceiverSecret, SenderSecret};
use crate::garble::hash::Hash;
use crate::garble::label::Label;

/// Base transfers.
pub(crate) const COLUMNS: usize = 128;
/// Transfers of one message.
pub(crate) const BLOCK_ROWS: usize = 8_192;
/// Bytes of the columns of one message.
pub(crate) const BLOCK_BYTES: usize = COLUMNS * BLOCK_ROWS / 8;

/// 128 transfers: first by columns, then by rows.
type Square = [u128; COLUMNS];

/// Rows of transfers.
pub(crate) type Rows = Zeroizing<Vec<Label>>;

/// The evaluator's rows of a block of transfers, and what it sends.
pub(crate) fn receive(
    keys: &ReceiverSecret,
    salt: &[u8; 16],
    block: usize,
    bits: &[bool],
    message: &mut Vec<u8>,
) -> Rows {
    let packed = Zeroizing::new(crate::garble::message::pack(bits));
    let mut squares = Squares::new(bits.len());
    let (pairs, _) = keys.ciphers.as_chunks::<2>();
    for (column, [zero, one]) in pairs.iter().enumerate() {
        let (kept, other) = (
            squares.stream(zero, salt, block),
            squares.stream(one, salt, block),
        );
        let (kept, other) = (kept.as_flattened(), other.as_flattened());
        let sent = packed.iter().zip(kept).zip(other);
        message.extend(sent.map(|((bits, kept), other)| bits ^ kept ^ other));
        squares.put(column, kept);
    }
    squares.rows()
}

/// The garbler's rows of a block of transfers.
pub(crate) fn send(keys: &SenderSecret, salt: &[u8; 16], block: usize, rows: usize, columns: &[u8]) -> Rows {
    let mut squares = Squares::new(rows);
    let bytes = rows.div_ceil(8);
    for (column, cipher) in keys.ciphers.iter().enumerate() {
        let mut stream = squares.stream(cipher, salt, block);
        let mask = black_box(keys.choices[column / 8] >> (column % 8) & 1).wrapping_neg();
        let sent = &columns[column * bytes..(column + 1) * bytes];
        for (byte, sent) in stream.as_flattened_mut().iter_mut().zip(sent) {
            *byte ^= mask & sent;
        }
        squares.put(column, stream.as_flattened());
    }
    squares.rows()
}

/// Labels of zero for the evaluator's bits, from the garbler's rows from `first` on; the corrections that make the other label differ by `delta`.
pub(crate) fn correct(
    keys: &SenderSecret,
    hash: &Hash,
    first: usize,
    rows: &mut [Label],
    delta: Label,
    message: &mut Vec<u8>,
) {
    let offset = keys.offset();
    for (at, row) in rows.iter_mut().enumerate() {
        let [[zero, one]] = hash.hash::<2, 1, 2>(&[[*row, *row ^ offset]], (first + at) as u64);
        message.extend((zero ^ one ^ delta).to_bytes());
        *row = zero;
    }
}

struct Squares {
    squares: Zeroizing<Vec<Square>>,
    rows: usize,
}

impl Squares {
    fn new(rows: usize) -> Self {
        Self {
            squares: Zeroizing::new(vec![[0; COLUMNS]; rows.div_ceil(COLUMNS)]),
            rows,
        }
    }

    /// A column of a block of transfers.
    fn stream(&self, cipher: &Aes128Enc, salt: &[u8; 16], block: usize) -> Zeroizing<Vec<[u8; 16]>> {
        let from = u128::from_le_bytes(*salt).wrapping_add((block * (BLOCK_ROWS / COLUMNS)) as u128);
        let counters = (0..self.squares.len()).map(|at| from.wrapping_add(at as u128).to_le_bytes().into());
        let mut blocks: Vec<aes::Block> = counters.collect();
        cipher.encrypt_blocks(&mut blocks);
        let stream = Zeroizing::new(blocks.iter().map(|block| (*block).into()).collect());
        blocks.iter_mut().for_each(|block| block.as_mut_slice().zeroize());
        stream
    }

    fn put(&mut self, column: usize, bytes: &[u8]) {
        for (square, bytes) in self.squares.iter_mut().zip(bytes.as_chunks().0) {
            square[column] = u128::from_le_bytes(*bytes);
        }
    }

    fn rows(mut self) -> Rows {
        let mut rows = Zeroizing::new(Vec::with_capacity(self.squares.len() * COLUMNS));
        for square in self.squares.iter_mut() {
            transpose(square);
            rows.extend(square.iter().map(|row| Label::from_bytes(row.to_le_bytes())));
        }
        rows.truncate(self.rows);
        rows
    }
}

/// Exchanges rows and columns: halves of halves, as in Eklundh (1972).
fn transpose(square: &mut Square) {
    let mut width = COLUMNS / 2;
    let mut mask = u128::MAX >> width;
    while width > 0 {
        for group in square.chunks_exact_mut(2 * width) {
            let (low, high) = group.split_at_mut(width);
            for (low, high) in low.iter_mut().zip(high) {
                let changed = (*low >> width ^ *high) & mask;
                *low ^= changed << width;
                *high ^= changed;
            }
        }
        width /= 2;
        mask ^= mask << width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_j_of_column_i_becomes_bit_i_of_row_j() {
        let mut square: Square = std::array::from_fn(|at| (at as u128 + 3).wrapping_pow(57));
        let before = square;
        transpose(&mut square);
        for (i, column) in before.iter().enumerate() {
            for (j, row) in square.iter().enumerate() {
                assert_eq!(column >> j & 1, row >> i & 1);
            }
        }
    }
}
