//! Mechanisms in floating point, as papers print them. They are void: their low digits tell, and coins are public. Only figures use them.

use privet::privacy::Coins;

use crate::as_published::laplace;

/// What the perturbed vectors of many owners are added to.
pub(super) trait Floating: Sync {
    /// Adds `weight` times a perturbed vector in the box [−1, 1]ᵈ.
    fn add(&self, x: &[f64], epsilon: f64, weight: f64, into: &mut [f64], coins: &mut Coins);
}

/// Laplace noise on every coordinate, each with its share of ε.
pub(super) struct LaplaceSplit;

/// Duchi et al. in many dimensions, ties as published.
pub(super) struct Duchi;

/// Algorithm 3: Piecewise for k = ⌊ε/2.5⌋ coordinates.
pub(super) struct Piecewise;

/// Piecewise or Duchi et al. by a coin, for as many coordinates as vary least at zero.
pub(super) struct Hybrid;

/// Nothing is added.
pub(super) struct Exact;

impl Floating for Exact {
    fn add(&self, x: &[f64], _: f64, weight: f64, into: &mut [f64], _: &mut Coins) {
        into.iter_mut().zip(x).for_each(|(sum, x)| *sum += weight * x);
    }
}

impl Floating for LaplaceSplit {
    fn add(&self, x: &[f64], epsilon: f64, weight: f64, into: &mut [f64], coins: &mut Coins) {
        let scale = 2.0 * x.len() as f64 / epsilon;
        for (sum, x) in into.iter_mut().zip(x) {
            *sum += weight * (x + laplace(scale, coins));
        }
    }
}

/// Duchi et al.'s B: what signs are multiplied by.
pub(super) fn duchi_bound(dimension: usize, epsilon: f64) -> f64 {
    // The share of vectors in which a coordinate's sign agrees more often than not: C(d−1, ⌊(d−1)/2⌋)/2^(d−1).
    let central = |n: usize| (0..n / 2).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64);
    let share = |n: usize, k: f64| k / 2f64.powi(n as i32);
    let constant = if dimension % 2 == 1 {
        1.0 / share(dimension - 1, central(dimension - 1))
    } else {
        // (2^(d−1) + C(d, d/2)/2)/C(d−1, d/2), all over 2^(d−1).
        let ties = share(dimension, central(dimension));
        (1.0 + ties) / (share(dimension - 1, central(dimension) / 2.0))
    };
    constant * (epsilon.exp() + 1.0) / (epsilon.exp() - 1.0)
}

impl Floating for Duchi {
    fn add(&self, x: &[f64], epsilon: f64, weight: f64, into: &mut [f64], coins: &mut Coins) {
        let dimension = x.len();
        let signs: Vec<bool> = x.iter().map(|x| coins.unit() < f64::midpoint(1.0, *x)).collect();
        let up = coins.unit() < epsilon.exp() / (epsilon.exp() + 1.0);
        let bound = weight * duchi_bound(dimension, epsilon);
        let mut drawn = vec![false; dimension];
        loop {
            let (mut word, mut left) = (0, 0);
            let mut agree = 0;
            for (drawn, sign) in drawn.iter_mut().zip(&signs) {
                if left == 0 {
                    (word, left) = (coins.below(1 << 62), 62);
                }
                *drawn = word & 1 == 1;
                word >>= 1;
                left -= 1;
                agree += usize::from(*drawn == *sign);
            }
            // Ties belong to both sides: as published, and beyond ε.
            if if up {
                2 * agree >= dimension
            } else {
                2 * agree <= dimension
            } {
                break;
            }
        }
        for (sum, drawn) in into.iter_mut().zip(drawn) {
            *sum += if drawn { bound } else { -bound };
        }
    }
}

/// Algorithm 2, in one dimension.
pub(super) fn piecewise(x: f64, epsilon: f64, coins: &mut Coins) -> f64 {
    let growth = (epsilon / 2.0).exp();
    let reach = (growth + 1.0) / (growth - 1.0);
    let left = (reach + 1.0) / 2.0 * x - (reach - 1.0) / 2.0;
    let right = left + reach - 1.0;
    let inside = coins.unit() < growth / (growth + 1.0);
    let place = coins.unit();
    if inside {
        return left + place * (reach - 1.0);
    }
    let (below, place) = (left + reach, place * (reach + 1.0));
    if place < below {
        place - reach
    } else {
        right + (place - below)
    }
}

