//! Weighted logistic regression and weighted least squares, both with a ridge.

use super::design::Design;
use super::solver::{Curved, Objective, lbfgs, newton};
use super::{Classes, Linear, Progress, Sample};

/// Up to this many columns second derivatives are written out, and Newton's method is used.
const SMALL: usize = 512;
/// The gradient at the minimum, relative to the total weight and the size of labels.
const TOLERANCE: f64 = 1e-10;

/// Minimises the weighted sum of the rows' losses plus `l2 / 2` times the squares of all weights but the intercept.
///
/// It stops when no part of the gradient is above 10⁻¹⁰ of the total weight (times the largest label, for numbers), or after
/// `iterations` steps. Newton's method with Cholesky's factors and a line search up to 512 columns and one output, else L-BFGS.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Logistic {
    /// The ridge; above zero.
    pub l2: f64,
    /// Steps at most.
    pub iterations: u32,
}

impl Logistic {
    /// Logistic regression. Two classes give one sum, the log-odds of the second; more give one each, by softmax.
    pub fn classes(&self, sample: &Sample<'_>, classes: Classes<'_>, progress: Progress<'_>) -> Vec<Linear> {
        let design = Design::new(sample);
        if classes.count <= 2 {
            let targets: Vec<f64> = classes.of.iter().map(|&class| f64::from(class.min(1))).collect();
            return vec![self.single(&design, &targets, Loss::Logistic, progress)];
        }
        let objective = Softmax {
            design: &design,
            classes,
            l2: self.l2,
            total: design.weights.iter().sum(),
        };
        lbfgs(&objective, self.iterations, progress)
            .chunks(design.width)
            .map(|by| design.linear(by))
            .collect()
    }

    /// Least squares.
    pub fn numbers(&self, sample: &Sample<'_>, numbers: &[f32], progress: Progress<'_>) -> Linear {
        let targets: Vec<f64> = numbers.iter().map(|&number| f64::from(number)).collect();
        self.single(&Design::new(sample), &targets, Loss::Squares, progress)
    }

    fn single(&self, design: &Design<'_>, targets: &[f64], loss: Loss, progress: Progress<'_>) -> Linear {
        let largest = targets.iter().fold(1.0, |most: f64, y| most.max(y.abs()));
        let objective = Single {
            design,
            targets,
            loss,
            l2: self.l2,
            scale: largest * design.weights.iter().sum::<f64>(),
        };
        let by = if design.width <= SMALL {
            newton(&objective, self.iterations, progress)
        } else {
            lbfgs(&objective, self.iterations, progress)
        };
        design.linear(&by)
    }
}

/// The loss of a row with one score.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Loss {
    Logistic,
    Squares,
}

impl Loss {
    /// The loss at a score and its first derivative.
    #[inline]
    pub(crate) fn at(self, score: f64, target: f64) -> (f64, f64) {
        match self {
            Self::Logistic => {
                let e = (-score.abs()).exp();
                let probability = if score >= 0.0 { 1.0 } else { e } / (1.0 + e);
                (score.max(0.0) + e.ln_1p() - target * score, probability - target)
            }
            Self::Squares => {
                let off = score - target;
                (off * off / 2.0, off)
            }
        }
    }

    /// The second derivative.
    #[inline]
    pub(crate) fn bend(self, score: f64) -> f64 {
        match self {
            Self::Logistic => {
                let e = (-score.abs()).exp();
                e / ((1.0 + e) * (1.0 + e))
            }
            Self::Squares => 1.0,
        }
    }
}

fn add(parts: Vec<Vec<f64>>, into: &mut [f64]) {
    for part in parts {
        into.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
    }
}

struct Single<'a> {
    design: &'a Design<'a>,
    targets: &'a [f64],
    loss: Loss,
    l2: f64,
    scale: f64,
}

impl Objective for Single<'_> {
    fn len(&self) -> usize {
        self.design.width
    }

    fn value(&self, at: &[f64], gradient: &mut [f64]) -> f64 {
        let parts = self.design.over_blocks(|rows| {
            let mut factors = self.design.margins(at, rows.clone());
            let mut value = 0.0;
            for (factor, row) in factors.iter_mut().zip(rows.clone()) {
                let weight = self.design.weights[row];
                let (loss, slope) = self.loss.at(*factor, self.targets[row]);
                value += weight * loss;
                *factor = weight * slope;
            }
            let mut gradient = vec![0.0; at.len()];
            self.design.gather(&factors, rows, &mut gradient);
            (value, gradient)
        });
        let (values, gradients): (Vec<f64>, Vec<Vec<f64>>) = parts.into_iter().unzip();
        gradient.fill(0.0);
        add(gradients, gradient);
        values.iter().sum::<f64>() + ridge(self.l2, at, gradient)
    }

    fn bend(&self) -> Vec<f64> {
        let most = self.loss.bend(0.0);
        bend(self.design, most, self.l2)
    }

    fn tolerance(&self) -> f64 {
        TOLERANCE * self.scale.max(1.0)
    }
}

