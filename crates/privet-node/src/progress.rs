//! Progress of long work. Nothing is shown unless a program registers how: the command draws bars.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use privet::Error;

/// The unit that work is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkUnit {
    /// Bytes of a file.
    Bytes,
    /// Steps, such as trees.
    Steps,
}

/// Shows the progress of one task; dropped when it is done.
pub trait Bar: Sync {
    /// `done` of `of` units are done.
    fn at(&self, done: u64, of: u64);
}

/// Creates the bar of a task of this name.
pub type ShowProgress = fn(what: String, unit: WorkUnit) -> Box<dyn Bar>;

static SHOW: OnceLock<ShowProgress> = OnceLock::new();

/// Sets how the progress of this process is shown. The first call counts, later ones do nothing.
pub fn show_with(show: ShowProgress) {
    let _ = SHOW.set(show);
}

static STOPPED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// What stops the work of this thread alone.
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Asks all work of this process to stop at its next step. What was paid by then stays paid; nothing is half-written. Whether it was asked before.
pub fn stop() -> bool {
    STOPPED.swap(true, Ordering::Relaxed)
}

/// Works on this thread until the work is done or `stop` becomes true: for programs that do several things at once, of which one is to stop.
pub fn stoppable<T>(stop: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    STOP.set(Some(stop.clone()));
    let done = work();
    STOP.set(None);
    done
}

/// Whether work was asked to stop: [`Error::Stopped`] if so.
///
/// # Errors
/// As said.
pub fn going_on() -> Result<(), Error> {
    let own = || STOP.with_borrow(|stop| stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)));
    match STOPPED.load(Ordering::Relaxed) || own() {
        true => Err(Error::Stopped),
        false => Ok(()),
    }
}

/// A progress callback that shows nothing, and stops a run that was asked to stop.
pub fn unseen(_: u64, _: u64) -> ControlFlow<()> {
    match going_on() {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

/// The progress of one task.
pub struct Progress(Option<Box<dyn Bar>>);

impl Progress {
    /// A task that is counted in bytes.
    pub fn bytes(what: impl Into<String>) -> Self {
        Self::new(what, WorkUnit::Bytes)
    }

    /// A task that is counted in steps.
    pub fn steps(what: impl Into<String>) -> Self {
        Self::new(what, WorkUnit::Steps)
    }

    fn new(what: impl Into<String>, unit: WorkUnit) -> Self {
        Self(SHOW.get().map(|show| show(what.into(), unit)))
    }

    /// `done` of `of` units are done.
    pub fn at(&self, done: u64, of: u64) {
        if let Some(bar) = &self.0 {
            bar.at(done, of);
        }
    }

    /// The same, as a progress callback, which stops a run that was asked to [`stop`].
    pub fn watch(&self) -> impl Fn(u64, u64) -> ControlFlow<()> + Sync + '_ {
        |done, of| {
            self.at(done, of);
            unseen(done, of)
        }
    }
}
