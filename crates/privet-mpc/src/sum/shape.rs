//! Who holds shares, how vectors are cut, and how many answers open a sum. Proof: `docs/proofs/sum.md`.

use super::{MOST_NUMBERS, MOST_OWNERS, SumFault};
use crate::Error;
use crate::sealed::OVERHEAD;

/// The numbers that everything else follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) owners: usize,
    pub(super) absent: usize,
    pub(super) colluding: usize,
    pub(super) length: usize,
    /// The first so many owners hold shares, and answer.
    pub(super) holders: usize,
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
        let possible =
            (1..=owners).filter_map(|holders| Self::with(owners, absent, colluding, length, holders));
        // As few bytes as possible, and then as few polynomials.
        let best = possible.min_by_key(|shape| (shape.dealt_bytes(), shape.pieces));
        best.ok_or(Error::Sum(SumFault::ManyAbsent {
            owners,
            absent,
            colluding,
        }))
    }

    /// With so many holders: as few polynomials as possible, and then as few numbers in each. None if so many cannot open a sum.
    pub(super) fn with(
        owners: usize,
        absent: usize,
        colluding: usize,
        length: usize,
        holders: usize,
    ) -> Option<Self> {
        let honest = owners.checked_sub(colluding).filter(|honest| *honest > 0)?;
        let answering = holders.checked_sub(colluding)?;
        let hidden = beyond_colluders(answering, honest, absent)?;
        let most_packed = answering.checked_sub(hidden.checked_add(absent)?)?;
        let pieces = length.div_ceil(Some(most_packed).filter(|most| *most > 0)?);
        Some(Self {
            owners,
            absent,
            colluding,
            length,
            holders,
            pieces,
            packed: length.div_ceil(pieces),
            random: colluding + hidden,
        })
    }

    /// The bytes of what an owner without shares of others deals to all holders.
    fn dealt_bytes(&self) -> usize {
        self.holders * self.envelope_bytes()
    }

    pub(super) fn envelope_bytes(&self) -> usize {
        8 * self.pieces + OVERHEAD
    }

    /// How many answers open a sum.
    pub(super) fn required(&self) -> usize {
        self.random + self.packed
    }

    pub(super) fn least_survivors(&self) -> usize {
        self.owners - self.absent
    }
}

/// How many answers of honest holders tell nothing beside what colluders know: so many that no two survivor sets can both be shown to more
/// (`docs/proofs/sum.md`, survivor sets). `answering` holders are honest, of `honest` owners. If nobody may be absent, there is one set only.
fn beyond_colluders(answering: usize, honest: usize, absent: usize) -> Option<usize> {
    match (absent, answering, honest) {
        (0, _, _) => Some(0),
        (1, 3, 3) => Some(1),
        _ => Some((answering / 2).max(absent.checked_mul(2)?.checked_mul(answering)? / honest)),
    }
}