impl Curved for Single<'_> {
    fn curvature(&self, at: &[f64]) -> Vec<f64> {
        let parts = self.design.over_blocks(|rows| {
            let mut factors = self.design.margins(at, rows.clone());
            for (factor, row) in factors.iter_mut().zip(rows.clone()) {
                *factor = self.design.weights[row] * self.loss.bend(*factor);
            }
            let mut products = vec![0.0; at.len() * at.len()];
            self.design.gather_products(&factors, rows, &mut products);
            products
        });
        let mut curvature = vec![0.0; at.len() * at.len()];
        add(parts, &mut curvature);
        for i in 1..at.len() {
            curvature[i * at.len() + i] += self.l2;
        }
        curvature
    }
}

/// The ridge's value; its gradient is added.
fn ridge(l2: f64, at: &[f64], gradient: &mut [f64]) -> f64 {
    let mut squares = 0.0;
    for (x, g) in at.iter().zip(gradient).skip(1) {
        squares += x * x;
        *g += l2 * x;
    }
    l2 / 2.0 * squares
}

fn bend(design: &Design<'_>, most: f64, l2: f64) -> Vec<f64> {
    let mut bends = vec![0.0; design.width];
    let parts = design.over_blocks(|rows| {
        let mut part = vec![0.0; design.width];
        design.gather_squares(&design.weights[rows.clone()], rows, &mut part);
        part
    });
    add(parts, &mut bends);
    bends.iter_mut().for_each(|x| *x *= most);
    bends[1..].iter_mut().for_each(|x| *x += l2);
    bends
}

struct Softmax<'a> {
    design: &'a Design<'a>,
    classes: Classes<'a>,
    l2: f64,
    total: f64,
}

