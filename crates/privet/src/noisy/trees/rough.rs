//! Which columns are rough: their effect jumps from value to value, as that of capital gains does, where single amounts decide.
//!
//! A few trees about a column say so for nothing. Each of six suppositions about its effect (how large it is, and over which distance it changes) is a
//! Gaussian process over the column's bins, kept up to date by a Kalman filter from what trees have released; the supposition that foretold the released
//! sums best is believed. Only released sums, the known deviation of their noise and public numbers go in: `docs/proofs/trees.md#spikes`.

/// How large effects may be, and over which part of the range they change.
const SUPPOSED: [[f64; 2]; 6] = [
    [0.05, 0.3],
    [0.2, 0.3],
    [0.6, 0.3],
    [1.5, 0.3],
    [0.6, 0.03],
    [1.5, 0.03],
];
/// From this one on an effect counts as rough.
const ROUGH: usize = 3;
/// How sure it must be.
const SURE: f64 = 0.95;
/// The share of an effect's variance that is each bin's own.
const OWN: f64 = 0.09;
/// The part of the range over which what other columns' trees change is alike.
const DRIFT: f64 = 0.3;
/// No mean gradient is believed to be larger, in hessians.
const MOST_SHIFT: f64 = 2.0;

/// What a tree about a column has released, in units of one.
pub(super) struct ReleasedSums<'a> {
    /// The leaf of each bin.
    pub(super) leaf_of: &'a [usize],
    pub(super) gradients: &'a [f64],
    pub(super) hessians: &'a [f64],
    /// The deviations of the noise in a gradient and in a hessian.
    pub(super) noise: [f64; 2],
}

/// One supposition: what is known of the effect of each bin if it is right, and how well it has foretold what was released.
struct Supposed {
    /// The typical size of effects.
    size: f64,
    /// How uncertain effects are: by bin, then by bin.
    covariance: Vec<f64>,
    mean: Vec<f64>,
    log_likelihood: f64,
}

/// What is known about the shape of a column's effect.
pub(super) struct Roughness {
    bins: usize,
    supposed: Vec<Supposed>,
    /// The hessian of each bin, and how uncertain it is.
    hessians: Vec<HessianEstimate>,
    /// How far all columns' trees had moved scores when this column was last asked about.
    moved: f64,
}

/// A hessian that is measured again and again while it changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct HessianEstimate {
    pub(super) value: f64,
    pub(super) variance: f64,
}

impl HessianEstimate {
    /// Scores have changed since it was last measured.
    fn ages(&mut self) {
        self.variance += (0.15 * self.value).powi(2);
    }

    /// How much of a new measurement is believed.
    fn gain(&self, noise: f64) -> f64 {
        self.variance / (self.variance + noise * noise)
    }

    /// Measures it once more, with noise of this deviation.
    pub(super) fn learn(&mut self, measured: f64, noise: f64) {
        self.ages();
        let gain = self.gain(noise);
        self.value = believed(self.value, measured, gain);
        self.variance *= 1.0 - gain;
    }
}

/// Hessians are above zero, whatever noise says.
fn believed(before: f64, measured: f64, gain: f64) -> f64 {
    (before + gain * (measured - before)).max(0.02 * before + 1e-3)
}

impl Roughness {
    /// Of a column with so many bins, of a table of about so many rows.
    pub(super) fn new(bins: usize, rows: f64) -> Self {
        let hessian = (rows / 4.0 / bins as f64).max(1e-3);
        let supposed = SUPPOSED.map(|[size, far]| {
            let near = decay(bins, far);
            let mut covariance = vec![0.0; bins * bins];
            for (place, x) in covariance.iter_mut().enumerate() {
                let (i, j) = (place / bins, place % bins);
                // All bins together may be off, and rows of a bin differ by chance.
                let own = if i == j {
                    OWN * size * size + 1.0 / (hessian / 2.0).max(1.0)
                } else {
                    0.0
                };
                *x = size * size * near[i.abs_diff(j)] + 1.0 + own;
            }
            Supposed {
                size,
                covariance,
                mean: vec![0.0; bins],
                log_likelihood: 0.0,
            }
        });
        Self {
            bins,
            supposed: supposed.into(),
            hessians: vec![
                HessianEstimate {
                    value: hessian,
                    variance: (2.0 * hessian).powi(2),
                };
                bins
            ],
            moved: 0.0,
        }
    }

