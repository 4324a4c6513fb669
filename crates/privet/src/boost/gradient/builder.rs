//! The settings of gradient boosting, parsed once.

use super::{Base, Gradient, Sums};
use crate::Error;
use crate::learner::tree::{Categories, Growth, Missing, Order, Tree};

/// Collects the settings of gradient boosting. Each has a default.
#[derive(Debug, Clone, PartialEq)]
pub struct Builder {
    gradient: Gradient,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            gradient: Gradient {
                rounds: 100,
                rate: 0.1,
                growth: Growth::Levels(6),
                order: Order::Second,
                lambda: 1.0,
                gamma: 0.0,
                min_child_weight: 1.0,
                missing: Missing::Learned,
                categories: Categories::Sorted,
                monotone: Vec::new(),
                rows: 1.0,
                columns: 1.0,
                seed: [0; 32],
                patience: None,
                sums: Sums::Integers,
                base: Base::Fitted,
            },
        }
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $name: $type) -> Self {
            self.gradient.$name = $name;
            self
        }
    )*};
}

impl Builder {
    setters! {
        /// How many rounds; each grows a tree for each output. 100 if not given.
        rounds: usize;
        /// What leaf values are multiplied by; 0.1 if not given.
        rate: f64;
        /// How trees grow; six levels if not given.
        growth: Growth;
        /// Which derivatives decide about splits; the second if not given.
        order: Order;
        /// Added to the hessians of a leaf; 1 if not given.
        lambda: f64;
        /// The least gain of a split; 0 if not given.
        gamma: f64;
        /// The least sum of hessians (second order) or weights (first order) in a child; 1 if not given.
        min_child_weight: f64;
        /// Where undeclared and missing cells go; to the side with the larger gain if not given.
        missing: Missing;
        /// How categories are cut in two; in the order of their gradients if not given.
        categories: Categories;
        /// Whether values rise (1) or fall (-1) with each feature; short lists end in zeros. Second order only. None by default.
        monotone: Vec<i8>;
        /// The share of rows that a round looks at; 1 if not given.
        rows: f64;
        /// The share of features that a tree may ask about; 1 if not given.
        columns: f64;
        /// Decides which rows and features; public. Zeros if not given.
        seed: [u8; 32];
        /// How gradients are summed; as integers if not given.
        sums: Sums;
        /// Where scores start; at the constant that suits the labels best if not given.
        base: Base;
    }

    /// Stops after this many rounds without a better loss on the validation rows; never if not given.
    #[must_use]
    pub fn patience(mut self, patience: usize) -> Self {
        self.gradient.patience = Some(patience);
        self
    }

    /// Checks all that can be checked without a schema.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an invalid setting.
    pub fn build(self) -> Result<Gradient, Error> {
        let gradient = self.gradient;
        let bad = |key, why: &str| Err(Error::parameter(key, why));
        let share = |x: f64| x > 0.0 && x <= 1.0;
        if !(gradient.rate.is_finite() && gradient.rate > 0.0) {
            return bad("rate", "rate must be above 0");
        }
        if [gradient.lambda, gradient.gamma, gradient.min_child_weight]
            .iter()
            .any(|x| !x.is_finite() || *x < 0.0)
        {
            return bad("lambda", "lambda, gamma and min_child_weight must be at least 0");
        }
        if !share(gradient.rows) || !share(gradient.columns) {
            return bad(
                "rows",
                "the shares of rows and columns must be above 0 and at most 1",
            );
        }
        match gradient.growth {
            Growth::Levels(depth) if !(1..=16).contains(&depth) => {
                return bad("depth", "a depth of 1 to 16 is possible");
            }
            Growth::Best { leaves, depth } if !(2..=Tree::LEAVES).contains(&leaves) || depth == 0 => {
                return bad(
                    "leaves",
                    "2 to 65536 leaves and a depth of at least 1 are possible",
                );
            }
            _ => {}
        }
        if gradient.monotone.iter().any(|&direction| direction != 0) && gradient.order == Order::First {
            return bad("monotone", "monotone features need second-order trees");
        }
        match &gradient.base {
            Base::Given(base) if base.iter().any(|x| !x.is_finite()) => {
                bad("base", "the base has one finite score for each output")
            }
            _ => Ok(gradient),
        }
    }
}