impl Objective for Softmax<'_> {
    fn len(&self) -> usize {
        self.design.width * self.classes.count
    }

    fn value(&self, at: &[f64], gradient: &mut [f64]) -> f64 {
        let width = self.design.width;
        let parts = self.design.over_blocks(|rows| {
            let mut scores: Vec<Vec<f64>> = at
                .chunks(width)
                .map(|by| self.design.margins(by, rows.clone()))
                .collect();
            let mut value = 0.0;
            for (place, row) in rows.clone().enumerate() {
                let weight = self.design.weights[row];
                let own = usize::from(self.classes.of[row]);
                let most = scores.iter().fold(f64::MIN, |most, of| most.max(of[place]));
                let total: f64 = scores.iter().map(|of| (of[place] - most).exp()).sum();
                value += weight * (total.ln() + most - scores[own][place]);
                for (class, of) in scores.iter_mut().enumerate() {
                    let hit = f64::from(u8::from(class == own));
                    of[place] = weight * ((of[place] - most).exp() / total - hit);
                }
            }
            let mut gradient = vec![0.0; at.len()];
            for (factors, into) in scores.iter().zip(gradient.chunks_mut(width)) {
                self.design.gather(factors, rows.clone(), into);
            }
            (value, gradient)
        });
        let (values, gradients): (Vec<f64>, Vec<Vec<f64>>) = parts.into_iter().unzip();
        gradient.fill(0.0);
        add(gradients, gradient);
        let mut value = values.iter().sum();
        for (by, into) in at.chunks(width).zip(gradient.chunks_mut(width)) {
            value += ridge(self.l2, by, into);
        }
        value
    }

    fn bend(&self) -> Vec<f64> {
        let share = 1.0 / self.classes.count as f64;
        bend(self.design, share * (1.0 - share), self.l2).repeat(self.classes.count)
    }

    fn tolerance(&self) -> f64 {
        TOLERANCE * self.total.max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::SILENT;
    use super::*;
    use crate::data::{Bins, Feature};
    use crate::learner::Shape;

    /// A number and a category, with weights that are not alike.
    fn with_design<T>(rows: usize, run: impl Fn(&Design<'_>, &[f64]) -> T) -> T {
        let number = Shape {
            slots: 5,
            ordered: 4,
            missing: 4,
            number: true,
        };
        let category = Shape {
            slots: 4,
            ordered: 0,
            missing: 3,
            number: false,
        };
        let features = [
            Feature {
                bins: Bins::Narrow((0..rows).map(|row| (row * 7 % 5) as u8).collect()),
                scaled: Some((0..rows).map(|row| (row * 7 % 5) as f32 / 2.0 - 1.0).collect()),
            },
            Feature {
                bins: Bins::Wide((0..rows).map(|row| (row * 3 % 4) as u16).collect()),
                scaled: None,
            },
        ];
        let weights: Vec<f64> = (0..rows).map(|row| 0.5 + (row % 3) as f64).collect();
        let targets: Vec<f64> = (0..rows)
            .map(|row| f64::from(u8::from(row * row % 7 < 3)))
            .collect();
        let sample = Sample {
            shapes: &[number, category],
            features: &features,
            weights: &weights,
        };
        run(&Design::new(&sample), &targets)
    }

    fn single<'a>(design: &'a Design<'a>, targets: &'a [f64], loss: Loss) -> Single<'a> {
        Single {
            design,
            targets,
            loss,
            l2: 0.3,
            scale: 1.0,
        }
    }

    /// Six rows with one feature that says nothing: the intercept alone is the log-odds, ln(4 / 2).
    #[test]
    fn without_features_the_optimum_is_the_log_odds() {
        let shape = Shape {
            slots: 4,
            ordered: 0,
            missing: 3,
            number: false,
        };
        let features = [Feature {
            bins: Bins::Narrow(vec![0; 6]),
            scaled: None,
        }];
        let sample = Sample {
            shapes: &[shape],
            features: &features,
            weights: &[1.0; 6],
        };
        let of = [1, 1, 0, 1, 0, 1];
        let learner = Logistic {
            l2: 1.0,
            iterations: 50,
        };
        let fitted = learner.classes(&sample, Classes { of: &of, count: 2 }, SILENT);
        assert_eq!(fitted.len(), 1);
        assert!((fitted[0].intercept - 2f64.ln()).abs() < 1e-9, "{fitted:?}");
        let numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 9.0];
        let fitted = learner.numbers(&sample, &numbers, SILENT);
        assert!((fitted.intercept - 4.0).abs() < 1e-9, "{fitted:?}");
    }

    #[test]
    fn the_gradient_vanishes_at_the_solution() {
        for loss in [Loss::Logistic, Loss::Squares] {
            with_design(200, |design, targets| {
                let objective = single(design, targets, loss);
                let by_newton = newton(&objective, 100, SILENT);
                let by_lbfgs = lbfgs(&objective, 1000, SILENT);
                for by in [&by_newton, &by_lbfgs] {
                    let mut gradient = vec![0.0; by.len()];
                    objective.value(by, &mut gradient);
                    let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
                    assert!(norm < 1e-8, "{loss:?}: {norm}");
                }
                for (a, b) in by_newton.iter().zip(&by_lbfgs) {
                    assert!((a - b).abs() < 1e-7, "{loss:?}: {a} {b}");
                }
            });
        }
    }

    /// First and second derivatives against differences.
    #[test]
    fn derivatives_are_right() {
        for loss in [Loss::Logistic, Loss::Squares] {
            with_design(50, |design, targets| {
                let objective = single(design, targets, loss);
                let at: Vec<f64> = (0..design.width).map(|i| (i as f64 * 1.7).sin()).collect();
                let n = at.len();
                let mut gradient = vec![0.0; n];
                objective.value(&at, &mut gradient);
                let curvature = objective.curvature(&at);
                let step = 1e-5;
                for i in 0..n {
                    let moved = |by: f64| {
                        let mut there = at.clone();
                        there[i] += by;
                        let mut gradient = vec![0.0; n];
                        (objective.value(&there, &mut gradient), gradient)
                    };
                    let (up, down) = (moved(step), moved(-step));
                    let slope = (up.0 - down.0) / (2.0 * step);
                    assert!((slope - gradient[i]).abs() < 1e-6, "{loss:?} {i}");
                    for j in i..n {
                        let bend = (up.1[j] - down.1[j]) / (2.0 * step);
                        assert!((bend - curvature[j * n + i]).abs() < 1e-6, "{loss:?} {i} {j}");
                    }
                }
            });
        }
    }
}
