//! The generator of the paper's toy example: **not private as described**.
//!
//! # Paper
//! BRC, section 4 and figure 1: in every round each label is flipped with a probability close to one half, and the threshold
//! that is best for the flipped labels is the round's private classifier.
//!
//! # Privacy
//! None is proved. Theorem 3 is about classifiers that are drawn without looking at rows; these are fitted to labels and to the
//! order of the private numbers. A flip with probability p bounds by (1 − p)/p what one label says in one round (0.04 at p = 0.49), but
//! that is not counted, and the number beside the label is not flipped at all: a threshold is the number of one row, as it is.
//! `planes = "thresholds"` draws thresholds blindly, and reaches nearly as much.

use privet::Error;
use privet::boost::{Ensemble, Link, Member};
use privet::data::{Table, Target};
use privet::learner::{Coordinate, Learner, Linear, Plane, Shape};
use privet::model::{Model, Settings};
use privet::privacy::{Coins, Unprotected};

use crate::as_published::{above_zero, laplace, numbers};

/// Why it protects nobody.
const BECAUSE: &str = "the toy's generator is not private as described: its thresholds are private numbers of single rows, chosen by \
                       labels, and no noise covers the choice";

/// Parameters of the toy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Flips {
    /// Rounds; the paper has 50.
    pub(super) rounds: u32,
    /// How probably a label is flipped; the paper has about 0.49.
    pub(super) probability: f64,
    /// Weights stay between one over this and this; the paper has 2.
    pub(super) clip: f64,
    /// What all errors together would cost, were the claim true.
    pub(super) epsilon: f64,
}

impl Flips {
    /// # Errors
    /// [`Error::Parameter`] with the first parameter that is out of its range.
    fn check(&self) -> Result<(), Error> {
        let bad = |key, why: String| Err(Error::parameter(key, why));
        if self.rounds == 0 {
            return bad("rounds", "rounds = 0: write a number above zero".into());
        }
        if !(0.0..=0.5).contains(&self.probability) {
            let why = format!(
                "probability = {}: write a number from 0 to 0.5, at which a flipped label says nothing",
                self.probability
            );
            return bad("probability", why);
        }
        if !(self.clip >= 1.0 && self.clip.is_finite()) {
            let why = format!("clip = {}: write a number of at least 1", self.clip);
            return bad("clip", why);
        }
        above_zero("epsilon", self.epsilon)
    }

    /// Boosts thresholds on the first column of a table with two classes.
    ///
    /// # Paper
    /// Algorithm 2 without a public classifier, the generator of section 4 in line 5. A weight that would lie outside the clips stays as it was.
    ///
    /// # Errors
    /// [`Error::Parameter`] for parameters out of range; [`Error::Misuse`] for a table without rows, columns or two classes.
    pub(super) fn fit(&self, table: Table, coins: &mut Coins) -> Result<Model, Error> {
        self.check()?;
        let schema = table.schema().clone();
        let permission = Unprotected::unrecorded(schema.dataset(), &schema.relation(), BECAUSE);
        let cells = permission.reveal(table.into_cells());
        let coordinates = Coordinate::of(&schema, |_, _| true);
        if coordinates.is_empty() || cells.rows() == 0 {
            return Err(Error::misuse("the toy has a column of numbers, and rows"));
        }
        let numbers = numbers(&cells, &coordinates[..1]).remove(0);
        let Some(Target::Classes(classes)) = cells.target() else {
            return Err(Error::misuse("the toy has two classes"));
        };
        let mut line: Vec<(f32, bool)> = numbers
            .into_iter()
            .zip(classes.iter().map(|&class| class > 0))
            .collect();
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
        let scale = self.clip * self.clip * f64::from(self.rounds) / self.epsilon / line.len() as f64;
        let mut weights = vec![1.0; line.len()];
        let mut members = Vec::new();
        for _ in 0..self.rounds {
            let from = threshold(&line, self.probability, coins);
            let wrong: Vec<bool> = line.iter().map(|&(x, label)| (x >= from) != label).collect();
            let error = weights
                .iter()
                .zip(&wrong)
                .map(|(weight, &wrong)| if wrong { *weight } else { 0.0 });
            let coefficient = 0.5 - error.sum::<f64>() / weights.iter().sum::<f64>() - laplace(scale, coins);
            // lines 13 to 19
            for (weight, _) in weights.iter_mut().zip(&wrong).filter(|(_, wrong)| **wrong) {
                let next = *weight * coefficient.exp();
                if (1.0 / self.clip..=self.clip).contains(&next) {
                    *weight = next;
                }
            }
            let linear = Linear::of(&Shape::of(&schema), &coordinates[..1], &[1.0], f64::from(-from));
            members.push(Member::new(coefficient, 0, Learner::Plane(Plane { linear })));
        }
        let ensemble = Ensemble::new(Link::Vote, vec![0.0], members);
        Model::new(
            schema,
            ensemble,
            permission.certificate(),
            Settings::new(Vec::new()),
        )
    }
}

