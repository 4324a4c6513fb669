//! Algorithms 4 to 7 as they are printed. They are void: labels go in the clear and weights show (`attack`), and coins are public.

use privet::learner::dense::{DenseRows, logistic};
use privet::privacy::Coins;

use super::mechanisms::Floating;
use super::rows::{Points, Set, normal, order};

/// Draws for one round at most: where the paper draws again for ever.
const REDRAWS: u32 = 20;

/// A weak learner for two classes.
#[derive(Debug, Clone)]
pub(super) enum Weak {
    /// Class 1 where a sum is above a bound.
    Plane { weights: Vec<f64>, bound: f64 },
    /// A class on each side of a threshold.
    Stump {
        coordinate: usize,
        threshold: f64,
        low: u8,
        high: u8,
    },
}

impl Weak {
    /// The class whose centroid is nearer.
    pub(super) fn nearer(centroids: &[Vec<f64>; 2]) -> Self {
        let square = |of: &[f64]| of.iter().map(|x| x * x).sum::<f64>();
        let [first, second] = centroids;
        Self::Plane {
            weights: second.iter().zip(first).map(|(b, a)| 2.0 * (b - a)).collect(),
            bound: square(second) - square(first),
        }
    }

    pub(super) fn call(&self, x: &[f32]) -> u8 {
        match self {
            Self::Plane { weights, bound } => {
                let sum: f64 = weights.iter().zip(x).map(|(w, x)| w * f64::from(*x)).sum();
                u8::from(sum > *bound)
            }
            Self::Stump {
                coordinate,
                threshold,
                low,
                high,
            } => match f64::from(x[*coordinate]) >= *threshold {
                true => *high,
                false => *low,
            },
        }
    }

    /// The same with the classes exchanged.
    pub(super) fn turned(self) -> Self {
        match self {
            Self::Plane { weights, bound } => Self::Plane {
                weights: weights.into_iter().map(|w| -w).collect(),
                bound: -bound,
            },
            Self::Stump {
                coordinate,
                threshold,
                low,
                high,
            } => Self::Stump {
                coordinate,
                threshold,
                low: 1 - low,
                high: 1 - high,
            },
        }
    }

    /// The share of points that are called wrongly.
    pub(super) fn error(&self, points: &Points) -> f64 {
        let wrong = (0..points.len()).filter(|row| self.call(points.point(*row)) != points.classes[*row]);
        wrong.count() as f64 / points.len().max(1) as f64
    }
}

/// Learners so far, each with its α.
pub(super) type Past = [(f64, Weak)];

/// What the weight of a row is multiplied by: e^α for every learner that errs on it.
pub(super) fn weight(past: &Past, x: &[f32], class: u8) -> f64 {
    let wrong = past.iter().filter(|(_, weak)| weak.call(x) != class);
    wrong.map(|(alpha, _)| alpha).sum::<f64>().exp()
}

/// What happens to a learner that is wrong more often than right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Negative {
    /// Other owners are asked, as printed: who was asked has paid for nothing.
    Redraw,
    /// Its vote is turned.
    Turn,
}

/// How a boosting of ten rounds went.
#[derive(Debug, Clone, Default)]
pub(super) struct Curve {
    /// The error of the vote after each round, on test rows.
    pub(super) errors: Vec<f64>,
    /// α of each round.
    pub(super) alphas: Vec<f64>,
    /// The weighted error of each learner on the data user's rows.
    pub(super) own_errors: Vec<f64>,
    /// Groups of owners that were asked for nothing.
    pub(super) redraws: u32,
    /// Whether owners had to be asked again.
    pub(super) exhausted: bool,
}

impl Curve {
    pub(super) fn first(&self) -> f64 {
        self.errors.first().copied().unwrap_or(0.5)
    }

    pub(super) fn last(&self) -> f64 {
        self.errors.last().copied().unwrap_or(0.5)
    }
}

/// Groups of owners, each with rows of its own.
pub(super) struct Groups {
    order: Vec<usize>,
    next: usize,
    exhausted: bool,
}

impl Groups {
    pub(super) fn new(rows: usize, coins: &mut Coins) -> Self {
        Self {
            order: order(rows, coins),
            next: 0,
            exhausted: false,
        }
    }

    /// The rows of so many owners.
    pub(super) fn next(&mut self, rows: usize) -> Vec<usize> {
        if self.next + rows > self.order.len() {
            // Nobody is left: the paper does not say what happens then.
            (self.next, self.exhausted) = (0, true);
        }
        self.next += rows;
        self.order[self.next - rows..self.next].to_vec()
    }
}

/// A boosting: how many rounds, owners in each, and rows of each owner.
#[derive(Debug, Clone, Copy)]
pub(super) struct Boosting {
    pub(super) rounds: usize,
    pub(super) owners: usize,
    pub(super) each: usize,
    pub(super) negative: Negative,
}

