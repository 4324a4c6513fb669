//! Minimisers of convex losses: Newton's method where the matrix of second derivatives is small, else L-BFGS.

use super::Progress;

/// A convex function of many variables.
pub(crate) trait Objective {
    /// How many variables there are.
    fn len(&self) -> usize;
    /// The value, and the gradient into `gradient`.
    fn value(&self, at: &[f64], gradient: &mut [f64]) -> f64;
    /// About how strongly it bends along each variable: the unit in which L-BFGS measures.
    fn bend(&self) -> Vec<f64>;
    /// When every part of the gradient is at most this, the minimum is found.
    fn tolerance(&self) -> f64;
}

/// An objective whose second derivatives fit into memory.
pub(crate) trait Curved: Objective {
    /// The lower half of the matrix of second derivatives.
    fn curvature(&self, at: &[f64]) -> Vec<f64>;
}

fn largest(gradient: &[f64]) -> f64 {
    gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The current point of the search.
struct SearchPoint {
    at: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

impl SearchPoint {
    fn new(objective: &impl Objective) -> Self {
        let at = vec![0.0; objective.len()];
        let mut gradient = vec![0.0; at.len()];
        let value = objective.value(&at, &mut gradient);
        Self { at, value, gradient }
    }

    /// Goes along `step`, half as far again and again until the value has fallen enough; `None` if it never does.
    fn follow(&self, objective: &impl Objective, step: &[f64]) -> Option<Self> {
        let slope = dot(&self.gradient, step);
        // Near the minimum the fall drowns in rounding.
        let noise = 1e-14 * self.value.abs();
        let mut length = 1.0;
        for _ in 0..40 {
            let at: Vec<f64> = self.at.iter().zip(step).map(|(x, s)| x + length * s).collect();
            let mut gradient = vec![0.0; at.len()];
            let value = objective.value(&at, &mut gradient);
            if value <= self.value + 1e-4 * length * slope + noise {
                return Some(Self { at, value, gradient });
            }
            length /= 2.0;
        }
        None
    }
}

/// Newton's method with a line search.
pub(crate) fn newton(objective: &impl Curved, iterations: u32, progress: Progress<'_>) -> Vec<f64> {
    let mut state = SearchPoint::new(objective);
    for done in 0..iterations {
        if progress(u64::from(done), u64::from(iterations)).is_break() {
            break;
        }
        if largest(&state.gradient) <= objective.tolerance() {
            break;
        }
        let mut step: Vec<f64> = state.gradient.iter().map(|g| -g).collect();
        solve(objective.curvature(&state.at), &mut step);
        match state.follow(objective, &step) {
            Some(next) => state = next,
            None => break,
        }
    }
    let _ = progress(u64::from(iterations), u64::from(iterations));
    state.at
}

/// Solves `matrix x = right` in place by Cholesky's factors. A matrix that is nearly singular gets the least ridge needed.
pub(crate) fn solve(matrix: Vec<f64>, right: &mut [f64]) {
    let n = right.len();
    let trace: f64 = (0..n).map(|i| matrix[i * n + i]).sum();
    let mut ridge = 0.0;
    loop {
        let mut factor = matrix.clone();
        for i in 0..n {
            factor[i * n + i] += ridge;
        }
        if factorise(&mut factor, n) {
            for i in 0..n {
                let line = &factor[i * n..=i * n + i];
                right[i] = (right[i] - dot(&line[..i], &right[..i])) / line[i];
            }
            for i in (0..n).rev() {
                right[i] /= factor[i * n + i];
                let x = right[i];
                for j in 0..i {
                    right[j] -= factor[i * n + j] * x;
                }
            }
            return;
        }
        ridge = if ridge == 0.0 {
            1e-14 * trace.max(1e-100)
        } else {
            ridge * 100.0
        };
        if !ridge.is_finite() {
            return;
        }
    }
}

fn factorise(matrix: &mut [f64], n: usize) -> bool {
    for i in 0..n {
        let (above, from) = matrix.split_at_mut(i * n);
        let line = &mut from[..=i];
        for j in 0..i {
            let other = &above[j * n..=j * n + j];
            line[j] = (line[j] - dot(&line[..j], &other[..j])) / other[j];
        }
        let square = line[i] - dot(&line[..i], &line[..i]);
        if square.is_nan() || square <= f64::EPSILON * line[i] {
            return false;
        }
        line[i] = square.sqrt();
    }
    true
}

/// Pairs of steps and changes of the gradient that L-BFGS remembers.
const MEMORY: usize = 20;

/// Limited-memory BFGS with a line search (Liu and Nocedal 1989), each variable in the unit of its bend.
pub(crate) fn lbfgs(objective: &impl Objective, iterations: u32, progress: Progress<'_>) -> Vec<f64> {
    let unit: Vec<f64> = objective
        .bend()
        .iter()
        .map(|bend| 1.0 / bend.max(1e-12))
        .collect();
    let mut state = SearchPoint::new(objective);
    let mut pairs: std::collections::VecDeque<(Vec<f64>, Vec<f64>, f64)> = std::collections::VecDeque::new();
    for done in 0..iterations {
        if progress(u64::from(done), u64::from(iterations)).is_break() {
            break;
        }
        if largest(&state.gradient) <= objective.tolerance() {
            break;
        }
        let mut step: Vec<f64> = state.gradient.iter().map(|g| -g).collect();
        let mut shares = Vec::with_capacity(pairs.len());
        for (moved, change, product) in pairs.iter().rev() {
            let share = dot(moved, &step) / product;
            step.iter_mut().zip(change).for_each(|(s, c)| *s -= share * c);
            shares.push(share);
        }
        let scale = pairs.back().map_or(1.0, |(_, change, product)| {
            let length: f64 = change.iter().zip(&unit).map(|(c, u)| c * c * u).sum();
            product / length
        });
        step.iter_mut().zip(&unit).for_each(|(s, u)| *s *= scale * u);
        for ((moved, change, product), share) in pairs.iter().zip(shares.iter().rev()) {
            let back = share - dot(change, &step) / product;
            step.iter_mut().zip(moved).for_each(|(s, m)| *s += back * m);
        }
        let Some(next) = state.follow(objective, &step) else {
            // What is remembered may mislead; then the plain gradient has one try.
            if pairs.is_empty() {
                break;
            }
            pairs.clear();
            continue;
        };
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>();
        let moved = difference(&next.at, &state.at);
        let change = difference(&next.gradient, &state.gradient);
        let product = dot(&moved, &change);
        if product > 1e-300 {
            if pairs.len() == MEMORY {
                pairs.pop_front();
            }
            pairs.push_back((moved, change, product));
        }
        state = next;
    }
    let _ = progress(u64::from(iterations), u64::from(iterations));
    state.at
}
