//! Progress of long work. Nothing is shown unless a program registers how: the command draws bars.

use std::ops::ControlFlow;
use std::sync::OnceLock;

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

    /// The same, as a progress callback that never stops a run.
    pub fn watch(&self) -> impl Fn(u64, u64) -> ControlFlow<()> + Sync + '_ {
        |done, of| {
            self.at(done, of);
            ControlFlow::Continue(())
        }
    }
}
