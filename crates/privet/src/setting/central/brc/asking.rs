//! What is asked about private rows, round by round.

use std::num::NonZeroU32;

use super::super::rows::{Candidate, CuratorRows};
use super::weights::Weights;
use super::{DIGITS, ONE};
use crate::Error;
use crate::privacy::mechanism::{Laplace, PermuteAndFlip};
use crate::privacy::{Anchor, Epsilon, Norm, Query, Relation, Reservation, Sensitivity};

/// What is paid for, and asked round by round.
pub(in crate::setting::central) struct Asking<'l> {
    pub(in crate::setting::central) relation: Relation,
    pub(in crate::setting::central) paid: Reservation<'l>,
    /// What one draw may cost.
    pub(in crate::setting::central) share: Epsilon,
    /// The public number of rows.
    rows: u64,
    /// Noise for a sensitivity: it takes longer to build than to draw, and rounds share it.
    noise: Option<(u64, Laplace)>,
}

impl<'l> Asking<'l> {
    /// Draws of one share each, about so many rows.
    pub(in crate::setting::central) fn new(
        relation: Relation,
        paid: Reservation<'l>,
        (share, rows): (Epsilon, u64),
    ) -> Self {
        Self {
            relation,
            paid,
            share,
            rows,
            noise: None,
        }
    }

    /// One number with noise.
    fn noisy(&mut self, l1: u64, query: Query<'_>) -> Result<i64, Error> {
        let (_, mechanism) = match self.noise.take().filter(|(built, _)| *built == l1) {
            Some(noise) => self.noise.insert(noise),
            None => self.noise.insert((l1, Laplace::calibrated(self.share, l1)?)),
        };
        Ok(self.paid.release(mechanism, query)?.into_inner()[0])
    }

    /// Half the signed edge as a share of the rows, with noise: ½ less the error, were all weights one.
    ///
    /// # Privacy
    /// `docs/proofs/central.md#edges`.
    pub(super) fn edge(&mut self, weights: &Weights) -> Result<f64, Error> {
        let l1 = self.relation.steps() * weights.most();
        let claim =
            Sensitivity::claim(&self.relation, Norm::L1(l1), Anchor::new("central#edges"))?.also_added();
        let query = Query::new(1, claim, || {
            weights.by_row.as_ref().map(|own| {
                let each = own.right.iter().zip(&own.weights);
                vec![
                    each.map(|(right, weight)| if *right { *weight } else { -weight })
                        .sum(),
                ]
            })
        });
        let noisy = self.noisy(l1, query)?;
        Ok(noisy as f64 / (2 * ONE) as f64 / self.rows as f64)
    }

    /// ½ less the wrong rows' share of all weight, with noise.
    ///
    /// # Privacy
    /// `docs/proofs/central.md#quotients`.
    pub(super) fn quotient(&mut self, weights: &Weights) -> Result<f64, Error> {
        let (low, high) = weights.clips;
        let l1 = quotient_bound((low, high), self.rows, self.relation.rows());
        let claim =
            Sensitivity::claim(&self.relation, Norm::L1(l1), Anchor::new("central#quotients"))?.also_added();
        let least = i128::from(low) * i128::from(self.rows);
        let query = Query::new(1, claim, || {
            weights.by_row.as_ref().map(|own| {
                let each = own.right.iter().zip(&own.weights);
                let wrong: i64 = each.map(|(right, weight)| if *right { 0 } else { *weight }).sum();
                let all: i64 = own.weights.iter().sum();
                let quotient = (i128::from(wrong) << DIGITS) / i128::from(all).max(least);
                vec![quotient as i64]
            })
        });
        let noisy = self.noisy(l1, query)?;
        Ok(0.5 - noisy as f64 / f64::from(DIGITS).exp2())
    }

    /// The plane, seen from either side, that puts most weight right. Candidates follow from public coins and the schema.
    ///
    /// # Privacy
    /// `docs/proofs/central.md#intercepts`, `#paid-public-classifiers`.
    pub(super) fn choice(
        &mut self,
        candidates: &[Candidate],
        anchor: Anchor,
        weights: &Weights,
        rows: &CuratorRows,
    ) -> Result<Candidate, Error> {
        let width = self.relation.steps() * weights.most();
        let claim = Sensitivity::claim(&self.relation, Norm::Width(width), anchor)?.also_added();
        let query = Query::new(2 * candidates.len(), claim, || {
            let matrix = rows.matrix.as_ref();
            matrix.zip(weights.by_row.as_ref(), |matrix, own| {
                let right = candidates.iter().map(|plane| {
                    let right = matrix.right(&plane.coefficients, plane.intercept);
                    let own = right.iter().zip(&own.weights);
                    own.map(|(right, weight)| if *right { *weight } else { 0 }).sum()
                });
                let right: Vec<i64> = right.collect();
                let all: i64 = own.weights.iter().sum();
                let behind: Vec<i64> = right.iter().map(|right| all - right).collect();
                [right, behind].concat()
            })
        });
        let mechanism = PermuteAndFlip::calibrated(self.share, width)?;
        let chosen = self.paid.release(&mechanism, query)?.into_inner();
        let plane = &candidates[chosen % candidates.len()];
        Ok(if chosen < candidates.len() {
            plane.clone()
        } else {
            plane.reversed()
        })
    }
}

/// The most that a unit of `k` rows moves the floor of 2^DIGITS times a quotient whose denominator is at least rows × low. It
/// lies between zero and one, so it never moves by more than that.
pub(super) fn quotient_bound((low, high): (i64, i64), rows: u64, k: NonZeroU32) -> u64 {
    let most = (u128::from(k.get()) * high as u128) << DIGITS;
    let least = low as u128 * u128::from(rows.max(1));
    most.div_ceil(least).min(1 << DIGITS) as u64
}
