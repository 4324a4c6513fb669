//! Weak learners: each fits weighted rows, and votes.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `linear`, `logistic` | sums over features, fitted by weighted logistic regression or least squares |
//! | `centroid` | the nearest centroid, which is such a sum |
//! | `plane` | which side of a sum's zero a row lies on, and planes at random |
//! | `stump`, `split` | one question about one feature, and the search for the best one |
//! | `sorted` | numbers in their order, sorted once, for questions between any two of them |
//! | `abstain` | stumps that may abstain |
//! | `design`, `solver` | rows as a sparse matrix, and minimisers of convex losses |
//! | `tree` | trees grown from histograms, level by level or leaf by leaf |
//!
//! A learner works on plain slices, inside a closure on private values: it draws no noise, keeps no budget and knows no
//! ensemble. Sums over rows are taken in blocks whose size depends on the number of rows alone, and added in order, so that
//! a model is the same to the last bit whatever the number of threads.

mod abstain;
mod centroid;
pub mod dense;
mod design;
mod linear;
mod logistic;
mod plane;
pub(crate) mod solver;
mod sorted;
mod split;
mod stump;
pub mod tree;

pub use centroid::Centroid;
pub(crate) use design::blocks;
pub use linear::{Linear, Term};
pub use logistic::Logistic;
pub(crate) use logistic::Loss;
pub use plane::{Coordinate, Plane, Region, code};
use serde::{Deserialize, Serialize};
pub use sorted::Sorted;
pub use stump::{Call, Stump, StumpRule};

use std::ops::ControlFlow;

use crate::data::schema::{Kind, Schema};
use crate::data::{Cells, Feature};
use crate::privacy::getters;
use tree::Tree;

/// Progress callback (done, total); it returns whether to continue.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) -> ControlFlow<()> + Sync);

/// A progress callback that does nothing.
pub const SILENT: Progress<'static> = &|_, _| ControlFlow::Continue(());

/// What a member of an ensemble can be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learner {
    /// One question about one feature.
    Stump(Stump),
    /// A sum over features.
    Linear(Linear),
    /// Which side of a sum's zero a row lies on.
    Plane(Plane),
    /// Whether a row lies on the upper side of several sums' zeros.
    Region(Region),
    /// Questions that lead to one of several leaves.
    Tree(Tree),
}

impl Learner {
    /// Checks that it fits features of these shapes.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self, shapes: &[Shape]) -> Result<(), String> {
        match self {
            Self::Stump(stump) => stump.check(shapes),
            Self::Linear(linear) => linear.check(shapes),
            Self::Plane(plane) => plane.linear.check(shapes),
            Self::Region(region) => region.sums.iter().try_for_each(|sum| sum.check(shapes)),
            Self::Tree(tree) => tree.check(&Shape::columns(shapes)).map_err(|e| e.to_string()),
        }
    }

    /// The vote for one row of features that it fits. Whole tables are scored by an ensemble, which is faster.
    pub fn vote(&self, shapes: &[Shape], features: &[Feature], row: usize) -> f64 {
        match self {
            Self::Stump(stump) => stump.vote_for(features, row),
            Self::Linear(linear) => linear.sum(features, row),
            Self::Plane(plane) => plane.vote(features, row),
            Self::Region(region) => region.vote(features, row),
            Self::Tree(tree) => {
                let leaf = tree.leaf(&Shape::columns(shapes), |feature| features[feature].bins.get(row));
                f64::from(tree.leaves[leaf])
            }
        }
    }

    /// The sums over all features that it is made of; none if it asks about one feature at a time.
    pub(crate) fn sums(&self) -> &[Linear] {
        match self {
            Self::Stump(_) | Self::Tree(_) => &[],
            Self::Linear(linear) => std::slice::from_ref(linear),
            Self::Plane(plane) => std::slice::from_ref(&plane.linear),
            Self::Region(region) => &region.sums,
        }
    }

    /// Whether it needs the values of numbers, besides their bins.
    pub fn needs_values(&self) -> bool {
        match self {
            Self::Stump(stump) => stump.rule.needs_values(),
            Self::Tree(_) => false,
            Self::Linear(linear) => linear.needs_values(),
            Self::Plane(plane) => plane.linear.needs_values(),
            Self::Region(region) => region.sums.iter().any(Linear::needs_values),
        }
    }
}

