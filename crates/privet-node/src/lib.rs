//! The only crate that touches the world: files, the ledger's storage and the `privet` command.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`ledger`] | the journal of payments on SQLite, its lock, and how a table is recognised under another name |
//! | [`cli`] | the command line: arguments as typed, arguments as needed, one file for each verb |
//! | [`table`] | tables in files: text, gzipped text, Parquet |
//!
//! It computes no statistic: whatever depends on rows goes through the `privet` library.
#![forbid(unsafe_code)]

pub mod cli;
pub mod ledger;
pub mod table;
