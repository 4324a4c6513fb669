//! The only crate that touches the world: files, the ledger's storage and the `privet` command.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`ledger`] | the journal of payments on SQLite, its lock, and how a table is recognised under another name |
//! | [`table`] | readers of CSV and Parquet files |
//! | [`job`] | what is to be done, from one TOML file |
//! | [`reproduce`] | the papers' experiments, repeated |
//! | [`record`] | what a party must remember: columns that have left |
//! | [`progress`] | bars for long work |
//! | [`cli`] | the command line: arguments as typed, arguments as needed, one file for each verb |
//!
//! It computes no statistic: whatever depends on rows goes through the `privet` library.
#![forbid(unsafe_code)]

pub mod cli;
pub mod job;
pub mod ledger;
pub mod progress;
pub mod record;
pub mod reproduce;
pub mod table;