/// Its variance.
pub(super) fn piecewise_variance(x: f64, epsilon: f64) -> f64 {
    let growth = (epsilon / 2.0).exp();
    x * x / (growth - 1.0) + (growth + 3.0) / (3.0 * (growth - 1.0).powi(2))
}

/// Where the mixture of Piecewise and Duchi et al. begins to pay.
fn hybrid_from() -> f64 {
    let root = |sign: f64| (6353.0 + sign * 405.0 * 241f64.sqrt()).cbrt();
    ((-5.0 + 2.0 * root(-1.0) + 2.0 * root(1.0)) / 27.0).ln()
}

fn duchi_one(x: f64, epsilon: f64, coins: &mut Coins) -> f64 {
    let bound = (epsilon.exp() + 1.0) / (epsilon.exp() - 1.0);
    if coins.unit() < 0.5 + x / (2.0 * bound) {
        bound
    } else {
        -bound
    }
}

/// The Hybrid mechanism in one dimension.
pub(super) fn hybrid(x: f64, epsilon: f64, coins: &mut Coins) -> f64 {
    let is_piecewise = epsilon > hybrid_from() && coins.unit() < 1.0 - (-epsilon / 2.0).exp();
    match is_piecewise {
        true => piecewise(x, epsilon, coins),
        false => duchi_one(x, epsilon, coins),
    }
}

/// Its variance.
pub(super) fn hybrid_variance(x: f64, epsilon: f64) -> f64 {
    let bound = (epsilon.exp() + 1.0) / (epsilon.exp() - 1.0);
    let duchi = bound * bound - x * x;
    if epsilon <= hybrid_from() {
        return duchi;
    }
    let share = 1.0 - (-epsilon / 2.0).exp();
    share * piecewise_variance(x, epsilon) + (1.0 - share) * duchi
}

/// A mechanism for one coordinate: x, ε, and coins.
type OneCoordinate = fn(f64, f64, &mut Coins) -> f64;

/// Adds `weight` times d/k of `k` coordinates, each drawn with ε/k.
fn sampled(
    x: &[f64],
    (sampled, epsilon): (usize, f64),
    weight: f64,
    into: &mut [f64],
    (one, coins): (OneCoordinate, &mut Coins),
) {
    let scale = weight * x.len() as f64 / sampled as f64;
    let mut chosen: Vec<usize> = Vec::with_capacity(sampled);
    // Floyd's way to a uniform subset.
    for last in x.len() - sampled..x.len() {
        let place = coins.below(last as u64 + 1) as usize;
        let place = if chosen.contains(&place) { last } else { place };
        chosen.push(place);
        into[place] += scale * one(x[place], epsilon / sampled as f64, coins);
    }
}

impl Floating for Piecewise {
    fn add(&self, x: &[f64], epsilon: f64, weight: f64, into: &mut [f64], coins: &mut Coins) {
        let count = ((epsilon / 2.5) as usize).clamp(1, x.len());
        sampled(x, (count, epsilon), weight, into, (piecewise, coins));
    }
}

impl Floating for Hybrid {
    fn add(&self, x: &[f64], epsilon: f64, weight: f64, into: &mut [f64], coins: &mut Coins) {
        let varies = |k: usize| hybrid_variance(0.0, epsilon / k as f64) / k as f64;
        let count = (1..=x.len().min(40)).min_by(|a, b| varies(*a).total_cmp(&varies(*b)));
        sampled(x, (count.unwrap_or(1), epsilon), weight, into, (hybrid, coins));
    }
}

/// PrivUnit on the ball of a radius, in floating point (Bhowmick et al. 2018): the baseline of codebooks.
pub(super) struct PrivUnit {
    /// Where the cap begins, and how probable it is with and without noise.
    cap: f64,
    likely: f64,
    /// The mean length along the true direction.
    along: f64,
    /// P(t ≤ grid point) for t the product of a fixed and a uniform unit vector.
    below: Vec<f64>,
}

