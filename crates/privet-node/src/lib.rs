//! What the `privet` command does, as a library: the only crate that touches the world.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`ledger`] | the journal of payments on SQLite, its lock, and how a table is recognised under another name |
//! | [`table`] | readers of CSV and Parquet files |
//! | [`collection`] | local messages, counted on disk |
//! | [`job`] | what is to be done, from one TOML file |
//! | [`net`] | parties on a network: keys, connections, agreements, and a seat on them |
//! | [`record`] | the released columns of a party |
//! | [`verb`] | plan, train, predict, evaluate, inspect and so on: a request goes in, an answer comes out |
//! | [`place`] | whether two paths name one file |
//! | [`progress`] | progress of long work |
//!
//! It computes no statistic: whatever depends on rows goes through the `privet` library. It knows neither arguments nor a terminal:
//! those are `privet-cli`'s.
#![forbid(unsafe_code)]

pub mod collection;
pub mod job;
pub mod ledger;
pub mod net;
pub mod place;
pub mod progress;
pub mod record;
pub mod table;
pub mod verb;
