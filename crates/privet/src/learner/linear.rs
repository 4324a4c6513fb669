//! Sums over features.

use serde::{Deserialize, Serialize};

use super::Shape;
use crate::data::Feature;

/// An intercept and one term for each feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linear {
    /// The constant term.
    pub intercept: f64,
    /// One term for each feature, in the schema's order.
    pub terms: Vec<Term>,
}

/// The term of one feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Term {
    /// A number: its place between the bounds, from -1 to 1, times the slope.
    Number {
        /// What is added at the upper bound, and subtracted at the lower.
        slope: f64,
        /// What is added instead where the number is missing.
        at_missing: f64,
        /// The slot of missing cells.
        missing: u16,
    },
    /// Anything else, ordinals included: a weight for each slot, those for undeclared and missing cells too. An order
    /// is not used, since the values' distances are not known.
    Slots(Vec<f64>),
}

impl Linear {
    pub(super) fn check(&self, shapes: &[Shape]) -> Result<(), String> {
        if self.terms.len() != shapes.len() {
            return Err(format!(
                "a sum has {} terms for {} features",
                self.terms.len(),
                shapes.len()
            ));
        }
        finite(self.intercept)?;
        for (number, (term, shape)) in self.terms.iter().zip(shapes).enumerate() {
            match term {
                Term::Number {
                    slope,
                    at_missing,
                    missing,
                } => {
                    finite(*slope)?;
                    finite(*at_missing)?;
                    if !shape.number {
                        return Err(format!("a slope for feature {number}, which is not a number"));
                    }
                    if *missing != shape.missing {
                        return Err(format!(
                            "feature {number} is missing in slot {}, not {missing}",
                            shape.missing
                        ));
                    }
                }
                Term::Slots(weights) => {
                    if weights.len() != shape.slots {
                        return Err(format!(
                            "{} weights for the {} slots of feature {number}",
                            weights.len(),
                            shape.slots
                        ));
                    }
                    weights.iter().try_for_each(|&weight| finite(weight))?;
                }
            }
        }
        Ok(())
    }

    /// The sum for one row of features that it fits.
    pub(crate) fn sum(&self, features: &[Feature], row: usize) -> f64 {
        let terms = self.terms.iter().zip(features).map(|(term, feature)| {
            let slot = feature.bins.get(row);
            match term {
                Term::Number {
                    at_missing, missing, ..
                } if slot == *missing => *at_missing,
                Term::Number { slope, .. } => {
                    slope
                        * feature
                            .scaled
                            .as_ref()
                            .map_or(0.0, |scaled| f64::from(scaled[row]))
                }
                Term::Slots(weights) => weights.get(usize::from(slot)).copied().unwrap_or(0.0),
            }
        });
        self.intercept + terms.sum::<f64>()
    }

    pub(super) fn needs_values(&self) -> bool {
        self.terms.iter().any(|term| matches!(term, Term::Number { .. }))
    }
}

pub(super) fn finite(x: f64) -> Result<(), String> {
    if x.is_finite() {
        Ok(())
    } else {
        Err(format!("{x} is not a finite number"))
    }
}
