//! Values that a mechanism has released.

/// A released value: it was paid for, and it is public, as is everything computed from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Released<T>(T);

impl<T> Released<T> {
    pub(in crate::privacy) fn new(value: T) -> Self {
        Self(value)
    }

    /// The value.
    pub fn value(&self) -> &T {
        &self.0
    }

    /// The value itself.
    pub fn into_inner(self) -> T {
        self.0
    }

    /// Post-processing: free of charge.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Released<U> {
        Released(f(self.0))
    }
}
