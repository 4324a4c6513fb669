//! The tweakable hash of Guo, Katz, Wang and Yu (S&P 2020): TMMO(x, i) = π(π(x) ⊕ i) ⊕ π(x), where π is AES-128 under a key of this circuit.

use aes::Aes128Enc;
use aes::cipher::{BlockCipherEncrypt, KeyInit};

use super::label::Label;

/// The permutation.
pub(crate) struct Hash(Aes128Enc);

impl Hash {
    pub(crate) fn new(key: &[u8; 16]) -> Self {
        Self(Aes128Enc::new(key.into()))
    }

    /// π of each.
    #[inline(always)]
    pub(crate) fn permute<const M: usize, const N: usize>(
        &self,
        labels: &[[Label; M]; N],
    ) -> [[Label; M]; N] {
        let mut blocks = labels.map(|group| group.map(|label| label.to_bytes().into()));
        self.0.encrypt_blocks(blocks.as_flattened_mut());
        blocks.map(|group| group.map(|block| Label::from_bytes(block.into())))
    }

    /// Hashes `M / 2` labels, or pairs of labels, with consecutive tweaks: `PER` of them with each.
    #[inline(always)]
    pub(crate) fn hash<const M: usize, const N: usize, const PER: usize>(
        &self,
        labels: &[[Label; M]; N],
        first: u64,
    ) -> [[Label; M]; N] {
        let once = self.permute(labels);
        let tweaked: [[Label; M]; N] = std::array::from_fn(|group| {
            std::array::from_fn(|at| once[group][at] ^ Label::small(first + ((group * M + at) / PER) as u64))
        });
        let twice = self.permute(&tweaked);
        std::array::from_fn(|group| std::array::from_fn(|at| once[group][at] ^ twice[group][at]))
    }
}
