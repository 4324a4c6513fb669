//! Logistic regression behind the wall: rows in whole numbers, and hints in floating point where their loss is least.
//!
//! The hints are Newton's method with a line search on the matrix of second derivatives, which is written out. Sums are taken in
//! blocks that depend on the number of rows alone. No promise rests on them: the mechanism proves by itself how near a minimum is.

use std::ops::Range;

use rayon::prelude::*;

use crate::learner::solver::{Curved, Objective, newton, solve};
use crate::learner::{Loss, SILENT, blocks};
use crate::privacy::mechanism::{ENTRY_DIGITS, LogisticRow, LogisticRows, WEIGHT_DIGITS};

/// Steps at most; ten are usual.
const STEPS: u32 = 200;
/// An entry of one.
const UNIT: i32 = 1 << ENTRY_DIGITS;

/// The entries of each row, an intercept first.
pub(super) enum Design<'a> {
    /// One number for each column, from -1 to 1.
    Numbers(&'a [Vec<f32>]),
    /// For each feature the place of a one; all other entries are zero.
    Indicators { places: Vec<Vec<u32>>, width: usize },
}

impl Design<'_> {
    fn width(&self) -> usize {
        match self {
            Self::Numbers(columns) => columns.len() + 1,
            Self::Indicators { width, .. } => *width,
        }
    }

    /// The entries of a row that are not zero, places ascending. Numbers are clamped here, whatever they were before: bounds
    /// on slopes rest on it.
    #[inline]
    fn entries(&self, row: usize, into: &mut Vec<(usize, i32)>) {
        into.push((0, UNIT));
        match self {
            Self::Numbers(columns) => {
                for (place, column) in columns.iter().enumerate() {
                    // What is no number becomes zero.
                    let x = (column[row].clamp(-1.0, 1.0) * UNIT as f32).round() as i32;
                    into.push((place + 1, x));
                }
            }
            Self::Indicators { places, .. } => {
                into.extend(places.iter().map(|places| (places[row] as usize, UNIT)));
            }
        }
    }
}

/// The rows of Σ weight·loss(offset + row·θ).
pub(super) struct Regression<'a> {
    pub(super) design: Design<'a>,
    pub(super) labels: &'a [bool],
    /// What is added to each row's sum; nothing if there are none.
    pub(super) offsets: &'a [f64],
    /// What each row counts, in 4096ths; one each if not given.
    pub(super) weights: Option<&'a [i64]>,
}

impl LogisticRows for Regression<'_> {
    fn rows(&self) -> usize {
        self.labels.len()
    }

    fn row(&self, row: usize, entries: &mut Vec<(usize, i32)>) -> LogisticRow {
        self.design.entries(row, entries);
        let offset = self.offsets.get(row).copied().unwrap_or(0.0);
        LogisticRow {
            label: self.labels[row],
            offset: (offset * f64::from(UNIT)).round() as i64,
            weight: self.weights.map_or(1 << WEIGHT_DIGITS, |weights| weights[row]),
        }
    }

    fn guess(&self, ridge: f64, noise: &[f64]) -> Vec<f64> {
        newton(
            &Floats {
                rows: self,
                ridge,
                noise,
            },
            STEPS,
            SILENT,
        )
    }

    fn step(&self, ridge: f64, at: &[f64], gradient: &[f64]) -> Vec<f64> {
        let floats = Floats {
            rows: self,
            ridge,
            noise: &[],
        };
        let mut step = gradient.to_vec();
        solve(floats.curvature(at), &mut step);
        step
    }
}

/// Σ weight·loss(offset + row·θ) + ridge/2·‖θ‖² + noise·θ, in floating point.
struct Floats<'a> {
    rows: &'a Regression<'a>,
    ridge: f64,
    noise: &'a [f64],
}

impl Floats<'_> {
    /// What `each` adds up to over blocks of rows, in order: it is given a row's weight, label, sum and entries.
    fn sums(&self, at: &[f64], size: usize, each: impl Fn(Summed<'_>, &mut [f64]) + Sync) -> Vec<f64> {
        let block = |rows: Range<usize>| {
            let (mut sums, mut entries, mut floats) = (vec![0.0; size], Vec::new(), Vec::new());
            for row in rows {
                entries.clear();
                floats.clear();
                let own = self.rows.row(row, &mut entries);
                floats.extend(
                    entries
                        .iter()
                        .map(|&(place, x)| (place, f64::from(x) / f64::from(UNIT))),
                );
                let sum: f64 = floats.iter().map(|&(place, x)| at[place] * x).sum();
                let row = Summed {
                    weight: own.weight as f64 / f64::from(1 << WEIGHT_DIGITS),
                    label: f64::from(u8::from(own.label)),
                    score: own.offset as f64 / f64::from(UNIT) + sum,
                    entries: &floats,
                };
                each(row, &mut sums);
            }
            sums
        };
        let parts: Vec<Vec<f64>> = blocks(self.rows.rows()).into_par_iter().map(block).collect();
        let mut all = vec![0.0; size];
        for part in parts {
            all.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        }
        all
    }
}

