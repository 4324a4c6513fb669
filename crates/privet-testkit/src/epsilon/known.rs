//! What one event shows that was fixed before anything was drawn.
//!
//! Whoever knows the worst pair of neighbours knows its most telling event as well (a likelihood ratio above a threshold), and need not
//! spend half of the samples on a search. An event that was chosen after looking at the samples must not be used here.

use statrs::function::erf::erfc_inv;

use crate::interval::{Tally, at_least, at_most};

/// How often an event came on two neighbours. On the first it is the more likely one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownEvent {
    on_first: Tally,
    on_second: Tally,
}

impl KnownEvent {
    /// Counts the event among independent samples of both neighbours.
    pub fn count<T>(on_first: &[T], on_second: &[T], event: impl Fn(&T) -> bool) -> Self {
        let tally = |samples: &[T]| {
            Tally::new(
                samples.iter().filter(|x| event(x)).count() as u64,
                samples.len() as u64,
            )
        };
        Self {
            on_first: tally(on_first),
            on_second: tally(on_second),
        }
    }

    /// A lower bound on the pure ε, ln(p/q), wrong with probability at most `miss`.
    ///
    /// # Panics
    /// If `miss` is not in (0, 1), as all of these.
    pub fn epsilon(&self, miss: f64) -> f64 {
        let [p, q] = self.ends(miss);
        (p / q).ln()
    }

    /// A lower bound on the range of the privacy loss, ln(p/q) + ln((1 − q)/(1 − p)), wrong with probability at most `miss`: what a selection
    /// of bounded range is charged by.
    pub fn range(&self, miss: f64) -> f64 {
        let [p, q] = self.ends(miss);
        (p / q).ln() + ((1.0 - q) / (1.0 - p)).ln()
    }

    /// A lower bound on the μ of Gaussian differential privacy, Φ⁻¹(p) − Φ⁻¹(q), wrong with probability at most `miss`.
    pub fn mu(&self, miss: f64) -> f64 {
        let [p, q] = self.ends(miss);
        quantile(p) - quantile(q)
    }

    /// A probability that is surely reached on the first neighbour, and one that is surely not exceeded on the second.
    fn ends(&self, miss: f64) -> [f64; 2] {
        [
            at_least(self.on_first, miss / 2.0),
            at_most(self.on_second, miss / 2.0),
        ]
    }
}

/// Φ⁻¹.
pub(super) fn quantile(p: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samplers::Source;

    const MISS: f64 = 1e-6;
    const SAMPLES: usize = 40_000;

    /// The sum of twelve uniform numbers, less six: near enough to a normal law for two digits of μ.
    fn normal(source: &mut Source, mean: f64) -> f64 {
        mean + (0..12).map(|_| source.unit()).sum::<f64>() - 6.0
    }

    fn normals(seed: u64, mu: f64) -> KnownEvent {
        let mut source = Source::seeded(seed);
        let [first, second] = [mu, 0.0].map(|mean| {
            (0..SAMPLES)
                .map(|_| normal(&mut source, mean))
                .collect::<Vec<f64>>()
        });
        KnownEvent::count(&first, &second, |x| *x > 1.0)
    }

    #[test]
    fn a_known_event_shows_nine_tenths_and_never_more() {
        let shown = normals(1, 2.0).mu(MISS);
        assert!((1.8..=2.0).contains(&shown), "{shown}");
        // Nine tenths of the noise.
        let shown = normals(2, 2.0 / 0.9).mu(MISS);
        assert!(shown > 2.0, "{shown}");
        // Nothing to tell apart.
        assert!(normals(3, 0.0).mu(MISS) < 0.0);
    }

    /// Randomised response at ε = 2: the loss is 2 one way and −2 the other.
    #[test]
    fn a_known_answer_shows_its_epsilon_and_its_range() {
        let answers = |seed: u64, epsilon: f64| {
            let mut source = Source::seeded(seed);
            let heads = epsilon.exp() / (1.0 + epsilon.exp());
            let [first, second] =
                [heads, 1.0 - heads].map(|p| (0..SAMPLES).map(|_| source.coin(p)).collect::<Vec<bool>>());
            KnownEvent::count(&first, &second, |x| *x)
        };
        let honest = answers(4, 2.0);
        assert!((1.8..=2.0).contains(&honest.epsilon(MISS)), "{honest:?}");
        assert!((3.6..=4.0).contains(&honest.range(MISS)), "{honest:?}");
        let mutant = answers(5, 2.0 / 0.9);
        assert!(
            mutant.epsilon(MISS) > 2.0 && mutant.range(MISS) > 4.0,
            "{mutant:?}"
        );
    }

    /// At a rate of one in five, bounds on coins are wrong about that often and no more: 400 audits, of which at most 120 may be wrong
    /// (more come with a probability below 1e-6, were the rate kept).
    #[test]
    fn a_known_event_is_wrong_no_more_often_than_stated() {
        let mut source = Source::seeded(6);
        let mut wrong = [0; 3];
        for _ in 0..400 {
            let [first, second] = [0.8, 0.2].map(|p| (0..200).map(|_| source.coin(p)).collect::<Vec<bool>>());
            let known = KnownEvent::count(&first, &second, |x| *x);
            let truths = [4f64.ln(), 16f64.ln(), 2.0 * quantile(0.8)];
            let bounds = [known.epsilon(0.2), known.range(0.2), known.mu(0.2)];
            for (count, (bound, truth)) in wrong.iter_mut().zip(bounds.iter().zip(truths)) {
                *count += usize::from(*bound > truth);
            }
        }
        assert!(wrong.iter().all(|count| (1..=120).contains(count)), "{wrong:?}");
    }
}
