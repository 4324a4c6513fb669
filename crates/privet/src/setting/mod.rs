//! Where rooms meet: parameters in, a model with its certificate out.
//!
//! | setting | who trusts whom | what the model protects |
//! | --- | --- | --- |
//! | [`plain`] | whoever trains sees all rows | nobody |
//! | [`evaluation`] | whoever has labelled rows sees them | a person among these rows, from the figures |
//!
//! A setting parses its parameters once, before anything is read or paid.

pub mod evaluation;
pub mod plain;
