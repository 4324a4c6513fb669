//! AdaBoost with learners that may abstain.
//!
//! A learner h says -1, 0 or 1 about a row of class y = -1 or 1. With weights that sum to one, ε₊ is the weight of rows
//! it is right about, ε₋ of those it is wrong about, ε₀ of those it keeps silent about. Its coefficient α is half the
//! logarithm of ε₊/ε₋, and each weight is multiplied by exp(-α·y·h)/Z, where Z makes them sum to one again. The product of
//! all Z bounds the share of rows that the sum of α·h is not right about. [`Rates`] is that arithmetic, for whoever
//! holds the rows; [`Abstaining`] boosts stumps with it.
//!
//! It is for two classes. With more, or with numbers, there is no vote to abstain from.
//!
//! # Paper
//! MABoost, figure 1, lines 15 to 20, and equations 13 and 14; Schapire and Singer 1999, section 3.3.
//!
//! # Deviations
//! The text of figure 1, line 20, reads: errors times √(ε₋/ε₊) / (2ε₊ + ε₀), all others divided by ε₀ + 2√(ε₊/ε₋). Such
//! weights do not sum to one, no error ever gains weight (ε₊ is at least ε₋), and what was right keeps as much as silence
//! does: not what step 5 says. Derived again from exp(-α·y·h)/Z with Z = ε₀ + 2√(ε₊ε₋): errors are divided by 2ε₋ +
//! ε₀√(ε₋/ε₊), what was right by 2ε₊ + ε₀√(ε₊/ε₋), the rest by Z. With the coefficient of equation 14 the Z of that coefficient is used.

use rayon::prelude::*;

use super::adaboost::{Thresholds, sums_to_one};
use super::{Ensemble, Link, Member};
use crate::learner::{Classes, Learner, Progress, Sample, Stump, sum};

/// The weight of rows that a learner classifies rightly, wrongly, or abstains on. They sum to one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// ε₊.
    pub right: f64,
    /// ε₋.
    pub wrong: f64,
    /// ε₀.
    pub silent: f64,
}

/// What weights are multiplied by after a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factors {
    /// Where the learner was right.
    pub right: f64,
    /// Where it was wrong.
    pub wrong: f64,
    /// Where it was silent.
    pub silent: f64,
}

impl Rates {
    /// The rates of rows with these weights, whose sum is one. `margin` is the vote times the class of a row: above zero
    /// where it is right, below where it is wrong.
    ///
    /// # Paper
    /// MABoost, figure 1, lines 15 to 17.
    pub fn of(weights: &[f64], margin: impl Fn(usize) -> f64 + Sync) -> Self {
        let part = |of: fn(f64) -> bool| {
            sum(
                weights.len(),
                |row| if of(margin(row)) { weights[row] } else { 0.0 },
            )
        };
        Self {
            right: part(|margin| margin > 0.0),
            wrong: part(|margin| margin < 0.0),
            silent: part(|margin| margin == 0.0),
        }
    }

    /// α: half the logarithm of ε₊ + δ to ε₋ + δ. With δ above zero it is finite where nothing is wrong.
    ///
    /// # Paper
    /// MABoost, figure 1, line 18, with equation 14.
    pub fn coefficient(&self, smoothing: f64) -> f64 {
        ((self.right + smoothing) / (self.wrong + smoothing)).ln() / 2.0
    }

    /// Z: what weights sum to after a round with this coefficient, before they are brought back to one. It is least, ε₀ +
    /// 2√(ε₊ε₋), at the coefficient without smoothing.
    pub fn normaliser(&self, coefficient: f64) -> f64 {
        self.silent + self.right * (-coefficient).exp() + self.wrong * coefficient.exp()
    }

    /// What weights are multiplied by, so that they sum to one.
    ///
    /// # Paper
    /// MABoost, figure 1, line 20, derived again: see the module.
    pub fn factors(&self, coefficient: f64) -> Factors {
        let normaliser = self.normaliser(coefficient);
        Factors {
            right: (-coefficient).exp() / normaliser,
            wrong: coefficient.exp() / normaliser,
            silent: 1.0 / normaliser,
        }
    }
}

impl Factors {
    /// The one for a margin.
    #[inline]
    pub fn at(&self, margin: f64) -> f64 {
        if margin > 0.0 {
            self.right
        } else if margin < 0.0 {
            self.wrong
        } else {
            self.silent
        }
    }
}

/// Boosts stumps that may abstain, for two classes and a number of rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abstaining {
    /// Rounds at most.
    pub rounds: u32,
    /// Where numbers are cut.
    pub thresholds: Thresholds,
}

