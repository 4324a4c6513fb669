//! Where rooms meet: parameters in, a model with its certificate out.
//!
//! | setting | who trusts whom | what the model protects |
//! | --- | --- | --- |
//! | [`plain`] | whoever trains sees all rows | nobody |
//! | [`central`] | a curator sees all rows, everybody else the model | a person, or a person's private columns, from whoever sees the model |
//! | [`vertical`] | nobody: each party sees its own columns, and the others' changed | how near two people's values are, column by column |
//!
//! Every setting has the same shape: parameters, checked when built ([`parameters`](crate::parameters)); a resolved plan, made once from parameters, schema
//! and relation, which owns what is read, what it costs and what is said about it; fit, or the roles of parties; a model. Only a
//! plan can train.

pub mod central;
pub mod plain;
pub mod vertical;
