//! AES-128-GCM (NIST SP 800-38D), assembled from the crates that `aes-gcm` itself is made of: see decision 0055. A nonce is four zero bytes and the
//! round in 8 bytes, little-endian.
//!
//! Envelopes of secure sums are a few numbers each, and there are millions of them. What they are encrypted with follows from the key and the round
//! alone, so it is computed for several rounds in one call. Longer messages go the usual way.

use aes::cipher::consts::{U12, U16};
use aes::cipher::{BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, KeyInit};
use aes::{Aes128Enc, Block};
use aes_gcm::AesGcm;
use aes_gcm::aead::AeadInOut;
use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use zeroize::Zeroize;

/// The most blocks of a message that is short.
const SHORT: usize = 4;
/// How many blocks are computed ahead.
const AHEAD: usize = 16;

/// A key.
pub(crate) struct Gcm {
    cipher: Aes128Enc,
    hash: GHash,
    ahead: Ahead,
}

/// What the short messages of some rounds are encrypted with.
struct Ahead {
    first: u64,
    rounds: u64,
    /// Of a round: what its seal is hidden by, and then what its message is.
    each: usize,
    blocks: [Block; AHEAD],
}

impl Drop for Ahead {
    fn drop(&mut self) {
        wipe(&mut self.blocks);
    }
}

/// That a message is longer than 64 GiB, or was not sealed like this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unsealed;

impl Gcm {
    pub(crate) fn new(key: &[u8; 16]) -> Self {
        let cipher = Aes128Enc::new(key.into());
        let mut zero = Block::default();
        cipher.encrypt_block(&mut zero);
        let hash = GHash::new(&zero);
        zero.as_mut_slice().zeroize();
        let ahead = Ahead {
            first: 0,
            rounds: 0,
            each: 0,
            blocks: [Block::default(); AHEAD],
        };
        Self { cipher, hash, ahead }
    }

    /// Computes what a message of so many bytes is encrypted with in this round, and in some that follow if rounds come one after the other. It only
    /// saves time: messages are the same without it.
    pub(crate) fn prepare(&mut self, round: u64, bytes: usize) {
        let each = 1 + bytes.div_ceil(16);
        if each > 1 + SHORT || self.ahead.of(round, each).is_some() {
            return;
        }
        let follows = round == self.ahead.first + self.ahead.rounds;
        let rounds = if follows { AHEAD / each } else { 1 };
        // Not beyond the last round there is.
        let rounds = (rounds as u64).min(u64::MAX - round);
        (self.ahead.first, self.ahead.rounds, self.ahead.each) = (round, rounds, each);
        let used = &mut self.ahead.blocks[..each * rounds as usize];
        for (at, blocks) in (0..).zip(used.chunks_exact_mut(each)) {
            count(round + at, 1, blocks);
        }
        self.cipher.encrypt_with_backend(OneByOne(used));
    }

    /// Encrypts a message where it stands, and gives its seal, which also covers `under`.
    pub(crate) fn seal(&self, round: u64, under: &[u8], message: &mut [u8]) -> Result<[u8; 16], Unsealed> {
        if message.len() > SHORT * 16 {
            let nonce = nonce(round).into();
            let sealed = self.long().encrypt_inout_detached(&nonce, under, message.into());
            return sealed.map(Into::into).map_err(|_| Unsealed);
        }
        self.with_stream(round, message.len(), |stream| {
            add(stream, message);
            let hash = self.hashed(under, message).finalize();
            Ok(masked(hash.into(), &stream[0]))
        })
    }

    /// Decrypts a message where it stands, if it has this seal; else it stays as it is.
    pub(crate) fn open(
        &self,
        round: u64,
        under: &[u8],
        message: &mut [u8],
        seal: &[u8; 16],
    ) -> Result<(), Unsealed> {
        if message.len() > SHORT * 16 {
            let (cipher, nonce) = (self.long(), nonce(round).into());
            let opened = cipher.decrypt_inout_detached(&nonce, under, message.into(), &(*seal).into());
            return opened.map_err(|_| Unsealed);
        }
        self.with_stream(round, message.len(), |stream| {
            // Compared in constant time: where they differ would help to forge one.
            let verified = self
                .hashed(under, message)
                .verify(&masked(*seal, &stream[0]).into());
            if verified.is_ok() {
                add(stream, message);
            }
            verified.map_err(|_| Unsealed)
        })
    }

