//! Private values.

use std::collections::BTreeSet;

use super::Relation;

/// A value that depends on somebody's data.
///
/// There is no `Debug`, `Display`, `Deref`, `PartialEq` or codec, on purpose: the value is released in one of two
/// ways, by a mechanism that was paid for ([`Ledger::release`](super::Ledger::release)) or by a joint computation whose
/// leakage was declared ([`Ledger::disclose`](super::Ledger::disclose)) or whose noise was paid for
/// ([`Ledger::share`](super::Ledger::share)). (Unprotected use is separate: by the permission
/// [`Unprotected`](super::Unprotected), or for columns that a relation declares public.) Code outside this module computes on it with
/// closures. They are `Fn + Sync`, and only owned, shareable values can be wrapped, so one that would carry the value
/// out through a captured `&mut`, `Cell` or `RefCell` does not compile; inside they see plain slices, and the wrapper
/// has no run-time cost.
///
/// It stops accidents, not intent: a closure can still print, panic, lock a mutex or count with an atomic. Reviewers
/// look at closures. Nor does it know which data set it came from: see SECURITY.
///
/// ```
/// use privet::privacy::Private;
///
/// let ages = Private::new(vec![34, 51, 29]);
/// let total: Private<i64> = ages.as_ref().map(|ages| ages.iter().sum());
/// # let _ = total;
/// ```
#[repr(transparent)]
#[derive(Clone)]
pub struct Private<T>(T);

impl<T: Send + Sync + 'static> Private<T> {
    /// Marks a value as private, for good.
    ///
    /// The value must own its data: through a borrowed buffer or a shared cell it could still be read.
    pub fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Private<T> {
    /// Computes on the value; the result is as private as it was.
    pub fn map<U>(self, f: impl Fn(T) -> U + Sync) -> Private<U> {
        Private(f(self.0))
    }

    /// Computes on two private values together.
    pub fn zip<U, V>(self, other: Private<U>, f: impl Fn(T, U) -> V + Sync) -> Private<V> {
        Private(f(self.0, other.0))
    }

    /// A private reference, so that whole columns need not be copied.
    pub fn as_ref(&self) -> Private<&T> {
        Private(&self.0)
    }

    /// Changes the value in place with the help of another private one: weights from features and labels, say.
    pub fn update<S>(&mut self, with: Private<S>, f: impl Fn(&mut T, S) + Sync) {
        f(&mut self.0, with.0);
    }

    /// The public part of the value, if `relation` protects some columns only: `part` is given the names of the protected
    /// columns, and must not look at them. A test lists its callers: tables, in one place.
    ///
    /// # Privacy
    /// `docs/proofs/relations.md#public-columns`.
    pub(crate) fn declared_public<U>(
        &self,
        relation: &Relation,
        part: impl Fn(&T, &BTreeSet<String>) -> U,
    ) -> Option<U> {
        match relation {
            Relation::ReplacePrivate { columns, .. } => Some(part(&self.0, columns)),
            Relation::AddRemove { .. } | Relation::Replace { .. } | Relation::Owner => None,
        }
    }

    /// The number of rows, if it is public under `relation`: `count` counts, and must look at nothing else. A test lists its
    /// callers.
    ///
    /// # Privacy
    /// Two tables that are neighbours have as many rows if a unit of one row is replaced, or only its private columns are.
    pub(crate) fn declared_public_count(
        &self,
        relation: &Relation,
        count: impl Fn(&T) -> usize,
    ) -> Option<usize> {
        let keeps = match relation {
            Relation::AddRemove { .. } | Relation::Owner => false,
            Relation::Replace { rows, .. } => rows.get() == 1,
            Relation::ReplacePrivate { .. } => true,
        };
        keeps.then(|| count(&self.0))
    }

    /// Wraps what was computed from private values inside this module.
    pub(in crate::privacy) fn wrap(value: T) -> Self {
        Self(value)
    }

    /// The value itself: for mechanisms and joint computations only.
    pub(in crate::privacy) fn expose(self) -> T {
        self.0
    }
}
