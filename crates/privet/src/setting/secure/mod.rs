//! Two parties with different rows of the same columns: stumps boosted in a joint computation that shows what is declared, and nothing else.
//!
//! **Paper.** MABoost.

mod certified;
mod circuits;
pub mod clear;
mod course;
mod grid;
mod joint;
mod leaks;
mod message;
mod params;
mod party;
mod plan;
mod rehearsal;
mod script;
mod side;
mod weak;

pub use leaks::Item;
pub use message::Message;
pub use params::{AttributeChoice, Classifier, CoefficientRule, CutPlaces, Secure, StartWeights};
pub use party::{INITIATOR, Initiator, Outcome, Party, RESPONDER, Responder};
pub use plan::{MOST_ATTRIBUTES, Plan, coins};
pub use side::Side;
pub use weak::{Round, Weak};
