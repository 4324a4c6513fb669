//! Foreign decoders may panic on hostile files; here that is an error like any other, and prints nothing.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `job`; a panic inside becomes its message. What `job` borrows is not used after a panic.
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
    outcome.map_err(message)
}

fn message(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic
            .downcast_ref::<&str>()
            .map_or_else(|| "it makes no sense".into(), |text| (*text).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message() {
        assert_eq!(quiet(|| 7), Ok(7));
        assert_eq!(quiet(|| panic!("five")), Err::<(), _>("five".into()));
        assert_eq!(quiet(|| panic!("{}", 5)), Err::<(), _>("5".into()));
        assert!(!QUIET.get());
    }
}
