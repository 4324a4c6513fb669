//! Random codewords from a public seed.
//!
//! Codeword *j* has independent, nearly normal coordinates: 16 public random bits each, mapped to −127 … 127 by the quantiles of a normal
//! law of deviation 30, none of them zero. A scale, about 2²³/(30·√d), makes all codewords equally long: shorter than one by less than
//! 1/scale, which is 2.5·10⁻⁵ in 50 dimensions.

use std::fmt;
use std::sync::OnceLock;

use dashu_base::DivEuclid;
use dashu_int::IBig;
use dashu_ratio::RBig;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use wide::u32x4;

use crate::privacy::Randomness;
use crate::privacy::enclosure::Enclosure;
use crate::privacy::journal::hexadecimal;

/// Separates this use of the generator from every other.
const DOMAIN: &[u8; 16] = b"privet codebook1";
/// The length of a codeword times its scale, in binary digits.
pub(super) const LENGTH_DIGITS: u32 = 23;
/// The deviation of coordinates.
const DEVIATION: u32 = 30;
/// Sizes of coordinates by 15 random bits.
const SIZES: usize = 1 << 15;
/// Bytes of one block of the generator.
const BLOCK: usize = 64;

/// A random name of one message, and the seed of its codebook. It is drawn freshly for each message, independently of everything about the
/// owner, so that two collectors cannot tell that two messages are from the same owner.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token([u8; 16]);

impl Token {
    /// A fresh one. Never zero: registers of tokens mark a free place by that.
    pub(in crate::privacy) fn draw(random: &mut Randomness) -> Self {
        let mut bytes = [0; 16];
        while bytes == [0; 16] {
            random.fill(&mut bytes);
        }
        Self(bytes)
    }

    /// A token from its bytes; none if they are all zero.
    pub fn from_bytes(bytes: [u8; 16]) -> Option<Self> {
        (bytes != [0; 16]).then_some(Self(bytes))
    }

    /// Its bytes.
    pub fn bytes(&self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({})", hexadecimal(&self.0))
    }
}

/// The codewords of one token.
pub(super) struct Codebook {
    stream: ChaCha8Rng,
    dimension: usize,
    bytes: Vec<u8>,
}

impl Codebook {
    pub(super) fn new(token: &Token, dimension: usize) -> Self {
        let mut seed = [0; 32];
        seed[..16].copy_from_slice(&token.0);
        seed[16..].copy_from_slice(DOMAIN);
        Self {
            stream: ChaCha8Rng::from_seed(seed),
            dimension,
            // Whole blocks, so that a codeword is found without those before it.
            bytes: vec![0; (2 * dimension).next_multiple_of(BLOCK)],
        }
    }

    /// Goes to codeword `j`; without this, codewords come one after the other.
    pub(super) fn seek(&mut self, j: u64) {
        let words = self.bytes.len() as u128 / 4;
        self.stream.set_word_pos(u128::from(j) * words);
    }

    /// The next codeword and its scale.
    pub(super) fn next(&mut self, codeword: &mut [i8]) -> i64 {
        let sizes = sizes();
        self.stream.fill_bytes(&mut self.bytes);
        let (pairs, _) = self.bytes[..2 * self.dimension].as_chunks::<2>();
        let mut square = 0u64;
        for (coordinate, pair) in codeword.iter_mut().zip(pairs) {
            *coordinate = signed(sizes, u16::from_le_bytes(*pair));
            square += u64::from(coordinate.unsigned_abs()).pow(2);
        }
        scale_of(square)
    }
}

/// Codewords that are found at once.
pub(super) const LANES: usize = 8;

/// A word of each of several states of the generator.
type Lanes = [u32; LANES];

/// Several codewords, each of its own token: the same as [`Codebook`] gives one by one, without its buffers. Coordinate by coordinate, that of each codeword;
/// and their scales.
pub(super) struct CodewordLanes {
    pub(super) coordinates: Vec<[i8; LANES]>,
    pub(super) scales: [i32; LANES],
    dimension: usize,
}

