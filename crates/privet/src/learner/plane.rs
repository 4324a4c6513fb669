//! Planes: which side of a sum's zero a row lies on; regions: on which side of several.
//!
//! # Paper
//! BRC, algorithm 2, line 5: a random classifier, "each coefficient and intercept drawn uniformly at random from [-1, 1]".
//! It looks at no row, so it is free of charge; what is paid for is how often it is right.

use serde::{Deserialize, Serialize};

use super::{Linear, Shape, Term};
use crate::data::Feature;
use crate::data::schema::{Column, Kind, Schema};

/// Votes 1 where a sum is at least zero, and -1 elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// The sum.
    pub linear: Linear,
}

impl Plane {
    pub(super) fn vote(&self, features: &[Feature], row: usize) -> f64 {
        if self.linear.sum(features, row) >= 0.0 {
            1.0
        } else {
            -1.0
        }
    }
}

/// Votes 1 where each of several sums is at least zero, and 0 elsewhere: with the differences between one class's score and all others', where that
/// class has the largest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// The sums.
    pub sums: Vec<Linear>,
}

impl Region {
    pub(super) fn vote(&self, features: &[Feature], row: usize) -> f64 {
        f64::from(u8::from(
            self.sums.iter().all(|sum| sum.sum(features, row) >= 0.0),
        ))
    }
}

/// A number from -1 to 1 that a plane weighs: one for each feature that it looks at.
///
/// A number counts as its place between the bounds. Anything else counts as the place of its value in the schema's list,
/// the first at -1 and the last at 1. What is missing or undeclared lies in the middle, at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coordinate {
    /// The feature.
    pub feature: usize,
    /// What the schema says about its slots.
    pub shape: Shape,
    /// Values that a list declares; none for numbers.
    pub values: usize,
}

impl Coordinate {
    /// One for each feature, by its place and its column, that `takes` names.
    pub fn of(schema: &Schema, takes: impl Fn(usize, &Column) -> bool) -> Vec<Self> {
        let features = schema.features().zip(Shape::of(schema)).enumerate();
        features
            .filter(|(place, (column, _))| takes(*place, column))
            .map(|(feature, (column, shape))| Self {
                feature,
                shape,
                values: match &column.kind {
                    Kind::Ordinal(declared) | Kind::Category(declared) | Kind::Flag(declared) => {
                        declared.values().len()
                    }
                    Kind::Number(_) | Kind::Id | Kind::Skip | Kind::Label(_) | Kind::Weight(_) => 0,
                },
            })
            .collect()
    }

    /// The number of one cell.
    #[inline]
    pub fn at(&self, feature: &Feature, row: usize) -> f32 {
        if self.shape.number {
            // Zero where it is missing.
            return feature.scaled.as_ref().map_or(0.0, |scaled| scaled[row]);
        }
        code(usize::from(feature.bins.get(row)), self.values)
    }

    /// What a coefficient for this number adds to a sum.
    pub fn term(&self, coefficient: f64) -> Term {
        if self.shape.number {
            return Term::Number {
                slope: coefficient,
                at_missing: 0.0,
                missing: self.shape.missing,
            };
        }
        let weight = |slot| coefficient * f64::from(code(slot, self.values));
        Term::Slots((0..self.shape.slots).map(weight).collect())
    }
}

/// The place of a slot in a list of so many values, from -1 to 1; in the middle if it is not of the list.
pub fn code(slot: usize, values: usize) -> f32 {
    if slot < values && values > 1 {
        (2 * slot) as f32 / (values - 1) as f32 - 1.0
    } else {
        0.0
    }
}

impl Linear {
    /// The sum of an intercept and one coefficient for each coordinate; nothing for features without one.
    pub fn of(shapes: &[Shape], coordinates: &[Coordinate], coefficients: &[f64], intercept: f64) -> Self {
        let mut terms: Vec<Term> = shapes.iter().map(Shape::nothing).collect();
        for (coordinate, &coefficient) in coordinates.iter().zip(coefficients) {
            terms[coordinate.feature] = coordinate.term(coefficient);
        }
        Self { intercept, terms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_list_spread_from_end_to_end() {
        let codes: Vec<f32> = (0..7).map(|slot| code(slot, 5)).collect();
        assert_eq!(codes, [-1.0, -0.5, 0.0, 0.5, 1.0, 0.0, 0.0]);
        assert_eq!([code(0, 2), code(1, 2), code(2, 2)], [-1.0, 1.0, 0.0]);
    }
}
