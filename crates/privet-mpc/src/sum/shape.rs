//! How vectors are cut, and how many answers open a sum. Proof: `docs/proofs/sum.md`.

use super::{MOST_NUMBERS, MOST_OWNERS, SumFault};
use crate::Error;

/// The numbers that everything else follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) owners: usize,
    pub(super) absent: usize,
    pub(super) colluding: usize,
    pub(super) length: usize,
    /// Polynomials for each vector.
    pub(super) pieces: usize,
    /// Numbers in each polynomial.
    pub(super) packed: usize,
    /// Random values in each polynomial.
    pub(super) random: usize,
}

impl Shape {
    pub(super) fn new(owners: usize, absent: usize, colluding: usize, length: usize) -> Result<Self, Error> {
        let refused = |fault| Err(Error::Sum(fault));
        if owners < 3 {
            return refused(SumFault::FewOwners { owners });
        }
        if owners > MOST_OWNERS {
            return refused(SumFault::ManyOwners { most: MOST_OWNERS });
        }
        if colluding == 0 {
            return refused(SumFault::NobodyColludes);
        }
        if length == 0 || length > MOST_NUMBERS {
            return refused(SumFault::Length {
                length,
                most: MOST_NUMBERS,
            });
        }
        // All are below 2¹⁴ from here on, or refused.
        let most_packed = owners.checked_sub(colluding).and_then(|honest| {
            let needed = absent.checked_add(beyond_colluders(honest, absent)?)?;
            honest.checked_sub(needed)
        });
        let Some(most_packed @ 1..) = most_packed else {
            return refused(SumFault::ManyAbsent {
                owners,
                absent,
                colluding,
            });
        };
        // As few polynomials as possible, and then as few numbers in each.
        let pieces = length.div_ceil(most_packed);
        let honest = owners - colluding;
        Ok(Self {
            owners,
            absent,
            colluding,
            length,
            pieces,
            packed: length.div_ceil(pieces),
            random: colluding + beyond_colluders(honest, absent).unwrap_or_default(),
        })
    }

    /// How many answers open a sum.
    pub(super) fn required(&self) -> usize {
        self.random + self.packed
    }

    pub(super) fn least_survivors(&self) -> usize {
        self.owners - self.absent
    }
}

/// How many honest answers tell nothing beside what colluders know: so many that no two survivor sets can both be shown to more
/// (`docs/proofs/sum.md`, survivor sets). If nobody may be absent, there is one set only.
fn beyond_colluders(honest: usize, absent: usize) -> Option<usize> {
    match (absent, honest) {
        (0, _) => Some(0),
        (1, 3) => Some(1),
        _ => Some((honest / 2).max(absent.checked_mul(2)?)),
    }
}