impl Abstaining {
    /// AdaBoost with the stumps whose Z is least. Stops early when a stump is right about everything, or no better than
    /// silence. The smoothing is half a row: 1/(2n).
    ///
    /// # Paper
    /// MABoost, figure 1, with one participant who sees all attributes.
    pub fn classes(&self, sample: &Sample<'_>, classes: Classes<'_>, progress: Progress<'_>) -> Ensemble {
        let mut ensemble = Ensemble::new(Link::Vote, vec![0.0], Vec::new());
        let sorted = self.thresholds.sorted(sample);
        let smoothing = 0.5 / sample.rows().max(1) as f64;
        let mut weights = sample.weights().to_vec();
        for round in 0..self.rounds {
            if progress(u64::from(round), u64::from(self.rounds)).is_break() {
                break;
            }
            // line 1, and in later rounds what rounding left over
            if !sums_to_one(&mut weights) {
                break;
            }
            let stump = Stump::abstaining(&sample.reweighted(&weights), &sorted, classes);
            let margin = |row: usize| {
                let vote = stump.vote_for(sample.features(), row);
                if classes.of[row] == 0 { -vote } else { vote }
            };
            let rates = Rates::of(&weights, margin);
            if rates.right <= rates.wrong {
                break;
            }
            let coefficient = rates.coefficient(smoothing);
            // line 20
            let factors = rates.factors(coefficient);
            weights
                .par_iter_mut()
                .enumerate()
                .for_each(|(row, weight)| *weight *= factors.at(margin(row)));
            ensemble
                .members
                .push(Member::new(coefficient, 0, Learner::Stump(stump)));
            if rates.wrong <= 0.0 && rates.silent <= 0.0 {
                break;
            }
        }
        let _ = progress(u64::from(self.rounds), u64::from(self.rounds));
        ensemble
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: Rates = Rates {
        right: 0.5,
        wrong: 0.125,
        silent: 0.375,
    };

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    /// Eight rows, four right, one wrong, three silent. α = ln(4)/2 = ln 2; Z = 3/8 + 2√(1/16) = 7/8; the factors
    /// are (1/2)/(7/8) = 4/7, 2/(7/8) = 16/7 and 8/7, and the weights sum to 4/14 + 2/7 + 3/7 = 1.
    #[test]
    fn a_round_by_hand() {
        let margins = [1.0, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0, 1.0];
        assert_eq!(Rates::of(&[0.125; 8], |row| margins[row]), RATES);
        let alpha = RATES.coefficient(0.0);
        assert!(near(alpha, 2f64.ln()));
        assert!(near(RATES.normaliser(alpha), 7.0 / 8.0));
        let factors = RATES.factors(alpha);
        assert!(near(factors.right, 4.0 / 7.0) && near(factors.wrong, 16.0 / 7.0));
        assert!(near(factors.silent, 8.0 / 7.0));
        let sum: f64 = margins.iter().map(|&margin| factors.at(margin) / 8.0).sum();
        assert!(near(sum, 1.0));
    }

    /// The same factors, written as the research notes (4.1) write them.
    #[test]
    fn the_update_in_both_forms() {
        let Rates { right, wrong, silent } = RATES;
        let factors = RATES.factors(RATES.coefficient(0.0));
        let over = |x: f64| 1.0 / x;
        assert!(near(
            factors.wrong,
            over(2.0 * wrong + silent * (wrong / right).sqrt())
        ));
        assert!(near(
            factors.right,
            over(2.0 * right + silent * (right / wrong).sqrt())
        ));
        assert!(near(factors.silent, over(silent + 2.0 * (right * wrong).sqrt())));
    }

    /// Smoothing moves α, and weights still sum to one: α = ln(9/3)/2 with δ = 1/16.
    #[test]
    fn smoothed_weights_sum_to_one() {
        let alpha = RATES.coefficient(0.0625);
        assert!(near(alpha, 3f64.ln() / 2.0));
        let factors = RATES.factors(alpha);
        let sum = 0.5 * factors.right + 0.125 * factors.wrong + 0.375 * factors.silent;
        assert!(near(sum, 1.0));
        assert!(RATES.normaliser(alpha) > RATES.normaliser(RATES.coefficient(0.0)));
        let never_wrong = Rates {
            right: 0.5,
            wrong: 0.0,
            silent: 0.5,
        };
        assert!(near(never_wrong.coefficient(0.0625), 3f64.ln()));
    }

    /// The text of figure 1, line 20, does nothing of what an update must do.
    #[test]
    fn the_update_as_printed_differs() {
        let Rates { right, wrong, silent } = RATES;
        let others = 1.0 / (silent + 2.0 * (right / wrong).sqrt());
        let printed = Factors {
            right: others,
            wrong: (wrong / right).sqrt() / (2.0 * right + silent),
            silent: others,
        };
        let sum = right * printed.right + wrong * printed.wrong + silent * printed.silent;
        let derived = RATES.factors(RATES.coefficient(0.0));
        // Weights do not sum to one, and errors lose some.
        assert!(sum < 0.25, "{sum}");
        assert!(printed.wrong < 0.4 && derived.wrong > 2.0);
        // However they are normalised, what was right does not lose against silence, and should by exp(-α) = 1/2.
        assert!(near(derived.right / derived.silent, 0.5));
        assert!(near(printed.right / printed.silent, 1.0));
        // Nor do errors gain on it what they should, exp(α) = 2.
        assert!(near(derived.wrong / derived.silent, 2.0));
        assert!(printed.wrong / printed.silent < 1.6);
    }
}
