//! What an honest shuffler would add.
//!
//! # Paper
//! Feldman, McMillan, Talwar: Hiding Among the Clones: A Simple and Nearly Optimal Analysis of Privacy Amplification by Shuffling, 2021, Theorem 3.1.

use crate::privacy::{Delta, Epsilon};

/// The ε at δ of the shuffled messages of `messages` owners who each send one under ε₀; none if the theorem says nothing about so few. It is
/// rounded up.
pub(super) fn shuffled(epsilon: Epsilon, messages: u64, delta: Delta) -> Option<f64> {
    let (epsilon, delta, n) = (epsilon.to_f64(), delta.to_f64(), messages as f64);
    let is_covered = delta > 0.0 && epsilon <= (n / (16.0 * (2.0 / delta).ln())).ln();
    is_covered.then(|| {
        let growth = epsilon.exp();
        let blanket = 8.0 * (growth * (4.0 / delta).ln() / n).sqrt() + 8.0 * growth / n;
        let amplified = ((growth - 1.0) / (growth + 1.0) * blanket).ln_1p();
        // Never above ε itself, and rounded up by more than its arithmetic can err.
        epsilon.min((amplified * 1e4 + 1e-6).ceil() / 1e4)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of the closed form at δ = 10⁻⁸, computed elsewhere.
    #[test]
    fn figures_of_the_closed_form() {
        let delta = Delta::new(1e-8).expect("a δ");
        for (epsilon, messages, expected) in [
            (0.5, 10_000, Some(0.106)),
            (1.0, 10_000, Some(0.241)),
            (3.0, 10_000, Some(0.90)),
            (5.0, 10_000, None),
            (3.0, 100_000, Some(0.377)),
            (5.0, 1_000_000, Some(0.357)),
            (7.0, 10_000_000, Some(0.317)),
        ] {
            let found = shuffled(Epsilon::new(epsilon).expect("an ε"), messages, delta);
            match (found, expected) {
                (Some(found), Some(expected)) => {
                    assert!((found - expected).abs() < 2e-3, "{found} {expected}")
                }
                (found, expected) => assert_eq!(found.is_some(), expected.is_some(), "{epsilon} {messages}"),
            }
        }
    }
}
