//! Intervals of 95 %.

use super::{Estimate, Metric};

/// How many standard errors a normal interval reaches to either side.
pub(crate) const Z: f64 = 1.959_963_984_540_054;

/// Wilson's interval for a share of so many independent rows: all shares whose own standard error reaches the one seen.
/// `noise` is the variance of what was added to the share besides; zero gives Wilson's own.
pub(crate) fn wilson(share: f64, rows: f64, noise: f64) -> (f64, f64) {
    // (share − p)² ≤ Z²·(p(1−p)/rows + noise), solved for p.
    let z = Z * Z / rows;
    let middle = (2.0 * share + z) / 2.0;
    let constant = share * share - Z * Z * noise;
    let root = (middle * middle - (1.0 + z) * constant).max(0.0).sqrt();
    let at = |x: f64| (x / (1.0 + z)).clamp(0.0, 1.0);
    (at(middle - root), at(middle + root))
}

/// F1 from the share of right ones among the rows that are or are called positive: 2tp/(2tp+fp+fn) is 2q/(1+q) for
/// q = tp/(tp+fp+fn). Given how many such rows there are, each is right or not, as Wilson's interval asks.
pub(crate) fn f1(share: f64, rows: f64, noise: f64) -> Option<Estimate> {
    let harmonic = |q: f64| 2.0 * q / (1.0 + q);
    let share = share.clamp(0.0, 1.0);
    let (low, high) = wilson(share, rows, noise);
    Estimate::within(Metric::F1, harmonic(share), (harmonic(low), harmonic(high)))
}

/// The mean of numbers and its standard error; nothing for fewer than two, which have none.
pub(crate) fn mean(values: impl Iterator<Item = f64> + Clone) -> Option<(f64, f64)> {
    let rows = values.clone().count() as f64;
    if rows < 2.0 {
        return None;
    }
    let mean = values.clone().sum::<f64>() / rows;
    let variance = values.map(|x| (x - mean).powi(2)).sum::<f64>() / (rows - 1.0);
    Some((mean, (variance / rows).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_widens_an_interval_and_no_noise_is_wilsons_own() {
        // Wilson (1927) for 8 of 10, as every textbook has it.
        let (low, high) = wilson(0.8, 10.0, 0.0);
        assert!(
            (low - 0.4902).abs() < 1e-4 && (high - 0.9433).abs() < 1e-4,
            "{low} {high}"
        );
        let (noisy_low, noisy_high) = wilson(0.8, 10.0, 0.01);
        assert!(noisy_low < low && noisy_high > high);
        // Very many rows: only the noise is left.
        let (low, high) = wilson(0.5, 1e12, 0.01);
        assert!((low - (0.5 - Z * 0.1)).abs() < 1e-6 && (high - (0.5 + Z * 0.1)).abs() < 1e-6);
    }
}
