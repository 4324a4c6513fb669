//! Values of leaves, from noisy sums and the noise that is known to be in them: nothing else goes in.

use super::coding::ONE;

/// The part of the ridge that stays on each leaf where leaves lie in the order of a column: the rest is between neighbours. Decision 0067.
const OWN: f64 = 0.1;

/// How sums become values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaves {
    /// The standard deviation of the noise on each sum, in steps of the grid.
    pub(super) deviation: f64,
    /// What an integer hessian of one means.
    pub(super) hessian_unit: f64,
    /// What a hessian is raised by, in deviations.
    pub(super) ridge: f64,
    /// Whether leaves lie in the order of a column: then most of it pulls neighbours towards each other instead of towards zero.
    pub(super) in_order: bool,
    /// The share of the variance due to noise by which values are shrunk.
    pub(super) shrinkage: f64,
    /// What values are multiplied by.
    pub(super) rate: f64,
    /// Before that, no value is larger than this.
    pub(super) bound: f64,
}

impl Leaves {
    /// The values by leaf, then by output, and the standard deviation of the noise in each: `docs/decisions/0013-noisy-trees.md`.
    /// `hessians` are known otherwise, or stand after each gradient.
    pub(super) fn values(
        &self,
        sums: &[i64],
        outputs: usize,
        hessians: Option<&[f64]>,
    ) -> (Vec<f32>, Vec<f32>) {
        let unit = 1.0 / ONE as f64;
        let noise = self.deviation * unit;
        let gradients: Vec<f64> = sums.iter().step_by(2).map(|&sum| sum as f64 * unit).collect();
        let squares: f64 = gradients.iter().map(|g| g * g).sum();
        // James and Stein (1961) with a known variance.
        let expected = self.shrinkage * gradients.len() as f64 * noise * noise;
        let kept = if squares > 0.0 {
            (1.0 - expected / squares).max(0.0)
        } else {
            0.0
        };
        // At least one, for runs with hardly any noise.
        let raised = (self.ridge * self.deviation * self.hessian_unit).max(1.0);
        let own = if self.in_order { OWN } else { 1.0 };
        let scale = self.rate * kept;
        let (mut values, mut deviations) = (vec![0.0; gradients.len()], vec![0.0; gradients.len()]);
        for output in 0..outputs {
            let places: Vec<usize> = (output..gradients.len()).step_by(outputs).collect();
            let hessian = |&place: &usize| match hessians {
                Some(known) => known[place / outputs].max(0.0),
                None => (sums[2 * place + 1] as f64 * self.hessian_unit).max(0.0),
            };
            let curvature = Curvature::new(places.iter().map(hessian), raised, own);
            let mut steps: Vec<f64> = places.iter().map(|&place| -gradients[place]).collect();
            curvature.solve(&mut steps, 0);
            for ((&place, step), factor) in places.iter().zip(steps).zip(curvature.norms()) {
                values[place] = (scale * step.clamp(-self.bound, self.bound)) as f32;
                deviations[place] = (scale * noise * factor) as f32;
            }
        }
        (values, deviations)
    }
}

/// What a step of all leaves is divided by: their hessians, and a ridge. A part of the ridge is on each leaf; the rest is on the differences of neighbours, so
/// that a leaf with few rows goes where its neighbours go. Kept as the factors L·D·Lᵀ of a matrix with three diagonals.
struct Curvature {
    diagonal: Vec<f64>,
    /// What is below the diagonal of L.
    below: Vec<f64>,
}

impl Curvature {
    fn new(hessians: impl Iterator<Item = f64>, ridge: f64, own: f64) -> Self {
        let mut diagonal: Vec<f64> = hessians.map(|h| h + ridge * own).collect();
        let between = ridge * (1.0 - own);
        let mut below = vec![0.0; diagonal.len()];
        if between > 0.0 {
            for leaf in 1..diagonal.len() {
                diagonal[leaf - 1] += between;
                diagonal[leaf] += between;
            }
            for leaf in 1..diagonal.len() {
                below[leaf] = -between / diagonal[leaf - 1];
                diagonal[leaf] += between * below[leaf];
            }
        }
        Self { diagonal, below }
    }

    /// Replaces the product with it by the steps. Before `first` the product is zero.
    fn solve(&self, line: &mut [f64], first: usize) {
        for leaf in first + 1..line.len() {
            line[leaf] -= self.below[leaf] * line[leaf - 1];
        }
        let divisors = line.iter_mut().zip(&self.diagonal).skip(first);
        divisors.for_each(|(x, d)| *x /= d);
        for leaf in (1..line.len()).rev() {
            line[leaf - 1] -= self.below[leaf] * line[leaf];
        }
    }

