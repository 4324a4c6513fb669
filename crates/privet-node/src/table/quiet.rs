//! Foreign decoders may panic on hostile files; here that is an error like any other, and prints nothing.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `job`; a panic inside becomes an error without details. What `job` borrows is not used after a panic.
pub(super) fn quiet<T>(job: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = take_hook();
        set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                loud(panic);
            }
        }));
    });
    let before = QUIET.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(job));
    QUIET.set(before);
    // Its own words may quote cells.
    outcome.map_err(|_| "it cannot be decoded".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_that_quotes_nothing() {
        assert_eq!(quiet(|| 7), Ok(7));
        let told = quiet(|| panic!("{}", "Alice")).map_err(|e: String| e.contains("Alice"));
        assert_eq!(told, Err::<(), _>(false));
        assert!(!QUIET.get());
    }
}
