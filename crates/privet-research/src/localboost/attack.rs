//! Who was misclassified? What a message of Algorithm 5 in the second round says about it, and what an honest one does.
//!
//! The second round's weight of a sample is e^α times larger if the first learner was wrong about it. As printed, the weight multiplies what was
//! drawn, so a message beyond the range of an unweighted one proves it, whatever ε is. An honest owner renormalises its weights and puts them
//! inside: its whole message is drawn by a mechanism of the library, and the best test of two owners, one with a wrong sample and one without,
//! is bounded by ε.

use privet::Error;
use privet::privacy::mechanism::local::{LocalMechanism, SampledPiecewise, UNIT, rehearse};
use privet::privacy::{Coins, Epsilon, Randomness};
use privet_node::progress::Progress;

use super::mechanisms::piecewise;
use crate::{Data, Measured, coins, compared};

const FOUND: &str = "found with certainty";
const FALSE: &str = "wrongly accused";
const ADVANTAGE: &str = "advantage";
const BOUND: &str = "most by ε";

/// Samples of an owner.
const EACH: usize = 4;
const DRAWS: usize = 50_000;

/// What a world looks like: coordinates, the first learner's error, and where samples lie.
struct World {
    dimension: usize,
    error: f64,
    range: (f64, f64),
}

const SYNTHETIC: World = World {
    dimension: 20,
    error: 0.15,
    range: (-0.6, 0.6),
};
const IMAGES: World = World {
    dimension: 50,
    error: 0.30,
    range: (-1.0, -0.4),
};

enum Message {
    AsPublished,
    Honest,
}

pub(super) fn measure(_: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let methods = [
        (
            "as published, like synthetic",
            (Message::AsPublished, SYNTHETIC),
            EPSILONS,
        ),
        (
            "as published, like images",
            (Message::AsPublished, IMAGES),
            EPSILONS,
        ),
        ("honest, like synthetic", (Message::Honest, SYNTHETIC), EPSILONS),
        ("honest, like images", (Message::Honest, IMAGES), EPSILONS),
    ];
    let metrics = [FOUND, FALSE, ADVANTAGE, BOUND];
    compared(
        &methods,
        &metrics,
        (runs, bar),
        |(message, world), epsilon, run| {
            let epsilon = epsilon.unwrap_or(1.0);
            let found = match message {
                Message::AsPublished => world.as_published(epsilon, run),
                Message::Honest => world.honest(epsilon, run)?,
            };
            let bound = (epsilon.exp() - 1.0) / (epsilon.exp() + 1.0);
            Ok([FOUND, FALSE, ADVANTAGE, BOUND]
                .into_iter()
                .zip([found[0], found[1], found[0] - found[1], bound])
                .collect())
        },
    )
}

const EPSILONS: &[f64] = &[1.0, 5.0, 9.0];

impl World {
    fn sample(&self, coins: &mut Coins) -> f64 {
        self.range.0 + coins.unit() * (self.range.1 - self.range.0)
    }

    fn alpha(&self) -> f64 {
        ((1.0 - self.error) / self.error).ln()
    }

    /// The share of wrong samples whose message is larger than any of a right one, and of right ones of which that is said.
    fn as_published(&self, epsilon: f64, run: u32) -> [f64; 2] {
        let mut coins = coins(0x4000 + u64::from(run));
        let (each, share) = (EACH as f64, epsilon / EACH as f64);
        let growth = (share / 2.0).exp();
        let reach = self.dimension as f64 * (growth + 1.0) / (growth - 1.0) / each;
        let mut beyond = |weight: f64| {
            let message = |coins: &mut Coins| {
                let x = self.sample(coins);
                weight * self.dimension as f64 * piecewise(x, share, coins)
            };
            let large = (0..DRAWS).filter(|_| message(&mut coins).abs() > reach * (1.0 + 1e-9));
            large.count() as f64 / DRAWS as f64
        };
        [beyond(self.alpha().exp() / each), beyond(1.0 / each)]
    }

