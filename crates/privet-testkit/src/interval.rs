//! Where a probability can be, given how often its event was seen.
//!
//! [`clopper_pearson`] covers the truth with at least the stated confidence at every sample size; claims and audits rest
//! on it. [`wilson`] has a closed form and covers it only about as often as stated: fit for ranking candidates, not for
//! proving anything.

use statrs::function::erf::erfc_inv;
use statrs::function::gamma::ln_gamma;

/// Hits among trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    hits: u64,
    trials: u64,
}

impl Tally {
    /// `hits` of `trials`.
    ///
    /// # Panics
    /// If there are more hits than trials.
    #[track_caller]
    pub fn new(hits: u64, trials: u64) -> Self {
        assert!(hits <= trials, "{hits} hits of {trials} trials");
        Self { hits, trials }
    }

    /// How many trials hit.
    pub fn hits(self) -> u64 {
        self.hits
    }

    /// How many trials there were.
    pub fn trials(self) -> u64 {
        self.trials
    }

    fn misses(self) -> Self {
        Self {
            hits: self.trials - self.hits,
            trials: self.trials,
        }
    }
}

/// A closed interval of probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether `p` lies in it.
    pub fn contains(&self, p: f64) -> bool {
        self.low <= p && p <= self.high
    }
}

/// Wilson's score interval, each end missed with probability *about* `miss / 2`.
pub fn wilson(tally: Tally, miss: f64) -> Interval {
    crate::check_rate(miss);
    // Φ⁻¹(1 - miss/2) = √2 · erfc⁻¹(miss).
    wilson_at(tally, std::f64::consts::SQRT_2 * erfc_inv(miss))
}

/// Wilson's interval `z` standard deviations wide, for a caller who ranks many tallies.
pub(crate) fn wilson_at(tally: Tally, z: f64) -> Interval {
    if tally.trials == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let n = tally.trials as f64;
    let p = tally.hits as f64 / n;
    let zz = z * z / n;
    let centre = (p + zz / 2.0) / (1.0 + zz);
    let half = z / (1.0 + zz) * (p * (1.0 - p) / n + zz / (4.0 * n)).sqrt();
    Interval {
        low: (centre - half).max(0.0),
        high: (centre + half).min(1.0),
    }
}

/// The interval of Clopper and Pearson (1934): each end is missed with probability at most `miss / 2`.
pub fn clopper_pearson(tally: Tally, miss: f64) -> Interval {
    crate::check_rate(miss);
    Interval {
        low: at_least(tally, miss / 2.0),
        high: at_most(tally, miss / 2.0),
    }
}

