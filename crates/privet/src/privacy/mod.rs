//! Everything that a privacy claim depends on: the lowest room.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `private`, `partition` | values that depend on somebody's data, and tables cut into parts |
//! | `neighbours`, `query` | neighbour relations, and the sensitivity of queries |
//! | `epsilon`, `account` | exact budgets, composition and conversion, rounded against us |
//! | `sampler`, `mechanism` | exact noise on integers, and the releases made with it; the minima of perturbed losses |
//! | `ledger`, `reservation` | pay, store the payment, draw |
//! | `keeping` | what a released value that is stored with the ledger is bound to |
//! | `journal`, `texts`, `book` | the hash chain of payments, and what it adds up to |
//! | `joint`, `sharing` | private values in joint computations, with each leak declared; joint sums with noise in shares |
//! | `unprotected` | permission to use private values without protection |
//! | `run`, `certificate` | what a run guarantees, derived from its entries |
//! | `signature` | who wrote a certificate or a model |
//! | `getters` | how methods that give a part of a value are declared |
//! | `enclosure`, `ratio` | real and rational numbers that never round silently |
//! | `memo` | results for public parameters, kept for the next time |
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
mod getters;
pub mod joint;
pub mod journal;
mod keeping;
pub mod ledger;
pub mod mechanism;
mod memo;
mod neighbours;
mod partition;
mod private;
mod query;
mod ratio;
mod released;
mod reservation;
mod run;
pub mod sampler;
mod sharing;
pub mod signature;
pub mod texts;
mod unprotected;

pub use book::{Account, Book, BudgetLine, ColumnState, Refusal};
pub use certificate::{
    Certificate, Claim, Columns, Commitment, Guarantee, Leakage, Observer, PartyCertificate, Payment,
    REFUTED, Total,
};
pub use coins::Coins;
pub use epsilon::{Delta, Epsilon};
pub(crate) use getters::getters;
pub use joint::Contribution;
pub(crate) use keeping::Binding;
pub use keeping::KeptName;
pub use ledger::{
    Allowance, CampaignName, KeptOutput, Ledger, PartQuery, PortionAllowance, Portions, ShareAllowance,
};
pub use mechanism::Paid;
pub use neighbours::{AddRemove, BudgetToSet, Neighbours, Owner, Relation, Replace, ReplacePrivate};
pub use partition::{Partition, PerRow};
pub use private::Private;
pub use query::{Anchor, FLOORED, Norm, Query, Sensitivity};
pub use ratio::Ratio;
pub use released::Released;
pub use reservation::{Part, Reservation};
pub use run::Promise;
pub use sampler::Randomness;
pub use sharing::Sharing;
pub use unprotected::Unprotected;
