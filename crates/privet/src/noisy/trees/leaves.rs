//! Values of leaves, from noisy sums and the noise that is known to be in them: nothing else goes in.

use super::coding::ONE;

/// How sums become values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaves {
    /// The standard deviation of the noise on each sum, in steps of the grid.
    pub(super) deviation: f64,
    /// What an integer hessian of one means.
    pub(super) hessian_unit: f64,
    /// What a hessian is raised by, in deviations.
    pub(super) ridge: f64,
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
        let value = |(place, g): (usize, &f64)| {
            let h = match hessians {
                Some(known) => known[place / outputs],
                None => sums[2 * place + 1] as f64 * self.hessian_unit,
            };
            let divisor = h.max(0.0) + raised;
            let newton = (-g / divisor).clamp(-self.bound, self.bound);
            let scale = self.rate * kept;
            ((scale * newton) as f32, (scale * noise / divisor) as f32)
        };
        gradients.iter().enumerate().map(value).unzip()
    }
}
