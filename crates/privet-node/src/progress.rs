//! How far long work is. Nothing is shown unless a program says how: the command draws bars, a notebook may do otherwise.

use std::ops::ControlFlow;
use std::sync::OnceLock;

/// What work is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkUnit {
    /// Bytes of a file.
    Bytes,
    /// Steps, such as trees.
    Steps,
}

/// Shows how far one piece of work is; dropped when it is done.
pub trait Bar: Sync {
    /// So much is done, of so much.
    fn at(&self, done: u64, of: u64);
}

/// Makes a bar for work of this name.
pub type ShowProgress = fn(what: String, unit: WorkUnit) -> Box<dyn Bar>;

static SHOW: OnceLock<ShowProgress> = OnceLock::new();

/// Shows all work of this process in this way. The first call counts, later ones do nothing.
pub fn show_with(show: ShowProgress) {
    let _ = SHOW.set(show);
}

/// One piece of work.
pub struct Progress(Option<Box<dyn Bar>>);

impl Progress {
    /// Work that is counted in bytes.
    pub fn bytes(what: impl Into<String>) -> Self {
        Self::new(what, WorkUnit::Bytes)
    }

    /// Work that is counted in steps.
    pub fn steps(what: impl Into<String>) -> Self {
        Self::new(what, WorkUnit::Steps)
    }

    fn new(what: impl Into<String>, unit: WorkUnit) -> Self {
        Self(SHOW.get().map(|show| show(what.into(), unit)))
    }

    /// So much is done, of so much.
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
