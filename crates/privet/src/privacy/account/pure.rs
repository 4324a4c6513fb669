//! Pure differential privacy, alone and next to Gaussian.
//!
//! Every ε-DP mechanism is a post-processing of randomised response that tells the truth with odds e^ε (Kairouz, Oh and
//! Viswanath 2015), so one coin stands for a whole cap of pure ε, and one coin and one normal draw for both caps.

use dashu_ratio::RBig;

use crate::privacy::Epsilon;
use crate::privacy::enclosure::Enclosure;

use super::BITS;
use super::gdp::MuSquared;

/// δ at `epsilon` of randomised response with odds e^`pure` together with one draw of N(μ, 1) against N(0, 1).
///
/// The coin's loss is +ε̂ with probability p = 1/(1+e^−ε̂) and −ε̂ else: δ = p·δ_μ(ε−ε̂) + (1−p)·δ_μ(ε+ε̂). Without the
/// normal draw that is exactly zero from ε̂ on.
///
/// # Privacy
/// `docs/proofs/accounts.md#pure-and-gaussian-caps`.
pub(super) fn delta(pure: Epsilon, mu_squared: MuSquared, epsilon: Epsilon) -> Enclosure {
    let [pure, epsilon] = [pure, epsilon].map(Epsilon::to_ratio);
    if pure == RBig::ZERO {
        return mu_squared.delta(&epsilon);
    }
    let odds = Enclosure::ratio(&-&pure, BITS).exp();
    let one = Enclosure::integer(1, BITS);
    let truth = one.div(&one.add(&odds));
    let lie = odds.mul(&truth);
    let likely = truth.mul(&mu_squared.delta(&(&epsilon - &pure)));
    likely.add(&lie.mul(&mu_squared.delta(&(epsilon + pure))))
}