    /// The same threshold, at its best, on honest messages: an owner whose first sample is wrong beside one without, with the rest alike.
    fn honest(&self, epsilon: f64, run: u32) -> Result<[f64; 2], Error> {
        let mut coins = coins(0x5000 + u64::from(run));
        let mechanism = SampledPiecewise::new(Epsilon::new(epsilon)?, 2 * self.dimension + 1)?;
        let mut random = Randomness::seeded(u64::from(run));
        let mut largest = |wrong: bool| -> Result<Vec<f64>, Error> {
            let mut all = Vec::with_capacity(DRAWS);
            for _ in 0..DRAWS {
                let mut weights = [1.0; EACH];
                weights[0] = if wrong { self.alpha().exp() } else { 1.0 };
                let total: f64 = weights.iter().sum();
                let mut vector = vec![0.0; 2 * self.dimension + 1];
                for (place, weight) in weights.iter().enumerate() {
                    let (sign, weight) = (if place % 2 == 0 { 1.0 } else { -1.0 }, weight / total);
                    for i in 0..self.dimension {
                        let x = self.sample(&mut coins);
                        vector[i] += weight * x;
                        vector[self.dimension + i] += weight * sign * x;
                    }
                    vector[2 * self.dimension] += weight * sign;
                }
                let grid = vector
                    .iter()
                    .map(|x| (x * f64::from(UNIT)).round() as i32)
                    .collect();
                let message = rehearse(&mechanism, grid, &mut random)?;
                let mut sums = vec![0; mechanism.sums()];
                if !mechanism.add(&message.token, &message.body, &mut sums) {
                    return Err(Error::internal("a message that was drawn can be added"));
                }
                let means = mechanism.means(&sums, 1);
                all.push(means.iter().fold(0.0, |most: f64, x| most.max(x.abs())));
            }
            all.sort_unstable_by(f64::total_cmp);
            Ok(all)
        };
        let (wrong, right) = (largest(true)?, largest(false)?);
        // The best threshold of all on how large a message is.
        let above =
            |of: &[f64], bound: f64| (of.len() - of.partition_point(|x| *x <= bound)) as f64 / DRAWS as f64;
        let best = (0..200).map(|i| {
            let bound = wrong[i * DRAWS / 200];
            [above(&wrong, bound), above(&right, bound)]
        });
        let best = best.max_by(|a, b| (a[0] - a[1]).total_cmp(&(b[0] - b[1])));
        // Never with certainty: the largest message of either can come from the other.
        let certain = right
            .last()
            .is_some_and(|most| *most * (1.0 + 1e-9) < wrong[DRAWS - 1]);
        let best = best.unwrap_or([0.0; 2]);
        Ok(if certain {
            [above(&wrong, right[DRAWS - 1]), 0.0]
        } else {
            best
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The attack succeeds on messages as published at every ε, without one false alarm, and stays within ε on honest ones.
    #[test]
    fn published_messages_prove_mistakes_and_honest_ones_do_not() {
        for world in [SYNTHETIC, IMAGES] {
            for epsilon in [1.0, 5.0] {
                let bound = (f64::exp(epsilon) - 1.0) / (f64::exp(epsilon) + 1.0);
                let [found, accused] = world.as_published(epsilon, 0);
                assert!(found > 0.5, "{found}");
                assert_eq!(accused, 0.0, "nobody is accused wrongly");
                let [found, accused] = world.honest(epsilon, 0).expect("an honest message");
                // Six standard errors of a share of 50,000.
                assert!(found - accused <= bound + 6.0 * (0.25 / DRAWS as f64).sqrt() * 2f64.sqrt());
                assert!(accused > 0.0, "no honest message is certain");
            }
        }
    }

    /// Algorithm 6 without renormalised weights: a statistic of 1.5 gives outputs that no statistic of at most 1 can give.
    #[test]
    fn statistics_beyond_their_bound_show() {
        let (mut coins, epsilon) = (coins(1), 2.5);
        let growth = f64::exp(epsilon / 2.0);
        let reach = (growth + 1.0) / (growth - 1.0);
        let mut beyond = |x: f64| {
            let all = (0..DRAWS).filter(|_| piecewise(x, epsilon, &mut coins) > reach * (1.0 + 1e-12));
            all.count() as f64 / DRAWS as f64
        };
        assert!(beyond(1.5) > 0.6);
        assert_eq!(beyond(1.0), 0.0);
    }
}
