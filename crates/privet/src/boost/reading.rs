//! From sums to scores: a recalibration for classes, an inverse transform for numbers.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::data::schema::{Transform, Units};

/// A recalibration of classes' scores: the score of each output is `slope` times its sum, plus its intercept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// What sums are multiplied by: above zero, so that the order of rows stays. Below one it moves probabilities towards one half.
    pub slope: f64,
    /// What is added then: as many as there are scores.
    pub intercepts: Vec<f64>,
}

impl Calibration {
    pub(super) fn check(&self, outputs: usize) -> Result<(), String> {
        if !(self.slope.is_finite() && self.slope > 0.0) {
            return Err(format!("its slope is {}, and must be above zero", self.slope));
        }
        if self.intercepts.len() != outputs {
            return Err(format!(
                "it has {} intercepts where {outputs} are needed",
                self.intercepts.len()
            ));
        }
        match self.intercepts.iter().find(|x| !x.is_finite()) {
            Some(x) => Err(format!("{x} is not a finite number")),
            None => Ok(()),
        }
    }

    /// The score of an output whose sum is this.
    pub fn apply(&self, output: usize, sum: f64) -> f64 {
        self.slope * sum + self.intercepts[output]
    }
}

/// The scale on which a label that is a number was learnt: sums are on it, and predictions are not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Named", into = "Named")]
pub struct Scale(pub Transform);

impl Scale {
    /// The label that a sum on this scale stands for. It rises with the sum: below the root of zero there is zero.
    pub fn label(self, sum: f64) -> f64 {
        match self.0 {
            Transform::Sqrt => self.0.undo(sum.max(0.0)),
            transform => transform.undo(sum),
        }
    }
}

/// As a schema says it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    transform: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scale: Option<f64>,
}

impl From<Scale> for Named {
    fn from(Scale(transform): Scale) -> Self {
        Self {
            transform: transform.name().into(),
            scale: transform.units().map(Units::size),
        }
    }
}

impl TryFrom<Named> for Scale {
    type Error = Error;

    fn try_from(named: Named) -> Result<Self, Error> {
        let known = Transform::NAMES.iter().find(|(name, _)| *name == named.transform);
        let Some((_, transform)) = known else {
            return Err(Error::data(format!(
                "no transform is called '{}'",
                named.transform
            )));
        };
        Ok(Self(match named.scale {
            Some(size) => transform.in_units(Units::new(size)?)?,
            None => *transform,
        }))
    }
}
