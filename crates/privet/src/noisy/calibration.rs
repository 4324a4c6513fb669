//! Log-odds that are right on average: a slope and an intercept, fitted to noisy counts of rows by score and class.

use std::ops::Range;

/// What is known before noisy counts are looked at.
pub(crate) struct Recalibration<'a> {
    /// The score of each bin.
    pub(crate) scores: &'a [f64],
    /// What is added to log-odds besides the intercept.
    pub(crate) offset: f64,
    /// How far an intercept usually is from 0, and a slope from 1: what noisy counts must outweigh.
    pub(crate) usual: [f64; 2],
    /// Slopes lie between these.
    pub(crate) slopes: [f64; 2],
}

/// No intercept is further from zero.
pub(crate) const INTERCEPT: f64 = 5.0;
const STEPS: usize = 25;

type Pair = [f64; 2];
type Square = [Pair; 2];

impl Recalibration<'_> {
    /// The intercept and the slope that make the gradient of the logistic loss over the counts as small as the noise in it lets one say,
    /// drawn towards 0 and 1 where the noise does not decide them. Counts are of the first class, then of the second, bin by bin. It sees noisy counts
    /// and public numbers only.
    pub(crate) fn fit(&self, counts: &[i64], deviation: f64) -> Pair {
        let mut at = [0.0, 1.0];
        for _ in 0..STEPS {
            let (gradient, hessian, noise) = self.moments(counts, deviation, at);
            // Of the weighted squares of the gradient, and of the distance from what is usual.
            let weighted = product(hessian, inverse(noise));
            let mut curvature = product(weighted, hessian);
            let mut pull = apply(weighted, gradient);
            for (i, (usual, start)) in self.usual.into_iter().zip([0.0, 1.0]).enumerate() {
                curvature[i][i] += 1.0 / (usual * usual);
                pull[i] += (at[i] - start) / (usual * usual);
            }
            let step = apply(inverse(curvature), pull);
            let longest = step[0].abs().max(step[1].abs()).max(1.0);
            at[0] = (at[0] - step[0] / longest).clamp(-INTERCEPT, INTERCEPT);
            at[1] = (at[1] - step[1] / longest).clamp(self.slopes[0], self.slopes[1]);
        }
        at
    }

    /// By how many deviations of its noise the log loss over the counts is lower than that of the offset alone. Counts of zero were cut off, and have no noise.
    pub(crate) fn gain(&self, counts: &[i64], deviation: f64, [intercept, slope]: Pair) -> f64 {
        // ln(1 + e^x), without overflow.
        let loss = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
        let (mut gain, mut squares) = (0.0, 0.0);
        for (pair, score) in counts.chunks_exact(2).zip(self.scores) {
            let at = self.offset + intercept + slope * score;
            let lower = [loss(self.offset) - loss(at), loss(-self.offset) - loss(-at)];
            for (lower, &count) in lower.into_iter().zip(pair) {
                gain += lower * count as f64;
                squares += if count == 0 { 0.0 } else { lower * lower };
            }
        }
        gain / (deviation * squares.sqrt()).max(1e-9)
    }

    /// The gradient of the loss by intercept and slope, its derivative, and the variance that noise and chance give it.
    fn moments(&self, counts: &[i64], deviation: f64, [intercept, slope]: Pair) -> (Pair, Square, Square) {
        let least = [[1e-9, 0.0], [0.0, 1e-9]];
        let (mut gradient, mut hessian, mut noise) = ([0.0; 2], least, least);
        for (pair, &score) in counts.chunks_exact(2).zip(self.scores) {
            let p = 1.0 / (1.0 + (-(self.offset + intercept + slope * score)).exp());
            let [negative, positive] = [pair[0], pair[1]].map(|count| count as f64);
            let pull = negative * p - positive * (1.0 - p);
            let weight = (negative + positive).max(0.0) * p * (1.0 - p);
            let variance = deviation * deviation * (p * p + (1.0 - p) * (1.0 - p)) + weight;
            let by = [1.0, score];
            for i in 0..2 {
                gradient[i] += pull * by[i];
                for j in 0..2 {
                    hessian[i][j] += weight * by[i] * by[j];
                    noise[i][j] += variance * by[i] * by[j];
                }
            }
        }
        (gradient, hessian, noise)
    }
}

/// The bins that rows lie in, as far as noise lets it be seen: the stretch whose counts exceed `each` by most in all.
pub(crate) fn body(counts: &[i64], each: f64) -> Range<usize> {
    let (mut best, mut found) = (f64::NEG_INFINITY, 0..counts.len());
    let (mut sum, mut start) = (0.0, 0);
    for (bin, &count) in counts.iter().enumerate() {
        if sum <= 0.0 {
            (sum, start) = (0.0, bin);
        }
        sum += count as f64 - each;
        if sum > best {
            (best, found) = (sum, start..bin + 1);
        }
    }
    found
}

fn product(a: Square, b: Square) -> Square {
    [0, 1].map(|i| [0, 1].map(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j]))
}

fn apply(a: Square, x: Pair) -> Pair {
    a.map(|row| row[0] * x[0] + row[1] * x[1])
}

fn inverse([[a, b], [c, d]]: Square) -> Square {
    let determinant = a * d - b * c;
    [
        [d / determinant, -b / determinant],
        [-c / determinant, a / determinant],
    ]
}
