//! From a linear function of φ back to the columns of a schema: what a model's members are made of.

use super::{Code, Features};
use crate::Error;
use crate::boost::{Learner, Member};
use crate::data::schema::Schema;
use crate::learner::{Linear, Plane, Shape, Stump, StumpRule, Term};

impl Features {
    /// The weights of the columns' own coordinates, and a constant, that give the same function as weights of φ.
    ///
    /// # Errors
    /// [`Error::Misuse`] if φ has products, which no sum over columns gives.
    fn on_columns(&self, weights: &[f64]) -> Result<(Vec<f64>, f64), Error> {
        if self.products {
            return Err(Error::misuse("products of coordinates are no sum over columns"));
        }
        let (directions, rest) = weights.split_at(weights.len() - usize::from(self.constant.is_some()));
        let constant = self.constant.zip(rest.first()).map_or(0.0, |(value, weight)| value * weight);
        if self.axes.is_empty() {
            return Ok((directions.to_vec(), constant));
        }
        let mut base = vec![0.0; self.base()];
        let mut intercept = constant;
        for (axis, weight) in self.axes.iter().zip(directions) {
            intercept += weight * axis.offset;
            base.iter_mut().zip(&axis.weights).for_each(|(sum, w)| *sum += weight * w);
        }
        Ok((base, intercept))
    }

    /// The members of an ensemble whose sum is a linear function of φ, added to one output. Whatever is missing adds nothing, as in φ.
    ///
    /// # Errors
    /// As above.
    pub(in crate::setting::local) fn members(
        &self,
        schema: &Schema,
        weights: &[f64],
        output: usize,
    ) -> Result<Vec<Member>, Error> {
        let shapes = Shape::of(schema);
        let (weights, intercept) = self.on_columns(weights)?;
        let mut linear = Linear {
            intercept,
            terms: shapes.iter().map(Shape::nothing).collect(),
        };
        let mut members = Vec::new();
        let mut rest = &weights[..];
        for column in &self.columns {
            let (own, others) = rest.split_at(column.code.width());
            rest = others;
            let shape = &shapes[column.feature];
            linear.terms[column.feature] = match &column.code {
                Code::Scaled => Term::Number {
                    slope: own[0],
                    at_missing: 0.0,
                    missing: shape.missing,
                },
                Code::Cuts { places, missing, .. } => {
                    let mut slots = vec![0.0; shape.slots];
                    for (place, weight) in places.iter().zip(own).filter(|(_, weight)| **weight != 0.0) {
                        members.push(Member::new(1.0, output, step(column.feature, *place, *missing, *weight)));
                        // A stump puts what is missing on the left; it counts as zero.
                        if let Some(slot) = slots.get_mut(usize::from(*missing)) {
                            *slot += weight;
                        }
                    }
                    Term::Slots(slots)
                }
                Code::Place(_) | Code::Flags(_) => {
                    let mut slots = Vec::with_capacity(shape.slots);
                    for slot in 0..shape.slots {
                        let mut coordinates = Vec::new();
                        column.code.write(slot as u16, 0.0, &mut coordinates);
                        slots.push(coordinates.iter().zip(own).map(|(x, w)| x * w).sum());
                    }
                    Term::Slots(slots)
                }
            };
        }
        members.push(Member::new(1.0, output, Learner::Linear(linear)));
        Ok(members)
    }

    /// What one coordinate of the columns is at least and at most.
    pub(in crate::setting::local) fn sides(&self, coordinate: usize) -> (f64, f64) {
        let mut end = 0;
        let own = self.columns.iter().find(|column| {
            end += column.code.width();
            coordinate < end
        });
        match own.map(|column| &column.code) {
            Some(Code::Flags(_)) => (0.0, 1.0),
            _ => (-1.0, 1.0),
        }
    }

    /// A learner that votes 1 where a linear function of φ is above zero, and −1 elsewhere; of cuts, one only.
    ///
    /// # Errors
    /// As above; [`Error::Misuse`] if several cuts are weighed.
    pub(in crate::setting::local) fn vote(&self, schema: &Schema, weights: &[f64]) -> Result<Learner, Error> {
        let mut members = self.members(schema, weights, 0)?;
        let sum = members.pop().map(|member| member.learner);
        let Some(Learner::Linear(linear)) = sum else {
            return Err(Error::internal("the last member is the sum"));
        };
        match (members.pop().map(|member| member.learner), members.is_empty()) {
            (None, _) => Ok(Learner::Plane(Plane { linear })),
            (Some(Learner::Stump(stump)), true) => {
                let side = |vote: f64| if vote + linear.intercept > 0.0 { 1.0 } else { -1.0 };
                Ok(Learner::Stump(Stump {
                    left: side(stump.left),
                    right: side(stump.right),
                    ..stump
                }))
            }
            _ => Err(Error::misuse("a vote on cuts is about one of them")),
        }
    }
}

/// Minus the weight up to a place, and the weight above it.
fn step(feature: usize, place: f32, missing: u16, weight: f64) -> Learner {
    Learner::Stump(Stump {
        feature,
        rule: StumpRule::UpTo {
            place: place.into(),
            missing,
            with_missing: true,
        },
        left: -weight,
        right: weight,
    })
}
