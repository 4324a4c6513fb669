//! "2NN": what is left of a perceptron with two hidden layers whose weights owners perturb with Algorithm 3.
//!
//! # Paper
//! LocalBoost, section VI: "we tried to perturb the local weights of the 2NN using Alg. 3, while the error is extreme large even by assigning 10K
//! privacy budget for a single participant". The 2NN is McMahan et al.'s perceptron for MNIST with two hidden layers of 200 units; it has nothing to do with nearest neighbours. The
//! paper has no more about it than this sentence, and no figure.

use privet::Error;
use privet::privacy::Coins;
use privet_node::progress::Progress;

use super::Named;
use super::mechanisms::{Floating, Piecewise};
use crate::{Data, Measured, coins, compared};

/// Units of each layer: 784·200 + 200·200 + 200·10 weights and 410 offsets, 199,210 in all.
const UNITS: [usize; 4] = [784, 200, 200, 10];
const RATIO: &str = "squared error over square";

/// The squared error of what participants' messages say about the weights, over the weights' own square: above one, zeros would be a better guess.
pub(super) fn measure(_: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    const EPSILONS: &[f64] = &[10.0, 100.0, 1000.0, 10_000.0];
    let ways: [Named<u32>; 2] = [
        ("one participant", 1, EPSILONS),
        ("100 participants", 100, EPSILONS),
    ];
    compared(&ways, &[RATIO], (runs, bar), |participants, epsilon, run| {
        let mut coins = coins(0x2d00 + u64::from(run));
        let weights = weights(&UNITS, &mut coins);
        let ratio = ratio(&weights, epsilon.unwrap_or(1.0), *participants, &mut coins);
        Ok(vec![(RATIO, ratio)])
    })
}

/// Weights as training begins with them, even between ±√(6/(units in + units out)), in units of the largest: as large as the box allows. Offsets are zero.
fn weights(units: &[usize], coins: &mut Coins) -> Vec<f64> {
    let limit = |two: &[usize]| (6.0 / (two[0] + two[1]) as f64).sqrt();
    let largest = units.windows(2).map(limit).fold(0.0, f64::max);
    let mut weights = Vec::new();
    for two in units.windows(2) {
        weights.extend((0..two[0] * two[1]).map(|_| limit(two) / largest * (2.0 * coins.unit() - 1.0)));
        weights.extend(vec![0.0; two[1]]);
    }
    weights
}

fn ratio(weights: &[f64], epsilon: f64, participants: u32, coins: &mut Coins) -> f64 {
    let mut mean = vec![0.0; weights.len()];
    for _ in 0..participants {
        Piecewise.add(weights, epsilon, 1.0 / f64::from(participants), &mut mean, coins);
    }
    let square = |of: &mut dyn Iterator<Item = f64>| of.map(|x| x * x).sum::<f64>();
    let error = square(&mut mean.iter().zip(weights).map(|(mean, weight)| mean - weight));
    error / square(&mut weights.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::localboost::mechanisms::piecewise_variance;

    #[test]
    fn the_perceptron_has_as_many_weights_as_published() {
        assert_eq!(weights(&UNITS, &mut coins(1)).len(), 199_210);
    }

    /// A coordinate is sent with probability k/d, and then d/k times as large: its error is d/k·(x² + Var x) − x², and that of the mean of participants so many times less.
    /// Sampled coordinates are nearly independent, so that the mean of 400 trials has a relative deviation below 1 %: 6 % is more than six of these. A mechanism that forgets d/k is refused.
    #[test]
    fn the_error_is_that_of_the_closed_form() {
        let mut coins = coins(2);
        let weights = weights(&[20, 10, 2], &mut coins);
        let (epsilon, sampled) = (25.0, 10.0);
        let scale = weights.len() as f64 / sampled;
        let square: f64 = weights.iter().map(|x| x * x).sum();
        let errors = weights
            .iter()
            .map(|x| scale * (x * x + piecewise_variance(*x, epsilon / sampled)) - x * x);
        let expected = errors.sum::<f64>() / square;
        let agrees = |found: f64| (found / expected - 1.0).abs() < 0.06;
        for participants in [1, 4] {
            let trials = (0..400).map(|_| ratio(&weights, epsilon, participants, &mut coins));
            let found = trials.sum::<f64>() / 400.0 * f64::from(participants);
            assert!(agrees(found), "{found} for {expected}");
            assert!(!agrees(found / scale));
        }
    }
}
