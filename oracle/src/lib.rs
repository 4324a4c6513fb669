//! Draws of OpenDP: proven samplers by other people, which ours are compared with.

use opendp::traits::samplers::sample_discrete_laplace;

/// One draw of OpenDP's discrete Laplace distribution.
///
/// # Panics
/// If OpenDP has no randomness, or the draw does not fit.
pub fn laplace(scale: u64) -> i64 {
    let drawn = sample_discrete_laplace(scale.into()).expect("a draw");
    drawn.try_into().expect("a draw that fits")
}
