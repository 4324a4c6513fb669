//! Bars for long work: how far, how fast, how much longer. Silent where nobody watches.

use indicatif::{ProgressBar, ProgressStyle};
use privet::privacy::texts::shown;
use privet_node::progress::{Bar, WorkUnit};

/// One bar on standard error. Nothing is drawn if that is not a terminal.
struct TerminalBar(ProgressBar);

/// A bar for work of this name.
pub(super) fn bar(what: String, unit: WorkUnit) -> Box<dyn Bar> {
    let bar = ProgressBar::no_length().with_message(shown(&what).into_owned());
    // A template with a mistake in it would show as a plain bar; a test looks at ours.
    if let Ok(style) = ProgressStyle::with_template(template(unit)) {
        bar.set_style(style);
    }
    Box::new(TerminalBar(bar))
}

fn template(unit: WorkUnit) -> &'static str {
    match unit {
        WorkUnit::Bytes => "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
        WorkUnit::Steps => "{msg} {wide_bar} {pos}/{len} {per_sec} {eta}",
    }
}

impl Bar for TerminalBar {
    fn at(&self, done: u64, of: u64) {
        if self.0.length() != Some(of) {
            self.0.set_length(of);
        }
        self.0.set_position(done);
    }
}

impl Drop for TerminalBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_parse() {
        for unit in [WorkUnit::Bytes, WorkUnit::Steps] {
            assert!(ProgressStyle::with_template(template(unit)).is_ok(), "{unit:?}");
            bar("work".into(), unit).at(1, 2);
        }
    }
}