/// What a schema says about the slots of one feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// How many slots there are, those for undeclared and missing cells included.
    pub slots: usize,
    /// How many slots come first and have an order; none for categories.
    pub ordered: usize,
    /// The slot of missing cells.
    pub missing: u16,
    /// Whether it is a number.
    pub number: bool,
}

impl Shape {
    /// The shapes of a schema's features, in order.
    pub fn of(schema: &Schema) -> Vec<Self> {
        schema
            .features()
            .map(|column| {
                let (ordered, missing, number) = match &column.kind {
                    Kind::Number(number) => (number.cuts().bins(), number.missing(), true),
                    Kind::Ordinal(declared) | Kind::Flag(declared) => {
                        (declared.values().len(), declared.missing(), false)
                    }
                    Kind::Category(declared) => (0, declared.missing(), false),
                    Kind::Id | Kind::Skip | Kind::Label(_) | Kind::Weight(_) => (0, 0, false),
                };
                Self {
                    slots: column.kind.slots(),
                    ordered,
                    missing,
                    number,
                }
            })
            .collect()
    }

    /// A term that adds nothing. Slots do, so that a number that is not weighed need not be kept either.
    pub(crate) fn nothing(&self) -> Term {
        Term::Slots(vec![0.0; self.slots])
    }

    /// What a tree must know about the same features.
    pub fn columns(shapes: &[Self]) -> Vec<tree::Column> {
        let column = |shape: &Self| tree::Column {
            slots: shape.slots,
            ordinary: shape.ordered,
            ordered: shape.ordered > 0,
        };
        shapes.iter().map(column).collect()
    }
}

/// Weighted rows to learn from.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    shapes: &'a [Shape],
    features: &'a [Feature],
    weights: &'a [f64],
}

impl<'a> Sample<'a> {
    /// The rows of `cells`, each with its weight. `None` if there are not as many features or weights as there should be.
    pub fn new(shapes: &'a [Shape], cells: &'a Cells, weights: &'a [f64]) -> Option<Self> {
        // A table of which no piece was read has no columns either.
        let fits =
            cells.rows() == weights.len() && (cells.rows() == 0 || cells.features().len() == shapes.len());
        fits.then_some(Self {
            shapes,
            features: cells.features(),
            weights,
        })
    }

    getters! {
        /// How many rows there are.
        pub rows(weights.len()) -> usize;
        /// The weight of each row.
        pub weights(weights) -> &'a [f64];
        /// The features of all rows.
        pub features(features) -> &'a [Feature];
    }

    /// The same rows with other weights, as many.
    pub fn reweighted<'b>(&self, weights: &'b [f64]) -> Sample<'b>
    where
        'a: 'b,
    {
        debug_assert_eq!(weights.len(), self.weights.len());
        Sample { weights, ..*self }
    }

    /// Whether the values of numbers were kept, besides their bins.
    pub fn has_values(&self) -> bool {
        let mut pairs = self.shapes.iter().zip(self.features);
        pairs.all(|(shape, feature)| !shape.number || feature.scaled.is_some())
    }
}

/// The class of each row.
#[derive(Debug, Clone, Copy)]
pub struct Classes<'a> {
    /// The number of each row's class.
    pub of: &'a [u16],
    /// How many classes there are.
    pub count: usize,
}

/// Adds numbers up in blocks, in an order that does not depend on threads.
pub(crate) fn sum(rows: usize, of: impl Fn(usize) -> f64 + Sync) -> f64 {
    use rayon::prelude::*;
    let parts: Vec<f64> = blocks(rows)
        .into_par_iter()
        .map(|block| block.map(&of).sum())
        .collect();
    parts.iter().sum()
}