/// Points of the grid on which the law of an angle is tabulated.
const GRID: usize = 1 << 14;

impl PrivUnit {
    pub(super) fn new(dimension: usize, epsilon: f64) -> Self {
        // Density (1 − t²)^((d−3)/2), summed on a grid.
        let at = |i: usize| 2.0 * i as f64 / GRID as f64 - 1.0;
        let power = (dimension as f64 - 3.0) / 2.0;
        let weight = |i: usize| {
            let t = f64::midpoint(at(i), at(i + 1));
            (power * (1.0 - t * t).ln()).exp()
        };
        let weights: Vec<f64> = (0..GRID).map(weight).collect();
        let total: f64 = weights.iter().sum();
        let (mut sum, mut below) = (0.0, vec![0.0]);
        for weight in &weights {
            sum += weight / total;
            below.push(sum);
        }
        // The mean of t above each grid point, not divided by its probability.
        let mut above = vec![0.0; GRID + 1];
        for i in (0..GRID).rev() {
            above[i] = above[i + 1] + weights[i] / total * f64::midpoint(at(i), at(i + 1));
        }
        let growth = epsilon.exp();
        let along = |i: usize| {
            let (q, mean) = (1.0 - below[i], above[i]);
            let likely = 1.0 / (1.0 + (1.0 - q) / (growth * q));
            (likely, likely * mean / q - (1.0 - likely) * mean / (1.0 - q))
        };
        let candidates = (GRID / 2..GRID).filter(|i| 1.0 - below[*i] > 1e-12);
        let best = candidates.max_by(|a, b| along(*a).1.total_cmp(&along(*b).1));
        let best = best.unwrap_or(GRID / 2);
        let (likely, along) = along(best);
        Self {
            cap: at(best),
            likely,
            along,
            below,
        }
    }

    /// The mean squared error of one message about a vector as long as the radius, in units of its square.
    #[cfg(test)]
    pub(super) fn variance(&self) -> f64 {
        self.along.powi(-2) - 1.0
    }

    /// A number t below (or above) the cap's beginning, by its law.
    fn product(&self, in_cap: bool, coins: &mut Coins) -> f64 {
        let start = ((self.cap + 1.0) / 2.0 * GRID as f64).round() as usize;
        let split = self.below[start];
        let u = match in_cap {
            true => split + coins.unit() * (1.0 - split),
            false => coins.unit() * split,
        };
        let cell = self.below.partition_point(|p| *p <= u).clamp(1, GRID) - 1;
        let (low, high) = (self.below[cell], self.below[cell + 1]);
        let inside = if high > low { (u - low) / (high - low) } else { 0.5 };
        2.0 * (cell as f64 + inside) / GRID as f64 - 1.0
    }

