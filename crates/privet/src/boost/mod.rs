//! Ensembles of learners: coefficients, weight updates, votes.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `ensemble` | weighted members, and the scores they give to rows |
//! | `spikes` | values that many rows share, which were released and have bins of their own |
//! | `reading` | what is done to sums before they are scores: recalibration, and the scale of a number |
//! | `signal` | what each feature does to scores, beside what noise alone would do |
//! | `additive`, `steps` | members that look at one feature at a time, summed to one table for each feature |
//! | `adaboost` | boosting of stumps: AdaBoost for two classes, SAMME for more, least squares for numbers |
//! | `abstain` | AdaBoost with learners that may abstain |
//! | `whole` | the same arithmetic in whole numbers, for parties that must agree to the last bit |
//! | `gradient` | gradient boosting of trees: logistic, softmax and squared loss |
//!
//! No mechanism is used here: callers run this code inside closures on private values.

mod abstain;
mod adaboost;
mod additive;
mod ensemble;
pub mod gradient;
mod reading;
mod signal;
mod spikes;
mod steps;
mod summary;
mod whole;

pub use abstain::{Abstaining, Factors, Rates};
pub use adaboost::{AdaBoost, Thresholds};
pub use ensemble::{Ensemble, Link, Member};
pub use reading::{Calibration, Scale};
pub use signal::{CountedTerm, Signal};
pub use spikes::Spikes;
pub use whole::{Alpha, LARGEST, TOTAL, WholeFactors, WholeRates};

pub use crate::learner::Learner;
