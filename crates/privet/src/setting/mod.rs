//! Settings: who holds which data and whom they trust. Each turns parameters and tables into a model with its certificate.
//!
//! | setting | who trusts whom | what the model protects |
//! | --- | --- | --- |
//! | [`plain`] | the trainer sees all rows | nobody |
//! | [`central`] | a curator sees all rows, everybody else the model | a person, or a person's private columns, from anybody who sees the model |
//! | [`horizontal`] | nobody: each owner sees its own rows; the miner and up to k owners may collude | each owner's people, from anybody who sees the model and from the colluders |
//! | [`secure`] | nobody: two parties see their own rows, and what a joint computation is declared to show | everything about the other's rows that is not listed; there is no ε |
//! | [`local`] | nobody: each owner sends one message | everything about an owner, from anybody who sees its message |
//! | [`vertical`] | nobody: each party sees its own columns, and the others' changed | how near two people's values are, column by column |
//!
//! Every setting has the same shape: parameters, checked when built ([`parameters`](crate::parameters)); a resolved plan, made once from parameters, schema
//! and relation, which holds the columns to read, the price and their description; fit, or the roles of parties; a model. Only a
//! plan can train.

pub mod central;
pub mod horizontal;
pub mod local;
pub mod plain;
pub mod secure;
pub mod vertical;