impl Boosting {
    /// Algorithm 4. `fit` makes a learner from the rows of a group of owners and the learners so far.
    pub(super) fn run(
        &self,
        set: &Set,
        own: &Points,
        coins: &mut Coins,
        mut fit: impl FnMut(&[usize], &Past, &mut Coins) -> Weak,
    ) -> Curve {
        let mut groups = Groups::new(set.owners.len(), coins);
        let mut past: Vec<(f64, Weak)> = Vec::new();
        let mut curve = Curve::default();
        let mut weights = vec![1.0 / own.len() as f64; own.len()];
        let mut votes = vec![0.0; set.test.len()];
        while past.len() < self.rounds {
            let mut kept = None;
            for _ in 0..REDRAWS {
                // Line 6: another group of H owners.
                let group = groups.next(self.owners * self.each);
                let weak = fit(&group, &past, coins);
                let missed: Vec<bool> = (0..own.len())
                    .map(|row| weak.call(own.point(row)) != own.classes[row])
                    .collect();
                let total: f64 = weights.iter().sum();
                let wrong: f64 = weights
                    .iter()
                    .zip(&missed)
                    .filter(|(_, m)| **m)
                    .map(|(w, _)| w)
                    .sum();
                let clip = match self.negative {
                    Negative::Redraw => 1e-6,
                    Negative::Turn => 0.02,
                };
                let error = (wrong / total).clamp(clip, 1.0 - clip);
                // Lines 15 to 17.
                if error < 0.5 {
                    kept = Some((error, weak, missed));
                    break;
                }
                if self.negative == Negative::Turn {
                    let missed = missed.into_iter().map(|missed| !missed).collect();
                    kept = Some((1.0 - error, weak.turned(), missed));
                    break;
                }
                curve.redraws += 1;
            }
            let Some((error, weak, missed)) = kept else {
                break;
            };
            let alpha = ((1.0 - error) / error).ln();
            // The data user's weights, which line 11 uses and nothing updates.
            for (weight, _) in weights.iter_mut().zip(&missed).filter(|(_, missed)| **missed) {
                *weight *= alpha.exp();
            }
            let total: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= total);
            let mut wrong = 0;
            for (row, vote) in votes.iter_mut().enumerate() {
                *vote += alpha * (2.0 * f64::from(weak.call(set.test.point(row))) - 1.0);
                wrong += usize::from(u8::from(*vote > 0.0) != set.test.classes[row]);
            }
            curve.errors.push(wrong as f64 / set.test.len() as f64);
            curve.alphas.push(alpha);
            curve.own_errors.push(error);
            past.push((alpha, weak));
        }
        while curve.errors.len() < self.rounds {
            curve.errors.push(curve.last());
        }
        curve.exhausted = groups.exhausted;
        curve
    }
}

/// How weighted samples become a centroid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weighting {
    /// Line 11 as printed: the weighted sum over the number of samples.
    Literal,
    /// The weighted mean.
    Mean,
}

/// Algorithm 5, lines 8 to 12: each sample with its share of ε, weights and labels in the clear.
pub(super) fn centroids(
    points: &Points,
    (group, each): (&[usize], usize),
    past: &Past,
    (mechanism, epsilon): (&dyn Floating, f64),
    weighting: Weighting,
    coins: &mut Coins,
) -> Weak {
    let mut sums = [vec![0.0; points.width], vec![0.0; points.width]];
    let mut masses = [0.0; 2];
    let mut x = vec![0.0; points.width];
    for &row in group {
        let (point, class) = (points.point(row), points.classes[row]);
        let weight = weight(past, point, class) / each as f64;
        x.iter_mut().zip(point).for_each(|(x, p)| *x = f64::from(*p));
        let class = usize::from(class);
        mechanism.add(&x, epsilon / each as f64, weight, &mut sums[class], coins);
        masses[class] += match weighting {
            Weighting::Literal => 1.0,
            Weighting::Mean => weight,
        };
    }
    for (sum, mass) in sums.iter_mut().zip(masses) {
        sum.iter_mut().for_each(|x| *x /= f64::max(mass, 1e-12));
    }
    Weak::nearer(&sums)
}

