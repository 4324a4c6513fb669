//! Positive rationals: scales, standard deviations and rates, kept exactly.

use dashu_int::UBig;
use dashu_ratio::RBig;

use crate::Error;
use crate::privacy::getters;

/// A positive rational number, never rounded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ratio(RBig);

impl Ratio {
    /// `numerator / denominator`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if either is zero.
    pub fn new(numerator: u64, denominator: u64) -> Result<Self, Error> {
        if numerator == 0 || denominator == 0 {
            let why =
                format!("{numerator}/{denominator} is not a positive ratio: both parts must be at least 1");
            return Err(Error::parameter("ratio", why));
        }
        Ok(Self(RBig::from_parts(numerator.into(), UBig::from(denominator))))
    }

    getters! {
        /// The nearest `f64`, for display and planning only.
        pub to_f64(0.to_f64().value()) -> f64;
        pub(crate) big(&0) -> &RBig;
    }

    pub(crate) fn from_big(value: RBig) -> Result<Self, Error> {
        if value <= RBig::ZERO {
            let why = format!("{value} is not a positive ratio");
            return Err(Error::parameter("ratio", why));
        }
        Ok(Self(value))
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
