//! The ground floor: everything a privacy claim rests on.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `private`, `partition` | values that depend on somebody's data, and tables cut into parts |
//! | `neighbours`, `query` | which tables must look alike, and how far one unit can move an answer |
//! | `epsilon`, `account` | exact budgets, composition and conversion, rounded against us |
//! | `sampler`, `mechanism` | exact noise on integers, and the releases made with it; the minima of perturbed losses |
//! | `ledger`, `reservation` | pay, write it down, draw |
//! | `journal`, `texts`, `book` | the hash chain of payments, and what it adds up to |
//! | `joint` | the other door: private values in joint computations, leak by leak |
//! | `unprotected` | the door for what is not private, and says so |
//! | `run`, `certificate` | what a run guarantees: what follows from its entries |
//! | `signature` | who wrote a certificate or a model |
//! | `enclosure`, `ratio` | real and rational numbers that never round silently |
//!
//! It does not know what a tree is.

pub mod account;
#[cfg(feature = "audit")]
pub mod audit;
mod book;
mod certificate;
mod coins;
mod decimal;
pub(crate) mod enclosure;
mod epsilon;
pub mod joint;
pub mod journal;
pub mod ledger;
pub mod mechanism;
mod neighbours;
mod partition;
mod private;
mod query;
mod ratio;
mod released;
mod reservation;
mod run;
pub mod sampler;
pub mod signature;
mod texts;
mod unprotected;

pub use book::{Account, Book, Line, Refusal};
pub use certificate::{
    Certificate, Claim, Columns, Guarantee, Leakage, Observer, Payment, REFUTED, Said, Total,
};
pub use coins::Coins;
pub use epsilon::{Delta, Epsilon};
pub use ledger::Ledger;
pub use mechanism::Paid;
pub use neighbours::{AddRemove, Neighbours, Relation, Replace, ReplacePrivate, Typed};
pub use partition::{Partition, Rows};
pub use private::Private;
pub use query::{Anchor, Norm, Query, Sensitivity};
pub use ratio::Ratio;
pub use released::Released;
pub use reservation::{Part, Reservation};
pub use run::Promise;
pub use sampler::Randomness;
pub use unprotected::Unprotected;
