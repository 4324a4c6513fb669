//! How likely it is that odds move by more than e^ε.
//!
//! δ is not that probability: it weighs each outcome by how far beyond e^ε it goes, and so is smaller.

use super::gdp::units_up;
use super::{BITS, Caps, MuSquared, Rho};
use crate::privacy::enclosure::Enclosure;
use crate::privacy::{Delta, Epsilon};

/// Steps of the search for the best cut; each cut gives a valid bound.
const STEPS: u32 = 40;

impl Caps {
    /// An upper bound of the probability that the odds of whoever sees what was released, or anything computed from it, rise or
    /// fall by a factor of more than e^`epsilon`. Zero where a pure cap covers `epsilon`.
    ///
    /// For pure and Gaussian caps no smaller number holds for every way of processing what was released.
    ///
    /// # Privacy
    /// `docs/proofs/accounts.md#chance-of-a-larger-factor`.
    pub fn chance_beyond(&self, epsilon: Epsilon) -> Delta {
        let pure = self.rho == Rho::ZERO && self.mu_squared == MuSquared::ZERO;
        if pure && self.pure <= epsilon {
            return Delta::ZERO;
        }
        // Golden section; where the curve is not of one valley, the answer is a larger bound, not a wrong one.
        let ratio = (5f64.sqrt() - 1.0) / 2.0;
        let at = |part: f64| (part * epsilon.billionths() as f64) as u64;
        let value = |part: f64| self.bound_by(at(part), epsilon);
        let (mut low, mut high) = (0.0, 1.0);
        let (mut left, mut right) = (1.0 - ratio, ratio);
        let (mut at_left, mut at_right) = (value(left), value(right));
        let mut best = value(0.0).min(at_left).min(at_right);
        for _ in 0..STEPS {
            if at_left < at_right {
                (high, right, at_right) = (right, left, at_left);
                left = high - ratio * (high - low);
                at_left = value(left);
                best = best.min(at_left);
            } else {
                (low, left, at_left) = (left, right, at_right);
                right = low + ratio * (high - low);
                at_right = value(right);
                best = best.min(at_right);
            }
        }
        // Rising or falling: a fall has a probability of at most e^−ε times that, whichever of two things is true.
        let one = Enclosure::integer(1, BITS);
        let both = one.add(&Enclosure::ratio(&-epsilon.to_ratio(), BITS).exp());
        let best = Delta::saturating(best).to_ratio();
        Delta::saturating(units_up(&Enclosure::ratio(&best, BITS).mul(&both)))
    }

    /// A bound of the probability that odds rise by more than e^ε: δ(ε′)/(1 − e^(ε′−ε)) in units of 10⁻¹⁸, rounded up, for an ε′ below ε.
    fn bound_by(&self, below: u64, epsilon: Epsilon) -> u128 {
        let below = Epsilon::from_billionths(below);
        if below >= epsilon {
            return u128::MAX;
        }
        let one = Enclosure::integer(1, BITS);
        let gap = below.to_ratio() - epsilon.to_ratio();
        let share = one.sub(&Enclosure::ratio(&gap, BITS).exp());
        let units = self.delta_units(below);
        let Some(delta) = Delta::from_units(u64::try_from(units).unwrap_or(u64::MAX)) else {
            return u128::MAX;
        };
        units_up(&Enclosure::ratio(&delta.to_ratio(), BITS).div(&share))
    }

