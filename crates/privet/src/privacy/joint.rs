//! Private values that enter a joint computation.
//!
//! In secure computation a value is used without central noise. What the other party learns is then not measured by an ε but
//! listed, and each item of the list is an entry of the ledger with its count. Such entries are never added to an ε.

use std::borrow::Cow;

use super::Anchor;

/// One item that a joint computation shows to another party, with its proof anchor.
#[derive(Debug, Clone)]
pub struct Leak {
    what: Cow<'static, str>,
    to: Cow<'static, str>,
    anchor: Anchor,
}

impl Leak {
    /// `to` learns `what`, as argued at `anchor`.
    pub fn new(what: impl Into<Cow<'static, str>>, to: impl Into<Cow<'static, str>>, anchor: Anchor) -> Self {
        Self {
            what: what.into(),
            to: to.into(),
            anchor,
        }
    }

    /// What is learnt.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Who learns it.
    pub fn to(&self) -> &str {
        &self.to
    }

    /// Where it is argued.
    pub fn anchor(&self) -> Anchor {
        self.anchor
    }
}

/// A private value whose disclosure is recorded in the ledger; made only by
/// [`Ledger::disclose`](super::Ledger::disclose).
pub struct Disclosed<T>(T);

impl<T> Disclosed<T> {
    pub(in crate::privacy) fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, for the joint computation that was declared.
    pub fn into_inner(self) -> T {
        self.0
    }
}
