//! Which tokens were seen: each of them in full, without errors.

use std::hint::black_box;

use crate::Error;
use crate::privacy::Randomness;

/// How full a register is when it holds as many tokens as were declared, in hundredths: 16/.70 = 22.9 bytes a token.
const LOAD: usize = 70;
/// Tokens whose places are fetched from memory at once.
const AHEAD: usize = 16;

/// A secret hash of tokens. Who sends messages chooses their tokens: without the key he could put all of them into one place.
#[derive(Clone, Copy)]
pub(super) struct Hash([u64; 2]);

impl Hash {
    pub(super) fn new() -> Result<Self, Error> {
        let mut random = Randomness::from_os()?;
        Ok(Self([random.word(), random.word() | 1]))
    }

    #[inline]
    pub(super) fn of(&self, token: u128) -> u64 {
        let [a, b] = self.0;
        let fold = |a: u64, b: u64| {
            let product = u128::from(a).wrapping_mul(u128::from(b));
            (product >> 64) as u64 ^ product as u64
        };
        let folded = fold(token as u64 ^ a, (token >> 64) as u64 ^ b);
        fold(folded ^ b, 0x9e37_79b9_7f4a_7c15)
    }
}

/// A token on its way into a register, and its hash.
#[derive(Clone, Copy)]
pub(super) struct Hashed {
    /// Zero for none.
    pub(super) token: u128,
    pub(super) hash: u64,
}

/// Open addressing: a token lies at its place, or in the next free one after it.
pub(super) struct Register {
    slots: Vec<u128>,
    tokens: usize,
}

impl Register {
    /// Room for so many tokens, and for `beyond` more before it is asked whether there is room.
    pub(super) fn new(most: usize, beyond: usize) -> Self {
        let slots = (most * 100).div_ceil(LOAD).max(most + beyond) + 1;
        Self {
            // Zeroed memory is given by the operating system when it is written to.
            slots: vec![0; slots],
            tokens: 0,
        }
    }

    pub(super) fn tokens(&self) -> usize {
        self.tokens
    }

    /// Its memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.slots.as_slice())
    }

    fn place(&self, hash: u64) -> usize {
        // The first digits of a hash choose between registers: here the others come first.
        ((u128::from(hash.rotate_left(32)) * self.slots.len() as u128) >> 64) as usize
    }

    /// Reads the places of some tokens, so that they are near when they are needed: all at once, where one by one each would be waited for.
    pub(super) fn fetch(&self, tokens: &[Hashed]) {
        for tokens in tokens.chunks(AHEAD) {
            let near = tokens
                .iter()
                .map(|token| self.slots[self.place(token.hash)] as u64);
            black_box(near.fold(0, |all, slot| all ^ slot));
        }
    }

    /// Whether the token is new. There must be room.
    pub(super) fn insert(&mut self, Hashed { token, hash }: Hashed) -> bool {
        let mut place = self.place(hash);
        loop {
            let slot = &mut self.slots[place];
            if *slot == token {
                return false;
            }
            if *slot == 0 {
                *slot = token;
                self.tokens += 1;
                return true;
            }
            place += 1;
            if place == self.slots.len() {
                place = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_register_knows_what_it_was_given_and_nothing_else() {
        let hash = Hash::new().expect("randomness");
        let hashed = |token: u128| Hashed {
            token,
            hash: hash.of(token),
        };
        let mut register = Register::new(1000, 24);
        let mut known = HashSet::new();
        // Tokens that differ in one digit, or in the upper half only; each comes twice.
        let tokens = (1..=255u128).flat_map(|i| [i, i << 64, i << 120, u128::MAX - i]);
        let tokens: Vec<u128> = tokens.chain((0..50).map(|i| 1 << i)).collect();
        for token in tokens.iter().chain(&tokens).take(1500) {
            let all = [hashed(*token); 3];
            register.fetch(&all);
            assert_eq!(register.insert(all[0]), known.insert(*token));
        }
        assert_eq!(register.tokens(), known.len());
        assert!(
            register.tokens() > 1000,
            "more than was declared, and within what may come beyond"
        );
    }

    #[test]
    fn a_token_takes_at_most_24_bytes() {
        for most in [100_000, 10_000_000] {
            let slots = Register::new(most, 1 << 10).bytes();
            assert!(slots <= 24 * most, "{slots}");
        }
    }
}