/// The weights of an owner's rows, which add up to one: what Algorithms 4 to 7 leave out.
pub(super) fn shares(points: &Points, rows: &[usize], past: &Past) -> Vec<f64> {
    let weights = rows
        .iter()
        .map(|&row| weight(past, points.point(row), points.classes[row]));
    let weights: Vec<f64> = weights.collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

/// Algorithm 6, lines 8 and 9: the differences of an owner's cross tables, below the thresholds and then above.
pub(super) fn differences(points: &Points, rows: &[usize], weights: &[f64], thresholds: &[f64]) -> Vec<f64> {
    let width = points.width;
    let mut table = vec![0.0; 2 * width];
    for (&row, weight) in rows.iter().zip(weights) {
        let signed = if points.classes[row] == 0 {
            *weight
        } else {
            -weight
        };
        for (place, (x, threshold)) in points.point(row).iter().zip(thresholds).enumerate() {
            let above = f64::from(*x) >= *threshold;
            table[place + if above { width } else { 0 }] += signed;
        }
    }
    table
}

/// φ of each coordinate (equation 8).
pub(super) fn purities(table: &[f64]) -> Vec<f64> {
    let (low, high) = table.split_at(table.len() / 2);
    low.iter().zip(high).map(|(a, b)| a.abs() + b.abs()).collect()
}

/// Lines 13 and 14: the stump with the largest φ, with the polarity that equation 1 lacks.
pub(super) fn purest(table: &[f64], thresholds: &[f64]) -> Weak {
    let purities = purities(table);
    let best = (0..purities.len()).max_by(|a, b| purities[*a].total_cmp(&purities[*b]));
    let coordinate = best.unwrap_or(0);
    let class = |difference: f64| u8::from(difference <= 0.0);
    Weak::Stump {
        coordinate,
        threshold: thresholds[coordinate],
        low: class(table[coordinate]),
        high: class(table[coordinate + thresholds.len()]),
    }
}

/// Algorithm 6, with weights that add up to one.
pub(super) fn stump(
    points: &Points,
    (group, each): (&[usize], usize),
    past: &Past,
    (mechanism, epsilon): (&dyn Floating, f64),
    thresholds: &[f64],
    coins: &mut Coins,
) -> Weak {
    let mut sums = vec![0.0; 2 * points.width];
    for rows in group.chunks_exact(each) {
        let table = differences(points, rows, &shares(points, rows, past), thresholds);
        mechanism.add(&table, epsilon, 1.0, &mut sums, coins);
    }
    purest(&sums, thresholds)
}

/// Algorithm 7, line 8: an owner's logistic regression without an intercept, with a ridge.
pub(super) fn local_logistic(points: &Points, rows: &[usize], weights: &[f64], ridge: f64) -> Vec<f64> {
    let values: Vec<f64> = rows
        .iter()
        .flat_map(|&row| points.point(row).iter().map(|x| f64::from(*x)))
        .collect();
    let targets: Vec<f64> = rows.iter().map(|&row| f64::from(points.classes[row])).collect();
    let dense = DenseRows {
        dimension: points.width,
        values: &values,
        weights,
    };
    logistic(
        &dense,
        &targets,
        &vec![ridge; points.width],
        &vec![0.0; points.width],
    )
}

/// Algorithm 7, with weights that add up to one and parameters clipped to [−1, 1].
pub(super) fn averaged_logistic(
    points: &Points,
    (group, each): (&[usize], usize),
    past: &Past,
    (mechanism, epsilon): (&dyn Floating, f64),
    ridge: f64,
    coins: &mut Coins,
) -> Weak {
    let mut sums = vec![0.0; points.width];
    for rows in group.chunks_exact(each) {
        let mut theta = local_logistic(points, rows, &shares(points, rows, past), ridge);
        theta.iter_mut().for_each(|theta| *theta = theta.clamp(-1.0, 1.0));
        mechanism.add(&theta, epsilon, 1.0, &mut sums, coins);
    }
    Weak::Plane {
        weights: sums,
        bound: 0.0,
    }
}

/// For every coordinate the one of nine quantiles of the data user's rows that splits its classes best.
pub(super) fn best_thresholds(own: &Points) -> Vec<f64> {
    let threshold = |coordinate: usize| {
        let sorted = own.sorted(coordinate);
        let purity = |threshold: f64| {
            let mut sides = [0.0f64; 2];
            for row in 0..own.len() {
                let side = usize::from(f64::from(own.point(row)[coordinate]) >= threshold);
                sides[side] += if own.classes[row] == 0 { 1.0 } else { -1.0 };
            }
            sides[0].abs() + sides[1].abs()
        };
        let candidates = (1..10).map(|tenth| Points::quantile(&sorted, f64::from(tenth) / 10.0));
        let mut best = (f64::NEG_INFINITY, 0.0);
        for candidate in candidates {
            let found = purity(candidate);
            if found > best.0 {
                best = (found, candidate);
            }
        }
        best.1
    };
    (0..own.width).map(threshold).collect()
}

/// Learners from messages without content: whatever comes of them is the data user's own.
pub(super) fn noise_centroids(own: &Points, scale: f64, coins: &mut Coins) -> Weak {
    let mean = own.mean(None);
    let mut drawn = || -> Vec<f64> { mean.iter().map(|m| m + scale * normal(coins)).collect() };
    let first = drawn();
    Weak::nearer(&[first, drawn()])
}

/// A random stump at the data user's thresholds.
pub(super) fn noise_stump(thresholds: &[f64], coins: &mut Coins) -> Weak {
    let coordinate = coins.below(thresholds.len() as u64) as usize;
    let low = coins.below(2) as u8;
    Weak::Stump {
        coordinate,
        threshold: thresholds[coordinate],
        low,
        high: 1 - low,
    }
}
