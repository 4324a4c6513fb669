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
            let digits = u16::from_le_bytes(*pair);
            let size = sizes[usize::from(digits) & (SIZES - 1)];
            *coordinate = if digits >> 15 == 0 { size } else { -size };
            square += u64::from(size.unsigned_abs()).pow(2);
        }
        ((1u64 << (2 * LENGTH_DIGITS)) / square).isqrt() as i64
    }
}

/// The size of a coordinate for each 15 random bits: that of the quantile in the middle of what they stand for, at least one.
fn sizes() -> &'static [i8] {
    static SIZES_OF: OnceLock<Vec<i8>> = OnceLock::new();
    SIZES_OF.get_or_init(|| {
        let mut sizes = vec![1i8; SIZES];
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
