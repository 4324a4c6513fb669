//! Training without protection.
//!
//! **Who takes part.** One person with a table, who sees all of it.
//!
//! **What happens.** The rows are taken out of their wrapper with a leave that says why ([`Unprotected`]), a learner is
//! fitted to them as they are, and the result becomes a model. No noise is drawn and no budget is charged; where the leave
//! was recorded, the data set's total is void from then on.
//!
//! **Who learns what.** Everybody who sees the model may learn anything about anybody in the table: coefficients and cut
//! points follow the rows exactly. The model's certificate says so in its first line, and cannot be made to say anything
//! else.
//!
//! **What it is for.** Tables that are public anyway, and the figure without privacy that every private one is measured
//! against. The algorithm [`Constant`](Algorithm::Constant) gives the other end: what is reached without looking at
//! a single feature.
//!
//! **What it does not do.** It never fails because of what rows say. No rows at all, a single class, a constant column:
//! each gives a model.

mod params;
mod trees;

pub use params::{Algorithm, Builder, Plain, THRESHOLDS};
pub use trees::{Flavour, SUMS, Trees};

use std::ops::ControlFlow;

use crate::Error;
use crate::boost::gradient::{Rows, Training};
use crate::boost::{Abstaining, AdaBoost, Ensemble, Learner, Link, Member};
use crate::data::schema::{Label, Schema};
use crate::data::{Cells, Keep, Table, Target};
use crate::error::Subject;
use crate::learner::{Centroid, Classes, Linear, Logistic, Sample, Shape};
use crate::model::{Model, Settings};
use crate::privacy::Unprotected;

/// Slots of all features times classes, at most.
const LARGEST: usize = 1 << 22;

/// Told how much of how much is done.
type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

impl Plain {
    /// Trains a model on a table that was read with what [`keep`](Self::keep) asks for.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the schema has no label or too many slots, [`Error::Misuse`] if the table was read without labels or numbers.
    /// What the rows say is never the reason.
    pub fn fit(&self, table: Table, leave: &Unprotected, progress: Progress<'_>) -> Result<Model, Error> {
        let schema = table.schema().clone();
        let Some((_, label)) = schema.label() else {
            return Err(Error::parameter(
                Subject::Schema,
                "the schema has no label, so there is nothing to predict: add a line such as outcome = { type = \"label\", values = [\"no\", \"yes\"] } \
             to its [columns]",
            ));
        };
        self.check(&schema)?;
        let cells = leave.reveal(table.into_cells());
        let ensemble = self.ensemble(&schema, label, &cells, progress)?;
        Model::new(
            schema,
            ensemble,
            leave.certificate(),
            Settings::new(self.settings()),
        )
    }

    /// Sums by slot and class must fit into memory: known from the schema alone.
    pub(super) fn check_size(&self, schema: &Schema, label: &Label) -> Result<(), Error> {
        let slots: usize = Shape::of(schema).iter().map(|shape| shape.slots).sum();
        let classes = match label {
            Label::Classes(declared) => declared.values().len(),
            Label::Number { .. } => 1,
        };
        if *self.algorithm() != Algorithm::Constant && slots.saturating_mul(classes) > LARGEST {
            return Err(Error::parameter(
                Subject::Schema,
                format!(
                    "the schema's {slots} bins and values times {classes} classes are too many to learn from: at most {LARGEST} \
                 are possible; declare fewer"
                ),
            ));
        }
        Ok(())
    }

    fn ensemble(
        &self,
        schema: &Schema,
        label: &Label,
        cells: &Cells,
        progress: Progress<'_>,
    ) -> Result<Ensemble, Error> {
        let misuse = |why: &str| Error::misuse(why);
        let shapes = Shape::of(schema);
        let weights = vec![1.0; cells.rows()];
        let sample = Sample::new(&shapes, cells, &weights)
            .ok_or_else(|| misuse("the table was not read for its schema"))?;
        let none = match label {
            Label::Classes(_) => Target::Classes(Vec::new()),
            Label::Number { .. } => Target::Numbers(Vec::new()),
        };
        // A table of which no row was read has no labels either.
        let target = match cells.target() {
            Some(target) => target,
            None if cells.rows() == 0 => &none,
            None => return Err(misuse("the table was read without its labels")),
        };
        if self.keep() == Keep::Values && !sample.has_values() {
            return Err(misuse("the table was read without its numbers"));
        }
        if let Algorithm::Trees(trees) = self.algorithm()
            && cells.rows() > 0
        {
            return boosted(trees, schema, cells, progress);
        }
        Ok(match (target, label) {
            (Target::Classes(of), Label::Classes(declared)) => {
                let count = declared.values().len();
                self.classes(&sample, Classes { of, count }, progress)
            }
            (Target::Numbers(numbers), Label::Number { min, max }) => {
                self.numbers(&sample, numbers, (min + max) / 2.0, progress)
            }
            _ => return Err(misuse("the table's labels are not what its schema says")),
        })
    }

