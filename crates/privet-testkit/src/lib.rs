//! Statistics, audits and fault injection for Privet's own tests.
//!
//! Every statistical test here states its false-alarm rate, and the rate is *proved* for the sample size at hand, not
//! asymptotic. So a suite may draw fresh randomness in every run: at a rate of 1e-9 it will not cry wolf, and no
//! fixed seed can hide a wrong sampler. Each module's own tests show wrong samplers being refused.
//!
//! | question | module |
//! | --- | --- |
//! | do these integers follow this mass function? do two samples follow one law? | [`chi_square`] |
//! | do these numbers follow this distribution function? | [`kolmogorov`] |
//! | where can this probability be? | [`interval`] |
//! | how large is ε at least, seen from outputs alone? | [`epsilon`] |
//! | how large is ε exactly, when the output table is known? | [`ratio`] |
//! | how probable is each candidate of a selection? | [`selection`] |
//! | is a whole run private on this pair of tables? | [`replay`] |
//! | what do the last digits of released coefficients tell? | [`attack`] |
//! | what if the ledger cannot be written? | [`faults`] |
//! | what if anything happens to a frame or a party? | [`enumerate`] |
//! | which table has these rows? | [`rows`] |
//! | what can foreign bytes do? | [`decoders`], [`models`] |
//! | may everything that we depend on be used? | [`licences`] |
//! | what did this run of the tests leave out? | [`skipped`] |

pub mod attack;
pub mod chi_square;
pub mod decoders;
pub mod enumerate;
pub mod epsilon;
pub mod faults;
pub mod interval;
pub mod kolmogorov;
pub mod licences;
pub mod models;
pub mod owners;
pub mod parties;
pub mod ratio;
pub mod replay;
pub mod rows;
pub mod secure;
pub mod selection;
pub mod skipped;
pub mod submissions;

#[cfg(test)]
mod samplers;

/// What a statistical test says.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Verdict {
    /// Nothing speaks against the claim strongly enough.
    Fits {
        /// An upper bound on the probability of a sample at least this odd, were the claim true.
        p_value: f64,
    },
    /// The claim is refused.
    Refused {
        /// An upper bound on the probability of a sample at least this odd, were the claim true.
        p_value: f64,
        /// What gave it away.
        because: String,
    },
}

impl Verdict {
    /// Refuses when `p_value` is not above `false_alarm`.
    fn judge(p_value: f64, false_alarm: f64, because: impl FnOnce() -> String) -> Self {
        // A NaN must not pass for a fit, so the comparison is the other way round.
        if p_value > false_alarm {
            Self::Fits { p_value }
        } else {
            Self::Refused {
                p_value,
                because: because(),
            }
        }
    }

    /// Whether the claim was refused.
    pub fn is_refused(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }

    /// Fails the calling test if the claim was refused.
    ///
    /// # Panics
    /// If it was, with what gave it away.
    #[track_caller]
    pub fn expect_fit(&self) {
        assert!(!self.is_refused(), "{self:?}");
    }

    /// Fails the calling test if the claim was *not* refused: for samplers that are wrong on purpose.
    ///
    /// # Panics
    /// If it was not, with the p-value.
    #[track_caller]
    pub fn expect_refusal(&self) {
        assert!(self.is_refused(), "a wrong sampler went through: {self:?}");
    }
}

/// Rates at the ends mean a test that always or never speaks: both are mistakes of the caller.
#[track_caller]
fn check_rate(false_alarm: f64) {
    assert!(
        0.0 < false_alarm && false_alarm < 1.0,
        "a false-alarm rate lies in (0, 1), not {false_alarm}"
    );
}
