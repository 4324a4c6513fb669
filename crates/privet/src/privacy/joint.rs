//! The second door: private values that enter a joint computation.
//!
//! Secure computation and desensitisation let a value leave without central noise. What the other side learns is then
//! not a number ε but a list, and each item of that list is an entry of the ledger with its count. Such entries are never
//! added to a central ε.

use std::borrow::Cow;

use super::Anchor;

/// One thing that a joint computation shows to somebody, and where that is argued.
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

/// A private value whose disclosure stands in the ledger: only
/// [`Ledger::disclose`](super::Ledger::disclose) makes one.
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
