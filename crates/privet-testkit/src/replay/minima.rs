//! Compares the losses of two neighbours by their slopes, second derivatives and minima.

use privet::privacy::audit::{Minimised, Minimum};

/// What floating-point sums of a few rows may be off, as a part of a claim.
pub(super) const ROUNDING: f64 = 1e-9;

/// A point at which both tables are asked, and what the first one said.
pub(super) struct Probe {
    at: Vec<f64>,
    slope: Vec<f64>,
    /// The logarithm of the determinant of the second derivatives.
    bend: f64,
    /// For which noise the mechanism stopped there, if it did.
    noise: Option<Vec<f64>>,
}

/// Zero, a forged release, and where the mechanism stops for a few noises.
pub(super) fn probes(asked: &Minimum, loss: &dyn Minimised, forged: Option<&[f64]>) -> Vec<Probe> {
    let ask = |at: Vec<f64>, noise| Probe {
        slope: loss.slope(&at),
        bend: log_determinant(loss.curvature(&at)),
        at,
        noise,
    };
    let mut all = vec![ask(vec![0.0; asked.dimension], None)];
    all.extend(forged.map(|at| ask(at.to_vec(), None)));
    for [even, odd] in [[0.0, 0.0], [2.5, -2.5], [0.0, 40.0], [0.0, -40.0]] {
        let pull = |i: usize| asked.ridge * if i.is_multiple_of(2) { even } else { odd };
        let noise: Vec<f64> = (0..asked.dimension).map(pull).collect();
        all.push(ask(loss.point(&noise), Some(noise)));
    }
    all
}

/// How much of what was claimed a second table uses up.
pub(super) struct Used {
    pub(super) slope: f64,
    pub(super) bend: f64,
    /// How far from each other the two minimisers stop.
    found: f64,
}

impl Used {
    pub(super) fn most(&self) -> f64 {
        // How near two minimisers are is a bound that they need not reach.
        let apart = if self.found > 1.0 { f64::INFINITY } else { 0.0 };
        self.slope.max(self.bend).max(apart)
    }
}

impl Probe {
    pub(super) fn used(&self, asked: &Minimum, loss: &dyn Minimised) -> Used {
        let slope = loss.slope(&self.at);
        let apart = less(&self.slope, &slope);
        let moved = asked.ball.norm(&apart) / asked.moves;
        let bent = (self.bend - log_determinant(loss.curvature(&self.at))).abs() / asked.bends;
        let found = self.noise.as_ref().map_or(0.0, |noise| {
            // The noise that has the second table's slope vanish where the first one's did.
            let other: Vec<f64> = noise.iter().zip(&apart).map(|(v, by)| v + by).collect();
            let off = less(&loss.point(&other), &self.at);
            let off = off.iter().map(|x| x * x).sum::<f64>().sqrt();
            let size = self.at.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
            // Each may stop where its slope is that long.
            (off - 1e-13 * size) / (2.0 * asked.slack / asked.ridge)
        });
        Used {
            slope: moved,
            bend: bent,
            found,
        }
    }
}

fn less(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(a, b)| a - b).collect()
}

/// By elimination: the matrix is positive definite.
fn log_determinant(mut matrix: Vec<Vec<f64>>) -> f64 {
    let mut sum = 0.0;
    for i in 0..matrix.len() {
        let pivot = matrix[i].clone();
        sum += pivot[i].ln();
        for line in matrix.iter_mut().skip(i + 1) {
            let factor = line[i] / pivot[i];
            line.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
    sum
}