    /// The box for units that are `steps` changes apart: what [`Price::group`](super::Price::group) does to each price.
    ///
    /// # Privacy
    /// Each release has its price for the pair that is `steps` apart, and the filter's caps are passed at the same place;
    /// `docs/proofs/accounts.md#group-privacy`. `None` if the box cannot be written.
    pub fn group(self, steps: u64) -> Option<Self> {
        let square = steps.checked_mul(steps)?;
        Some(Self {
            pure: self.pure.checked_mul(steps)?,
            rho: self.rho.checked_mul(square)?,
            mu_squared: self.mu_squared.checked_mul(square)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use dashu_ratio::RBig;

    use super::super::Price;
    use super::*;

    fn upper(x: f64) -> f64 {
        let exact = RBig::try_from(-x).expect("a finite number");
        Enclosure::ratio(&exact, BITS).normal_cdf().to_f64()
    }

    fn gaussian(mu: f64) -> Caps {
        Caps::from(Price::Gaussian(MuSquared::from_units((mu * mu * 1e18) as u128)))
    }

    /// The most likely event whose probabilities are a factor e^ε apart, for N(μ, 1) against N(0, 1): a half-line {x > t}.
    fn most_likely(mu: f64, epsilon: f64) -> f64 {
        // Beyond these the tails are smaller than what the enclosure resolves.
        let (mut low, mut high) = (-12.0, 12.0);
        for _ in 0..200 {
            let t = (low + high) / 2.0;
            if upper(t) > (-epsilon).exp() * upper(t - mu) {
                low = t
            } else {
                high = t
            }
        }
        // As likely under the other law is the mirrored event, by which odds fall.
        upper(high - mu) * (1.0 + (-epsilon).exp())
    }

    #[test]
    fn the_chance_of_a_larger_factor_is_that_of_the_most_likely_event() {
        for (mu, epsilon) in [(0.236_704_2, 1.0), (0.1, 0.5), (1.0, 3.0), (2.0, 6.0), (0.5, 1.5)] {
            let found = gaussian(mu)
                .chance_beyond(Epsilon::new(epsilon).expect("an epsilon"))
                .to_f64();
            let exact = most_likely(mu, epsilon);
            assert!(found >= exact * (1.0 - 1e-9), "mu {mu}: {found} below {exact}");
            assert!(found <= exact * 1.001, "mu {mu}: {found} far above {exact}");
            // What the normal draw itself, unprocessed, does.
            let unprocessed = upper(epsilon / mu - mu / 2.0);
            assert!(found > unprocessed, "mu {mu}: {found} against {unprocessed}");
        }
    }

    /// δ itself is far smaller than the chance: a sentence that prints it in its place understates.
    #[test]
    fn delta_is_not_the_chance() {
        let epsilon = Epsilon::new(1.0).expect("an epsilon");
        let delta: Delta = "1e-6".parse().expect("a delta");
        let mu_squared = MuSquared::for_budget(epsilon, delta).expect("a budget");
        let caps = Caps::from(Price::Gaussian(mu_squared));
        let chance = caps.chance_beyond(epsilon).to_f64();
        assert!((7.0e-5..7.3e-5).contains(&chance), "{chance}");
        let both = caps.group(2).expect("a box");
        let twice = both
            .chance_beyond(Epsilon::new(2.0).expect("an epsilon"))
            .to_f64();
        assert!((9.5e-5..9.7e-5).contains(&twice), "{twice}");
    }

    #[test]
    fn pure_caps_are_never_exceeded_and_others_always_may_be() {
        let one = Epsilon::new(1.0).expect("an epsilon");
        let pure = Caps::from(Price::Pure(one));
        assert_eq!(pure.chance_beyond(one), Delta::ZERO);
        // Below the cap: randomised response tells the truth with odds e.
        let half = pure
            .chance_beyond(Epsilon::new(0.5).expect("an epsilon"))
            .to_f64();
        assert!(half > 1.0 / (1.0 + (-1f64).exp()), "{half}");
        let mixed = Caps {
            rho: Rho::from_units(10u128.pow(16)),
            ..pure
        };
        assert!(mixed.chance_beyond(Epsilon::new(2.0).expect("an epsilon")) > Delta::ZERO);
        assert!(gaussian(1.0).chance_beyond(Epsilon::ZERO).to_f64() > 0.99);
        assert_eq!(gaussian(1.0).group(3), Some(gaussian(3.0)));
    }
}
