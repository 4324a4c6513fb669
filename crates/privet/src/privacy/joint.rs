//! Private values that enter a joint computation.
//!
//! In secure computation a value is used without central noise. What the other party learns is then not measured by an ε but
//! listed, and each item of the list is an entry of the ledger with its count. Such entries are never added to an ε.
//!
//! A [`Contribution`] enters a joint sum whose noise was paid for: every owner adds a share of it.

use std::borrow::Cow;

use zeroize::Zeroizing;

use super::Anchor;

/// One item that a joint computation shows to another party, with its proof anchor.
#[derive(Debug, Clone)]
pub struct Leak {
    what: Cow<'static, str>,
    to: Cow<'static, str>,
    anchor: Anchor,
}

impl Leak {
    /// `to` learns `what`, as argued at `anchor`.
    pub fn new(what: impl Into<Cow<'static, str>>, to: impl Into<Cow<'static, str>>, anchor: Anchor) -> Self {
        Self {
            what: what.into(),
            to: to.into(),
            anchor,
        }
    }

    /// What is learnt.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Who learns it.
    pub fn to(&self) -> &str {
        &self.to
    }

    /// Where it is argued.
    pub fn anchor(&self) -> Anchor {
        self.anchor
    }
}

/// A private value whose disclosure is recorded in the ledger; made only by
/// [`Ledger::disclose`](super::Ledger::disclose).
pub struct Disclosed<T>(T);

impl<T> Disclosed<T> {
    pub(in crate::privacy) fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, for the joint computation that was declared.
    pub fn into_inner(self) -> T {
        self.0
    }
}

/// Joint sums are taken modulo this prime, 2⁶¹ − 1.
pub const MODULUS: u64 = (1 << 61) - 1;

/// An owner's numbers with its share of noise, modulo [`MODULUS`]; made only by [`Ledger::share`](super::Ledger::share).
///
/// It is secret: by itself it has less noise than was paid for. It is not printed, copied or compared, and it is wiped when it is dropped.
pub struct Contribution(Zeroizing<Vec<u64>>);

impl Contribution {
    pub(in crate::privacy) fn new(residues: Vec<u64>) -> Self {
        Self(Zeroizing::new(residues))
    }

    /// How many numbers it has.
    pub fn dimension(&self) -> usize {
        self.0.len()
    }

    /// The numbers, each below [`MODULUS`]: for the joint sum that was paid for, and for the record of the run that it is part of.
    ///
    /// # Privacy
    /// `docs/proofs/shares.md#redraw`: the record holds it from before the first message that depends on it until no draw
    /// of this number is asked for again.
    pub fn into_residues(self) -> Zeroizing<Vec<u64>> {
        self.0
    }
}

/// The residue of a number. The work is the same for all numbers.
pub fn residue(value: i128) -> u64 {
    // 2^61 is 1 modulo the modulus: the upper digits are added to the lower ones. At most 66 digits and a sign are left, which this multiple of
    // the modulus takes away.
    let modulus = i128::from(MODULUS);
    let mut sum = (value & modulus) + (value >> 61) + (modulus << 6);
    for _ in 0..2 {
        sum = (sum & modulus) + (sum >> 61);
    }
    // The modulus at most.
    let sum = sum as u64;
    sum - u64::from(sum == MODULUS) * MODULUS
}

/// The number of least size with this residue: what an opened sum means.
pub fn signed(residue: u64) -> i64 {
    let residue = residue % MODULUS;
    let half = MODULUS / 2;
    // Both are below 2^61.
    if residue <= half {
        residue as i64
    } else {
        residue as i64 - MODULUS as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_are_those_of_long_division() {
        let p = i128::from(MODULUS);
        let edges = [
            0,
            1,
            p / 2,
            p / 2 + 1,
            p - 1,
            p,
            p + 1,
            i128::from(i64::MAX),
            1 << 126,
        ];
        for edge in edges.into_iter().flat_map(|x| [x, -x]) {
            for value in edge - 3..=edge + 3 {
                let found = residue(value);
                assert_eq!(i128::from(found), value.rem_euclid(p), "{value}");
                assert_eq!(residue(signed(found).into()), found, "{value}");
                assert!(signed(found).unsigned_abs() <= MODULUS / 2, "{value}");
            }
        }
        for end in [i128::MIN, i128::MIN + 1, i128::MAX - 1, i128::MAX] {
            assert_eq!(i128::from(residue(end)), end.rem_euclid(p), "{end}");
        }
        for small in -5..5 {
            assert_eq!(signed(residue(small)), small as i64);
        }
    }

    #[test]
    fn sums_of_residues_are_residues_of_sums() {
        let values = [i64::MAX, i64::MIN, -17, 1 << 60];
        let sum = values.iter().fold(0, |sum, value| {
            residue(i128::from(sum) + i128::from(residue((*value).into())))
        });
        let whole: i128 = values.iter().map(|value| i128::from(*value)).sum();
        assert_eq!(sum, residue(whole));
    }
}