struct Summed<'a> {
    weight: f64,
    label: f64,
    score: f64,
    entries: &'a [(usize, f64)],
}

impl Objective for Floats<'_> {
    fn len(&self) -> usize {
        self.rows.design.width()
    }

    fn value(&self, at: &[f64], gradient: &mut [f64]) -> f64 {
        let width = at.len();
        let sums = self.sums(at, width + 1, |row, sums| {
            let (loss, slope) = Loss::Logistic.at(row.score, row.label);
            sums[width] += row.weight * loss;
            for &(place, x) in row.entries {
                sums[place] += row.weight * slope * x;
            }
        });
        gradient.copy_from_slice(&sums[..width]);
        let mut value = sums[width];
        for ((g, x), noise) in gradient.iter_mut().zip(at).zip(self.noise) {
            // The ridge is on every coefficient: off the intercept, nothing would bound what one row does there.
            *g += self.ridge * x + noise;
            value += self.ridge / 2.0 * x * x + noise * x;
        }
        value
    }

    fn bend(&self) -> Vec<f64> {
        vec![self.ridge; self.len()]
    }

    fn tolerance(&self) -> f64 {
        1e-13 * (self.rows.rows() as f64).max(1e3)
    }
}

impl Curved for Floats<'_> {
    fn curvature(&self, at: &[f64]) -> Vec<f64> {
        let width = at.len();
        let mut curvature = self.sums(at, width * width, |row, sums| {
            let bend = row.weight * Loss::Logistic.bend(row.score);
            for (i, &(place, x)) in row.entries.iter().enumerate() {
                let line = &mut sums[place * width..][..=place];
                for &(place, other) in &row.entries[..=i] {
                    line[place] += bend * x * other;
                }
            }
        });
        for i in 0..width {
            curvature[i * width + i] += self.ridge;
        }
        curvature
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At the minimum the slope is zero: it is written out here once more, in a simpler way.
    #[test]
    fn the_slope_vanishes_at_the_minimum() {
        let columns = [
            vec![1.0, -0.5, 0.25, -3.0, f32::NAN],
            vec![0.0, 1.0, -1.0, 0.5, 0.5],
        ];
        let labels = [true, false, true, true, false];
        let offsets = [0.5, -1.0, 0.0, 2.0, 0.125];
        let weights = [1, 2, 3, 4, 5].map(|weight| weight << (WEIGHT_DIGITS - 1));
        let noise = [3.0, -40.0, 0.7];
        let regression = Regression {
            design: Design::Numbers(&columns),
            labels: &labels,
            offsets: &offsets,
            weights: Some(&weights),
        };
        let at = regression.guess(1.5, &noise);
        let mut slope: Vec<f64> = (0..3).map(|i| 1.5 * at[i] + noise[i]).collect();
        for row in 0..5 {
            // Clamped, and zero where there is no number.
            let x = match row {
                3 => -1.0,
                4 => 0.0,
                _ => f64::from(columns[0][row]),
            };
            let z = [1.0, x, f64::from(columns[1][row])];
            let score = offsets[row] + z.iter().zip(&at).map(|(z, t)| z * t).sum::<f64>();
            let error = 1.0 / (1.0 + (-score).exp()) - f64::from(u8::from(labels[row]));
            for (slope, z) in slope.iter_mut().zip(z) {
                *slope += (row + 1) as f64 / 2.0 * error * z;
            }
        }
        assert!(slope.iter().all(|g| g.abs() < 1e-8), "{slope:?}");
    }

    /// Indicators are numbers that are zero or one.
    #[test]
    fn indicators_are_columns_of_zeros_and_ones() {
        let rows = 300;
        let places: Vec<Vec<u32>> = vec![
            (0..rows).map(|row| 1 + row * 7 % 3).collect(),
            (0..rows).map(|row| 4 + row * row % 2).collect(),
        ];
        let labels: Vec<bool> = (0..rows).map(|row| row * 5 % 7 < 3).collect();
        let columns: Vec<Vec<f32>> = (1..6)
            .map(|place| {
                let is = |row: u32| places.iter().any(|places| places[row as usize] == place);
                (0..rows).map(|row| f32::from(u8::from(is(row)))).collect()
            })
            .collect();
        let noise = [1.0, -2.0, 3.0, -4.0, 5.0, -6.0];
        let fit = |design| {
            let regression = Regression {
                design,
                labels: &labels,
                offsets: &[],
                weights: None,
            };
            regression.guess(1.0, &noise)
        };
        let (dense, sparse) = (
            fit(Design::Numbers(&columns)),
            fit(Design::Indicators { places, width: 6 }),
        );
        for (a, b) in dense.iter().zip(sparse) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }
}
