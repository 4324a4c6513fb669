//! Boosted models trained on data that may not be pooled.
//!
//! The house is built floor by floor, and a room imports only floors below it:
//!
//! | floor | what it owns |
//! | --- | --- |
//! | [`privacy`] | private values, neighbour relations, exact budgets and noise, the ledger and its certificate |
//! | [`data`] | schemas, which are public, and tables, which are not |
//! | [`learner`] | one weak learner each: it fits weighted rows, and votes |
//! | [`boost`] | ensembles of learners: coefficients, weights, votes |
//! | [`model`] | what is saved and shown: one file, and predictions |
//! | [`wire`] | what parties send each other, as bytes |
//! | [`party`] | roles of protocols, in one process or many |
//! | [`setting`] | where rooms meet: parameters in, a model with its certificate out |
//!
//! A value that depends on somebody's data is [`Private`](privacy::Private): it cannot be printed, compared or serialised.
//! It leaves through a mechanism, and a mechanism draws only what a ledger has paid for:
//!
//! ```
//! use privet::privacy::account::Caps;
//! use privet::privacy::mechanism::Laplace;
//! use privet::privacy::{
//!     AddRemove, Anchor, Delta, Epsilon, Ledger, Norm, Private, Query, Randomness, Sensitivity,
//! };
//!
//! # fn main() -> Result<(), privet::Error> {
//! let ages = Private::new(vec![34, 51, 29]);
//! let budget = Caps { pure: Epsilon::new(1.0)?, ..Caps::ZERO };
//! let mut ledger = Ledger::volatile(AddRemove::row(), budget, Delta::ZERO, Randomness::from_os()?)?;
//!
//! // One row more or less moves a count by one.
//! let claim = Sensitivity::claim(&AddRemove::row(), Norm::L1(1), Anchor::new("laplace#integer-vectors"))?;
//! let count = Query::new(1, claim, || ages.as_ref().map(|ages| vec![ages.len() as i64]));
//! let half = Laplace::calibrated(Epsilon::new(0.5)?, 1)?;
//! let noisy = ledger.release("how many", &half, count)?;
//! println!("about {}", noisy.value()[0]);
//!
//! // The rest of the budget does not reach for another 0.6.
//! let claim = Sensitivity::claim(&AddRemove::row(), Norm::L1(1), Anchor::new("laplace#integer-vectors"))?;
//! let again = Query::new(1, claim, || ages.as_ref().map(|ages| vec![ages.len() as i64]));
//! let dear = Laplace::calibrated(Epsilon::new(0.6)?, 1)?;
//! assert!(matches!(ledger.release("again", &dear, again), Err(privet::Error::Budget(_))));
//! # Ok(())
//! # }
//! ```
//!
//! The library opens no socket, file or clock; `privet-node` does, and the `privet` command with it.
#![forbid(unsafe_code)]

pub mod boost;
pub mod data;
pub mod error;
pub mod learner;
pub mod model;
pub mod party;
pub mod privacy;
pub mod setting;
pub mod wire;

pub use error::Error;

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
