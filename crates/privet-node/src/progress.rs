//! Bars for long work: how far, how fast, how much longer. Silent where nobody watches.

use std::ops::ControlFlow;

use indicatif::{ProgressBar, ProgressStyle};

/// One bar on standard error. Nothing is drawn if that is not a terminal.
pub struct Progress(ProgressBar);

impl Progress {
    /// Work that is counted in bytes.
    pub fn bytes(what: impl Into<String>) -> Self {
        Self::new(
            what,
            "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
        )
    }

    /// Work that is counted in steps.
    pub fn steps(what: impl Into<String>) -> Self {
        Self::new(what, "{msg} {wide_bar} {pos}/{len} {per_sec} {eta}")
    }

    fn new(what: impl Into<String>, template: &str) -> Self {
        let bar = ProgressBar::no_length().with_message(what.into());
        // A template with a mistake in it would show as a plain bar; a test looks at ours.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// So much is done, of so much.
    pub fn at(&self, done: u64, of: u64) {
        if self.0.length() != Some(of) {
            self.0.set_length(of);
        }
        self.0.set_position(done);
    }

    /// The same, as a progress callback that never stops a run.
    pub fn watch(&self) -> impl Fn(u64, u64) -> ControlFlow<()> + Sync + '_ {
        |done, of| {
            self.at(done, of);
            ControlFlow::Continue(())
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_parse() {
        for template in [
            "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
            "{msg} {wide_bar} {pos}/{len} {per_sec} {eta}",
        ] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
        Progress::steps("work").at(1, 2);
    }
}