    /// Learns what a tree about the column has released, when its effect was `values`; all trees have moved scores by `moved` so far.
    pub(super) fn learn(&mut self, released: &ReleasedSums<'_>, values: &[f64], moved: f64) {
        let leaves = released.gradients.len();
        let [noise, of_hessians] = released.noise;
        self.learn_hessians(released);
        let drift = (moved - self.moved).max(0.0);
        self.moved = moved;
        // What is wrong about all rows together says nothing of this column.
        let shift = released.gradients.iter().sum::<f64>() / released.hessians.iter().sum::<f64>().max(1.0);
        let shift = shift.clamp(-MOST_SHIFT, MOST_SHIFT);
        let variance = noise * noise + (shift * of_hessians).powi(2);
        let near = decay(self.bins, DRIFT);
        for supposed in &mut self.supposed {
            let drift = drift * supposed.size;
            for (i, line) in supposed.covariance.chunks_exact_mut(self.bins).enumerate() {
                for (j, x) in line.iter_mut().enumerate() {
                    *x += drift * (near[i.abs_diff(j)] + 1.0);
                }
            }
            let mut off: Vec<f64> = (0..leaves)
                .map(|leaf| shift * released.hessians[leaf] - released.gradients[leaf])
                .collect();
            for (bin, &leaf) in released.leaf_of.iter().enumerate() {
                off[leaf] += self.hessians[bin].value * (values[bin] - supposed.mean[bin]);
            }
            supposed.learn(released.leaf_of, &self.hessians, &mut off, variance);
        }
    }

    fn learn_hessians(&mut self, released: &ReleasedSums<'_>) {
        let leaves = released.hessians.len();
        let mut all = vec![
            HessianEstimate {
                value: 0.0,
                variance: 0.0,
            };
            leaves
        ];
        for (own, &leaf) in self.hessians.iter_mut().zip(released.leaf_of) {
            own.ages();
            all[leaf].value += own.value;
            all[leaf].variance += own.variance;
        }
        for (own, &leaf) in self.hessians.iter_mut().zip(released.leaf_of) {
            let gain = all[leaf].gain(released.noise[1]);
            let now = believed(all[leaf].value, released.hessians[leaf], gain);
            own.value = (own.value * now / all[leaf].value.max(1e-9)).max(1e-4);
            own.variance *= 1.0 - gain;
        }
    }

    /// Whether the effect is rough, by all that was released.
    pub(super) fn is_rough(&self) -> bool {
        let most = self
            .supposed
            .iter()
            .map(|supposed| supposed.log_likelihood)
            .fold(f64::NEG_INFINITY, f64::max);
        let weight = |supposed: &Supposed| (supposed.log_likelihood - most).exp();
        let all: f64 = self.supposed.iter().map(weight).sum();
        let rough: f64 = self.supposed[ROUGH..].iter().map(weight).sum();
        rough > SURE * all
    }
}

impl Supposed {
    /// The measurement of each leaf's sum, `off` from what was foretold; a singular one teaches nothing.
    fn learn(&mut self, leaf_of: &[usize], hessians: &[HessianEstimate], off: &mut [f64], variance: f64) {
        let (bins, leaves) = (leaf_of.len(), off.len());
        // By bin, then by leaf: how the bin's effect goes with the leaf's sum.
        let mut with = vec![0.0; bins * leaves];
        for (line, to) in self
            .covariance
            .chunks_exact(bins)
            .zip(with.chunks_exact_mut(leaves))
        {
            for ((x, &leaf), hessian) in line.iter().zip(leaf_of).zip(hessians) {
                to[leaf] += x * hessian.value;
            }
        }
        let mut root = vec![0.0; leaves * leaves];
        for ((line, &leaf), hessian) in with.chunks_exact(leaves).zip(leaf_of).zip(hessians) {
            for (sum, x) in root[leaf * leaves..][..leaves].iter_mut().zip(line) {
                *sum += x * hessian.value;
            }
        }
        for leaf in 0..leaves {
            root[leaf * leaves + leaf] += variance + 1e-6;
        }
        if !cholesky(&mut root, leaves) {
            return;
        }
        solve(&root, leaves, off);
        with.chunks_exact_mut(leaves)
            .for_each(|line| solve(&root, leaves, line));
        let squares: f64 = off.iter().map(|x| x * x).sum();
        let volume: f64 = (0..leaves).map(|leaf| root[leaf * leaves + leaf].ln()).sum();
        self.log_likelihood -= squares / 2.0 + volume;
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for (i, own) in with.chunks_exact(leaves).enumerate() {
            self.mean[i] += product(own, off);
            let line = &mut self.covariance[i * bins..][..bins];
            for (x, other) in line.iter_mut().zip(with.chunks_exact(leaves)) {
                *x -= product(own, other);
            }
        }
    }
}

