//! One curator, one table, a released model.
//!
//! **Paper.** BRC: AdaBoost with random classifiers when only some features are private (algorithm 2), or everything is
//! (algorithm 3); and four methods that are better at the same ε.
//!
//! **Who takes part.** A curator who has the table and is trusted with it, and everybody else, who sees the model.
//!
//! **What happens.** Public columns, where the label is public too, are learnt from as they are. About private ones a few
//! integers are released with exact noise: errors of planes that were drawn blindly, one choice among many, counts, a sum of
//! residuals. Everything in the model follows from these and from public columns.
//!
//! **Who learns what.** Whoever sees the model, and whatever else they know, can hardly tell whether one person's private
//! columns (or, where everything is private, one person) were others, or there: their odds change by a factor of e^ε at most, and by
//! e^2ε between two people where a budget is about one who comes or goes. How much
//! that is, `privet plan` says before anything is paid. Where some columns are public, membership, public columns and a public
//! label are *not* protected, and nothing is promised about what can be guessed from them.
//!
//! **What it does not do.** It looks at no private column to choose bounds, bins, rounds or the algorithm: those follow from
//! the schema, ε and a number of rows that the job declares. It never fails because of what rows say. Two classes only, except for trees.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `plan` | what a run will do, fixed before the first row is looked at |
//! | `auto` | which algorithm is best, by a public rule |
//! | `noise` | how much error noise adds, in words |
//! | `rows` | numbers behind the wall, public columns in front of it |
//! | `brc` | algorithms 2 and 3 |
//! | `select` | one choice among random planes |
//! | `bayes` | naive Bayes from noisy counts |
//! | `moment` | a noisy direction, and a choice around it |
//! | `objective` | logistic regression with a perturbed loss |
//! | `logistic` | the same as its authors have it: every column private |
//! | `people` | boosting of classifiers that are private themselves |
//! | `regression` | the minimum of a perturbed logistic loss |
//! | `trees` | boosted trees, which live next door (`noisy/trees`) |
//! | `forest` | random trees whose leaves count rows by class |
//! | `public` | public columns alone |
//!
//! Each algorithm is a type of parameters, with a builder that checks them: parameters → [`Plan`] → model.

mod auto;
mod bayes;
mod brc;
mod forest;
mod logistic;
mod moment;
mod noise;
mod objective;
mod people;
mod plan;
mod public;
mod recalibration;
mod regression;
mod rows;
mod select;
mod trees;

pub use crate::learner::Progress;
pub use crate::noisy::Budget;
pub use crate::noisy::trees::{LabelTransform, Places, Splits, Trees};
pub use crate::parameters::{Builder, Name, Parameters};
pub use auto::Auto;
pub use bayes::HistogramBayes;
pub use brc::{Brc, Clip, Coefficient, Normaliser, Planes};
pub use forest::Forest;
pub use logistic::DpLogistic;
pub use moment::MomentSelect;
pub use objective::{Encoding, Objective};
pub use people::People;
pub use plan::{Algorithm, Plan};
use plan::{Facts, Resolved, Run, Train, TrainOnRows};
pub use public::Public;
pub use select::Select;
pub use trees::inprivate;

use crate::parameters::{Balance, algorithms, at};

macro_rules! curator {
    ($($algorithm:ty),* $(,)?) => {
        algorithms!($($algorithm),*);

        $(impl plan::Balanced for $algorithm {
            fn is_balanced(&self) -> bool {
                self.balance.0
            }
        })*
    };
}

curator!(
    Auto,
    Trees,
    Brc,
    Select,
    HistogramBayes,
    MomentSelect,
    Objective,
    DpLogistic,
    People,
    Forest,
    Public
);
