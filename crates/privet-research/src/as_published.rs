//! What the algorithms that papers print, or compare with, and that protect nobody have in common.
//!
//! They take no ledger. Rows are revealed with a permission that says why ([`Unprotected`](privet::privacy::Unprotected)), and noise comes
//! from public coins: it hides nothing anyway.

use privet::Error;
use privet::data::Cells;
use privet::learner::Coordinate;
use privet::privacy::Coins;

/// Checks that a parameter is a number above zero.
pub(crate) fn above_zero(key: &'static str, value: f64) -> Result<(), Error> {
    match value > 0.0 && value.is_finite() {
        true => Ok(()),
        false => Err(Error::parameter(
            key,
            format!("{key} = {value}: write a number above zero"),
        )),
    }
}

/// Laplace noise as a textbook has it.
pub(crate) fn laplace(scale: f64, coins: &mut Coins) -> f64 {
    let size = -scale * (1.0 - coins.unit()).ln();
    if coins.below(2) == 0 { size } else { -size }
}

/// The numbers of each coordinate, column by column.
pub(crate) fn numbers(cells: &Cells, coordinates: &[Coordinate]) -> Vec<Vec<f32>> {
    let column = |own: &Coordinate| {
        let feature = &cells.features()[own.feature];
        (0..cells.rows()).map(|row| own.at(feature, row)).collect()
    };
    coordinates.iter().map(column).collect()
}