    /// Adds a perturbed vector of length at most `radius`.
    pub(super) fn add(&self, z: &[f64], radius: f64, into: &mut [f64], coins: &mut Coins) {
        use super::rows::normal;
        let length = z.iter().map(|z| z * z).sum::<f64>().sqrt();
        let share = (length / radius).min(1.0);
        let sign = if coins.unit() < f64::midpoint(1.0, share) {
            1.0
        } else {
            -1.0
        };
        let unit: Vec<f64> = match length > 0.0 {
            true => z.iter().map(|z| sign * z / length).collect(),
            false => (0..z.len()).map(|i| f64::from(i == 0)).collect(),
        };
        let t = self.product(coins.unit() < self.likely, coins);
        let mut aside: Vec<f64> = (0..z.len()).map(|_| normal(coins)).collect();
        let inner: f64 = aside.iter().zip(&unit).map(|(a, u)| a * u).sum();
        aside.iter_mut().zip(&unit).for_each(|(a, u)| *a -= inner * u);
        let size = aside.iter().map(|a| a * a).sum::<f64>().sqrt();
        let across = (1.0 - t * t).max(0.0).sqrt() / size;
        for ((sum, u), a) in into.iter_mut().zip(&unit).zip(&aside) {
            *sum += radius / self.along * (t * u + across * a);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coins;

    const DRAWS: u32 = 200_000;

    /// The means and variances of one coordinate of many draws.
    fn moments(mechanism: &impl Floating, x: &[f64], epsilon: f64, seed: u64) -> Vec<(f64, f64)> {
        let mut coins = coins(seed);
        let mut sums = vec![(0.0, 0.0); x.len()];
        for _ in 0..DRAWS {
            let mut one = vec![0.0; x.len()];
            mechanism.add(x, epsilon, 1.0, &mut one, &mut coins);
            for (sum, y) in sums.iter_mut().zip(one) {
                *sum = (sum.0 + y, sum.1 + y * y);
            }
        }
        let n = f64::from(DRAWS);
        sums.iter()
            .map(|(a, b)| (a / n, b / n - (a / n).powi(2)))
            .collect()
    }

    /// Every mean within 6 standard errors (false alarms: below 10⁻⁷ for all), and a mechanism that is 3 % too large is caught.
    fn check(mechanism: &impl Floating, x: &[f64], epsilon: f64, variance: impl Fn(f64) -> f64) {
        for ((mean, spread), x) in moments(mechanism, x, epsilon, 5).iter().zip(x) {
            let error = (spread / f64::from(DRAWS)).sqrt();
            assert!((mean - x).abs() < 6.0 * error, "{mean} is not {x} ± {error}");
            let expected = variance(*x);
            assert!(
                (spread / expected - 1.0).abs() < 0.03,
                "{spread} is not {expected}"
            );
        }
    }

    #[test]
    fn means_are_unbiased_and_variances_as_published() {
        let x = [-1.0, -0.6, 0.0, 0.3, 0.9];
        for epsilon in [1.0, 3.0, 7.0] {
            let k = ((epsilon / 2.5) as usize).max(1) as f64;
            let d = x.len() as f64;
            check(&Piecewise, &x, epsilon, |x| {
                d / k * (piecewise_variance(x, epsilon / k) + x * x) - x * x
            });
            check(&LaplaceSplit, &x, epsilon, |_| 2.0 * (2.0 * d / epsilon).powi(2));
            check(&Duchi, &x, epsilon, |x| duchi_bound(5, epsilon).powi(2) - x * x);
            check(&Duchi, &x[..4], epsilon, |x| {
                duchi_bound(4, epsilon).powi(2) - x * x
            });
        }
        for epsilon in [0.4, 1.0, 3.0] {
            let one = |x: f64| {
                let mut coins = coins(3);
                let n = f64::from(DRAWS);
                let (a, b) = (0..DRAWS).fold((0.0, 0.0), |(a, b), _| {
                    let y = hybrid(x, epsilon, &mut coins);
                    (a + y, b + y * y)
                });
                (a / n, b / n - (a / n).powi(2))
            };
            for x in [-1.0, 0.0, 0.4] {
                let (mean, spread) = one(x);
                assert!((mean - x).abs() < 6.0 * (spread / f64::from(DRAWS)).sqrt());
                assert!((spread / hybrid_variance(x, epsilon) - 1.0).abs() < 0.03);
            }
        }
    }

    #[test]
    fn privunit_has_its_variance() {
        // Figures of research/ldp-kclosest.md, p = 50.
        for (epsilon, expected) in [(0.5, 1245.97), (1.0, 312.86), (3.0, 36.26), (5.0, 13.96)] {
            let found = PrivUnit::new(50, epsilon).variance();
            assert!((found / expected - 1.0).abs() < 2e-3, "{found} is not {expected}");
        }
        let (unit, mut coins) = (PrivUnit::new(8, 3.0), coins(9));
        let z: Vec<f64> = (0..8).map(|i| 0.1 * f64::from(i)).collect();
        let n = 100_000;
        let mut sums = vec![0.0; 8];
        for _ in 0..n {
            unit.add(&z, 2.0, &mut sums, &mut coins);
        }
        let error = 2.0 * ((unit.variance() + 1.0) / 8.0 / f64::from(n)).sqrt();
        for (sum, z) in sums.iter().zip(&z) {
            assert!((sum / f64::from(n) - z).abs() < 6.0 * error);
        }
    }
}