impl CodewordLanes {
    pub(super) fn new(dimension: usize) -> Self {
        Self {
            // Whole blocks, the rest of which is not looked at.
            coordinates: vec![[0; LANES]; dimension.next_multiple_of(BLOCK / 2)],
            scales: [0; LANES],
            dimension,
        }
    }

    /// Codeword `numbers[i]` of `tokens[i]`, for each of them.
    pub(super) fn find(&mut self, tokens: &[Token; LANES], numbers: &[u32; LANES]) {
        let sizes = sizes();
        let mut key = [[0; LANES]; 8];
        for (lane, token) in tokens.iter().enumerate() {
            for (word, bytes) in key.iter_mut().zip(token.0.as_chunks::<4>().0) {
                word[lane] = u32::from_le_bytes(*bytes);
            }
        }
        for (word, bytes) in key[4..].iter_mut().zip(DOMAIN.as_chunks::<4>().0) {
            *word = [u32::from_le_bytes(*bytes); LANES];
        }
        let blocks = self.coordinates.len() / (BLOCK / 2);
        for (block, coordinates) in self.coordinates.chunks_exact_mut(BLOCK / 2).enumerate() {
            let counters = numbers.map(|number| number * blocks as u32 + block as u32);
            let words = chacha8(&key, counters);
            for (pair, word) in coordinates.chunks_exact_mut(2).zip(&words) {
                for (lane, digits) in word.iter().enumerate() {
                    pair[0][lane] = signed(sizes, *digits as u16);
                    pair[1][lane] = signed(sizes, (digits >> 16) as u16);
                }
            }
        }
        let mut squares = [0u32; LANES];
        for coordinate in &self.coordinates[..self.dimension] {
            for (square, c) in squares.iter_mut().zip(coordinate) {
                let c = i32::from(*c);
                *square = square.wrapping_add((c * c) as u32);
            }
        }
        self.scales = squares.map(|square| scale_of(square.into()) as i32);
    }
}

/// One block of the generator (ChaCha with 8 rounds) for each of several keys. Block numbers are below 2^32.
fn chacha8(key: &[Lanes; 8], counters: Lanes) -> [Lanes; 16] {
    let mut words = [[0; LANES]; 16];
    for half in [0, 4] {
        let four =
            |lanes: &Lanes| u32x4::new([lanes[half], lanes[half + 1], lanes[half + 2], lanes[half + 3]]);
        let found = chacha8_of_four(key.each_ref().map(four), four(&counters));
        for (word, found) in words.iter_mut().zip(found) {
            word[half..half + 4].copy_from_slice(&found.to_array());
        }
    }
    words
}

fn chacha8_of_four([a, b, c, d, e, f, g, h]: [u32x4; 8], counters: u32x4) -> [u32x4; 16] {
    let [one, two, three, four] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574].map(u32x4::splat);
    let zero = u32x4::splat(0);
    let begin = [
        one, two, three, four, a, b, c, d, e, f, g, h, counters, zero, zero, zero,
    ];
    let mut state = begin;
    for _ in 0..4 {
        quarter(&mut state, [0, 4, 8, 12]);
        quarter(&mut state, [1, 5, 9, 13]);
        quarter(&mut state, [2, 6, 10, 14]);
        quarter(&mut state, [3, 7, 11, 15]);
        quarter(&mut state, [0, 5, 10, 15]);
        quarter(&mut state, [1, 6, 11, 12]);
        quarter(&mut state, [2, 7, 8, 13]);
        quarter(&mut state, [3, 4, 9, 14]);
    }
    for (word, begin) in state.iter_mut().zip(begin) {
        *word += begin;
    }
    state
}

#[inline(always)]
fn quarter(state: &mut [u32x4; 16], [a, b, c, d]: [usize; 4]) {
    state[a] += state[b];
    state[d] = turned::<16>(state[d] ^ state[a]);
    state[c] += state[d];
    state[b] = turned::<12>(state[b] ^ state[c]);
    state[a] += state[b];
    state[d] = turned::<8>(state[d] ^ state[a]);
    state[c] += state[d];
    state[b] = turned::<7>(state[b] ^ state[c]);
}

