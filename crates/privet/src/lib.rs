//! Boosted models trained on data that may not be pooled.
//!
//! From rows in memory to a private model, its predictions and its certificate:
//!
//! ```
//! use privet::data::schema::{category, label, number};
//! use privet::data::{Frame, Schema, Table};
//! use privet::learner::SILENT;
//! use privet::privacy::account::Caps;
//! use privet::privacy::{Delta, Epsilon, Ledger, Randomness};
//! use privet::setting::central::{Algorithm, Budget, Trees};
//!
//! # fn main() -> Result<(), privet::Error> {
//! let columns = [number("age", 0..=120), category("job", ["nurse", "clerk"]), label("ill", ["no", "yes"])];
//! let schema = Schema::builder("patients").columns(columns).build()?;
//! let budget = Budget::pure(Epsilon::new(1.0)?, 600)?; // ε, and about how many rows there are by public knowledge
//! let plan = Trees::builder().leaves(6).build()?.plan(&schema, &schema.relation(), budget)?;
//! println!("{plan}"); // what is read, what it costs, and the error that noise adds to predictions
//!
//! let ages: Vec<f64> = (0..600).map(|i| f64::from(i % 90)).collect();
//! let jobs: Vec<&str> = (0..600).map(|i| ["nurse", "clerk"][i % 2]).collect();
//! let ill: Vec<&str> = ages.iter().map(|&age| if age > 60.0 { "yes" } else { "no" }).collect();
//! let rows = Frame::new().column("age", &ages).column("job", &jobs).column("ill", &ill);
//!
//! let caps = Caps::from(plan.price()); // a ledger that lasts is `privet_node::ledger::Store`
//! let ledger = Ledger::volatile(schema.relation(), caps, Delta::ZERO, Randomness::from_os()?)?;
//! let model = plan.fit(Table::read(&plan.reads(), &rows)?, ledger, SILENT)?;
//! let new = Frame::new().column("age", [34.0, 81.0]).column("job", ["clerk", "nurse"]);
//! println!("{:?}", model.predict(&new)?.probabilities());
//! println!("{}", model.certificate()); // who is protected, and how well
//! # Ok(())
//! # }
//! ```
//!
//! The house is built floor by floor, and a room imports only floors below it:
//!
//! | floor | what it owns |
//! | --- | --- |
//! | [`privacy`] | private values, neighbour relations, exact budgets and noise, the ledger and its certificate |
//! | [`data`] | schemas, which are public, and tables, which are not |
//! | [`learner`] | weak learners: each fits weighted rows, and votes |
//! | [`parameters`] | parameters of algorithms: how they are declared, checked and read from a job |
//! | [`boost`] | ensembles of learners: coefficients, weights, votes |
//! | [`model`] | what is saved and shown: one file, and predictions |
//! | [`wire`] | what parties send each other, as bytes |
//! | [`party`] | roles of protocols, in one process or many |
//! | [`noisy`] | trees and evaluations with noise that a ledger pays for |
//! | [`setting`] | from parameters to a plan, and to a model with its certificate |
//!
//! A value that depends on somebody's data is [`Private`](privacy::Private): it cannot be printed, compared or serialised.
//! It is released through a mechanism, and a mechanism draws only what a ledger has paid for:
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
//! // What remains of the budget is less than 0.6.
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
pub mod noisy;
pub mod parameters;
pub mod party;
pub mod privacy;
pub mod setting;
pub mod wire;

pub use error::Error;

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