/// How alike two bins are, by how many bins they lie apart.
fn decay(bins: usize, far: f64) -> Vec<f64> {
    let step = 1.0 / (far * bins as f64);
    (0..bins).map(|apart| (-(apart as f64) * step).exp()).collect()
}

/// Replaces a symmetric matrix by its lower root; whether it has one.
fn cholesky(matrix: &mut [f64], size: usize) -> bool {
    for i in 0..size {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| matrix[i * size + k] * matrix[j * size + k]).sum();
            let rest = matrix[i * size + j] - known;
            if i != j {
                matrix[i * size + j] = rest / matrix[j * size + j];
            } else if rest > 0.0 && rest.is_finite() {
                matrix[i * size + i] = rest.sqrt();
            } else {
                return false;
            }
        }
    }
    true
}

/// Solves `root` x = `line`, in place.
fn solve(root: &[f64], size: usize, line: &mut [f64]) {
    for i in 0..size {
        let known: f64 = (0..i).map(|k| root[i * size + k] * line[k]).sum();
        line[i] = (line[i] - known) / root[i * size + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_solves_its_matrix() {
        let mut root = vec![4.0, 2.0, 2.0, 10.0];
        assert!(cholesky(&mut root, 2));
        let mut line = vec![2.0, 7.0];
        solve(&root, 2, &mut line);
        assert_eq!(line, [1.0, 2.0]);
        assert!(!cholesky(&mut [1.0, 2.0, 2.0, 1.0], 2), "no root");
    }

    /// Sums of an effect over 100 bins of 100 rows each, cut into twelve leaves that begin elsewhere in every round, with little noise.
    fn learnt(effect: impl Fn(usize) -> f64) -> Roughness {
        let bins = 100;
        let mut column = Roughness::new(bins, 10_000.0);
        for round in 0..6 {
            let leaf_of: Vec<usize> = (0..bins).map(|bin| (bin * 11 + 17 * round) / 100 % 12).collect();
            let (mut gradients, mut hessians) = (vec![0.0; 12], vec![0.0; 12]);
            for (bin, &leaf) in leaf_of.iter().enumerate() {
                hessians[leaf] += 25.0;
                gradients[leaf] -= 25.0 * effect(bin);
            }
            let released = ReleasedSums {
                leaf_of: &leaf_of,
                gradients: &gradients,
                hessians: &hessians,
                noise: [3.0, 3.0],
            };
            column.learn(&released, &vec![0.0; bins], 0.0);
        }
        column
    }

    #[test]
    fn single_bins_that_decide_make_a_column_rough_and_slopes_do_not() {
        assert!(learnt(|bin| if bin % 9 == 4 { 4.0 } else { -0.5 }).is_rough());
        assert!(!learnt(|bin| bin as f64 / 250.0 - 0.2).is_rough());
        assert!(!learnt(|_| 0.0).is_rough());
    }

    /// Whatever is released, nothing panics, and what is no number makes no column rough.
    #[test]
    fn any_sums_are_learnt_from() {
        for x in [0.0, 1e9, -1e9, 1e300, f64::NAN] {
            let mut column = Roughness::new(8, 100.0);
            let released = ReleasedSums {
                leaf_of: &[0, 0, 0, 1, 1, 1, 2, 2],
                gradients: &[x, -x, x],
                hessians: &[x, x, -x],
                noise: [1.0, 1.0],
            };
            for _ in 0..3 {
                column.learn(&released, &[0.0; 8], 0.0);
            }
            assert!(x.is_finite() || !column.is_rough());
        }
    }
}