#[inline(always)]
fn turned<const BY: u32>(word: u32x4) -> u32x4 {
    (word << BY) | (word >> (32 - BY))
}

/// The coordinate that 16 random bits stand for.
#[inline(always)]
fn signed(sizes: &[i8; SIZES], digits: u16) -> i8 {
    let size = sizes[usize::from(digits) & (SIZES - 1)];
    // All ones if the first bit is set: what is then subtracted turns the sign.
    let sign = -((digits >> 15) as i8);
    (size ^ sign).wrapping_sub(sign)
}

/// ⌊√⌊2^46/square⌋⌋, exactly: a quotient that is not whole is 1/square or more below the next whole number and rounded by at most 2^-7/square, a
/// root 2^-24 or more and rounded by at most 2^-30.
#[inline(always)]
fn scale_of(square: u64) -> i64 {
    let quotient = ((1u64 << (2 * LENGTH_DIGITS)) as f64 / square as f64).floor();
    quotient.sqrt() as i64
}

/// The size of a coordinate for each 15 random bits: that of the quantile in the middle of what they stand for, at least one.
fn sizes() -> &'static [i8; SIZES] {
    static SIZES_OF: OnceLock<[i8; SIZES]> = OnceLock::new();
    SIZES_OF.get_or_init(|| {
        let mut sizes = [1i8; SIZES];
        for size in 2..=i8::MAX {
            let Some(rest) = sizes.get_mut(first_of(size)..).filter(|rest| !rest.is_empty()) else {
                break;
            };
            rest.fill(size);
        }
        sizes
    })
}

/// The first 15 bits `u` whose size is at least this: those with ½ + (u + ½)/2¹⁶ ≥ Φ((size − ½)/30).
fn first_of(size: i8) -> usize {
    let bits = 96;
    let middle = RBig::from_parts((2 * i32::from(size) - 1).into(), (2 * DEVIATION).into());
    let above = Enclosure::ratio(&middle, bits).normal_cdf();
    // 2u + 1 ≥ (2Φ − 1)·2^16, from above: an upper bound is off by one at most if it is unlucky, and the same everywhere.
    let twice = (above.high() << 17) - (IBig::ONE << (bits + 16));
    let least = -((-(twice - (IBig::ONE << bits))).div_euclid(IBig::ONE << (bits + 1)));
    usize::try_from(least).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collectors find the codewords that owners drew from, also where lanes hold different tokens and numbers.
    #[test]
    fn codewords_found_at_once_are_those_found_one_by_one() {
        for dimension in [2, 31, 32, 33, 50, 64, 300, 1024] {
            let tokens: [Token; LANES] = std::array::from_fn(|lane| Token([lane as u8 + 1; 16]));
            let numbers: [u32; LANES] = std::array::from_fn(|lane| [0, 1, 255, 1023][lane % 4]);
            let mut lanes = CodewordLanes::new(dimension);
            lanes.find(&tokens, &numbers);
            for lane in 0..LANES {
                let mut book = Codebook::new(&tokens[lane], dimension);
                book.seek(numbers[lane].into());
                let mut codeword = vec![0; dimension];
                let scale = book.next(&mut codeword);
                assert_eq!(i64::from(lanes.scales[lane]), scale);
                let found = lanes.coordinates[..dimension].iter().map(|all| all[lane]);
                assert!(found.eq(codeword), "dimension {dimension}, lane {lane}");
            }
        }
    }

    /// Every square that there can be in few dimensions, and the largest ones of many.
    #[test]
    fn scales_are_exact() {
        let largest = 1024 * 127 * 127;
        for square in (1..200_000u64).chain(largest - 200_000..=largest) {
            let exact = ((1u64 << (2 * LENGTH_DIGITS)) / square).isqrt();
            assert_eq!(scale_of(square) as u64, exact, "{square}");
        }
    }
}
