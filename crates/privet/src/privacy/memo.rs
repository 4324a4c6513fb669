//! Results that depend on public parameters only, kept for the next time they are needed: a run builds the same tables and
//! converts the same prices many times.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// The results for the `KEPT` parameters that were used last.
pub(in crate::privacy) struct Memo<K, V, const KEPT: usize = 16>(Mutex<VecDeque<(K, V)>>);

impl<K: PartialEq, V: Clone, const KEPT: usize> Memo<K, V, KEPT> {
    /// Keeps nothing yet.
    pub(in crate::privacy) const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    /// The result for `key`: as it was kept, or computed and kept. Two threads may both compute it.
    ///
    /// # Errors
    /// Those of `make`; they are not kept.
    pub(in crate::privacy) fn get<E>(&self, key: K, make: impl FnOnce(&K) -> Result<V, E>) -> Result<V, E> {
        if let Some(value) = self.known(&key) {
            return Ok(value);
        }
        let value = make(&key)?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.truncate(KEPT - 1);
        kept.push_front((key, value.clone()));
        Ok(value)
    }

    fn known(&self, key: &K) -> Option<V> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|(other, _)| other == key)?;
        // What was used last is dropped last.
        let found = kept.remove(place)?;
        let value = found.1.clone();
        kept.push_front(found);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: usize = 5;

    #[test]
    fn a_result_is_computed_once_until_others_have_taken_its_place() {
        let memo = Memo::<_, _, KEPT>::new();
        let computed = std::cell::Cell::new(0);
        let square = |x: usize| {
            let found: Result<usize, ()> = memo.get(x, |x| {
                computed.set(computed.get() + 1);
                Ok(x * x)
            });
            found.expect("squares do not fail")
        };
        for _ in 0..3 {
            assert_eq!(square(7), 49);
        }
        assert_eq!(computed.get(), 1);
        for other in 100..100 + KEPT {
            // Used again and again, it stays.
            assert_eq!((square(other), square(7)), (other * other, 49));
        }
        assert_eq!(computed.get(), 1 + KEPT);
        (200..200 + KEPT).for_each(|other| assert_eq!(square(other), other * other));
        assert_eq!((square(7), computed.get()), (49, 2 + 2 * KEPT));
        let failed: Result<usize, &str> = memo.get(8, |_| Err("no"));
        assert_eq!(failed, Err("no"));
        assert_eq!(square(8), 64);
    }
}
