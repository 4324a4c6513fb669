//! Two parties with different rows of the same columns: stumps boosted in a joint computation that shows what is declared, and nothing else.
//!
//! **Paper.** MABoost.

pub mod clear;
mod course;
mod grid;
mod joint;
mod params;
mod plan;
mod side;
mod weak;

pub use params::{AttributeChoice, Classifier, CoefficientRule, CutPlaces, Secure, StartWeights};
pub use plan::{MOST_ATTRIBUTES, Plan};
pub use side::Side;
pub use weak::{Round, Weak};
