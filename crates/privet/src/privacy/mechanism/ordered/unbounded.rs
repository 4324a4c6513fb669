//! Integers without a declared domain.

use dashu_ratio::RBig;

use super::{Audit, Loss, positive};
use crate::Error;
use crate::privacy::sampler::{DiscreteLaplace, Noise};
use crate::privacy::{Anchor, Epsilon, Randomness, Ratio};

/// Discrete Laplace noise of scale 1/ε on integers, in public units; sums saturate.
///
/// # Paper
/// OpBoost, Theorem 4.9.
///
/// # Privacy
/// ε·|x − x′|, and no bound for the whole domain, which has no end; `docs/proofs/ordered.md#unbounded-laplace`.
#[derive(Debug)]
pub struct UnboundedLaplace {
    epsilon: Epsilon,
    noise: DiscreteLaplace,
}

impl UnboundedLaplace {
    /// ε per unit of distance.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε is zero.
    pub fn new(epsilon: Epsilon) -> Result<Self, Error> {
        let scale = Ratio::from_big(RBig::ONE / positive(epsilon)?)?;
        let noise = DiscreteLaplace::new(scale)?;
        Ok(Self { epsilon, noise })
    }

    /// How well two values can be told apart.
    pub fn loss(&self, x: i64, other: i64) -> Loss {
        Loss::Bounded(self.epsilon).times(x.abs_diff(other))
    }

    /// ε per unit, and no bound over the whole domain.
    pub fn audit(&self) -> Audit {
        Audit {
            within: Loss::Bounded(self.epsilon),
            across: None,
            whole: Loss::Unbounded,
        }
    }

    /// The mechanism and its parameters in words.
    pub fn describe(&self) -> String {
        format!("discrete Laplace on all integers, ε = {} per unit", self.epsilon)
    }

    /// Where its losses are proved.
    pub fn proof(&self) -> Anchor {
        Anchor::new("ordered#unbounded-laplace")
    }

    pub(super) fn change(&self, values: &mut [i64], random: &mut Randomness) {
        self.noise.add_to(values, random);
    }
}