/// A probability that the truth is below with probability at most `miss` (one-sided Clopper-Pearson).
pub fn at_least(tally: Tally, miss: f64) -> f64 {
    crate::check_rate(miss);
    if tally.hits == 0 {
        return 0.0;
    }
    // The largest p, approached from below, under which so many hits would still be a rarity.
    let (mut low, mut high) = (0.0, tally.hits as f64 / tally.trials as f64);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return low;
        }
        if upper_tail(tally, middle) <= miss {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// A probability that the truth is above with probability at most `miss` (one-sided Clopper-Pearson).
pub fn at_most(tally: Tally, miss: f64) -> f64 {
    // Misses are hits of the opposite event. Rounding up is against us, as it should be.
    (1.0 - at_least(tally.misses(), miss)).next_up().min(1.0)
}

/// P(Bin(trials, p) ≥ hits), rounded up; for hits > 0 and p at most hits / trials.
///
/// A plain sum: the regularised beta function of `statrs` stops after 140 terms of its continued fraction whether or not
/// it has converged, too few for a million trials.
fn upper_tail(tally: Tally, p: f64) -> f64 {
    let (k, n) = (tally.hits as f64, tally.trials as f64);
    if p <= 0.0 {
        return 0.0;
    }
    let all = ln_gamma(n + 1.0);
    let choose = all - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
    let rest = if tally.hits == tally.trials {
        0.0
    } else {
        (n - k) * (-p).ln_1p()
    };
    // `all` is the largest summand, so the error of the whole is a few of its units in the last place.
    let first = (choose + k * p.ln() + rest + 1e-14 * all.abs()).exp();
    let odds = p / (1.0 - p);
    let (mut term, mut sum, mut i) = (1.0, 1.0, k);
    // Terms fall from the start because p ≤ hits / trials, and ever faster.
    while i < n && term > sum * 1e-17 {
        term *= (n - i) / (i + 1.0) * odds;
        sum += term;
        i += 1.0;
    }
    first * sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samplers::Source;

    fn mass(n: u64, k: u64, p: f64) -> f64 {
        let choose = (1..=k).fold(1.0, |c, i| c * (n - k + i) as f64 / i as f64);
        choose * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32)
    }

    /// Sums the probability of every tally whose interval misses the truth: the exact miss rate, no sampling.
    fn exact_miss(n: u64, p: f64, interval: impl Fn(Tally) -> Interval) -> (f64, f64) {
        (0..=n).fold((0.0, 0.0), |(below, above), k| {
            let interval = interval(Tally::new(k, n));
            match () {
                () if p < interval.low => (below + mass(n, k, p), above),
                () if p > interval.high => (below, above + mass(n, k, p)),
                () => (below, above),
            }
        })
    }

    #[test]
    fn clopper_pearson_never_misses_more_often_than_stated() {
        for miss in [0.2, 0.05, 1e-3] {
            for n in [1, 2, 7, 30, 60] {
                for step in 1..40 {
                    let p = f64::from(step) / 40.0;
                    let (below, above) = exact_miss(n, p, |t| clopper_pearson(t, miss));
                    assert!(
                        below <= miss / 2.0 && above <= miss / 2.0,
                        "{n} {p}: {below} {above}"
                    );
                }
            }
        }
    }

    #[test]
    fn wilson_is_only_about_right_which_is_why_audits_do_not_use_it() {
        let worst = (1..400)
            .map(|step| exact_miss(30, f64::from(step) / 400.0, |t| wilson(t, 0.05)))
            .map(|(below, above)| below + above)
            .fold(0.0, f64::max);
        assert!(worst > 0.05, "{worst}");
        assert!(worst < 0.2, "{worst}");
    }

    #[test]
    fn ends_are_where_they_are_by_hand() {
        // No hit in n trials: the upper end solves (1-p)^n = miss/2. All hits: the lower end solves p^n = miss/2.
        let none = clopper_pearson(Tally::new(0, 10), 0.05);
        assert_eq!(none.low, 0.0);
        assert!((none.high - (1.0 - 0.025f64.powf(0.1))).abs() < 1e-12);
        let all = clopper_pearson(Tally::new(10, 10), 0.05);
        assert!((all.low - 0.025f64.powf(0.1)).abs() < 1e-12);
        assert_eq!(all.high, 1.0);
        // 5 of 10, from any table: 0.1871 to 0.8129.
        let half = clopper_pearson(Tally::new(5, 10), 0.05);
        assert!((half.low - 0.187_086).abs() < 1e-6 && (half.high - 0.812_914).abs() < 1e-6);
        // Wilson for 5 of 10: 0.2366 to 0.7634.
        let score = wilson(Tally::new(5, 10), 0.05);
        assert!((score.low - 0.236_593).abs() < 1e-5 && (score.high - 0.763_407).abs() < 1e-5);
        assert_eq!(
            clopper_pearson(Tally::new(0, 0), 0.05),
            Interval { low: 0.0, high: 1.0 }
        );
    }

    #[test]
    fn large_tallies_agree_with_the_normal_law() {
        let (n, p) = (4_000_000u64, 0.3);
        let interval = clopper_pearson(Tally::new((n as f64 * p) as u64, n), 0.05);
        let half = 1.959_964 * (p * (1.0 - p) / n as f64).sqrt();
        assert!(((interval.high - p) / half - 1.0).abs() < 2e-3, "{interval:?}");
        assert!(((p - interval.low) / half - 1.0).abs() < 2e-3, "{interval:?}");
    }

    #[test]
    fn a_biased_coin_is_outside_the_interval_and_a_fair_one_inside() {
        let mut source = Source::seeded(1);
        let mut count = |heads| (0..100_000).filter(|_| source.coin(heads)).count() as u64;
        assert!(clopper_pearson(Tally::new(count(0.5), 100_000), 1e-9).contains(0.5));
        assert!(!clopper_pearson(Tally::new(count(0.52), 100_000), 1e-9).contains(0.5));
    }
}
