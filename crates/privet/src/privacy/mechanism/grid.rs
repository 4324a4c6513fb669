//! Fixed-point numbers: real contributions on a public integer grid.
//!
//! Noise is exact on integers only, so a real contribution is rounded to a grid *before* it is summed, and the sensitivity
//! is the largest integer that comes out: never the real bound times the scale (at 16 steps a bound of .7371 gives 24
//! for a pair, not 23.6).

use crate::Error;

/// A public grid of `steps` per unit on which contributions of at most `bound` are placed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    steps: f64,
    bound: i64,
}

impl Grid {
    /// `2^bits` steps per unit, contributions clamped to `±bound` units.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the bound is not a positive finite number, or falls below one step or above 2⁵² of them.
    pub fn new(bits: u32, bound: f64) -> Result<Self, Error> {
        let steps = f64::from(bits.min(1000)).exp2();
        let units = (bound * steps).round();
        if !(1.0..=f64::from(52).exp2()).contains(&units) {
            let why = format!(
                "a bound of {bound} on a grid of 2^{bits} steps per unit is {units} steps: it must be between 1 and 2^52"
            );
            return Err(Error::parameter("bound", why));
        }
        Ok(Self {
            steps,
            bound: units as i64,
        })
    }

    /// The largest integer that [`Grid::place`] returns: the sensitivity of one contribution to a sum.
    pub fn bound(&self) -> u64 {
        self.bound.unsigned_abs()
    }

    /// The grid point of one contribution; what is not a number counts as zero.
    pub fn place(&self, value: f64) -> i64 {
        let units = (value * self.steps).round();
        // `as` saturates and sends NaN to zero.
        (units as i64).clamp(-self.bound, self.bound)
    }

    /// The real number of a released sum.
    pub fn value(&self, units: i64) -> f64 {
        units as f64 / self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contributions_never_leave_the_bound() {
        let grid = Grid::new(4, 0.7371).expect("a grid");
        assert_eq!(grid.bound(), 12);
        for value in [f64::MAX, f64::INFINITY, 0.7371, 0.74, 9.0] {
            assert_eq!((grid.place(value), grid.place(-value)), (12, -12));
        }
        assert_eq!(grid.place(f64::NAN), 0);
        assert_eq!(grid.place(-0.26), -4);
        assert_eq!(grid.value(12), 0.75);
    }

    #[test]
    fn grids_without_a_step_are_refused() {
        for (bits, bound) in [
            (4, 0.0),
            (4, -1.0),
            (4, f64::NAN),
            (4, f64::INFINITY),
            (4, 0.01),
            (60, 1.0),
        ] {
            assert!(
                matches!(Grid::new(bits, bound), Err(Error::Parameter(_))),
                "{bits} {bound}"
            );
        }
    }
}
