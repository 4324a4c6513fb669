//! The tweakable hash of Guo, Katz, Wang and Yu (S&P 2020): TMMO(x, i) = π(π(x) ⊕ i) ⊕ π(x), where π is AES-128 under a key of this circuit.

use aes::Aes128Enc;
use aes::cipher::consts::U16;
use aes::cipher::{BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, KeyInit};

use super::label::Label;

/// A key of the permutation. Which instructions the processor has, and what they need of the key, is found out once for each piece of work and
/// not once for each label.
pub(crate) struct Hash(Aes128Enc);

/// Work with the permutation of a key.
pub(crate) trait Work {
    fn run<P: Permutation>(self, permutation: &P);
}

/// The permutation and its hash.
pub(crate) trait Permutation {
    fn permute(&self, label: Label) -> Label;

    /// Hashes `N` groups of `M` labels with consecutive tweaks, each of which serves `PER` labels.
    #[inline(always)]
    fn hash<const M: usize, const N: usize, const PER: usize>(
        &self,
        labels: [[Label; M]; N],
        first: u64,
    ) -> [[Label; M]; N] {
        let mut hashes = labels;
        // All first, so that the processor works on them at the same time.
        for label in hashes.as_flattened_mut() {
            *label = self.permute(*label);
        }
        for (at, label) in hashes.as_flattened_mut().iter_mut().enumerate() {
            let tweak = Label::small(first.wrapping_add((at / PER) as u64));
            *label = *label ^ self.permute(*label ^ tweak);
        }
        hashes
    }
}

impl Hash {
    pub(crate) fn new(key: &[u8; 16]) -> Self {
        Self(Aes128Enc::new(key.into()))
    }

    pub(crate) fn with(&self, work: impl Work) {
        self.0.encrypt_with_backend(Running(work));
    }
}

struct Running<W>(W);

impl<W> BlockSizeUser for Running<W> {
    type BlockSize = U16;
}

impl<W: Work> BlockCipherEncClosure for Running<W> {
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        self.0.run(&On(backend));
    }
}

struct On<'a, B>(&'a B);

impl<B: BlockCipherEncBackend<BlockSize = U16>> Permutation for On<'_, B> {
    #[inline(always)]
    fn permute(&self, label: Label) -> Label {
        let mut block: aes::Block = label.to_bytes().into();
        self.0.encrypt_block((&mut block).into());
        Label::from_bytes(block.into())
    }
}
