//! From a linear function of φ back to the columns of a schema: what a model's members are made of.

use super::{Code, Features};
use crate::Error;
use crate::boost::{Learner, Member};
use crate::data::schema::Schema;
use crate::learner::{Linear, Plane, Region, Shape, Stump, StumpRule, Term};

impl Features {
    /// The weights of the coordinates before axes, and a constant, that give the same function as weights of φ.
    ///
    /// # Errors
    /// [`Error::Misuse`] if φ has products, which no sum over columns gives.
    fn before_axes(&self, weights: &[f64]) -> Result<(Vec<f64>, f64), Error> {
        if self.map.products() {
            return Err(Error::misuse("products of coordinates are no sum over columns"));
        }
        let constant = self.map.constant();
        let (directions, rest) = weights.split_at(weights.len() - usize::from(constant.is_some()));
        let mut intercept = constant
            .zip(rest.first())
            .map_or(0.0, |(value, weight)| value * weight);
        let Some(first) = self.map.axes().first() else {
            return Ok((directions.to_vec(), intercept));
        };
        let mut sums = vec![0.0; first.weights.len()];
        for (axis, weight) in self.map.axes().iter().zip(directions) {
            intercept += weight * axis.offset;
            sums.iter_mut()
                .zip(&axis.weights)
                .for_each(|(sum, w)| *sum += weight * w);
        }
        Ok((sums, intercept))
    }

    /// The members of an ensemble whose sum is a linear function of φ, added to one output: a stump for each cut of a number, and a sum last.
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
        let (weights, intercept) = self.before_axes(weights)?;
        let mut linear = Linear {
            intercept,
            terms: shapes.iter().map(Shape::nothing).collect(),
        };
        let mut members = Vec::new();
        let (mut rest, mut cuts) = (&weights[..], self.map.cuts());
        for column in &self.columns {
            let (own_cuts, other_cuts) = cuts.split_at(column.code.width());
            cuts = other_cuts;
            let width = own_cuts.iter().map(|cuts| cuts.len().max(1)).sum();
            let (own, others) = rest.split_at(width);
            rest = others;
            let shape = &shapes[column.feature];
            linear.terms[column.feature] = match (&column.code, own_cuts) {
                (Code::Scaled, [cuts]) if !cuts.is_empty() => {
                    let steps = cuts.iter().zip(own).filter(|(_, weight)| **weight != 0.0);
                    members.extend(steps.map(|(cut, weight)| {
                        let step = step(column.feature, *cut, shape.missing, *weight);
                        Member::new(1.0, output, step)
                    }));
                    shape.nothing()
                }
                (Code::Scaled, _) => Term::Number {
                    slope: own[0],
                    at_missing: 0.0,
                    missing: shape.missing,
                },
                (code @ (Code::Place(_) | Code::Flags(_)), _) => {
                    let weight = |slot: usize| {
                        let mut base = Vec::new();
                        code.write(slot as u16, 0.0, &mut base);
                        let mut signed = Vec::new();
                        for (x, cuts) in base.iter().zip(own_cuts) {
                            match &cuts[..] {
                                [] => signed.push(*x),
                                cuts => {
                                    signed.extend(cuts.iter().map(|cut| if x > cut { 1.0 } else { -1.0 }))
                                }
                            }
                        }
                        signed.iter().zip(own).map(|(x, w)| x * w).sum()
                    };
                    Term::Slots((0..shape.slots).map(weight).collect())
                }
            };
        }
        members.push(Member::new(1.0, output, Learner::Linear(linear)));
        Ok(members)
    }

    /// Half-way between the values that one coordinate of φ has on two sides, where φ has no axes.
    pub(in crate::setting::local) fn middle(&self, coordinate: usize) -> f64 {
        let mut end = 0;
        let mut cuts = self.map.cuts().iter();
        for column in &self.columns {
            end += cuts
                .by_ref()
                .take(column.code.width())
                .map(|cuts| cuts.len().max(1))
                .sum::<usize>();
            if coordinate < end {
                return match column.code {
                    Code::Flags(_) => 0.5,
                    // Zero, the middle of an odd number of values and what is missing, is on the lower side, as in cross tables.
                    Code::Place(values) => 0.5 / f64::from(values.max(2) - 1),
                    Code::Scaled => 0.0,
                };
            }
        }
        0.0
    }

    /// A learner that votes 1 where one class's linear function of φ is at least as large as all others', and 0 elsewhere; of cuts, they are about one, or
    /// none. `scores` has a weight for each coordinate, class after class.
    ///
    /// # Errors
    /// As above; [`Error::Misuse`] if several cuts are weighed, or one and anything besides.
    pub(in crate::setting::local) fn largest(
        &self,
        schema: &Schema,
        scores: &[f64],
        class: usize,
    ) -> Result<Learner, Error> {
        let classes: Vec<&[f64]> = scores.chunks_exact(self.dimension().max(1)).collect();
        let others = classes.iter().enumerate().filter(|(other, _)| *other != class);
        let (mut sums, mut steps) = (Vec::new(), Vec::new());
        for (_, other) in others {
            let apart: Vec<f64> = classes[class].iter().zip(*other).map(|(a, b)| a - b).collect();
            let mut members = self.members(schema, &apart, 0)?;
            let Some(Learner::Linear(linear)) = members.pop().map(|member| member.learner) else {
                return Err(Error::internal("the last member is the sum"));
            };
            match (members.pop().map(|member| member.learner), members.is_empty()) {
                (None, _) => {}
                (Some(Learner::Stump(stump)), true) => steps.push((sums.len(), stump)),
                _ => return Err(Error::misuse("a class is called by one cut, or by none")),
            }
            sums.push(linear);
        }
        let Some((_, first)) = steps.first().cloned() else {
            return Ok(Learner::Region(Region { sums }));
        };
        let shapes = Shape::of(schema);
        let is_constant = |sum: &Linear| {
            let mut terms = sum.terms.iter().zip(&shapes);
            terms.all(|(term, shape)| *term == shape.nothing())
        };
        let is_one = |stump: &Stump| stump.feature == first.feature && stump.rule == first.rule;
        if !sums.iter().all(is_constant) || !steps.iter().all(|(_, stump)| is_one(stump)) {
            return Err(Error::misuse("a class is called by one cut and nothing besides"));
        }
        let side = |of: fn(&Stump) -> f64| {
            let mut all: Vec<f64> = sums.iter().map(|sum| sum.intercept).collect();
            steps.iter().for_each(|(place, stump)| all[*place] += of(stump));
            f64::from(u8::from(all.iter().all(|apart| *apart >= 0.0)))
        };
        Ok(Learner::Stump(Stump {
            left: side(|stump| stump.left),
            right: side(|stump| stump.right),
            ..first
        }))
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

/// Minus the weight up to a place, and the weight above it. What is missing counts as zero.
fn step(feature: usize, place: f64, missing: u16, weight: f64) -> Learner {
    Learner::Stump(Stump {
        feature,
        rule: StumpRule::UpTo {
            place,
            missing,
            with_missing: 0.0 <= place,
        },
        left: -weight,
        right: weight,
    })
}