    /// The deviation of each leaf's step if every gradient has noise of deviation one: the norms of the inverse's lines.
    fn norms(&self) -> Vec<f64> {
        let leaves = self.diagonal.len();
        // Where nothing binds neighbours, a leaf has its own noise only.
        if self.below.iter().all(|&x| x == 0.0) {
            return self.diagonal.iter().map(|d| 1.0 / d).collect();
        }
        let (mut squares, mut column) = (vec![0.0; leaves], vec![0.0; leaves]);
        for leaf in 0..leaves {
            column.fill(0.0);
            column[leaf] = 1.0;
            self.solve(&mut column, leaf);
            squares.iter_mut().zip(&column).for_each(|(sum, x)| *sum += x * x);
        }
        squares.into_iter().map(f64::sqrt).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Coins;

    const fn rule(in_order: bool) -> Leaves {
        Leaves {
            deviation: 40.0 * ONE as f64,
            hessian_unit: 1.0 / ONE as f64,
            ridge: 1.0,
            in_order,
            shrinkage: 0.0,
            rate: 0.1,
            bound: 2.0,
        }
    }

    /// Sums of these gradients and hessians.
    fn sums(of: &[[i64; 2]]) -> Vec<i64> {
        of.iter().flatten().map(|x| x * ONE).collect()
    }

    /// With all of the ridge on single leaves a value is -r·g / (h + λ), for every output.
    #[test]
    fn without_neighbours_a_leaf_is_divided_by_its_own_hessian() {
        let released = sums(&[[30, 200], [-9, -7], [64, 0], [-400, 10]]);
        for outputs in [1, 2] {
            let (values, deviations) = rule(false).values(&released, outputs, None);
            let expected = [30.0 / 240.0, -9.0 / 40.0, 64.0 / 40.0, -2.0];
            for (value, expected) in values.iter().zip(expected) {
                assert!((f64::from(*value) + 0.1 * expected).abs() < 1e-7);
            }
            for (deviation, divisor) in deviations.iter().zip([240.0, 40.0, 40.0, 50.0]) {
                assert!((f64::from(*deviation) - 0.1 * 40.0 / divisor).abs() < 1e-7);
            }
        }
    }

    /// What pulls neighbours together vanishes as the part of the ridge that is on each leaf grows to all of it.
    #[test]
    fn a_ridge_on_each_leaf_is_a_limit() {
        let hessians = [200.0, 0.0, 3.0, 10.0];
        let steps = |own: f64| {
            let curvature = Curvature::new(hessians.into_iter(), 40.0, own);
            let mut steps = vec![30.0, -9.0, 64.0, 1.0];
            curvature.solve(&mut steps, 0);
            [steps, curvature.norms()].concat()
        };
        let (near, alone) = (steps(1.0 - 1e-9), steps(1.0));
        assert_eq!(alone[..4], [0.125, -9.0 / 40.0, 64.0 / 43.0, 0.02]);
        assert!(
            near.iter().zip(&alone).all(|(a, b)| (a - b).abs() < 1e-6),
            "{near:?} {alone:?}"
        );
    }

    /// A leaf without rows between two that agree takes nearly their value, and stays at zero where leaves have no neighbours.
    #[test]
    fn a_leaf_without_rows_goes_where_its_neighbours_go() {
        let released = sums(&[[500, 1000], [0, 0], [500, 1000]]);
        let between = |in_order: bool| rule(in_order).values(&released, 1, None).0;
        let (bound, alone) = (between(true), between(false));
        assert_eq!(alone[1], 0.0);
        assert!(
            bound[1] / bound[0] > 0.94 && (bound[0] / bound[2] - 1.0).abs() < 1e-6,
            "{bound:?}"
        );
    }

    /// Expected: the deviation that is stated. Twenty thousand draws: a sample's deviation is off by more than 3 % once in 10⁸ runs.
    #[test]
    fn the_stated_deviation_is_that_of_the_noise() {
        let hessians = [600.0, 0.0, 20.0, 300.0, 5.0];
        let own = rule(true);
        let mut coins = Coins::from_seed([9; 32]);
        let mut squares = [0.0; 5];
        let mut stated = Vec::new();
        let draws = 20_000;
        for _ in 0..draws {
            // Even noise of the rule's deviation, small enough that no value is cut.
            let mut noise = || ((coins.unit() - 0.5) * 12f64.sqrt() * own.deviation) as i64;
            let released: Vec<i64> = (0..5).flat_map(|_| [noise(), 0]).collect();
            let (values, deviations) = own.values(&released, 1, Some(&hessians));
            squares
                .iter_mut()
                .zip(values)
                .for_each(|(sum, x)| *sum += f64::from(x).powi(2));
            stated = deviations;
        }
        for (sum, stated) in squares.iter().zip(stated) {
            let found = (sum / f64::from(draws)).sqrt();
            assert!((found / f64::from(stated) - 1.0).abs() < 0.03, "{found} {stated}");
        }
    }
}
