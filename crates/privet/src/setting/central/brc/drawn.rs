//! Planes at random.

use super::super::rows::{Candidate, CuratorRows};
use super::{Asking, Classifiers, INTERCEPTS, PUBLIC, Planes, Weights};
use crate::Error;
use crate::privacy::{Anchor, Coins};

/// Planes at random: they look at no row, but for what is chosen and paid for.
pub(super) struct Drawn {
    pub(super) planes: Planes,
    pub(super) coins: Coins,
}

impl Classifiers for Drawn {
    fn next(
        &mut self,
        asking: &mut Asking<'_>,
        weights: &Weights,
        rows: &CuratorRows,
    ) -> Result<Candidate, Error> {
        let drawn = self.plane(rows.coordinates.len());
        match self.planes {
            Planes::ChosenIntercept => {
                let anchor = Anchor::new("central#intercepts");
                asking.choice(&intercepts(&drawn.coefficients), anchor, weights, rows)
            }
            Planes::PaidPublic => {
                let anchor = Anchor::new("central#paid-public-classifiers");
                asking.choice(&self.branches(drawn, rows), anchor, weights, rows)
            }
            Planes::Random | Planes::ZeroIntercept | Planes::Thresholds => Ok(drawn),
        }
    }
}

impl Drawn {
    fn plane(&mut self, width: usize) -> Candidate {
        let coins = &mut self.coins;
        let mut uniform = || (2.0 * coins.unit() - 1.0) as f32;
        let mut coefficients: Vec<f32> = (0..width).map(|_| uniform()).collect();
        let mut intercept = uniform();
        match self.planes {
            Planes::Random | Planes::ChosenIntercept | Planes::PaidPublic => {}
            Planes::ZeroIntercept => intercept = 0.0,
            Planes::Thresholds => {
                coefficients.fill(0.0);
                if let Some(one) = coefficients.get_mut(coins.below(width as u64) as usize) {
                    *one = 1.0;
                }
            }
        }
        Candidate {
            coefficients,
            intercept,
        }
    }

    /// Planes over public columns, of which the best is the round's public classifier, and one over private columns.
    fn branches(&mut self, private: Candidate, rows: &CuratorRows) -> Vec<Candidate> {
        let over = |mut plane: Candidate, open: bool| {
            for (coefficient, own) in plane.coefficients.iter_mut().zip(&rows.open) {
                if *own != open {
                    *coefficient = 0.0;
                }
            }
            plane
        };
        let width = private.coefficients.len();
        let public = (0..PUBLIC).map(|_| over(self.plane(width), true));
        let mut all: Vec<Candidate> = public.collect();
        all.push(over(private, false));
        all
    }
}

/// Intercepts on a public grid.
///
/// # Paper
/// Section 6 takes "at most n intercepts" from the rows themselves, which neighbours do not share; a public grid is shared.
fn intercepts(slopes: &[f32]) -> Vec<Candidate> {
    let reach: f32 = 1.0 + slopes.iter().map(|c| c.abs()).sum::<f32>();
    (0..INTERCEPTS)
        .map(|i| Candidate {
            coefficients: slopes.to_vec(),
            intercept: reach * (2.0 * i as f32 / (INTERCEPTS - 1) as f32 - 1.0),
        })
        .collect()
}
