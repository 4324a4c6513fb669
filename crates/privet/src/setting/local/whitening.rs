//! Principal axes of rows, each scaled to variance one: the public space in which gradients and means are sent.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::encoding::Axis;
use crate::Error;

/// Axes of less than this part of the largest variance are left out.
const LEAST: f64 = 1e-3;
/// Steps of the eigenvalue solver for each dimension, at most.
const STEPS: usize = 1000;

/// The principal axes of vectors, `most` at most, those of the largest variance first.
///
/// # Errors
/// [`Error::Data`] if there are fewer than two vectors, or all are alike.
pub(super) fn principal_axes(dimension: usize, values: &[f64], most: usize) -> Result<Vec<Axis>, Error> {
    let rows = values.len() / dimension.max(1);
    let alike = || {
        Error::data(
            "principal axes need at least two rows that differ: give more own rows, or write components = 0",
        )
    };
    if rows < 2 {
        return Err(alike());
    }
    let points = DMatrix::from_row_slice(rows, dimension, values);
    let mean = points.row_mean().transpose();
    let centred = DMatrix::from_fn(rows, dimension, |row, place| points[(row, place)] - mean[place]);
    let covariance = centred.transpose() * &centred / (rows - 1) as f64;
    let (spectrum, vectors) = eigen(covariance)?;
    let largest = spectrum.first().copied().unwrap_or(0.0);
    if !(largest > 0.0 && largest.is_finite()) {
        return Err(alike());
    }
    let kept = spectrum
        .iter()
        .take(most)
        .take_while(|value| **value > LEAST * largest);
    let axis = |(place, value): (usize, &f64)| {
        let direction = vectors.column(place);
        // Of the two directions the one whose largest weight is positive: the same on every machine.
        let sign = direction[direction.iamax()].signum();
        let weights: Vec<f64> = direction.iter().map(|v| sign * v / value.sqrt()).collect();
        Axis {
            offset: -weights.iter().zip(mean.iter()).map(|(w, m)| w * m).sum::<f64>(),
            weights,
        }
    };
    Ok(kept.enumerate().map(axis).collect())
}

/// Eigenvalues of a symmetric matrix in falling order, and their vectors as columns.
pub(super) fn eigen(matrix: DMatrix<f64>) -> Result<(Vec<f64>, DMatrix<f64>), Error> {
    if matrix.iter().any(|x| !x.is_finite()) {
        return Err(Error::data("a matrix of means has entries that are not finite"));
    }
    let size = matrix.nrows();
    let found = SymmetricEigen::try_new(matrix, f64::EPSILON, STEPS * size.max(1))
        .ok_or_else(|| Error::data("the eigenvalues of a matrix of means were not found"))?;
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|a, b| found.eigenvalues[*b].total_cmp(&found.eigenvalues[*a]));
    let columns: Vec<DVector<f64>> = order
        .iter()
        .map(|place| found.eigenvectors.column(*place).into_owned())
        .collect();
    let values = order.iter().map(|place| found.eigenvalues[*place]).collect();
    Ok((values, DMatrix::from_columns(&columns)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Coins;

    /// Correlated coordinates become uncorrelated ones of variance one, whatever their units.
    #[test]
    fn along_principal_axes_the_covariance_is_one() {
        let mut coins = Coins::from_seed([3; 32]);
        let mut values = Vec::new();
        for _ in 0..500 {
            let (a, b, c) = (coins.unit(), coins.unit(), coins.unit());
            values.extend([3.0 * a + 1.0, a + 2.0 * b, 10.0 * c - a, 2.0 * a]);
        }
        let axes = principal_axes(4, &values, 10).expect("axes");
        // The last coordinate is a multiple of the first.
        assert_eq!(axes.len(), 3);
        let along = |axis: &Axis| -> Vec<f64> {
            let point = |x: &[f64]| axis.offset + axis.weights.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
            values.chunks_exact(4).map(point).collect()
        };
        for (i, one) in axes.iter().map(along).enumerate() {
            assert!(one.iter().sum::<f64>().abs() < 1e-9);
            for (j, other) in axes.iter().map(along).enumerate() {
                let product = one.iter().zip(&other).map(|(a, b)| a * b).sum::<f64>() / 499.0;
                assert!(
                    (product - f64::from(u8::from(i == j))).abs() < 1e-9,
                    "{i} {j}: {product}"
                );
            }
        }
        assert_eq!(principal_axes(4, &values, 2).expect("axes").len(), 2);
    }

    #[test]
    fn rows_that_are_alike_have_no_axes() {
        assert!(principal_axes(2, &[1.0, 2.0, 1.0, 2.0], 2).is_err());
        assert!(principal_axes(2, &[1.0, 2.0], 2).is_err());
        assert!(principal_axes(2, &[1.0, f64::NAN, 0.0, 0.0], 2).is_err());
    }
}