    fn long(&self) -> AesGcm<&Aes128Enc, U12> {
        AesGcm::from(&self.cipher)
    }

    /// Hands over what the seal of a round is hidden by, and then what a short message of so many bytes is. If it was not computed ahead, it is
    /// computed now, and wiped.
    #[inline]
    fn with_stream<T>(&self, round: u64, bytes: usize, then: impl FnOnce(&[Block]) -> T) -> T {
        let each = 1 + bytes.div_ceil(16);
        if let Some(blocks) = self.ahead.of(round, each) {
            return then(blocks);
        }
        let mut own = [Block::default(); 1 + SHORT];
        let used = &mut own[..each];
        count(round, 1, used);
        self.cipher.encrypt_with_backend(OneByOne(used));
        let done = then(used);
        wipe(used);
        done
    }

    fn hashed(&self, under: &[u8], message: &[u8]) -> GHash {
        let mut hash = self.hash.clone();
        if !under.is_empty() {
            hash.update_padded(under);
        }
        let mut blocks = [Block::default(); SHORT + 1];
        let whole = message.len().div_ceil(16);
        for (block, part) in blocks.iter_mut().zip(message.chunks(16)) {
            block[..part.len()].copy_from_slice(part);
        }
        let bits = |length: usize| (8 * length as u64).to_be_bytes();
        blocks[whole][..8].copy_from_slice(&bits(under.len()));
        blocks[whole][8..].copy_from_slice(&bits(message.len()));
        hash.update(&blocks[..=whole]);
        hash
    }
}

impl Ahead {
    /// The blocks of a round, if at least so many were computed.
    fn of(&self, round: u64, each: usize) -> Option<&[Block]> {
        let at = round.checked_sub(self.first).filter(|at| *at < self.rounds)?;
        (each <= self.each).then(|| &self.blocks[at as usize * self.each..][..each])
    }
}

/// What a key encrypts messages with, for its own sake: without messages there are no seals.
pub(crate) struct KeyStream(Aes128Enc);

impl KeyStream {
    pub(crate) fn new(key: &[u8; 16]) -> Self {
        Self(Aes128Enc::new(key.into()))
    }

    /// What the message of a round is encrypted with; it has whole blocks.
    pub(crate) fn fill(&self, round: u64, bytes: &mut [u8]) {
        let (blocks, rest) = Block::slice_as_chunks_mut(bytes);
        debug_assert!(rest.is_empty());
        // The first block hides a seal.
        count(round, 2, blocks);
        self.0.encrypt_blocks(blocks);
    }
}

fn wipe(blocks: &mut [Block]) {
    blocks.iter_mut().for_each(|block| block.as_mut_slice().zeroize());
}

fn masked(mut hash: [u8; 16], mask: &Block) -> [u8; 16] {
    hash.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
    hash
}

fn nonce(round: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&round.to_le_bytes());
    nonce
}

/// The blocks that are encrypted for a round, from the `first` on.
fn count(round: u64, first: u32, blocks: &mut [Block]) {
    let nonce = nonce(round);
    for (count, block) in (first..).zip(blocks) {
        block[..12].copy_from_slice(&nonce);
        block[12..].copy_from_slice(&count.to_be_bytes());
    }
}

/// Adds what stands behind the first block to a message.
fn add(stream: &[Block], message: &mut [u8]) {
    for (part, block) in message.chunks_mut(16).zip(&stream[1..]) {
        part.iter_mut().zip(block).for_each(|(byte, add)| *byte ^= add);
    }
}

/// Blocks that are too few for instructions that encrypt many at once.
struct OneByOne<'a>(&'a mut [Block]);

impl BlockSizeUser for OneByOne<'_> {
    type BlockSize = U16;
}

