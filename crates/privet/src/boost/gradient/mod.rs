//! Gradient boosting: each round's trees follow the gradient of a loss.
//!
//! Two flavours: first order (Friedman: splits by gradients, Newton's leaves) and second order (XGBoost: gradients and
//! hessians decide about both). Losses are logistic for two classes, softmax for more, squared for numbers; the schema's
//! label says which.
//!
//! It draws no noise. Sums are exact integers unless floats are asked for, so that a model has the same bytes whatever the
//! number of threads, and half of the rounds continued by the other half is the whole.

mod builder;
mod fit;
mod loss;
mod parameters;
mod sample;

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

pub use builder::Builder;
pub use loss::Loss;
pub use parameters::{Flavour, Trees};

use super::{Ensemble, Link, Member};
use crate::Error;
use crate::data::{Cells, Schema};
use crate::learner::Learner;
use crate::learner::tree::{Categories, Column, Greedy, Growth, Missing, Order, SlotSource, Tree, Walker};

/// How gradients are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sums {
    /// As integers on a grid of 16 bits: exact, whatever the order.
    #[default]
    Integers,
    /// As single-precision floats.
    Floats,
}

/// Where scores start.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Base {
    /// At the constant that suits the labels best.
    #[default]
    Fitted,
    /// Here, one for each output.
    Given(Vec<f32>),
}

/// The settings of gradient boosting, valid for any schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient {
    rounds: usize,
    rate: f64,
    growth: Growth,
    order: Order,
    lambda: f64,
    gamma: f64,
    min_child_weight: f64,
    missing: Missing,
    categories: Categories,
    monotone: Vec<i8>,
    rows: f64,
    columns: f64,
    seed: [u8; 32],
    patience: Option<usize>,
    sums: Sums,
    base: Base,
}

/// Labelled rows.
#[derive(Debug, Clone, Copy)]
pub struct LabelledRows<'a> {
    /// Features and labels.
    pub cells: &'a Cells,
    /// How much each row counts; one if there is no list.
    pub weights: Option<&'a [f32]>,
}

/// The inputs of fitting a model.
#[derive(Debug, Clone, Copy)]
pub struct Training<'a> {
    /// Describes all rows.
    pub schema: &'a Schema,
    /// The rows to learn from.
    pub rows: LabelledRows<'a>,
    /// Validation rows, for early stopping.
    pub validation: Option<LabelledRows<'a>>,
    /// A model to continue from.
    pub start: Option<&'a Boosted>,
}

/// Progress after a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundEnd {
    /// How many rounds have ended.
    pub done: usize,
    /// How many there will be, unless it stops early.
    pub rounds: usize,
    /// The mean loss on the validation rows, if there are any.
    pub validation: Option<f64>,
}

/// Trees that add up to scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boosted {
    /// The loss it was fitted with.
    pub loss: Loss,
    /// Where each output's scores start.
    pub base: Vec<f32>,
    /// The trees; the i-th adds to output i modulo the number of outputs.
    pub trees: Vec<Tree>,
}

impl Boosted {
    /// Checks that every tree fits the schema.
    ///
    /// # Errors
    /// [`Error::Data`] otherwise.
    pub fn check(&self, schema: &Schema) -> Result<(), Error> {
        self.walker(schema).map(|_| ())
    }

    /// The trees, made ready to score many rows.
    ///
    /// # Errors
    /// [`Error::Data`] for a model that does not fit the schema.
    pub fn walker(&self, schema: &Schema) -> Result<Walker, Error> {
        let outputs = self.loss.outputs();
        if self.base.len() != outputs || !self.trees.len().is_multiple_of(outputs) {
            return Err(Error::data(
                "the model has different numbers of trees for its outputs",
            ));
        }
        if !self.base.iter().all(|base| base.is_finite()) {
            return Err(Error::data("the model's base score is not a finite number"));
        }
        Walker::new(Column::of(schema), &self.base, &self.trees)
    }

    /// The scores of all rows, row by row, one for each output, before the loss makes probabilities of them.
    ///
    /// # Errors
    /// [`Error::Data`] for a model that does not fit the schema.
    pub fn scores(&self, schema: &Schema, rows: &impl SlotSource) -> Result<Vec<f32>, Error> {
        Ok(self.walker(schema)?.scores(rows))
    }

    /// The same model as an ensemble, with a schema whose label it was fitted to.
    pub fn into_ensemble(self) -> Ensemble {
        let outputs = self.loss.outputs();
        let member = |(place, tree)| Member::new(1.0, place % outputs, Learner::Tree(tree));
        Ensemble::new(
            match self.loss {
                Loss::Logistic => Link::Logistic,
                Loss::Softmax(_) => Link::Softmax,
                Loss::Squared => Link::Identity,
            },
            self.base.into_iter().map(f64::from).collect(),
            self.trees.into_iter().enumerate().map(member).collect(),
        )
    }

    /// How many rounds it was boosted.
    pub fn rounds(&self) -> usize {
        self.trees.len() / self.loss.outputs()
    }
}

impl Gradient {
    /// The usual settings, to be changed: a hundred rounds at a rate of 0.1, six levels, second order.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Checks that the settings fit the schema.
    ///
    /// # Errors
    /// [`Error::Parameter`] for one that does not.
    pub fn check(&self, schema: &Schema) -> Result<(), Error> {
        let bad = |key, why: &str| Err(Error::parameter(key, why));
        if self.monotone.len() > schema.features().count() {
            return bad("monotone", "monotone names more features than there are");
        }
        let loss = Loss::of(schema)?;
        match &self.base {
            Base::Given(base) if base.len() != loss.outputs() => {
                bad("base", "the base has one finite score for each output")
            }
            _ => Ok(()),
        }
    }

    /// How splits are chosen.
    pub fn greedy(&self) -> Greedy {
        Greedy {
            order: self.order,
            lambda: self.lambda,
            gamma: self.gamma,
            min_child_weight: self.min_child_weight,
            missing: self.missing,
            categories: self.categories,
            monotone: self.monotone.clone(),
        }
    }

    /// Fits trees to rows. `progress` is called after each round and can stop it.
    ///
    /// # Errors
    /// [`Error::Parameter`] for settings that do not fit the schema; [`Error::Misuse`] for rows that are not of the schema, or have
    /// no labels or not as many weights.
    pub fn fit(
        &self,
        training: &Training<'_>,
        progress: &mut dyn FnMut(RoundEnd) -> ControlFlow<()>,
    ) -> Result<Boosted, Error> {
        self.check(training.schema)?;
        fit::fit(self, training, &self.greedy(), progress)
    }
}
