//! Boosting for free: any number of steps on means that were collected once.
//!
//! With c = E\[s·φ\] from owners and G = E\[φ·φᵀ\], least squares has the minimum of θᵀGθ − 2θᵀc, and every step of boosting towards it is a function of G
//! and c alone: no message is needed for it.

use nalgebra::{DMatrix, DVector};

use super::whitening::eigen;
use crate::Error;

/// Ridges to choose from.
const RIDGES: [f64; 8] = [0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];
/// What a step of boosting takes of the best one.
const RATE: f64 = 0.1;
/// Steps between two classifiers to choose from.
const EVERY: u32 = 10;

/// E\[φ·φᵀ\], factorised.
#[derive(Debug)]
pub(super) struct Gram {
    matrix: DMatrix<f64>,
    spectrum: Vec<f64>,
    vectors: DMatrix<f64>,
}

impl Gram {
    /// From its upper half, row by row.
    ///
    /// # Errors
    /// [`Error::Data`] if it is not finite.
    pub(super) fn of_upper(dimension: usize, upper: &[f64]) -> Result<Self, Error> {
        let mut matrix = DMatrix::zeros(dimension, dimension);
        let pairs = (0..dimension).flat_map(|i| (i..dimension).map(move |j| (i, j)));
        for ((i, j), value) in pairs.zip(upper) {
            matrix[(i, j)] = *value;
            matrix[(j, i)] = *value;
        }
        let (spectrum, vectors) = eigen(matrix.clone())?;
        Ok(Self {
            matrix,
            spectrum,
            vectors,
        })
    }

    /// Least squares with a ridge. Noise can make eigenvalues negative: these count as zero.
    pub(super) fn ridge(&self, c: &[f64], ridge: f64) -> Vec<f64> {
        let turned = self.vectors.transpose() * DVector::from_column_slice(c);
        let scaled = turned
            .iter()
            .zip(&self.spectrum)
            .map(|(q, w)| q / (w.max(0.0) + ridge));
        let scaled = DVector::from_iterator(c.len(), scaled);
        (&self.vectors * scaled).iter().copied().collect()
    }

    /// The same for several ridges.
    pub(super) fn ridges(&self, c: &[f64]) -> Vec<Vec<f64>> {
        RIDGES.iter().map(|ridge| self.ridge(c, *ridge)).collect()
    }

    /// L2Boost: in each step the coordinate that lowers the loss most goes a tenth of its way. What stands after every tenth step.
    pub(super) fn boosted(&self, c: &[f64], steps: u32) -> Vec<Vec<f64>> {
        let mut theta = vec![0.0; c.len()];
        let mut rest = c.to_vec();
        let squares: Vec<f64> = self.matrix.diagonal().iter().map(|d| d.max(1e-9)).collect();
        let mut found = Vec::new();
        for step in 1..=steps {
            let gain = |place: usize| rest[place].abs() / squares[place].sqrt();
            let Some(best) = (0..c.len()).max_by(|a, b| gain(*a).total_cmp(&gain(*b))) else {
                break;
            };
            let size = RATE * rest[best] / squares[best];
            theta[best] += size;
            for (place, rest) in rest.iter_mut().enumerate() {
                *rest -= self.matrix[(place, best)] * size;
            }
            if step % EVERY == 0 {
                found.push(theta.clone());
            }
        }
        if found.is_empty() {
            found.push(theta);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gram() -> Gram {
        Gram::of_upper(2, &[2.0, 0.5, 1.0]).expect("a matrix")
    }

    /// (2 + r, ½; ½, 1 + r)·θ = c, by hand.
    #[test]
    fn ridges_solve_their_equations() {
        let theta = gram().ridge(&[1.0, -1.0], 0.5);
        let back = [2.5 * theta[0] + 0.5 * theta[1], 0.5 * theta[0] + 1.5 * theta[1]];
        assert!((back[0] - 1.0).abs() < 1e-12 && (back[1] + 1.0).abs() < 1e-12);
    }

    /// Enough steps reach least squares; the first step goes where the gain is largest.
    #[test]
    fn boosting_ends_at_least_squares() {
        let c = [1.0, -1.0];
        let first = &gram().boosted(&c, 1)[0];
        assert_eq!(first, &[0.0, -0.1]);
        let all = gram().boosted(&c, 2000);
        assert_eq!(all.len(), 200);
        let exact = gram().ridge(&c, 0.0);
        for (a, b) in all[199].iter().zip(exact) {
            assert!((a - b).abs() < 1e-6);
        }
    }

    #[test]
    fn a_noisy_matrix_with_negative_eigenvalues_gives_finite_weights() {
        let noisy = Gram::of_upper(2, &[1.0, 2.0, 1.0]).expect("a matrix");
        assert!(noisy.ridge(&[1.0, 1.0], 0.1).iter().all(|x| x.is_finite()));
        assert!(Gram::of_upper(1, &[f64::INFINITY]).is_err());
    }
}
