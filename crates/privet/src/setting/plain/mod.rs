//! Training without protection.
//!
//! **Who takes part.** One person with a table, who sees all of it.
//!
//! **What happens.** The rows are taken out of their wrapper with a permission that says why ([`Unprotected`](crate::privacy::Unprotected)), a learner is
//! fitted to them as they are, and the result becomes a model. No noise is drawn and no budget is charged; where the permission
//! was recorded, the data set's total is void from then on.
//!
//! **Who learns what.** Everybody who sees the model may learn anything about anybody in the table: coefficients and cut
//! points follow the rows exactly. The model's certificate says so in its first line, and cannot be made to say anything
//! else.
//!
//! **What it is for.** Tables that are public anyway, and the figure without privacy that every private one is measured
//! against. The algorithm [`Constant`] gives the other end: what is reached without looking at
//! a single feature.
//!
//! **What it does not do.** It never fails because of what rows say. No rows at all, a single class, a constant column:
//! each gives a model.
//!
//! Each algorithm is a type of parameters, with a builder that checks them: parameters → [`Plan`] → model.

mod algorithms;
mod plan;
mod trees;

pub use crate::boost::Thresholds;
pub use crate::boost::gradient::{Flavour, Sums, Trees};
pub use crate::learner::Progress;
pub use crate::parameters::{Builder, Name, Parameters};
pub use algorithms::{Centroid, Constant, Logistic, Stumps};
pub use plan::{Algorithm, Plan};

use crate::parameters::algorithms;

algorithms!(Logistic, Centroid, Stumps, Trees, Constant);