/// Flips labels of rows in the order of their numbers, and takes the threshold that puts most of them right: from the number of one
/// row on, or beyond all.
fn threshold(line: &[(f32, bool)], probability: f64, coins: &mut Coins) -> f32 {
    const BEYOND: f32 = 2.0;
    let (mut score, mut best, mut from) = (0_i64, 0, 0);
    for (row, (number, label)) in line.iter().enumerate() {
        let flipped = *label != (coins.unit() < probability);
        score += if flipped { -1 } else { 1 };
        // Rows of one number lie on one side.
        let next = line.get(row + 1).map(|(next, _)| next);
        if score > best && next != Some(number) {
            (best, from) = (score, row + 1);
        }
    }
    line.get(from).map_or(BEYOND, |(number, _)| *number)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use privet::data::schema::{label, number};
    use privet::data::{Frame, Intake, Keep, Schema};

    use super::*;

    #[test]
    fn parameters_out_of_range_are_refused() {
        let right = Flips {
            rounds: 50,
            probability: 0.49,
            clip: 2.0,
            epsilon: 1.0,
        };
        assert!(right.check().is_ok());
        let wrong = [
            Flips { rounds: 0, ..right },
            Flips {
                probability: 0.6,
                ..right
            },
            Flips {
                probability: f64::NAN,
                ..right
            },
            Flips { clip: 0.5, ..right },
            Flips {
                epsilon: 0.0,
                ..right
            },
        ];
        for wrong in wrong {
            assert!(matches!(wrong.check(), Err(Error::Parameter(_))), "{wrong:?}");
        }
    }

    /// With the same coins, a changed number of one row is a changed threshold. The best thresholds lie where labels change all the same.
    #[test]
    fn thresholds_of_flipped_labels_are_numbers_of_rows() {
        let schema = Schema::builder("test")
            .columns([number("x", 0.0..=1.0), label("label", ["a", "b"])])
            .build()
            .expect("a schema");
        let intake = Intake::everything(Arc::new(schema), Keep::Values);
        let fitted = |changed: f64, probability| {
            let numbers = [0.1, 0.2, 0.3, 0.4, changed, 0.7, 0.8, 0.9];
            let labels = numbers.map(|x| if x < 0.5 { "a" } else { "b" });
            let frame = Frame::new().column("x", numbers).column("label", labels);
            let flips = Flips {
                rounds: 20,
                probability,
                clip: 2.0,
                epsilon: 1e6,
            };
            let table = Table::read(&intake, &frame).expect("a table");
            let model = flips.fit(table, &mut Coins::from_seed([7; 32])).expect("a model");
            assert!(model.certificate().is_void());
            let members = model.ensemble().members.iter();
            let thresholds = members.map(|member| match &member.learner {
                Learner::Plane(plane) => -plane.linear.intercept as f32,
                other => panic!("{other:?}"),
            });
            thresholds.collect::<Vec<f32>>()
        };
        let place = |x: f64| (2.0 * x - 1.0) as f32;
        assert!(fitted(0.6, 0.0).iter().all(|&t| t == place(0.6)));
        assert!(fitted(0.6, 0.49).contains(&place(0.6)));
        assert!(fitted(0.55, 0.49).contains(&place(0.55)));
        assert!(!fitted(0.55, 0.49).contains(&place(0.6)));
    }
}