impl BlockCipherEncClosure for OneByOne<'_> {
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        for block in self.0 {
            backend.encrypt_block(block.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use aes_gcm::Aes128Gcm;

    use super::*;

    /// Numbers that are different in every run, and printed by a failing assertion.
    fn random<const N: usize>() -> [u8; N] {
        let mut bytes = [0; N];
        getrandom::fill(&mut bytes).expect("randomness");
        bytes
    }

    /// Whatever is sealed, of any length and under anything, is what the library seals; and what was changed does not open.
    #[test]
    fn envelopes_are_those_of_the_library() {
        let key: [u8; 16] = random();
        let (mut ours, theirs) = (Gcm::new(&key), <Aes128Gcm as KeyInit>::new((&key).into()));
        let text: [u8; 200] = random();
        let mut round = u64::from_le_bytes(random());
        for length in (0..70).chain([127, 128, 200]) {
            for covered in [0, 1, 15, 16, 17, 32, 100] {
                round = round.wrapping_add([1, 1, 1, 2, u64::MAX][(length + covered) % 5]);
                let what = format!("{length} bytes under {covered} in round {round}, key {key:?}, {text:?}");
                if (length + covered) % 3 > 0 {
                    ours.prepare(round, length);
                }
                let (message, under) = (&text[..length], &text[200 - covered..]);
                let (mut one, mut other) = (message.to_vec(), message.to_vec());
                let seal = ours.seal(round, under, &mut one).expect("short");
                let tag = theirs
                    .encrypt_inout_detached(&nonce(round).into(), under, other.as_mut_slice().into())
                    .expect("short");
                assert_eq!((&one, seal), (&other, tag.into()), "{what}");
                for wrong in 0..16 {
                    let mut changed = seal;
                    changed[wrong] ^= 1 << (wrong % 8);
                    let before = one.clone();
                    assert_eq!(
                        ours.open(round, under, &mut one, &changed),
                        Err(Unsealed),
                        "{what}"
                    );
                    assert_eq!(one, before, "stays as it is: {what}");
                }
                if let Some(last) = length.checked_sub(1) {
                    let mut changed = one.clone();
                    changed[last] ^= 0x80;
                    assert_eq!(
                        ours.open(round, under, &mut changed, &seal),
                        Err(Unsealed),
                        "{what}"
                    );
                }
                let more = [under, &[0]].concat();
                assert_eq!(ours.open(round, &more, &mut one, &seal), Err(Unsealed), "{what}");
                assert_eq!(ours.open(round, under, &mut one, &seal), Ok(()), "{what}");
                assert_eq!(one, message, "{what}");
            }
        }
    }

    /// The key stream is what the library adds to zeros.
    #[test]
    fn a_key_stream_is_that_of_the_library() {
        let key: [u8; 16] = random();
        let (ours, theirs) = (KeyStream::new(&key), <Aes128Gcm as KeyInit>::new((&key).into()));
        for round in [0, 1, u64::MAX, u64::from_le_bytes(random())] {
            for blocks in [0, 1, 3, 32, 100] {
                let (mut one, mut other) = (vec![7; 16 * blocks], vec![0; 16 * blocks]);
                ours.fill(round, &mut one);
                theirs
                    .encrypt_inout_detached(&nonce(round).into(), b"", other.as_mut_slice().into())
                    .expect("short");
                assert_eq!(one, other, "{blocks} blocks in round {round}, key {key:?}");
            }
        }
    }

    /// What is computed ahead, for any number of rounds and up to the last one, is what is computed for one round.
    #[test]
    fn rounds_computed_ahead_are_the_same() {
        let key = random();
        let plain = Gcm::new(&key);
        for bytes in [0, 8, 16, 32, 64, 65] {
            let mut ahead = Gcm::new(&key);
            let jumps = [100, 7, u64::MAX - 3, u64::MAX - 2, u64::MAX - 1];
            for round in (0..40).chain(jumps) {
                ahead.prepare(round, bytes);
                let seal = |gcm: &Gcm, length: usize| {
                    let mut message = vec![5; length];
                    (gcm.seal(round, b"under", &mut message), message)
                };
                // A message of another length than was prepared for is the same, too.
                for length in [bytes, bytes / 2, bytes + 16] {
                    assert_eq!(
                        seal(&ahead, length),
                        seal(&plain, length),
                        "round {round}, {length} bytes, key {key:?}"
                    );
                }
            }
        }
    }
}
