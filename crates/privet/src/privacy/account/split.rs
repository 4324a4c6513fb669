//! Where to look for a good bound, in floating point.
//!
//! The δ of a box with a zCDP cap is a minimum over Rényi orders and over ways to cut ε in two. *Every* order and *every*
//! cut gives a valid bound, so finding a good one is no matter of proof: nothing here decides a price, and a poor answer
//! only makes the bound looser. What is found is evaluated in enclosures, in [`super::zcdp`] and [`super::pure`].

use super::Caps;
use super::zcdp::Order;
use crate::privacy::Epsilon;

/// Three numbers that describe a box, and the ε at which it is asked.
struct Curve {
    pure: f64,
    normal: f64,
    epsilon: f64,
}

impl Curve {
    /// The logarithm of the δ bound at order 1 + `excess`: what [`super::zcdp::delta`] encloses.
    fn log_delta(&self, excess: f64) -> f64 {
        let alpha = excess + 1.0;
        let soft = |x: f64| (-x).exp().ln_1p();
        let coin = soft((alpha + excess) * self.pure) - soft(self.pure);
        // (α−1)·ln(α−1) − α·ln α without the cancellation of large orders.
        let entropy = -alpha * (1.0 / excess).ln_1p() - excess.ln();
        excess * (alpha * self.normal + self.pure - self.epsilon) + coin + entropy
    }

    /// Its slope, which grows with the order.
    fn slope(&self, excess: f64) -> f64 {
        let turn = (2.0 * excess + 1.0) * self.pure;
        let coin = self.pure * (1.0 - 2.0 / (turn.exp() + 1.0));
        (2.0 * excess + 1.0) * self.normal + coin - self.epsilon - (1.0 / excess).ln_1p()
    }

    /// The excess of the best order.
    fn best(&self) -> f64 {
        let (mut low, mut high) = (-22.0f64, 44.0f64);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if self.slope(middle.exp()) < 0.0 {
                low = middle
            } else {
                high = middle
            }
        }
        high.exp()
    }
}

/// A good Rényi order for a box at ε.
pub(super) fn order(caps: &Caps, epsilon: f64) -> Order {
    let normal = caps.rho.to_f64() + caps.mu_squared.to_f64() / 2.0;
    let pure = caps.pure.to_f64();
    Order::new(
        Curve {
            pure,
            normal,
            epsilon,
        }
        .best(),
    )
}

/// A good part of ε to give to the zCDP cap; the rest is for the other two.
pub(super) fn best(caps: &Caps, epsilon: Epsilon) -> Epsilon {
    let (rho, pure, mu) = (
        caps.rho.to_f64(),
        caps.pure.to_f64(),
        caps.mu_squared.to_f64().sqrt(),
    );
    let whole = epsilon.to_f64();
    let truth = 1.0 / (1.0 + (-pure).exp());
    let bound = |part: f64| {
        let curve = Curve {
            pure: 0.0,
            normal: rho,
            epsilon: part,
        };
        let rest = whole - part;
        curve.log_delta(curve.best()).exp()
            + truth * normal_delta(mu, rest - pure)
            + (1.0 - truth) * normal_delta(mu, rest + pure)
    };

    const STEPS: usize = 32;
    let at = |i: usize| whole * i as f64 / STEPS as f64;
    let nearest = (0..=STEPS)
        .min_by(|i, j| bound(at(*i)).total_cmp(&bound(at(*j))))
        .unwrap_or(0);
    let (mut low, mut high) = (at(nearest.saturating_sub(1)), at((nearest + 1).min(STEPS)));
    for _ in 0..40 {
        // Golden sections keep one of the two points, but recomputing it is cheap and says less.
        let third = (high - low) * 0.382;
        let (left, right) = (low + third, high - third);
        if bound(left) <= bound(right) {
            high = right
        } else {
            low = left
        }
    }
    // A coarse grid is as good as all digits near a minimum, and every platform lands on the same point of it.
    const GRID: f64 = 16384.0;
    let step = ((low + high) / 2.0 / whole * GRID).round().clamp(0.0, GRID) as u128;
    let part = u128::from(epsilon.billionths()) * step / GRID as u128;
    u64::try_from(part).map_or(epsilon, Epsilon::from_billionths)
}

/// δ_μ(x) about as well as floating point knows it.
pub(super) fn normal_delta(mu: f64, x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - x.exp() * (1.0 - normal_delta(mu, -x));
    }
    if mu == 0.0 {
        return 0.0;
    }
    let near = x / mu - mu / 2.0;
    let density = (-near * near / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if near < 1.0 {
        upper_tail(near) - density * mills(near + mu)
    } else {
        density * (mills(near) - mills(near + mu))
    }
}

fn mills(x: f64) -> f64 {
    if x < 1.0 {
        return upper_tail(x) * std::f64::consts::TAU.sqrt() * (x * x / 2.0).exp();
    }
    let tail = (1..=60).rev().fold(x, |tail, n| x + f64::from(n) / tail);
    1.0 / tail
}

/// 1 − Φ(x) for `x < 1`.
fn upper_tail(x: f64) -> f64 {
    if x < -9.0 {
        return 1.0;
    }
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term.abs() > sum.abs() * 1e-17 {
        odd += 2.0;
        term *= x * x / odd;
        sum += term;
    }
    0.5 - sum * (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_find_what_enclosures_confirm() {
        assert!((normal_delta(1.0, 1.0) - 0.126_936_737_506_643_95).abs() < 1e-9);
        assert!((normal_delta(0.1, 0.5) / 6.856_582_455_838_727e-9 - 1.0).abs() < 1e-7);
        assert!((normal_delta(4.0, 2.0) - 0.887_309_233_283_397_6).abs() < 1e-9);
        assert!((normal_delta(1.0, -1.5) - 0.789_520_480_119_5).abs() < 1e-6);
    }

    #[test]
    fn the_best_order_is_a_minimum() {
        for (pure, normal, epsilon) in [
            (0.0, 0.01, 1.0),
            (1.0, 0.1, 3.0),
            (0.5, 1e-18, 1.0),
            (0.0, 2.0, 1.0),
        ] {
            let curve = Curve {
                pure,
                normal,
                epsilon,
            };
            let best = curve.best();
            for nearby in [0.5, 0.9, 1.1, 2.0] {
                assert!(curve.log_delta(best) <= curve.log_delta(best * nearby) + 1e-9);
            }
        }
    }
}