    fn classes(&self, sample: &Sample<'_>, classes: Classes<'_>, progress: Progress<'_>) -> Ensemble {
        match *self.algorithm() {
            Algorithm::Logistic { l2, iterations } => sums(
                Logistic { l2, iterations }.classes(sample, classes, progress),
                classes.count,
            ),
            Algorithm::Centroid => sums(Centroid.classes(sample, classes), classes.count),
            Algorithm::Stumps {
                rounds,
                thresholds,
                abstain,
            } => {
                if abstain {
                    let booster = Abstaining { rounds, thresholds };
                    booster.classes(sample, classes, progress)
                } else {
                    AdaBoost { rounds, thresholds }.classes(sample, classes, progress)
                }
            }
            // Of nobody, trees say what a constant says.
            Algorithm::Trees(_) | Algorithm::Constant => majority(classes),
        }
    }

    fn numbers(&self, sample: &Sample<'_>, numbers: &[f32], middle: f64, progress: Progress<'_>) -> Ensemble {
        let constant = |base: f64| Ensemble::new(Link::Identity, vec![base], Vec::new());
        if numbers.is_empty() {
            return constant(middle);
        }
        match *self.algorithm() {
            Algorithm::Logistic { l2, iterations } => {
                let linear = Logistic { l2, iterations }.numbers(sample, numbers, progress);
                Ensemble {
                    members: vec![Member {
                        weight: 1.0,
                        output: 0,
                        learner: Learner::Linear(linear),
                    }],
                    ..constant(0.0)
                }
            }
            Algorithm::Stumps {
                rounds, thresholds, ..
            } => AdaBoost { rounds, thresholds }.numbers(sample, numbers, progress),
            // No number is nearest to a centroid: such a schema was refused.
            Algorithm::Centroid | Algorithm::Trees(_) | Algorithm::Constant => {
                constant(numbers.iter().map(|&x| f64::from(x)).sum::<f64>() / numbers.len() as f64)
            }
        }
    }
}

fn boosted(trees: &Trees, schema: &Schema, cells: &Cells, progress: Progress<'_>) -> Result<Ensemble, Error> {
    let training = Training {
        schema,
        rows: Rows { cells, weights: None },
        validation: None,
        start: None,
    };
    let boosted = trees.gradient(schema)?.fit(&training, &mut |round| {
        progress(round.done as u64, round.rounds as u64);
        ControlFlow::Continue(())
    })?;
    Ok(boosted.into_ensemble())
}

/// One sum that is the log-odds of the second of two classes, or one for each of more.
fn sums(linear: Vec<Linear>, classes: usize) -> Ensemble {
    let (link, outputs) = if classes == 2 {
        (Link::Logistic, 1)
    } else {
        (Link::Softmax, classes)
    };
    let member = |(output, linear)| Member {
        weight: 1.0,
        output,
        learner: Learner::Linear(linear),
    };
    Ensemble::new(
        link,
        vec![0.0; outputs],
        linear.into_iter().enumerate().map(member).collect(),
    )
}

/// The classes' shares, each counted half a row more than it has, so that none is zero.
fn majority(classes: Classes<'_>) -> Ensemble {
    let mut counts: Vec<f64> = vec![0.5; classes.count];
    for &class in classes.of {
        counts[usize::from(class)] += 1.0;
    }
    let (link, base) = match counts[..] {
        [first, second] => (Link::Logistic, vec![(second / first).ln()]),
        _ => {
            let total: f64 = counts.iter().sum();
            (
                Link::Softmax,
                counts.iter().map(|count| (count / total).ln()).collect(),
            )
        }
    };
    Ensemble::new(link, base, Vec::new())
}
