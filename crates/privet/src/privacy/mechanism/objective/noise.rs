//! Noise on the slope, drawn on a grid so that a real vector of exactly the wanted density is always near:
//! `docs/proofs/objective.md#coupled-noise`.

use dashu_base::BitTest;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::{Ball, NEAR, RIDGE_DIGITS};
use crate::Error;
use crate::privacy::sampler::{Geometric, Noise};
use crate::privacy::{Randomness, Ratio};

/// Digits of a uniform coordinate, as long as the radius is not longer: the same work for every draw that will ever happen.
const CELLS: usize = 128;
/// Where a geometric number starts again.
const AGAIN: i128 = 1 << 120;

/// Integers in units of 2^−digits.
#[derive(Debug, Clone)]
pub(super) struct Vector {
    pub(super) values: Vec<IBig>,
    pub(super) digits: usize,
}

/// The law of density exp(−‖V‖/scale), floored to a grid.
#[derive(Debug, Clone)]
pub(super) struct Law {
    ball: Ball,
    dimension: usize,
    /// An exponential variable on the grid.
    size: Geometric,
    digits: usize,
}

impl Law {
    /// Near enough: no coordinate is further from its real one than a quarter of ridge·2^−32.
    pub(super) fn new(ball: Ball, dimension: usize, scale: &RBig, ridge: &IBig) -> Result<Self, Error> {
        // 2^below ≤ ridge.
        let below = length(ridge).saturating_sub(1);
        let quarter = (RIDGE_DIGITS + NEAR + 2).saturating_sub(below);
        let digits = match ball {
            Ball::Cross => quarter,
            // Half of it for the radius, a sum of m + 1, and half for the cell.
            Ball::Cube => quarter + 1 + (dimension as u64 + 1).next_power_of_two().trailing_zeros() as usize,
        };
        let steps = Ratio::from_big(scale * RBig::from(IBig::ONE << digits))?;
        Ok(Self {
            ball,
            dimension,
            size: Geometric::new(steps)?,
            digits,
        })
    }

    pub(super) fn draw(&self, random: &mut Randomness) -> Vector {
        match self.ball {
            Ball::Cross => Vector {
                values: (0..self.dimension)
                    .map(|_| {
                        let size = whole(&self.size, random);
                        if random.word() & 1 == 0 { size } else { -size }
                    })
                    .collect(),
                digits: self.digits,
            },
            Ball::Cube => {
                // The radius of a uniform point of the ball has density m·r^(m−1): the Gamma law of shape m + 1 mends that.
                let radius = (0..=self.dimension)
                    .map(|_| whole(&self.size, random))
                    .fold(IBig::ZERO, |sum, x| sum + x);
                let cells = CELLS.max(length(&radius).next_multiple_of(64));
                Vector {
                    values: (0..self.dimension)
                        .map(|_| &radius * middle(cells, random))
                        .collect(),
                    digits: self.digits + cells,
                }
            }
        }
    }
}

/// The middle of one of 2^cells cells of [−1, 1], times 2^cells.
fn middle(cells: usize, random: &mut Randomness) -> IBig {
    let mut bytes = vec![0; cells / 8];
    random.fill(&mut bytes);
    let cell = IBig::from(UBig::from_le_bytes(&bytes));
    (cell << 1) + IBig::ONE - (IBig::ONE << cells)
}

/// A geometric number of any size: what is above a bound starts again there, which is the same law.
fn whole(law: &Geometric, random: &mut Randomness) -> IBig {
    let mut sum = IBig::ZERO;
    loop {
        let drawn = law.draw(random);
        if drawn < AGAIN {
            return sum + IBig::from(drawn);
        }
        sum += IBig::from(AGAIN);
    }
}

/// Binary digits of the size of an integer.
pub(super) fn length(x: &IBig) -> usize {
    x.clone().into_parts().1.bit_len()
}
